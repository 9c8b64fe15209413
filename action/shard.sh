#!/usr/bin/env bash
# One part of the run, and a look for secrets in what it leaves. With the inputs of action/shard/action.yml.
set -uo pipefail

# shellcheck source=action/speaking.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/speaking.sh"

fail() { # exit code, what did not work
    tell error "Seatrial: $2"
    leave "$1"
}

take_secrets() { # the lines NAME=VALUE of the secret, into this step's environment and no other
    local line name number=0
    SEATRIAL_SECRETS=""
    while IFS= read -r line || test -n "$line"; do
        number=$((number + 1))
        line="${line%$'\r'}"
        case "$line" in '' | '#'*) continue ;; esac
        name="${line%%=*}"
        # What steers this script, the loader, Python, git or the runner is no secret of an agent.
        case "$name" in
            "$line" | '' | [0-9]* | *[!A-Za-z0-9_]*)
                fail 2 "line $number of the secret SEATRIAL_ENV is not NAME=VALUE"
                ;;
            PATH | HOME | IFS | ENV | SHELLOPTS | LD_* | PYTHON* | BASH* | GIT_* | GITHUB_* | ACTIONS_* | RUNNER_* | SEATRIAL_*)
                fail 2 "line $number of the secret SEATRIAL_ENV sets $name, which is not an agent's"
                ;;
        esac
        order add-mask "${line#*=}"
        export "$name=${line#*=}"
        SEATRIAL_SECRETS+="$name "
    done <<< "$SEATRIAL_ENV"
    unset SEATRIAL_ENV
    export SEATRIAL_SECRETS
}

cd -- "$SEATRIAL_ROOT" || fail 2 "there is no folder $(printf '%q' "$SEATRIAL_ROOT")"
take_secrets

choice=("--suite=$SEATRIAL_SUITE" "--arm=$SEATRIAL_ARM" "--agent-version=${SEATRIAL_VERSION:-configured}")
test -n "$SEATRIAL_BASE" && choice+=("--base=$SEATRIAL_BASE")
test -n "$SEATRIAL_TRIALS" && choice+=("--trials=$SEATRIAL_TRIALS")
test -n "$SEATRIAL_BUDGET" && choice+=("--budget=$SEATRIAL_BUDGET")
test -n "$SEATRIAL_BASELINE" && choice+=("--baseline=$SEATRIAL_BASELINE")

seatrial run "${choice[@]}" "--shard=$SEATRIAL_SHARD" "--out=$work/run"
code=$?
emptied "$summary"
test $code -eq 0 || test $code -eq 3 || fail $code "seatrial run ended with exit code $code" # 3: no trial was valid
seatrial scan "$work/run" || fail 1 "the run is not uploaded: it may hold a secret"
put_output run "$work/run"
put_output name "${SEATRIAL_SHARD/\//-of-}"
leave 0
