#!/usr/bin/env bash
# Two machines with the package installed, driven by one script. Each file *.story in this folder is one story, its first comment
# line its name; what a story may say is in the file of the tier. Usage: run.sh [--tier light|container|vm] [--require] PACKAGE [STORY...]
# Exit: 0 all ran and passed, or were skipped with a reason; 1 something failed; 3 the rig is broken, so nothing it says counts. With
# --require a skip is a failure. The last line counts what passed.
set -uo pipefail
tier=light required=
while [[ ${1:-} = --* ]]; do
    case $1 in
        --tier) tier=${2:?}; shift ;;
        --require) required=yes ;;
        *) echo "There is no option $1." >&2; exit 64 ;;
    esac
    shift
done
package=$(realpath "${1:?say which package: make deb makes one}") || exit 1
shift
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
if [ ! -f "$tier.sh" ]; then
    echo "There is no tier $tier: light, container and vm are built." >&2
    exit 64
fi
# What is mounted here is seen by nobody else, and gone with this process.
if [ "$(id -u)" -eq 0 ] && [ -z "${RIG_IS_APART:-}" ]; then
    RIG_IS_APART=yes exec unshare --mount --propagation private "$BASH" ./run.sh --tier "$tier" ${required:+--require} "$package" "$@"
fi
stories=("$@")
if [ "${#stories[@]}" -eq 0 ]; then stories=(*.story); fi
passed=0 failed=0 skipped=0 broken=0
export package
for story in "${stories[@]}"; do
    name=$(sed -n '1s/^# //p' "$story")
    began=${EPOCHREALTIME/[.,]/} status=0
    (
        # shellcheck source=Tests/Rig/light.sh
        source "./$tier.sh"
        world=
        trap 'if [ -n "$world" ]; then end_world; fi' EXIT
        begin_world
        # shellcheck disable=SC1090
        source "./$story"
    ) </dev/null || status=$?
    took=$(((${EPOCHREALTIME/[.,]/} - began) / 100000))
    took=$((took / 10)).$((took % 10))
    case $status in
        0) passed=$((passed + 1)); echo "ok: $name ($tier, $took s)" ;;
        77) skipped=$((skipped + 1)); echo "skipped: $name ($tier)" ;;
        3) broken=1 failed=$((failed + 1)); echo "BROKEN RIG: $name ($story, $tier, $took s)" ;;
        *) failed=$((failed + 1)); echo "FAILED: $name ($story, $tier, $took s)" ;;
    esac
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
if [ "$broken" -ne 0 ]; then exit 3; fi
if [ -n "$required" ] && [ "$skipped" -ne 0 ]; then exit 1; fi
[ "$failed" -eq 0 ]
