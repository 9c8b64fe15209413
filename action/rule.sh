#!/usr/bin/env bash
# The shards put together and ruled on. With the inputs of action/rule/action.yml.
#
# The step ends with the exit code of the ruling. Whatever is missing, it is never open.
set -uo pipefail

# shellcheck source=action/speaking.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/speaking.sh"

finish() { # exit code, ruling, why
    put_output ruling "$2"
    put_output exit-code "$1"
    put_output why "$3"
    leave "$1"
}

no_ruling() { # exit code, why
    tell error "Seatrial: $2"
    printf '### Seatrial: no ruling\n\n%s\n' "$2" >> "$summary"
    finish "$1" error "$2"
}

if test "$SEATRIAL_PLAN_RESULT" != success; then
    no_ruling 4 "the job that plans ended as $SEATRIAL_PLAN_RESULT${SEATRIAL_WHY:+: $SEATRIAL_WHY}"
fi
case "$SEATRIAL_STATE" in
    ready) ;;
    inert)
        tell notice "Seatrial ruled nothing: $SEATRIAL_WHY"
        finish 0 "" "$SEATRIAL_WHY"
        ;;
    waiting)
        tell error "Seatrial: $SEATRIAL_WHY"
        finish 3 undecided "$SEATRIAL_WHY"
        ;;
    *) no_ruling 4 "the job that plans said nothing" ;;
esac

there="$(realpath -m -- "$SEATRIAL_SHARDS")"
cd -- "$SEATRIAL_ROOT" || no_ruling 2 "there is no folder $(printf '%q' "$SEATRIAL_ROOT")"

# A folder for each artifact: of each shard of this plan the newest attempt. No other name counts, and no attempt that there
# was not yet, so that nobody who can upload takes a shard's place.
shards="$(printf '%s' "$SEATRIAL_MATRIX" | grep -o '"[0-9]*/[0-9]*"' | tr -d '"')"
test -n "$shards" || no_ruling 4 "the job that plans named no shards"
folders=()
for shard in $shards; do
    newest=""
    for ((attempt = ${GITHUB_RUN_ATTEMPT:-1}; attempt > 0; attempt--)); do
        newest="$there/seatrial-shard-${shard/\//-of-}-attempt-$attempt"
        test -d "$newest" && test ! -L "$newest" && break
        newest=""
    done
    if test -n "$newest"; then
        folders+=("$newest")
    else
        tell warning "Seatrial: shard $shard left nothing behind"
    fi
done
test ${#folders[@]} -gt 0 || no_ruling 4 "no shard left anything behind; their jobs ended as $SEATRIAL_SHARD_RESULT"

seatrial merge "${folders[@]}" "--out=$work/run"
code=$?
test $code -eq 0 || test $code -eq 3 || no_ruling $code "seatrial merge ended with exit code $code" # 3: some is missing

against=()
test -n "$SEATRIAL_BASELINE" && against=("--baseline=$SEATRIAL_BASELINE")
seatrial gate "$work/run" "${against[@]}" "--json=$work/ruling.json"
code=$?
# What the change loosens is asked for once more with the reviews of the pull request. No agent runs in this job.
if test -n "${SEATRIAL_TOKEN:-}" && test -f "$work/ruling.json" &&
    ! grep -q '"policy_changes": \[\]' "$work/ruling.json"; then
    asked=()
    test -n "${SEATRIAL_COMMIT:-}" && asked=("--commit=$SEATRIAL_COMMIT" "--pull-request=$SEATRIAL_PULL_REQUEST")
    if GITHUB_TOKEN="$SEATRIAL_TOKEN" seatrial approvals "$work/approvals.json" "${asked[@]}"; then
        against+=("--approvals=$work/approvals.json")
        seatrial gate "$work/run" "${against[@]}" "--json=$work/ruling.json"
        code=$?
    fi
fi
unset SEATRIAL_TOKEN
case $code in
    0) ruling=open ;;
    1) ruling=closed ;;
    3) ruling=undecided ;;
    *) no_ruling $code "seatrial gate ended with exit code $code" ;;
esac
if test $ruling = open && test "$SEATRIAL_SHARD_RESULT" != success; then
    no_ruling 4 "the trials would open the gate, but the jobs of the shards ended as $SEATRIAL_SHARD_RESULT"
fi

mkdir -- "$work/told"
told="$work/told/told.json"
seatrial post pack "$work/run" "${against[@]}" "--out=$told" > /dev/null || told=""
report_on "$work/run" "${against[@]}"
test -n "$told" && written+=("$told")
seatrial scan "$work/run" "${written[@]}" || no_ruling 4 "nothing is uploaded: it may hold a secret"

put_output run "$work/run"
put_output told "$told"
put_report
show_summary "$ruling"
finish $code "$ruling" ""
