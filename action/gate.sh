#!/usr/bin/env bash
# plan → run → gate → report, with the inputs of action.yml in the environment.
#
# The step ends with the exit code of the ruling. A report that cannot be built leaves the ruling as it is.
set -uo pipefail

# shellcheck source=action/speaking.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/speaking.sh"

finish() { # exit code, ruling
    put_output ruling "$2"
    put_output exit-code "$1"
    leave "$1"
}

fail() { # exit code, what did not work
    tell error "Seatrial: $2 ended with exit code $1"
    printf '### Seatrial: no ruling\n\n%s ended with exit code %s; the log of this step says why.\n' \
        "$2" "$1" >> "$summary"
    finish "$1" error
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
emptied "$summary"
test $code -eq 0 || test $code -eq 3 || fail $code "seatrial run" # 3: no trial was valid; the gate says so

seatrial gate "$work/run" "${against[@]}" "--json=$work/ruling.json"
code=$?
case $code in
    0) ruling=open ;;
    1) ruling=closed ;;
    3) ruling=undecided ;;
    *) fail $code "seatrial gate" ;;
esac

report_on "$work/run" "${against[@]}"
seatrial scan "$work/run" "${written[@]}" || fail $? "seatrial scan"
put_output run "$work/run"
put_report
show_summary "$ruling"
finish $code "$ruling"
