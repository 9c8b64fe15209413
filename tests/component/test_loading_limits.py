"""Files that are made to use up memory or time: told at a place, within 1 GB and a bounded time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import harbour

from seatrial import loading
from seatrial.errors import InvalidDocuments

MOST = 1_000_000_000
"""Bytes of memory."""
SECONDS = 60
"""Of CPU, for all of them together; it takes about five."""

CHILD = """
import json, re, resource, sys
from pathlib import Path

resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
resource.setrlimit(resource.RLIMIT_AS, (2 * MOST, 2 * MOST))

from seatrial import loading
from seatrial.errors import InvalidDocuments
from seatrial.loading.lifelike import Allowed, lifelike
from tests import harbour

M = 4_900_000

def case(key, value):
    return re.sub(rf"(?m)^{key}:.*$", lambda _: f"{key}: {value}", harbour.CASE)

def files():
    yield "file of 50 MB", "x" * 50_000_000
    yield "scalar of 50 MB", case("title", "x" * 50_000_000)
    yield "10 MB of brackets", "[" * 10_000_000
    yield "scalar of 4.9 MB", case("title", '"' + "x" * M + '"')
    yield "brackets", "[" * M
    yield "mappings", "{a: " * (M // 4)
    yield "lists", "- " * (M // 2)
    yield "deep blocks", "\\n".join(" " * depth + "a:" for depth in range(3000))
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\\n"
    for above, name in zip("abcdefgh", "bcdefghi"):
        bomb += f"{name}: &{name} [{','.join([f'*{above}'] * 10)}]\\n"
    yield "alias bomb", bomb
    yield "aliases", "a: &a x\\nb: [" + "*a," * (M // 3) + "]"
    yield "anchors", "b: [" + "".join(f"&a{n} x," for n in range(240_000)) + "]"
    yield "documents", "---\\n" * (M // 4)
    yield "keys", "".join(f"k{n}: 1\\n" for n in range(249_000))
    yield "one key", "k:\\n" * (M // 3)
    yield "long number", case("task", "1" * M)
    yield "long id", case("id", "x" * M)
    yield "long tag", "a: !" + "x" * 4_000_000 + " 1\\n"
    yield "mail", case("title", "a" * (M // 4) + " @")
    yield "hosts", case("title", '"' + "http://a" * (M // 32) + '"')
    yield "digits", case("title", '"' + "1 " * (M // 8) + '"')
    yield "braces", case("title", '"' + "{{" * (M // 2) + '"')
    yield "bytes", b"a: " + b"\\xff" * 4_000_000
    yield "matrix", harbour.CASE + "matrix: {" + ",".join(f"k{n}: [1, 2, 3, 4]" for n in range(60)) + "}\\n"

for name, text in files():
    data = text if isinstance(text, bytes) else text.encode()
    tree = harbour.contents() | {"cases/take.yaml": data}
    try:
        loading.load(tree)
        problems = lifelike(tree, Allowed())
    except InvalidDocuments as error:
        problems = error.problems
    said = [problem.render() for problem in problems if problem.path == "cases/take.yaml"]
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps([name, said[:3], len(said), int(peak[1]) * 1000]), flush=True)
"""

SAID = {
    "file of 50 MB": "the file has 50.0 MB; at most 5 MB are read",
    "scalar of 50 MB": "at most 5 MB are read",
    "10 MB of brackets": "the file has 10.0 MB",
    "scalar of 4.9 MB": "",
    "brackets": "nested too deep",
    "mappings": "nested more than 40 deep",
    "lists": "nested more than 40 deep",
    "deep blocks": "nested more than 40 deep",
    "alias bomb": "the aliases stand for more than 10000 values",
    "aliases": "the aliases stand for more than 10000 values",
    "anchors": "missing key `kind`",
    "documents": "more than 250000 values",
    "keys": "missing key `kind`",
    "one key": "key `k` stands twice",
    "long number": "at most 100 are read",
    "long id": "expected an id",
    "long tag": "the tag",
    "mail": "",
    "hosts": "",
    "digits": "",
    "braces": "`{{` without its `}}`",
    "bytes": "the byte 0xff is not UTF-8",
    "matrix": "combinations",
}
"""What is said of each; nothing of those that are only long."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is asked of Linux")
def test_what_is_made_to_use_up_memory_is_told_within_a_gigabyte():
    root = Path(__file__).parents[2]
    limits = f"MOST, SECONDS = {MOST}, {SECONDS}\n"
    done = subprocess.run(
        [sys.executable, "-c", limits + CHILD],
        cwd=root,
        env=os.environ | {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    told = [json.loads(line) for line in done.stdout.splitlines()]

    assert [name for name, *_ in told] == list(SAID)
    for name, said, count, peak in told:
        assert peak < MOST, name
        assert count <= 101, name
        assert all(line.startswith("cases/take.yaml:") and len(line) < 1000 for line in said), name
        assert (not said) if not SAID[name] else any(SAID[name] in line for line in said), (
            name,
            said,
        )


IDS = {
    "010": "expected text", "0o17": "expected text", "1e5": "expected text", "null": "expected text",
    "~": "expected text", "no": "", "2026-03-16": "", "12:30": "an id", "🚢": "an id", "é": "an id", "../x": "an id",
    "a b": "an id", "-": "",
}  # fmt: skip


@pytest.mark.parametrize("id", IDS)
def test_an_id_that_looks_like_something_else_is_read_as_it_stands_or_told(id: str):
    text = harbour.CASE.replace("take-a-berth", id)
    try:
        catalog = loading.load(harbour.contents({"cases/other.yaml": text}))
    except InvalidDocuments as error:
        (problem,) = [p for p in error.problems if p.path == "cases/other.yaml"]
        assert problem.line in (2, 3)
        assert IDS[id] in problem.message
    else:
        assert id in catalog.cases
        assert not IDS[id]
