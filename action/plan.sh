#!/usr/bin/env bash
# Which cases run, divided over shards; or why nothing runs. With the inputs of action/plan/action.yml.
#
# state: ready, inert (nobody has set Seatrial up: a notice, and nothing is told to the forge) or waiting (a pull request from
# a fork, whose arm needs secrets: the gate is undecided until a maintainer runs the commit by hand).
set -uo pipefail

# shellcheck source=action/speaking.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/speaking.sh"

finish() { # exit code, state, why
    put_output state "$2"
    put_output why "$3"
    leave "$1"
}

fail() { # exit code, what did not work
    tell error "Seatrial: $2"
    finish "$1" broken "$2"
}

released() { # whether there is a baseline, as far as anybody can tell: a question without an answer is a yes
    git rev-parse --verify --quiet refs/remotes/origin/seatrial-baselines > /dev/null && return 0
    # A clone with all its history was made with all branches.
    test "$(git rev-parse --is-shallow-repository)" = false && return 1
    git ls-remote --exit-code origin refs/heads/seatrial-baselines > /dev/null
    test $? -ne 2
}

not_set_up() { # why
    # A green job that ruled nothing would open a gate that is in use.
    released && fail 2 "not set up any more, though a baseline is released: $1"
    tell notice "Seatrial is not set up: $1"
    finish 0 inert "$1"
}

chosen() { # whether a field of the form that decides what is ruled on, or by what, is filled in
    local left
    left="$(printf '%s' "$SEATRIAL_FORM" | tr -d '\r\n' | sed -E \
        -e 's/"(pull-request|commit|budget)": *"[^"\\]*"//g' -e 's/"agent-version": *"configured"//g' \
        -e 's/"[A-Za-z0-9_-]+": *(""|null)//g' -e 's/[ {},]//g')"
    test -n "$left" && test "$left" != null # what is not understood may have chosen something
}

aside=""
if test "$SEATRIAL_EVENT" = workflow_dispatch && chosen; then
    aside=" (by hand)"
fi
put_output aside "$aside"

cd -- "$SEATRIAL_ROOT" || fail 2 "there is no folder $(printf '%q' "$SEATRIAL_ROOT")"

case "$SEATRIAL_EVENT" in
    workflow_dispatch | schedule)
        if test "$SEATRIAL_IN_FORK" = true; then
            tell notice "Seatrial: this repository is a fork, where nothing is started by hand or by the clock"
            finish 0 inert "this repository is a fork"
        fi
        ;;
esac
test -n "$SEATRIAL_SUITE" && test -n "$SEATRIAL_ARM" ||
    not_set_up "write suite and arm into the workflow, or set the variables SEATRIAL_SUITE and SEATRIAL_ARM (which pull requests from forks do not get)"

arm="$SEATRIAL_ARM"
if test "$SEATRIAL_NEEDS_SECRETS" = true && test "$SEATRIAL_HAS_SECRETS" != true; then
    test "$SEATRIAL_FORK" = true || not_set_up "the secret SEATRIAL_ENV is not set, and the arm $arm needs it"
    if test -z "$SEATRIAL_FORK_ARM"; then
        why="a fork gets no secrets, and the arm $arm needs them: a maintainer runs the commit by hand"
        tell warning "Seatrial: $why"
        finish 0 waiting "$why"
    fi
fi
if test "$SEATRIAL_FORK" = true && test -n "$SEATRIAL_FORK_ARM"; then
    arm="$SEATRIAL_FORK_ARM"
fi

choice=("--suite=$SEATRIAL_SUITE" "--arm=$arm" "--agent-version=${SEATRIAL_VERSION:-configured}")
test -n "$SEATRIAL_BASE" && choice+=("--base=$SEATRIAL_BASE")
test -n "$SEATRIAL_TRIALS" && choice+=("--trials=$SEATRIAL_TRIALS")
baseline="$SEATRIAL_BASELINE"
if test -z "$baseline"; then
    fetch_baselines
    # All shards and the gate hold it against the same one, whatever is released meanwhile.
    baseline="$(git rev-parse --verify --quiet refs/remotes/origin/seatrial-baselines^{commit})"
    test -n "$baseline" && baseline="seatrial-baselines@$baseline"
fi
test -n "$baseline" && choice+=("--baseline=$baseline")

matrix="$(seatrial plan "${choice[@]}" "--shards=${SEATRIAL_SHARDS:-auto}")"
code=$?
test $code -eq 0 || fail $code "seatrial plan ended with exit code $code"
put_output matrix "$matrix"
put_output baseline "$baseline"
put_output arm "$arm"
finish 0 ready ""
