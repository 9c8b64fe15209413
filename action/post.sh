#!/usr/bin/env bash
# `seatrial post`, with the inputs of post/action.yml in the environment.
#
# Never in the job that runs the agent: the token is in this step's environment.
set -uo pipefail

python="${SEATRIAL_PYTHON:-$RUNNER_TEMP/seatrial-venv/bin/python}"

# -I: neither the checked-out folder nor PYTHONPATH may put a module in front of Seatrial's own.
# What goes to stderr may quote others: no line of it begins as a command of the runner.
seatrial() { "$python" -I -m seatrial "$@" 2> >(sed 's/^/| /' >&2); }

fetch_baselines() {
    local ref=refs/remotes/origin/seatrial-baselines depth=()
    git rev-parse --verify --quiet "$ref" > /dev/null && return
    test "$(git rev-parse --is-shallow-repository)" = true && depth=(--depth=1)
    git fetch --quiet --no-tags "${depth[@]}" origin "+refs/heads/seatrial-baselines:$ref" ||
        printf '::warning title=Seatrial::the branch seatrial-baselines could not be fetched\n'
}

words=("--context=$SEATRIAL_CONTEXT")
test -n "$SEATRIAL_COMMIT" && words+=("--commit=$SEATRIAL_COMMIT")
test -n "$SEATRIAL_PULL_REQUEST" && words+=("--pull-request=$SEATRIAL_PULL_REQUEST")
case "$SEATRIAL_WHAT" in
    start)
        test -n "$SEATRIAL_REPORT" && words+=("--url=$SEATRIAL_REPORT")
        seatrial post start "${words[@]}"
        ;;
    result)
        if test -z "$SEATRIAL_RUN"; then # no name is looked for instead: a change may bring a folder of any
            seatrial post no-ruling "${words[@]}" -- "the job that rules left no run behind"
            exit
        fi
        test -n "$SEATRIAL_REPORT" && words+=("--report=$SEATRIAL_REPORT")
        if test -n "$SEATRIAL_BASELINE"; then
            words+=("--baseline=$SEATRIAL_BASELINE")
        else
            (cd -- "$SEATRIAL_ROOT" && fetch_baselines)
        fi
        seatrial post result "${words[@]}" "--root=$SEATRIAL_ROOT" -- "$SEATRIAL_RUN"
        ;;
    told)
        test -n "$SEATRIAL_REPORT" && words+=("--report=$SEATRIAL_REPORT")
        case "$SEATRIAL_RULING" in
            open | closed | undecided)
                if test -f "$SEATRIAL_TOLD"; then
                    seatrial post result "${words[@]}" "--expect=$SEATRIAL_RULING" "--packed=$SEATRIAL_TOLD"
                    exit
                fi
                ;;
        esac
        seatrial post no-ruling "${words[@]}" -- "${SEATRIAL_WHY:-the job that rules left nothing behind}"
        ;;
    head)
        seatrial post head "${words[@]}"
        ;;
    relay)
        seatrial post relay "${words[@]}"
        ;;
    *)
        printf '::error title=Seatrial::what is start, result, told, head or relay\n'
        exit 2
        ;;
esac
