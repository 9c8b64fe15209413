"""Real git repositories in temporary folders, untouched by the settings of the person who tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ANN = ("Ann Author", "ann@example.org")
BEA = ("Bea Builder", "bea@example.org")

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_DATE": "2026-04-01T10:00:00Z",
    "GIT_COMMITTER_DATE": "2026-04-01T10:00:00Z",
}


class WorkTree:
    """A work tree to write into and commit from."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def init(cls, root: Path, who: tuple[str, str] | None = ANN) -> WorkTree:
        root.mkdir(parents=True, exist_ok=True)
        tree = cls(root)
        tree.git("init", "-q", "-b", "main")
        if who:
            tree.become(who)
        return tree

    def become(self, who: tuple[str, str]) -> None:
        self.git("config", "user.name", who[0])
        self.git("config", "user.email", who[1])

    def git(self, *words: str, check: bool = True) -> str:
        return git(*words, cwd=self.root, check=check)

    def write(self, files: dict[str, str | None]) -> None:
        for path, content in files.items():
            target = self.root / path
            if content is None:
                target.unlink()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content, encoding="utf-8")

    def commit(self, files: dict[str, str | None], message: str = "Change") -> str:
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def clone(self, to: Path, *options: str) -> WorkTree:
        git("clone", "-q", *options, f"file://{self.root}", str(to), cwd=self.root)
        return WorkTree(to)


def git(*words: str, cwd: Path, check: bool = True) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *words],
        cwd=cwd,
        env=kept | _ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(words)}: {done.stderr}")
    return done.stdout.strip()
