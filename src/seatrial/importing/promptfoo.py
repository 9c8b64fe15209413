"""Tests of promptfoo: prompts filled with the variables of each test, and the assertions that read the reply.

Read is `promptfooconfig.yaml`, or whichever file has `prompts` and `tests`, and what its `file://` references name.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from seatrial.documents import Arm
from seatrial.documents.checks import Check
from seatrial.importing.model import Document, Files, Imported, holds_braces, id_of, line, suite_of

_CHECK: TypeAdapter[Check] = TypeAdapter(Check)
_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_][\w.]*)\s*-?\}\}")
WORLD = "promptfoo"
TEXT_FILES = (".txt", ".md", ".j2")


def promptfoo(files: Files, agent: str, person: Document | None = None) -> Imported:
    """Each test with each prompt as a case; providers of OpenAI as arms, and a suite of all."""
    imported = Imported()
    for path, config in files.items():
        if (
            isinstance(config, dict)
            and "prompts" in config
            and {"tests", "scenarios"} & set(config)
        ):
            _Config(imported, files, path, config, agent).take()
    return imported


class _Config:
    """One configuration."""

    def __init__(
        self, imported: Imported, files: Files, path: str, config: Document, agent: str
    ) -> None:
        self.imported, self.files, self.config, self.agent = imported, files, config, agent
        self.folder = path.rpartition("/")[0]
        name = config.get("description") or self.folder or "promptfoo"
        self.id = id_of("promptfoo", line(str(name), 40))

    def take(self) -> None:
        """Write everything down that there is an equivalent for."""
        imported = self.imported
        default = self._inline(self.config.get("defaultTest")) or {}
        prompts = list(self._prompts())
        for number, test in enumerate(self._tests(), 1):
            for place, (label, prompt) in enumerate(prompts, 1):
                one = f"{number}.{place}" if len(prompts) > 1 else str(number)
                name = str(test.get("description") or f"test {one}")
                self._test(one, name, label, prompt, test, default)
        for key in ("scenarios", "derivedMetrics", "extensions", "redteam", "nunjucksFilters"):
            if self.config.get(key):
                imported.lacks("", key)
        if not any(path.startswith("cases/") for path in imported.documents):
            return
        imported.add("fixtures", _NO_WORLD)
        suite = suite_of(self.id, line(str(self.config.get("description") or self.id)), self.id)
        repeat = (self.config.get("evaluateOptions") or {}).get("repeat")
        if isinstance(repeat, int) and not isinstance(repeat, bool) and repeat > 0:
            suite["trials"] = repeat
        imported.add("suites", suite)
        imported.lacks("", "a world", f"there is none; {WORLD} has one tool, which tells the day")
        for provider in self._listed(self.config.get("providers") or ()):
            self._provider(provider)

    def _test(
        self, number: str, name: str, label: str, prompt: Any, test: Document, default: Document
    ) -> None:
        own = self._inline(test.get("vars")) or {}
        variables = {**(self._inline(default.get("vars")) or {}), **own}
        several = {k: v if isinstance(v, list) else [v] for k, v in variables.items()}
        asserted = [*(default.get("assert") or ()), *(test.get("assert") or ())]
        combined = list(itertools.product(*several.values()))
        for count, values in enumerate(combined, 1):
            self.imported.tasks += 1
            which = f"{number}.{count}" if len(combined) > 1 else number
            given = dict(zip(several, values, strict=True))
            task = self._filled(self._spoken(name, prompt), given)
            checks = [
                check
                for one in asserted
                for check in self._checked(name, self._filled_in(one, given))
            ]
            for key in ("threshold", "options", "provider", "providers"):
                if test.get(key):
                    self.imported.lacks(name, f"`{key}` of a test")
            if task is None or not task.strip() or not checks:
                why = "the test is left out" if checks else "no check: the test is left out"
                self.imported.lacks(
                    name, "text that cannot be filled in" if checks else "checks", why
                )
                continue
            case: Document = {
                "kind": "case",
                "id": id_of(self.id, which),
                "title": line(f"{name}: {task}" if label == "" else f"{name} ({label}): {task}"),
                "group": "task",
                "agent": self.agent,
                "world": WORLD,
                "tags": [self.id, *self._tags(test)],
                "provenance": {"source": "hand"},
                "task": task,
                "checks": checks,
            }
            if holds_braces(case):
                self.imported.lacks(name, "text in double braces", "the test is left out")
            else:
                self.imported.add(f"cases/{self.id}", case)

    # --- parts of a configuration ---

    def _tests(self) -> Iterator[Document]:
        for test in self._listed(self.config.get("tests") or ()):
            found = self._inline(test)
            several = found if isinstance(found, list) else [found]
            for one in several:
                if isinstance(one, dict):
                    yield one
                else:
                    self.imported.lacks(str(test)[:80], "tests that are no YAML or JSON")

    def _prompts(self) -> Iterator[tuple[str, Any]]:
        """Label and content: text, or the messages of a conversation."""
        for prompt in self._listed(self.config.get("prompts") or ()):
            label, content = "", prompt
            if isinstance(prompt, dict):
                label = str(prompt.get("label") or "")
                content = prompt.get("raw") or prompt.get("id") or ""
            content = self._inline(content)
            if isinstance(content, str) and content.lstrip()[:1] == "[":
                content = _json(content) or content
            if isinstance(content, str | list):
                yield label, content
            else:
                self.imported.lacks("", "prompts made by code", str(prompt)[:80])

    def _spoken(self, name: str, prompt: Any) -> str | None:
        """What the user says in a prompt; what the system says belongs to the arm."""
        if isinstance(prompt, str):
            return prompt
        said = [m for m in prompt if isinstance(m, dict) and isinstance(m.get("content"), str)]
        if any(message.get("role") != "user" for message in said) or len(said) < len(prompt):
            self.imported.lacks(
                name, "messages of the system or the agent", "write them into the arm's prompt"
            )
        texts = [message["content"] for message in said if message.get("role") == "user"]
        return "\n\n".join(texts) or None

    def _provider(self, provider: Any) -> None:
        """An arm, where the model is one of OpenAI's and pinned."""
        told = provider if isinstance(provider, dict) else {"id": provider}
        name = str(told.get("id") or told.get("provider") or next(iter(told), ""))
        model = re.fullmatch(r"openai:(?:chat:|responses:)?([\w.:-]+)", name)
        if model is None:
            self.imported.lacks("", "providers", f"{name}: write an arm that reaches it")
            return
        settings = told.get("config") or {}
        adapter: Document = {
            "type": "openai", "url": "https://api.openai.com/v1", "key": "OPENAI_API_KEY",
        }  # fmt: skip
        if isinstance(settings.get("temperature"), int | float):
            adapter["temperature"] = float(settings["temperature"])
        if isinstance(settings.get("max_tokens"), int):
            adapter["max_tokens"] = settings["max_tokens"]
        arm: Document = {
            "kind": "arm",
            "id": id_of(told.get("label") or model[1]),
            "agent": self.agent,
            "version": "1",
            "adapter": adapter,
            "model": {"name": model[1]},
        }
        try:
            Arm.model_validate(arm)
        except ValidationError as error:
            self.imported.lacks("", "providers", f"{name}: {error.errors()[0]['msg']}")
            return
        self.imported.add("arms", arm)

    def _tags(self, test: Document) -> list[str]:
        metadata = test.get("metadata")
        pairs = metadata.items() if isinstance(metadata, dict) else ()
        return [f"{key}:{value}" for key, value in pairs if isinstance(value, str | int)]

    # --- assertions ---

    def _checked(self, name: str, asserted: Any) -> list[Document]:
        """The checks that an assertion comes to; none where there is no equivalent."""
        kind = asserted.get("type") if isinstance(asserted, dict) else None
        check = _check(str(kind), asserted.get("value")) if kind else None
        if check is not None:
            try:
                _CHECK.validate_python(check)
            except ValidationError:
                check = None
        if check is None:
            self.imported.lacks(name, f"assert `{kind or 'assert-set'}`", line(str(asserted), 120))
            return []
        return [check]

    # --- texts ---

    def _filled_in(self, value: Any, variables: Mapping[str, Any]) -> Any:
        match value:
            case str():
                return self._filled(value, variables) or value
            case list():
                return [self._filled_in(one, variables) for one in value]
            case dict():
                return {key: self._filled_in(one, variables) for key, one in value.items()}
            case _:
                return value

    def _filled(self, text: str | None, variables: Mapping[str, Any]) -> str | None:
        """A text with its variables; None where a template asks for more than that."""
        if text is None:
            return None
        for _ in range(3):  # values may name variables themselves
            filled = _VARIABLE.sub(lambda found: self._value(found, variables), text)
            if filled == text:
                break
            text = filled
        return None if "{{" in text or "{%" in text else text

    def _value(self, found: re.Match[str], variables: Mapping[str, Any]) -> str:
        value: Any = variables
        for step in found[1].split("."):
            if not isinstance(value, Mapping) or step not in value:
                return found[0]
            value = value[step]
        value = self._inline(value)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def _inline(self, value: Any) -> Any:
        """What a `file://` reference names, where it is there and no code; else the value itself."""
        if not isinstance(value, str) or not value.startswith("file://"):
            return value
        path = value.removeprefix("file://").removeprefix("./")
        full = f"{self.folder}/{path}" if self.folder else path
        return self.files.get(full, value)

    def _listed(self, value: Any) -> list[Any]:
        value = self._inline(value)
        return list(value) if isinstance(value, list | tuple) else [value]


