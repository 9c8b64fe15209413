"""The pipeline of GitLab CI that `seatrial init --forge gitlab` writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

_STARTER = Path(__file__).parent / "starter" / "gitlab-ci.yml"
INCLUDING = ".gitlab-ci.yml"
"""The one file that GitLab reads."""


def pipeline(top: Path, agent: str, action: str, inside: str) -> tuple[str, dict[Path, bytes], str]:
    """The pipeline's path, the files to write, and what is left to do where GitLab's file is there already.

    Args:
        top: of the repository.
        agent: whose gate it is.
        action: `OWNER/REPOSITORY@COMMIT` of Seatrial at GitHub.
        inside: where the documents lie, from `top`.
    """
    repository, _, commit = action.partition("@")
    owner, name, *_ = repository.split("/")
    text = _STARTER.read_text(encoding="utf-8")
    for mark, value in (
        ("__agent__", agent),
        ("__source__", f"seatrial @ git+https://github.com/{owner}/{name}@{commit}"),
        ("__root__", inside if re.fullmatch(r"[\w./-]+", inside) else json.dumps(inside)),
    ):
        text = text.replace(mark, value)
    path = f".gitlab/{agent}.gitlab-ci.yml"
    files = {top / path: text.encode()}
    if (top / INCLUDING).exists():
        return path, files, f"# and put `- local: {path}` under `include:` in {INCLUDING}"
    files[top / INCLUDING] = f"include:\n  - local: {path}\n".encode()
    return path, files, ""
