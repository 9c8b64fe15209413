"""Documents of older versions are brought forward with their comments, and those of newer ones refused kindly."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import harbour

from seatrial import cli, loading
from seatrial.documents.language import CURRENT
from seatrial.errors import InvalidDocuments
from seatrial.loading.migrating import migrated
from seatrial.loading.migrations import Document, Left, Migration, rename

PERSONA = """\
# She wants a berth.
kind: fixture
type: persona
id: ann   # she
goal: A berth.
opening: Hello.
achieved_when:
  # the end
  matches: (?i)berth b-1   # as the desk says it
rules:
  - when: {matches: "yes|of course"}   # agrees
    say: "Thank you."
"""
HAND = """\
  - when:
      matches: "^no.*"  # by hand
    say: Why?
"""


def forward(text: str) -> str:
    return migrated("fixtures/ann.yaml", text.encode()).data.decode()


def problems(files: dict[str, str]) -> list[str]:
    try:
        loading.load(harbour.contents(files))
    except InvalidDocuments as error:
        return [f"[{p.code}] {p.render()}" for p in error.problems]
    return []


def test_a_person_that_heard_patterns_hears_words_and_every_comment_stays():
    new = forward(PERSONA)

    assert new == (
        PERSONA.replace("# she\n", f"# she\nschema_version: {CURRENT}\n")
        .replace("matches: (?i)berth b-1   #", "contains: berth b-1      #")
        .replace('{matches: "yes|of course"}', "{any_of: [yes, of course]}")
    )
    assert problems({"fixtures/ann.yaml": new}) == []
    assert forward(new) == new


def test_a_document_of_before_is_told_what_to_type():
    assert problems({"fixtures/ann.yaml": PERSONA}) == [
        "[older-schema] fixtures/ann.yaml:2:1: the document is written in an older version of the language. "
        "`seatrial migrate fixtures/ann.yaml` brings it forward"
    ]


def test_what_is_more_than_words_is_told_and_the_document_keeps_its_version():
    done = migrated("fixtures/ann.yaml", (PERSONA + HAND).encode())

    (left,) = done.left
    assert left.render().startswith(
        "fixtures/ann.yaml:14:16: `matches` is no more: a person hears words"
    )
    assert b"schema_version" not in done.data
    assert b"any_of" in done.data
    assert b'matches: "^no.*"  # by hand' in done.data


def test_documents_that_need_nothing_else_are_given_their_version_in_a_line():
    one = "kind: case\nid: a # b\n\n# c\ntitle: x\n"
    flow = "---\n{kind: case, id: b, title: y}\n"

    done = migrated("cases/a.yaml", (one + flow + "---\n---\n").encode())

    assert done.data.decode() == (
        f"kind: case\nid: a # b\nschema_version: {CURRENT}\n\n# c\ntitle: x\n"
        f"---\n{{kind: case, id: b, schema_version: {CURRENT}, title: y}}\n---\n---\n"
    )
    assert (done.documents, done.left) == (0, ())


def test_the_version_is_no_part_of_what_a_document_comes_to():
    def case(text: str):
        return loading.load(harbour.contents({"cases/take.yaml": text})).cases["take-a-berth"]

    told = harbour.CASE.replace("title:", f"schema_version: {CURRENT}\ntitle:")

    assert case(told) == case(harbour.CASE)
    assert case(told).model_dump(exclude_unset=True) == case(harbour.CASE).model_dump(
        exclude_unset=True
    )


def test_a_newer_version_is_refused_with_nothing_else_said_of_the_document():
    newer = harbour.CASE.replace(
        "title:", f"schema_version: {CURRENT + 1}\nheadline: What a case says then\ntitle:"
    )

    assert problems({"cases/take.yaml": newer}) == [
        f"[newer-schema] cases/take.yaml:3:17: the document is written in version {CURRENT + 1} of the language, and "
        f"this Seatrial knows {CURRENT}. Install a newer one: `pip install --upgrade seatrial`"
    ]
    with pytest.raises(InvalidDocuments):
        migrated("cases/take.yaml", newer.encode())


@pytest.mark.parametrize("version", ["0", "'2'", "2.0", "true", "null", "[]"])
def test_a_version_is_a_whole_number_from_1(version: str):
    (told,) = problems(
        {"cases/take.yaml": harbour.CASE.replace("title:", f"schema_version: {version}\ntitle:")}
    )

    assert "cases/take.yaml:3:17: `schema_version`:" in told


def test_steps_follow_one_another_up_to_the_version_that_is_known():
    def _later(document: Document) -> Iterator[Left]:
        if "owner" in document:
            rename(document, "owner", "keeper", document["owner"])
        yield from ()

    def _more(document: Document) -> Iterator[Left]:
        if "keeper" in document:
            document["keeper"] = [document["keeper"]]
        yield from ()

    steps = (
        Migration(CURRENT + 1, lambda _: True, _later),
        Migration(CURRENT + 2, lambda document: document["kind"] == "case", _more),
    )
    text = "kind: case\nid: a # c\nowner: desk\n---\nkind: suite\nid: b\nowner: desk\n"

    done = migrated("cases/a.yaml", text.encode(), steps, CURRENT + 2)

    assert done.documents == 2
    assert done.data.decode() == (
        f"kind: case\nid: a # c\nschema_version: {CURRENT + 2}\nkeeper:\n  - desk\n---\n"
        f"kind: suite\nid: b\nschema_version: {CURRENT + 2}\nkeeper: desk\n"
    )
    half = text.replace("id: a # c\n", f"id: a # c\nschema_version: {CURRENT + 1}\n")
    assert b"owner: desk" in migrated("cases/a.yaml", half.encode(), steps, CURRENT + 2).data


def test_a_file_that_would_lose_a_comment_stays_as_it_is():
    text = "kind: case\nid: a\nowner: desk # whose\n"

    def _careless(document: Document) -> Iterator[Left]:
        document["keeper"] = document.pop("owner")
        yield from ()

    steps = (Migration(CURRENT + 1, lambda _: True, _careless),)

    with pytest.raises(InvalidDocuments) as caught:
        migrated("cases/a.yaml", text.encode(), steps, CURRENT + 1)

    assert "would lose a comment" in str(caught.value.problems[0].message)


def test_documents_that_a_repository_starts_with_say_the_version_that_is_known():
    starters = sorted((Path(cli.__file__).parent / "starter").glob("*.yaml"))

    assert len(starters) == 6
    for path in starters:
        assert f"\nschema_version: {CURRENT}\n" in path.read_text(encoding="utf-8"), path
