"""`seatrial diff arm`, and settings that the product does not have."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests import bike_shop

from seatrial.cli import main

SCHEMA = {
    "type": "object",
    "properties": {"temperature": {"type": "number", "maximum": 2}, "prompt": {"type": "string"}},
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("shop").mkdir()
    Path("shop/agent.py").write_text("def build(settings): ...\n", encoding="utf-8")
    Path("shop/settings.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    for name in ("kind", "terse"):
        Path(name).mkdir()
        Path(name, "prompt.md").write_text(f"You are a clerk.\nBe {name}.\n", encoding="utf-8")


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def arms(one: dict[str, Any], other: dict[str, Any]) -> None:
    adapter = {"type": "python", "build": "shop.agent:build"}
    written = [
        bike_shop.arm(id, adapter, settings_schema="shop/settings.json", **changes)
        for id, changes in (("cool", one), ("warm", other))
    ]
    bike_shop.write_tree(Path(), bike_shop.catalog(bike_shop.case("a"), *written))


def test_one_setting_that_differs_is_all_that_is_shown():
    arms({"settings": {"temperature": 0.2}}, {"settings": {"temperature": 0.7}})

    done = seatrial("diff", "arm", "cool", "warm")

    assert done.exit_code == 0
    assert done.stdout == (
        "cool → warm: settings differs\n\nsettings\n  settings.temperature: 0.2 → 0.7\n"
    )


def test_the_form_in_which_an_agent_is_asked_is_compared_key_by_key():
    form = {"text": "{{text}}", "style": "formal"}
    answer = {"text": "$.structuredContent.answer"}
    one = {"type": "mcp", "url": "http://127.0.0.1:1/mcp", "tool": "ask", "arguments": form}
    other = {**one, "arguments": {**form, "style": "short"}, "response": answer}
    written = [bike_shop.arm(id, adapter) for id, adapter in (("cool", one), ("warm", other))]
    bike_shop.write_tree(Path(), bike_shop.catalog(bike_shop.case("a"), *written))

    done = seatrial("diff", "arm", "cool", "warm")

    assert done.stdout == (
        "cool → warm: adapter differs\n\nadapter\n"
        '  adapter.arguments.style: "formal" → "short"\n'
        '  adapter.response.text: – → "$.structuredContent.answer"\n'
    )


def test_keys_that_only_one_type_of_adapter_has_are_shown_where_they_say_something():
    one = {"type": "python", "target": "shop.agent:build"}
    other = {"type": "http", "url": "http://127.0.0.1:1/turn"}
    written = [bike_shop.arm(id, adapter) for id, adapter in (("cool", one), ("warm", other))]
    bike_shop.write_tree(Path(), bike_shop.catalog(bike_shop.case("a"), *written))

    done = seatrial("diff", "arm", "cool", "warm")

    assert '  adapter.type: "python" → "http"\n' in done.stdout
    assert '  adapter.url: – → "http://127.0.0.1:1/turn"\n' in done.stdout
    assert "– → –" not in done.stdout


def test_arms_that_are_alike_differ_in_nothing():
    arms({"title": "One"}, {"title": "Other"})

    done = seatrial("diff", "arm", "cool", "warm")

    assert done.stdout == "cool → warm: nothing differs that an agent could tell\n"


def test_files_differ_by_their_text_under_the_name_of_their_component():
    arms(
        {"sources": {"prompt": ["kind/prompt.md"], "rules": ["shop/agent.py"]}, "version": "1"},
        {"sources": {"prompt": ["terse/prompt.md"], "rules": ["shop/agent.py"]}, "version": "2"},
    )

    done = seatrial("diff", "arm", "cool", "warm")

    assert done.stdout == (
        "cool → warm: source:prompt differs\n"
        "\nsource:prompt\n"
        "  kind/prompt.md → terse/prompt.md\n"
        "    --- kind/prompt.md\n"
        "    +++ terse/prompt.md\n"
        "    @@ -1,2 +1,2 @@\n"
        "     You are a clerk.\n"
        "    -Be kind.\n"
        "    +Be terse.\n"
        '\nno component\n  version: "1" → "2"\n'
    )


def test_longer_texts_differ_line_by_line_and_keys_by_whole_lists():
    arms(
        {"settings": {"prompt": "Be kind.\nBe quick.\n"}, "servers": []},
        {"settings": {"prompt": "Be kind.\nBe slow.\n"}, "model": {"name": "m-1"}},
    )

    done = seatrial("diff", "arm", "cool", "warm", "--format", "json")

    changes = {change["path"]: change for change in json.loads(done.stdout)["changes"]}
    assert set(changes) == {"settings.prompt", "model"}
    assert "-Be quick.\n+Be slow." in changes["settings.prompt"]["diff"]
    assert changes["model"]["component"] == "model"


def test_what_a_file_says_cannot_steer_the_terminal():
    Path("terse/prompt.md").write_text("\x1b[2Jgone\n", encoding="utf-8")
    arms({"sources": {"prompt": ["kind/prompt.md"]}}, {"sources": {"prompt": ["terse/prompt.md"]}})

    assert "\x1b" not in seatrial("diff", "arm", "cool", "warm").stdout


def test_arm_that_is_not_there_is_refused():
    arms({}, {})

    done = seatrial("diff", "arm", "cool", "hot")

    assert done.exit_code == 2
    assert "there is no arm 'hot'\n  → there are cool, warm" in done.stderr


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"temperature": 3}, "`settings.temperature` must be at most 2, not 3"),
        ({"temprature": 1}, "did you mean 'temperature'?"),
    ],
)
@pytest.mark.parametrize(
    "words", [["check"], ["plan", "--suite", "all"], ["run", "--suite", "all"]]
)
def test_settings_that_the_product_does_not_have_are_refused_with_their_place(
    settings: dict[str, Any], says: str, words: list[str]
):
    arms({"settings": settings}, {})

    done = seatrial(*words)

    assert done.exit_code == 2
    assert says in done.output
    assert "arms/cool.yaml:" in done.output


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "shop/settings.json is no JSON"),
        ('{"type": "txt"}', "shop/settings.json is no JSON Schema"),
        ("3", "shop/settings.json is no JSON Schema"),
    ],
)
def test_schema_that_is_none_is_refused(text: str, says: str):
    Path("shop/settings.json").write_text(text, encoding="utf-8")
    arms({}, {})

    done = seatrial("check")

    assert done.exit_code == 2
    assert says in done.output


def test_schema_that_is_missing_or_lies_elsewhere_is_refused(tmp_path_factory: Any):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "schema.json"
    elsewhere.write_text("{}", encoding="utf-8")
    arms({}, {})
    Path("shop/settings.json").unlink()
    assert "shop/settings.json cannot be read: No such file" in seatrial("check").output

    Path("shop/settings.json").symlink_to(elsewhere)
    assert "shop/settings.json lies outside of the repository" in seatrial("check").output
