"""Cases that stand for several: one for each variant of their payload, with the payload written out."""

from __future__ import annotations

from typing import Any

from seatrial.documents import Case, Payloads, Variant
from seatrial.documents.attack import Attack


def expanded(case: Case, payloads: Payloads) -> tuple[Case, ...]:
    """A case for each variant that its attack names, `case--variant`; itself where it names one.

    Variants that are not there, or that nothing is asked of in their language, are left out: `check` has
    refused them.
    """
    attack = case.attack
    assert attack is not None
    alone = attack.variants is None
    found = []
    for variant in chosen(attack, payloads):
        asks = asked(attack, variant)
        if asks is None:
            continue
        written = attack.model_dump(mode="json", by_alias=True, exclude_unset=True)
        written.pop("variants", None)
        written |= {"variant": variant.id, "text": variant.rendered(asks)}
        own: dict[str, Any] = {"attack": Attack.model_validate(written)}
        if not alone:
            own |= {"id": f"{case.id}--{variant.id}", "title": f"{case.title} ({variant.id})"}
        found.append(case.model_copy(update=own))
    return tuple(found)


def chosen(attack: Attack, payloads: Payloads) -> tuple[Variant, ...]:
    """The variants that an attack names, as far as they are there; of `all`, those that fit its places."""
    if attack.variants == "all":
        places = {place.at for place in attack.place}
        return tuple(v for v in payloads.variants if places <= set(v.fits))
    ids = (attack.variant,) if attack.variants is None else attack.variants
    return tuple(v for id in ids if id is not None and (v := payloads.variant(id)) is not None)


def asked(attack: Attack, variant: Variant) -> str | None:
    """What the attack asks for in the variant's language; None when it does not say."""
    if isinstance(attack.asks, dict):
        return attack.asks.get(variant.language)
    return attack.asks
