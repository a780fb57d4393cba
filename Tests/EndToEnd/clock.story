# a clock that is set back an hour while the daemon runs is told of, loses nothing and brings nothing back
library=${FAKETIME_LIBRARY:-$(find /usr/lib /usr/local/lib -name libfaketimeMT.so.1 2>/dev/null | head -n 1)}
[ -e "$library" ] || skip "there is no libfaketime on this machine"
[ -z "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ] || skip "a sanitizer and libfaketime want to replace the same functions"
new_world
# What beta's clock shows is in a file that is read each time.
set_clock() { echo "$1" >"$world/clock.new" && mv "$world/clock.new" "$world/clock"; }
set_clock +0
# The second env is there because Swift finds no arguments in a process whose environment a library has just changed.
# shellcheck disable=SC2034
through_beta=(env "LD_PRELOAD=$library" "FAKETIME_TIMESTAMP_FILE=$world/clock" FAKETIME_NO_CACHE=1
    FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1 env)
up alpha
up beta
pair
echo base | tee "$alpha/both" "$alpha/edited" "$alpha/deleted" >"$alpha/kept"
settle
set_clock -1h
# The peer's clock is compared when the nodes meet.
down alpha
up alpha
soon "nobody says that the clocks differ" warns_of alpha clock.skew
tells alpha 'The clock of alpha is 60 min ahead of that of beta.' alerts || fail "nobody says which of them is ahead: $(cat "$world/told")"
echo "edited by beta" >"$beta/edited"
settle
[ "$(cat "$alpha/edited")" = "edited by beta" ] || fail "an edit under the slow clock is taken for an old one"
rm "$beta/deleted"
settle
[ ! -e "$alpha/deleted" ] || fail "what was deleted under the slow clock is back"
down beta
begin_log alpha
echo "alpha's" >"$alpha/both"
soon "alpha does not date its edit before beta does anything" logs alpha both
echo "beta's" >"$beta/both"
up beta
settle
[ "$(cat "$alpha"/both* | sort)" = $'alpha\'s\nbeta\'s' ] || fail "one of two edits is lost: $(cat "$alpha"/both*)"
set_clock +0
soon "the clocks are said to differ after they agree again" warns_no_more_of alpha clock.skew
echo "edited by alpha" >"$alpha/edited"
settle
[ "$(cat "$beta/edited")" = "edited by alpha" ] || fail "an edit after the slow clock is taken for an old one"
