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
