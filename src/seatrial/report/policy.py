"""The content security policy of a page: nothing runs but what the page came with."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser

_CHARSET = '<meta charset="utf-8">'


def with_policy(page: str, policy: str) -> str:
    """The page with a policy behind its charset.

    Args:
        page: HTML that declares its charset.
        policy: `{scripts}` and `{styles}` in it stand for the digests of the scripts and styles that stand in
            the page; each is allowed by its own.
    """
    found = _Inline()
    found.feed(page)
    found.close()
    filled = policy.format(scripts=_digests(found.scripts), styles=_digests(found.styles))
    before, charset, after = page.partition(_CHARSET)
    if not charset:
        raise RuntimeError("the page does not declare its charset where it always did")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{filled}">'
    return f"{before}{charset}{meta}{after}"


def _digests(texts: list[str]) -> str:
    return " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in dict.fromkeys(texts)
    )


class _Inline(HTMLParser):
    """The text of each script that stands in the page and would run, and of each style."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._inside: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._inside = None
        if tag == "script" and "src" not in given and "type" not in given:
            self._inside = self.scripts
        elif tag == "style":
            self._inside = self.styles
        if self._inside is not None:
            self._inside.append("")

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self._inside[-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = None
