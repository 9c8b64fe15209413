"""Run every benchmark beside this file, one after the other; names on the command line choose."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Run them; the exit code says whether each could be run, not whether it was fast."""
    chosen = sys.argv[1:]
    scripts = sorted(HERE.glob("bench_*.py"))
    failed = []
    for script in scripts:
        name = script.stem.removeprefix("bench_")
        if chosen and name not in chosen:
            continue
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(script)], cwd=HERE.parent, check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"could not be run: {', '.join(failed)}")


if __name__ == "__main__":
    main()