def _check(kind: str, value: Any) -> Document | None:
    """A check of the last reply that asks for the same."""
    texts = [str(one) for one in value] if isinstance(value, list) else [str(value)]
    case = {} if kind.removeprefix("not-").startswith("i") else {"ignore_case": False}
    match kind:
        case "contains" | "icontains" | "contains-all" | "icontains-all":
            return {"check": "reply_contains", "text": texts, **case}
        case "contains-any" | "icontains-any":
            return {"check": "reply_contains", "any_of": texts, **case}
        case "not-contains" | "not-icontains" | "not-contains-any" | "not-icontains-any":
            return {"check": "reply_not_contains", "text": texts, "turn": "last", **case}
        case "equals" if isinstance(value, dict | list):
            return {"check": "reply_schema", "schema": {"const": value}}
        case "equals":
            return {"check": "reply_matches", "pattern": rf"\A{re.escape(texts[0])}\Z"}
        case "starts-with":
            return {"check": "reply_matches", "pattern": rf"\A{re.escape(texts[0])}"}
        case "regex":
            return {"check": "reply_matches", "pattern": texts[0]}
        case "is-json":
            return {"check": "reply_schema", "schema": value if isinstance(value, dict) else {}}
        case _:
            return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


_NO_WORLD: Document = {
    "kind": "fixture",
    "type": "world",
    "id": WORLD,
    "title": "No world: the agent answers, and does nothing",
    "now": "2026-01-01T09:00:00Z",
    "types": {"nothing": {"properties": {"id": {"type": "string"}}}},
    "actions": {
        "today": {
            "description": "Tell the day.",
            "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
            "read_only": True,
            "returns": "{{today}}",
        }
    },
}
