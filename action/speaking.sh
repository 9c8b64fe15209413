# What the scripts of the actions have in common; they source it.
#
# From here on nothing that is printed is taken for a command of the runner, but for what `tell` says: agents, documents and
# git decide what much of it says.

output="$GITHUB_OUTPUT"
summary="$GITHUB_STEP_SUMMARY"
work="$(mktemp -d "$RUNNER_TEMP/seatrial-XXXXXXXX")" || exit 4
python="${SEATRIAL_PYTHON:-$RUNNER_TEMP/seatrial-venv/bin/python}"

commands=()
for name in GITHUB_ENV GITHUB_PATH GITHUB_STATE; do
    test -n "${!name:-}" && commands+=("${!name}")
done

# Through these the agent under test could speak to the runner or to the forge.
unset GITHUB_OUTPUT GITHUB_STEP_SUMMARY GITHUB_ENV GITHUB_PATH GITHUB_STATE GITHUB_TOKEN GH_TOKEN
for name in "${!ACTIONS_@}"; do unset "$name"; done

# -I: neither the checked-out folder nor PYTHONPATH may put a module in front of Seatrial's own.
seatrial() { "$python" -I -m seatrial "$@"; }

random() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

said=""
put_output() { # name value; written when the step ends, so that nobody else says any
    local end
    end="end-$(random)"
    said+="$1<<$end"$'\n'"$2"$'\n'"$end"$'\n'
}

emptied() { # files of the runner's, whatever somebody who ran here as the same user put there
    local file
    for file in "$@"; do
        rm -rf -- "$file" && : > "$file"
    done
}

silence="$(random)"
printf '::stop-commands::%s\n' "$silence"
escaped() { # the data of a command: the runner reads %25, %0D and %0A as what they stand for
    local text="${1//%/%25}"
    text="${text//$'\r'/%0D}"
    printf '%s' "${text//$'\n'/%0A}"
}

order() { # command, data
    printf '::%s::\n::%s::%s\n::stop-commands::%s\n' "$silence" "$1" "$(escaped "$2")" "$silence"
}

tell() { # level message
    order "$1" "${2//[$'\n\r']/ }"
}

leave() { # exit code
    emptied "${commands[@]}" "$output"
    printf '%s' "$said" > "$output"
    printf '::%s::\n' "$silence"
    exit "$1"
}

report_on() { # run, and what it is held against: the report in all its forms; `written` are those there are
    local name
    written=()
    if seatrial report "$@" "--site=$work/report" "--summary=$work/summary.md" "--junit=$work/junit.xml" \
        "--sarif=$work/results.sarif" "--single=$work/report.html" "--annotations=$work/annotations"; then
        for name in report report.html junit.xml results.sarif summary.md annotations; do
            test -e "$work/$name" && written+=("$work/$name")
        done
    else
        tell warning "Seatrial: the report could not be built; the ruling stands"
        for name in report report.html junit.xml results.sarif summary.md annotations; do
            rm -rf -- "${work:?}/$name"
        done
    fi
}

put_report() { # the forms of the report as outputs, empty where there are none, and what it annotates
    local name
    for name in report:report page:report.html junit:junit.xml sarif:results.sarif; do
        if test -e "$work/${name#*:}"; then
            put_output "${name%:*}" "$work/${name#*:}"
        else
            put_output "${name%:*}" ""
        fi
    done
    # Commands that `seatrial report` wrote and escaped; no other kind of command is passed on.
    if test -f "$work/annotations"; then
        printf '::%s::\n' "$silence"
        grep -E '^::(error|warning|notice) ' -- "$work/annotations"
        printf '::stop-commands::%s\n' "$silence"
    fi
}

show_summary() { # ruling; the page drops a summary beyond 1 MiB whole
    if test -f "$work/summary.md" && test "$(wc -c < "$work/summary.md")" -le 900000; then
        cat "$work/summary.md" >> "$summary"
    else
        printf '### Seatrial: %s\n\nThe summary is missing or too long for this page; see the report.\n' \
            "$1" >> "$summary"
    fi
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
