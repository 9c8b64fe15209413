"""`seatrial scan`: what is about to be published is searched for secrets, and nothing that is found is repeated."""

import base64
import bz2
import gzip
import html
import io
import json
import lzma
import os
import re
import zipfile
import zlib
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner, Result

from seatrial.cli import main
from seatrial.escaping import embedded_json, page_text, prose, script_data
from seatrial.redaction import ALWAYS

KEY = """k3y"of<the>&agent's/ü+1"""
LOOKS_REAL = "ghp_" + "a1B2" * 9


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in (*ALWAYS, "SEATRIAL_SECRETS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGENT_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()


def scan(*words: str) -> Result:
    return CliRunner().invoke(main, ["scan", *words])


def zipped(data: bytes, name: str = "inner") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return made.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        KEY.encode(),
        json.dumps({"reply": f"it is {KEY}!"}).encode(),
        quote(KEY, safe="").encode(),
        KEY.encode().hex().encode(),
        base64.b64encode(KEY.encode()),
        base64.b64encode(f"user:{KEY}".encode()),
        base64.urlsafe_b64encode(f"Bearer {KEY} and more".encode()),
        html.escape(KEY).encode(),
        embedded_json([KEY]).encode(),
        script_data("page", {"x": KEY}).encode(),
        b"\x00\xff" * 3_000_000 + KEY.encode(),
        b"x" * ((1 << 22) - 5) + KEY.encode() + b"x" * 100,
        gzip.compress(KEY.encode()),
        zipped(KEY.encode()),
        bz2.compress(KEY.encode()),
        lzma.compress(KEY.encode()),
        b"#!/bin/sh\n" + zipped(KEY.encode()),
        zipped(b"", KEY.replace("/", "") + quote(KEY)),
        json.dumps({"arguments": json.dumps({"key": json.dumps(KEY)})}).encode(),
        json.dumps(KEY).replace("/", "\\/").encode(),
        quote(KEY).encode(),
        quote(quote(KEY, safe=""), safe="").encode(),
        re.sub("%..", lambda m: m[0].lower(), quote(KEY, safe="")).encode(),
        "".join(f"%{byte:02x}" for byte in KEY.encode()).encode(),
        "".join(f"\\u{ord(c):04x}" for c in KEY).encode(),
        "".join(f"\\x{byte:02x}" for byte in KEY.encode()).encode(),
        "".join(f"&#x{ord(c):x};" for c in KEY).encode(),
        base64.b32encode(KEY.encode()),
        base64.b64encode(base64.b64encode(KEY.encode())),
        base64.encodebytes(b"A" * 50 + KEY.encode() + b"B" * 80),
        json.dumps(base64.encodebytes(b"A" * 50 + KEY.encode() + b"B" * 80).decode()).encode(),
        base64.b64encode(gzip.compress(b"key " + KEY.encode())),
        base64.urlsafe_b64encode(zlib.compress(KEY.encode() + b" is it")),
        KEY.encode().hex(":").encode(),
        KEY.encode("utf-16"),
        KEY[:9].encode() + b"\n" + KEY[9:].encode(),
        page_text(KEY).encode(),
        prose(KEY).encode(),
    ],
    ids=range(38),
)
def test_known_value_is_found_in_every_form_and_not_repeated(data: bytes):
    packed = data.startswith((b"\x1f\x8b", b"PK", b"BZh", b"\xfd7z", b"#!"))
    Path("out/file").write_bytes(data if packed else b"one\n" + data)

    found = scan("out", "--secret", "AGENT_KEY")

    assert found.exit_code == 1
    assert "AGENT_KEY" in found.stderr
    assert "k3y" not in found.output


def test_every_line_is_told_of_a_few(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SEATRIAL_SECRETS", "AGENT_KEY OTHER")
    monkeypatch.setenv("OTHER", "0ther-secret")
    Path("out/a").write_text(f"fine\n{KEY}\n\n0ther-secret {KEY}\n", encoding="utf-8")
    Path("out/b").write_text("0ther-secret\n" * 30, encoding="utf-8")

    found = scan("out")

    lines = found.stderr.splitlines()
    assert lines[:3] == [
        "out/a:2: the value of AGENT_KEY",
        "out/a:4: the value of OTHER",
        "out/a:4: the value of AGENT_KEY",
    ]
    assert lines[-2:] == ["… and 13 more", "Nothing of this may be published."]


@pytest.mark.parametrize("name", ALWAYS)
def test_tokens_of_the_runner_are_always_looked_for(monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setenv(name, "token-of-the-job")
    Path("out/a").write_text("token-of-the-job", encoding="utf-8")

    assert f"the value of {name}" in scan("out").stderr


def test_what_has_the_form_of_a_token_is_found_unless_it_is_allowed_with_a_reason():
    Path("out/a").write_text(f"the token {LOOKS_REAL}\n", encoding="utf-8")

    found = scan("out")
    Path("cases").mkdir()
    Path("real-data.yaml").write_text(
        f"- {{value: {LOOKS_REAL}, reason: an invented one}}\n", encoding="utf-8"
    )
    allowed = scan("out")

    assert (found.exit_code, allowed.exit_code) == (1, 0), allowed.output
    assert found.stderr.startswith("out/a:1: `ghp_…` looks like a secret\n")


def test_words_are_no_secrets():
    Path("out/a").write_text(
        "Bearer authentication is asked for at https://user:password@example.com/", encoding="utf-8"
    )

    done = scan("out")

    assert done.exit_code == 0
    assert done.stdout == "No secret is found; looked for what has the form of one.\n"


def test_nothing_that_leads_elsewhere_or_hides_what_it_holds_may_leave(
    monkeypatch: pytest.MonkeyPatch,
):
    Path("out/link").symlink_to("/etc/hostname")
    Path("out/folder").symlink_to("/etc")
    os.mkfifo("out/pipe")
    Path("out/broken.gz").write_bytes(gzip.compress(b"x" * 1000)[:-20])
    Path("out/nested.zip").write_bytes(zipped(gzip.compress(b"x")))
    monkeypatch.setenv("NAMED", "named-after")
    Path("out/named-after.txt").write_text("", encoding="utf-8")

    found = scan("out", "--secret", "NAMED")

    assert found.exit_code == 1
    assert found.stderr.splitlines()[:-1] == [
        "out/broken.gz: an archive that cannot be looked into",
        "out/folder: a link, which may lead anywhere",
        "out/link: a link, which may lead anywhere",
        "out: the name of a file holds NAMED",
        "out/nested.zip: an archive within an archive",
        "out/pipe: neither a file nor a folder",
    ]


@pytest.mark.parametrize(
    ("words", "listed", "said"),
    [
        (("--secret", "NOBODY_SET_IT"), "", "not set in the environment"),
        ((), "NOBODY_SET_IT", "not set in the environment"),
        (("--secret", "SHORT"), "", "shorter than 6 characters"),
    ],
)
def test_secret_that_cannot_be_looked_for_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], listed: str, said: str
):
    monkeypatch.setenv("SHORT", "abc")
    monkeypatch.setenv("SEATRIAL_SECRETS", listed)

    refused = scan("out", *words)

    assert refused.exit_code == 2
    assert said in refused.stderr
