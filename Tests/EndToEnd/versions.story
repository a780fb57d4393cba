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
# What was brought back stays in history, under its number, whatever becomes of what it was brought back to.
first=$(sed 's/.*"versions":\[{"id":"\([^"]*\)".*/\1/' "$world/history")
for _ in 1 2; do
    ctl beta restore "$beta/f" --version "$first" >"$world/restored" 2>&1 || fail "$(cat "$world/restored")"
    [ "$(cat "$beta/f")" = first ] || fail "version $first is another now"
done
ctl beta restore "$beta/f" --version "$first" --to "$beta/look" >"$world/restored" 2>&1 || fail "$(cat "$world/restored")"
[ "$(cat "$beta/look")" = first ] || fail "version $first did not come under another name"
rm "$beta/look"
settle
ctl beta --json history "$beta/f" >"$world/history"
[ "$(grep -o "\"id\":\"$first\",[^}]*\"sha256\":\"$(echo first | sha256sum | cut -d ' ' -f 1)\"" "$world/history" | wc -l)" -eq 1 ] ||
    fail "version $first is in history no more: $(cat "$world/history")"
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
# Where it has no place and never will have one, nobody is told to try again.
refused() {
    local ended=0
    ctl beta --json restore "$beta/f" --to "$beta/$1" >"$world/refused" || ended=$?
    [ "$ended" -eq 1 ] && grep -qF "$2" "$world/refused" || fail "restore to $1 ($ended): $(cat "$world/refused")"
}
refused new '"code":"request.refused","text":"\"new\" is a directory'
echo file >"$beta/file"
settle
refused file/below '"code":"request.refused","text":"\"file\" is no directory'
refused .syncd/versions/f '"code":"request.outside"'
[ "$(cat "$beta/file")" = file ] && [ -d "$beta/new" ] || fail "a refused restore has changed something"
# A list that was cut says where it goes on.
ctl beta --json history "$beta/f" --limit 1 >"$world/history"
grep -q '"next":"' "$world/history" || fail "nobody is told that there are more: $(cat "$world/history")"
