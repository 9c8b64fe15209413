#!/usr/bin/env bash
# plan → run → gate → report, with the inputs of action.yml in the environment.
#
# The step ends with the exit code of the ruling. A report that cannot be built leaves the ruling as it is.
set -uo pipefail

readonly summary_limit=900000 # the page drops a summary beyond 1 MiB whole

output="$GITHUB_OUTPUT"
summary="$GITHUB_STEP_SUMMARY"
work="$(mktemp -d "$RUNNER_TEMP/seatrial-XXXXXXXX")" || exit 4
python="${SEATRIAL_PYTHON:-$RUNNER_TEMP/seatrial-venv/bin/python}"

# Through these the agent under test could speak to the runner or to the forge.
unset GITHUB_OUTPUT GITHUB_STEP_SUMMARY GITHUB_ENV GITHUB_PATH GITHUB_STATE GITHUB_TOKEN
for name in "${!ACTIONS_@}"; do unset "$name"; done

# -I: neither the checked-out folder nor PYTHONPATH may put a module in front of Seatrial's own.
seatrial() { "$python" -I -m seatrial "$@"; }

random() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

put_output() { # name value
    local end
    end="end-$(random)"
    printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >> "$output"
}

# Nothing that is printed from here on is taken for a command of the runner, but for what `tell` says.
silence="$(random)"
printf '::stop-commands::%s\n' "$silence"
tell() { # level message
    printf '::%s::\n::%s::%s\n::stop-commands::%s\n' "$silence" "$1" "$2" "$silence"
}

annotate() { # file: commands that `seatrial report` wrote and escaped; no other kind of command is passed on
    printf '::%s::\n' "$silence"
    grep -E '^::(error|warning|notice) ' -- "$1"
    printf '::stop-commands::%s\n' "$silence"
}

finish() { # exit code, ruling
    put_output ruling "$2"
    put_output exit-code "$1"
    printf '::%s::\n' "$silence"
    exit "$1"
}

fail() { # exit code, what did not work
    tell error "Seatrial: $2 ended with exit code $1"
    printf '### Seatrial: no ruling\n\n%s ended with exit code %s; the log of this step says why.\n' \
        "$2" "$1" >> "$summary"
    finish "$1" error
}

fetch_baselines() { # so that a clone of one commit has the released baseline as well
    local ref=refs/remotes/origin/seatrial-baselines depth=() code
    git rev-parse --verify --quiet "$ref" > /dev/null && return
    git ls-remote --exit-code origin refs/heads/seatrial-baselines > /dev/null
    code=$?
    if test $code -eq 2; then # git's word for: origin answered, and has no such branch
        tell notice "Seatrial: nothing is released yet, origin has no branch seatrial-baselines"
        return
    fi
    test "$(git rev-parse --is-shallow-repository)" = true && depth=(--depth=1)
    git fetch --quiet --no-tags "${depth[@]}" origin "+refs/heads/seatrial-baselines:$ref" ||
        tell warning "Seatrial: the branch seatrial-baselines could not be fetched"
}

cd -- "$SEATRIAL_ROOT" || fail 2 "cd $(printf '%q' "$SEATRIAL_ROOT")"

choice=("--suite=$SEATRIAL_SUITE" "--arm=$SEATRIAL_ARM")
test -n "$SEATRIAL_BASE" && choice+=("--base=$SEATRIAL_BASE")
test -n "$SEATRIAL_TRIALS" && choice+=("--trials=$SEATRIAL_TRIALS")
against=()
if test -n "$SEATRIAL_BASELINE"; then
    against=("--baseline=$SEATRIAL_BASELINE")
else
    fetch_baselines
fi

seatrial plan "${choice[@]}" "${against[@]}" || fail $? "seatrial plan"
seatrial run "${choice[@]}" "${against[@]}" "--out=$work/run"
code=$?
test $code -eq 0 || test $code -eq 3 || fail $code "seatrial run" # 3: no trial was valid; the gate says so
put_output run "$work/run"

seatrial gate "$work/run" "${against[@]}" "--json=$work/ruling.json"
code=$?
case $code in
    0) ruling=open ;;
    1) ruling=closed ;;
    3) ruling=undecided ;;
    *) fail $code "seatrial gate" ;;
esac

if seatrial report "$work/run" "${against[@]}" "--site=$work/report" "--summary=$work/summary.md" \
    "--junit=$work/junit.xml" "--sarif=$work/results.sarif" "--single=$work/report.html" \
    "--annotations=$work/annotations"; then
    put_output report "$work/report"
    put_output page "$work/report.html"
    put_output junit "$work/junit.xml"
    put_output sarif "$work/results.sarif"
    annotate "$work/annotations"
else
    tell warning "Seatrial: the report could not be built; the ruling stands"
    for name in report page junit sarif; do put_output "$name" ""; done
fi
if test -f "$work/summary.md" && test "$(wc -c < "$work/summary.md")" -le $summary_limit; then
    cat "$work/summary.md" >> "$summary"
else
    printf '### Seatrial: %s\n\nThe summary is missing or too long for this page; see the report.\n' \
        "$ruling" >> "$summary"
fi
finish $code "$ruling"
