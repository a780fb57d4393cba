#!/usr/bin/env bash
# Two real daemons, driven from outside as an administrator would. Each file *.story in this folder is one story: its first
# comment line is its name. Usage: run.sh PROGRAMS [STORY...]; the last line counts what passed.
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

# One story in a shell of its own, so that whatever it leaves behind ends with it.
tell() (
    # shellcheck source=Tests/EndToEnd/world.sh
    source ./world.sh
    world=
    trap 'if [ -n "$world" ]; then end_world; fi' EXIT
    # shellcheck disable=SC1090
    source "./$1"
)

for story in "${stories[@]}"; do
    status=0
    tell "$story" || status=$?
    name=$(sed -n '1s/^# //p' "$story")
    case $status in
        0) passed=$((passed + 1)); echo "ok: $name" ;;
        77) skipped=$((skipped + 1)); echo "skipped: $name" ;;
        *) failed=$((failed + 1)); echo "FAILED: $name ($story)" ;;
    esac
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
