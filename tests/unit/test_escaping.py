"""Hostile text made harmless for a page, for data in a script, and for Markdown of a forge."""

import html
import json
import re

import pytest
from markdown import Markdown

from seatrial.escaping import (
    clipped,
    embedded_json,
    fenced,
    legible,
    page_text,
    prose,
    script_data,
    verbatim,
)

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!-- --> ]]> <![CDATA[",
    "' \" \\ ` ${7*7} {{7*7}} {% raw %}",
    "[a](javascript:alert(1)) ![i](https://evil.example.com/i.png) <https://evil.example.com>",
    "# heading\n\n- list\n\n1. list\n\n> quote\n\n| a | b |\n|---|---|\n",
    "```\nfence\n````\n~~~",
    "*a* **b** _c_ ~~d~~ &lt; &#60; &amp;",
    "@octocat #123 GH-7 !9 owner/repo#5",
    "line\u2028separator\u2029\x85 \u202egnp.exe\u202c zero\u200bwidth \U000e0041\U000e0042",
    "\x00\x02\x03klzzwxh:0000\x03 \x1b[31m\x07",
    "lone \ud800 surrogate",
    '{"__proto__": {"polluted": 1}}',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_data_in_a_script_is_ascii_that_no_browser_reads_as_markup(text: str):
    script = script_data("given", {"text": text, text: [text]})

    assert script.isascii()
    assert not set("<>&") & set(script)
    assert script.count("'") == 2
    assert "\n" not in script[:-1]


@pytest.mark.parametrize("text", HOSTILE)
def test_data_in_a_script_comes_back_as_it_was(text: str):
    script = script_data("given", {"text": text, text: [text]})

    inner = re.fullmatch(r"globalThis\.given = JSON\.parse\('(.*)'\);\n", script)

    assert inner
    literal = inner[1].replace("\\\\", "\\")  # all that a single-quoted string of it undoes
    assert json.loads(literal) == {"text": text, text: [text]}


def test_numbers_that_json_does_not_have_become_text():
    given = {"rate": float("nan"), "items": [float("inf"), (1.5,)]}

    assert json.loads(embedded_json(given)) == {"rate": "nan", "items": ["inf", [1.5]]}


@pytest.mark.parametrize("text", HOSTILE)
def test_text_in_a_page_survives_markdown_as_nothing_but_text(text: str):
    shown = page_text(text)

    for page in (f"{shown}\n", f"<div>\n<p>{shown}</p>\n</div>\n"):
        rendered = Markdown(extensions=["tables", "fenced_code", "toc"]).convert(page)
        tags = set(re.findall(r"<(/?\w+)", rendered))
        assert tags <= {"p", "/p", "div", "/div"}
        plain = html.unescape(re.sub(r"<[^>]*>", "", rendered)).strip()
        assert plain == " ".join(legible(text).split())


@pytest.mark.parametrize("text", HOSTILE)
def test_text_in_a_page_holds_no_character_that_means_something(text: str):
    without_references = re.sub(r"&#\d+;", "", page_text(text))

    assert all(c.isalnum() or c == " " for c in without_references)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a⟨U+000D⟩b"),
        ("\x1b[31m", "⟨U+001B⟩[31m"),
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("naïve 漢字 👩‍🚀", "naïve 漢字 👩‍🚀"),
    ],
)
def test_what_nobody_sees_is_shown(text: str, shown: str):
    assert legible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@octocat", "&#64;\u200boctocat"),
        ("see #123", "see &#35;\u200b123"),
        ("owner/repo#5", "owner/repo&#35;\u200b5"),
        ("GH-7", "GH&#45;\u200b7"),
        ("!9", "&#33;\u200b9"),
        ("https://evil.example.com", "https&#58;\u200b&#47;&#47;evil.example.com"),
        ("www.example.com", "www\u200b.example.com"),
        ("mailto:a@example.com", "mailto\u200b&#58;a&#64;\u200bexample.com"),
        ("-->", "&#45;&#45;\u200b&#62;"),
        ("1. not a list", "1&#46; not a list"),
        ("- not a list", "&#45; not a list"),
        ("a_b-c/d: plain, (95.5 %).", "a_b-c/d: plain, (95.5 %)."),
        ("__init__", "&#95;&#95;init&#95;&#95;"),
        (":rocket:", "&#58;rocket&#58;"),
        ("two\n\nlines", "two lines"),
    ],
)
def test_prose_for_a_forge_mentions_links_and_formats_nothing(text: str, shown: str):
    assert prose(text) == shown


@pytest.mark.parametrize("text", HOSTILE)
def test_prose_for_a_forge_reads_as_the_text_it_was(text: str):
    read = html.unescape(prose(text)).replace("\u200b", "")

    assert read == " ".join(legible(text).split())


@pytest.mark.parametrize(
    "text", ["/close", "fine\n/merge", "```\n/label ~bug\n```", "  /assign @me", "\t/unlock"]
)
def test_no_line_is_carried_out_by_gitlab(text: str):
    for shown in (fenced(text), prose(text)):
        assert not re.search(r"(?m)^\s*/[a-z]", shown)


@pytest.mark.parametrize(
    "text", ['~bug ~"to do"', '%"1.0" %next', "[vulnerability:3] [issue:4]", '*iteration:"x"']
)
def test_prose_refers_to_nothing_of_gitlabs_by_a_word(text: str):
    seen = html.unescape(prose(text))

    assert not re.search(r"[~%][\"\w]|\[\w+:|\*\w+:", seen)
    assert seen.replace("\u200b", "") == text


@pytest.mark.parametrize("text", [*HOSTILE, "`" * 9, "~~~\n```sh\n", "--> --!> @octocat"])
def test_fence_is_longer_than_any_in_the_text(text: str):
    block = fenced(text)

    first, *body, last = block.splitlines()
    fence = last
    assert set(fence) == {"`"}
    assert first == f"{fence}text"
    assert fence not in "\n".join(body)
    assert "-->" not in block
    assert not re.search(r"@\w|#\d", block)


def test_command_is_fenced_as_it_is():
    assert verbatim("run 'a@b' ```") == "````sh\nrun 'a@b' ```\n````"


def test_clipped_text_says_how_much_is_missing():
    assert clipped("abcdef", 6) == "abcdef"
    assert clipped("x" * 1500, 3) == "xxx… (1,497 more characters)"
