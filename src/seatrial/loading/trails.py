"""From the place pydantic names to the place in the document.

pydantic's `loc` also holds what no document holds: the tag of a union's member, the label of a
member that was tried, `[key]`. Which of its parts are those can only be told by walking the models.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from seatrial.loading.places import Steps

Model = type[BaseModel]


@dataclass(frozen=True, slots=True)
class Trail:
    """Where an error stands."""

    steps: Steps
    """Keys and indices from the top of the document."""
    owner: Model | None
    """The model of the mapping whose key is the last step; None where the last step is no model's key."""
    on_key: bool
    """The error is about the last key itself, not about its value."""
    choice: tuple[Steps, str] | None
    """Where a union without a discriminator was met, and the member that was tried."""
    members: tuple[Model, ...]
    """The models of a union that ends the trail; empty where it ends in something else."""


def keys(model: Model) -> dict[str, FieldInfo]:
    """The keys a mapping of this model may hold, as documents write them."""
    return {
        field.alias or name: field
        for name, field in model.model_fields.items()
        if name not in getattr(model, "not_written", ())
    }


def follow(model: Model, loc: tuple[str | int, ...]) -> Trail:
    """The trail that a `loc` of pydantic's leaves in a document of this model."""
    here: Any = model
    steps: list[str | int] = []
    owner: Model | None = None
    on_key = False
    choice: tuple[Steps, str] | None = None
    rest = list(loc)
    while rest:
        here, discriminator = _bare(here)
        members = get_args(here)
        owner = None
        if isinstance(here, type) and issubclass(here, BaseModel):
            owner = here
            step = rest.pop(0)
            steps.append(step)
            here = _value_of(here, str(step))
        elif _is_union(here):
            label = str(rest.pop(0))
            if discriminator is None and choice is None:
                choice = (tuple(steps), label)
            here = _member(members, discriminator, label)
        elif get_origin(here) is tuple:
            step = rest.pop(0)
            steps.append(step)
            here = members[step] if isinstance(step, int) and step < len(members) else Any
            here = members[0] if here in {Ellipsis, Any} else here
        elif get_origin(here) is dict:
            steps.append(rest.pop(0))
            on_key = rest[:1] == ["[key]"]
            here, rest = members[1], rest[1:] if on_key else rest
        else:
            steps += rest
            rest = []
    end, _ = _bare(here)
    models = [_bare(member)[0] for member in get_args(end)] if _is_union(end) else []
    members = tuple(m for m in models if isinstance(m, type) and issubclass(m, BaseModel))
    return Trail(tuple(steps), owner, on_key, choice, members)


def tags(model: Model, discriminator: str) -> tuple[str, ...]:
    """The words that a member of a union may have under the key that tells its members apart."""
    annotation = model.model_fields[discriminator].annotation
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in {Union, types.UnionType}


def _bare(annotation: Any) -> tuple[Any, str | None]:
    """A type without its metadata and without `None`, and the key that tells a union's members apart."""
    discriminator: str | None = None
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *metadata = get_args(annotation)
            for item in metadata:
                if isinstance(item, FieldInfo) and isinstance(item.discriminator, str):
                    discriminator = item.discriminator
            continue
        if _is_union(annotation):
            members = [m for m in get_args(annotation) if m is not type(None)]
            if len(members) < len(get_args(annotation)):
                annotation = Union[tuple(members)]  # noqa: UP007 (of a list that is only known now)
                continue
        return annotation, discriminator


def _value_of(model: Model, key: str) -> Any:
    field = keys(model).get(key)
    if field is None:
        return Any
    return Annotated[field.annotation, field] if field.discriminator else field.annotation


def _member(members: tuple[Any, ...], discriminator: str | None, label: str) -> Any:
    """The union's member that a part of a `loc` stands for; `Any` when it is no model."""
    for member in members:
        bare, _ = _bare(member)
        if not (isinstance(bare, type) and issubclass(bare, BaseModel)):
            continue
        if discriminator is None:
            # A model with validators of its own is called `function-after[_check(), Name]`.
            fits = label == bare.__name__ or label.endswith(f", {bare.__name__}]")
        else:
            fits = label in tags(bare, discriminator)
        if fits:
            return bare
    return Any
