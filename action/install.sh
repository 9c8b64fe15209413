#!/usr/bin/env bash
# Put Seatrial into a virtual environment of its own, from the action's own checkout, every
# dependency with the hash that the lock names.
#
# Where SEATRIAL_PYTHON names an interpreter that has Seatrial (an image of one's own, a runner without a way to
# the package index), nothing is installed. Who sets it decides what runs here, as with every variable of a job.
set -euo pipefail

if test -n "${SEATRIAL_PYTHON:-}"; then
    exec "$SEATRIAL_PYTHON" -I -m seatrial --version
fi

venv="$RUNNER_TEMP/seatrial-venv"
home="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"

python3 -c 'import sys; sys.exit("Seatrial needs Python 3.11 or newer: use actions/setup-python") if sys.version_info < (3, 11) else None'
python3 -m venv --clear "$venv"
"$venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input \
    --require-hashes --only-binary :all: -r "$home/requirements/runtime.lock"

# The package is plain Python: a path entry is all there is to install.
site="$("$venv/bin/python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
printf '%s\n' "$home/src" > "$site/seatrial.pth"
"$venv/bin/python" -I -m seatrial --version
