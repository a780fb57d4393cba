#!/usr/bin/env bash
# Two real daemons, driven from outside as an administrator would. Each file *.story in this folder is one story: its first
# comment line is its name. Usage: run.sh PROGRAMS [STORY...]; JOBS stories are told at a time, each in a world of its own.
# The last line counts what passed.
set -uo pipefail
programs=$(realpath "${1:?say where syncd and syncctl are}")
if [ ! -x "$programs/syncd" ] || [ ! -x "$programs/syncctl" ]; then
    echo "syncd and syncctl are not both in $programs" >&2
    exit 1
fi
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
shift
stories=("$@")
if [ "${#stories[@]}" -eq 0 ]; then stories=(*.story); fi
passed=0 failed=0 skipped=0
jobs=${JOBS:-3}
words=$(mktemp -d)
# Background jobs of a script do not hear Ctrl-C.
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$words"' EXIT
declare -A telling=()
# Each story has ports of its own, and two runs beside each other rarely the same.
ports=$((RANDOM % 400 * 50)) told=0

# One story, in the shell that was made for it: whatever it leaves behind ends with that.
tell() {
    # shellcheck source=Tests/EndToEnd/world.sh
    source ./world.sh
    # shellcheck source=Tests/EndToEnd/sandbox.sh
    if [ -n "${SANDBOX:-}" ]; then source ./sandbox.sh || exit 1; fi
    world=
    trap 'if [ -n "$world" ]; then end_world; fi' EXIT
    trap 'exit 1' TERM
    # shellcheck disable=SC1090
    source "./$1"
}

# hear: waits for the end of one story, and says how it ended.
hear() {
    local pid story name status=0
    wait -n -p pid || status=$?
    story=${telling[$pid]}
    unset "telling[$pid]"
    cat "$words/$story" >&2
    name=$(sed -n '1s/^# //p' "$story")
    case $status in
        0) passed=$((passed + 1)); echo "ok: $name" ;;
        77) skipped=$((skipped + 1)); echo "skipped: $name" ;;
        *) failed=$((failed + 1)); echo "FAILED: $name ($story)" ;;
    esac
}

for story in "${stories[@]}"; do
    if [ "${#telling[@]}" -ge "$jobs" ]; then hear; fi
    export ports_from=$((10000 + (ports + told * 50) % 20000))
    told=$((told + 1))
    tell "$story" </dev/null >"$words/${story##*/}" 2>&1 &
    telling[$!]=${story##*/}
done
while [ "${#telling[@]}" -gt 0 ]; do hear; done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$((passed + skipped))" -eq "${#stories[@]}" ]
