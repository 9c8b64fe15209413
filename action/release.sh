#!/usr/bin/env bash
# A run made the baseline. With the inputs of action/release/action.yml. No agent runs in this job.
set -uo pipefail

# shellcheck source=action/speaking.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/speaking.sh"

run="$(realpath -m -- "$SEATRIAL_RUN")"
cd -- "$SEATRIAL_ROOT" || { tell error "Seatrial: there is no folder $(printf '%q' "$SEATRIAL_ROOT")"; leave 2; }

# In the name of the job; who approved it, and how that is known, stands in the release.
export GIT_AUTHOR_NAME='github-actions[bot]' GIT_AUTHOR_EMAIL='41898282+github-actions[bot]@users.noreply.github.com'
export GIT_COMMITTER_NAME="$GIT_AUTHOR_NAME" GIT_COMMITTER_EMAIL="$GIT_AUTHOR_EMAIL"
# For this step alone: nothing of the token is written into the clone. To a server of one's own, for tests, none is sent.
if [[ "$(git remote get-url origin)" == https://* ]]; then
    export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraHeader
    GIT_CONFIG_VALUE_0="Authorization: Basic $(printf 'x-access-token:%s' "$SEATRIAL_PUSH_TOKEN" | base64 -w0)"
    export GIT_CONFIG_VALUE_0
fi
unset SEATRIAL_PUSH_TOKEN

GITHUB_TOKEN="$SEATRIAL_TOKEN" seatrial release "$run" "--arm=$SEATRIAL_ARM" "--approved-in=$SEATRIAL_ENVIRONMENT" \
    --commit=HEAD --push "--message=$SEATRIAL_MESSAGE" "--override=$SEATRIAL_OVERRIDE" 2>&1 | tee "$work/said"
code=${PIPESTATUS[0]}
{
    printf '### Seatrial: %s\n\n```text\n' "$(test "$code" -eq 0 && echo released || echo not released)"
    sed 's/```/` ` `/g' "$work/said"
    printf '```\n'
} >> "$summary"
test "$code" -eq 0 || tell error "Seatrial: not released, seatrial release ended with exit code $code"
leave "$code"
