# an overwritten and a deleted file can be brought back from history
paired_world
echo first >"$alpha/f"
settle
echo second >"$alpha/f"
settle
ctl beta --json history "$beta/f" >"$world/history"
grep -q '"versions":\[{' "$world/history" || fail "beta keeps no version: $(cat "$world/history")"
grep -q "\"sha256\":\"$(echo first | sha256sum | cut -d ' ' -f 1)\"" "$world/history" ||
    fail "the digest is not that of the bytes: $(cat "$world/history")"
ctl beta restore "$beta/f" >"$world/restored" 2>&1 || fail "$(cat "$world/restored")"
settle
[ "$(cat "$alpha/f")" = first ] || fail "the old version did not come back"
# What was deleted with its directory comes back with it.
mkdir -p "$alpha/d/e"
echo kept >"$alpha/d/e/g"
settle
rm -r "$alpha/d"
settle
ctl alpha history "$alpha/d/e/g" >"$world/history"
grep -q "syncctl history there too" "$world/history" || fail "nobody is told where to look: $(cat "$world/history")"
ctl beta restore "$beta/d/e/g" >"$world/restored" 2>&1 || fail "$(cat "$world/restored")"
settle
[ "$(cat "$alpha/d/e/g")" = kept ] || fail "the file did not come back with its directories"
ctl beta restore "$beta/f" --to "$beta/new/of f" >"$world/restored" 2>&1 || fail "$(cat "$world/restored")"
settle
[ -f "$alpha/new/of f" ] || fail "the version did not come to a new directory"
