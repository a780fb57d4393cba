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
# Who does not know its name finds it by any directory that it was in.
for directory in d/e d .; do
    (cd "$beta" && ctl beta --json history "$directory") >"$world/history"
    grep -q '"path":"d/e/g","exists":false' "$world/history" || fail "$directory does not tell of the file: $(cat "$world/history")"
done
(cd "$beta" && ctl beta history .) >"$world/history"
grep -q "^deleted .* d/e/g$" "$world/history" || fail "people are not told of the file: $(cat "$world/history")"
grep -q "^there .* f$" "$world/history" || fail "people are not told of what is there: $(cat "$world/history")"
# Also where a file had the name of the directory.
for text in one two; do
    echo "$text" >"$alpha/was"
    settle
done
rm "$alpha/was"
settle
mkdir "$alpha/was"
for text in three four; do
    echo "$text" >"$alpha/was/in"
    settle
done
ctl beta --json history "$beta/was" >"$world/history"
grep -q '"path":"was/in","exists":true' "$world/history" && grep -q '"path":"was","exists":true' "$world/history" ||
    fail "what is in the directory, or was the file, is not told: $(cat "$world/history")"
for text in one two; do
    grep -q "\"sha256\":\"$(echo "$text" | sha256sum | cut -d ' ' -f 1)\"[^}]*\"path\":\"was\"," "$world/history" ||
        fail "the digest of what had the name of the directory is not told: $(cat "$world/history")"
done
ended=0
ctl beta restore "$beta/d" >"$world/restored" 2>&1 || ended=$?
[ "$ended" -eq 1 ] && grep -q "of a file below it there are some" "$world/restored" ||
    fail "nobody is told of what is in the directory ($ended): $(cat "$world/restored")"
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
# A version whose bytes somebody has removed cannot come back, and that is what is said; the file stays.
find "$beta/.syncd/versions" -type f -delete
ended=0
ctl beta --json restore "$beta/f" >"$world/refused" || ended=$?
[ "$ended" -eq 1 ] && grep -q '"code":"request.not-found".* are not in .syncd on this node any more' "$world/refused" ||
    fail "why nothing comes back is not said ($ended): $(cat "$world/refused")"
[ "$(cat "$beta/f")" = first ] || fail "a restore of nothing has changed the file"
# Nor can anything come back to a folder that is away.
mv "$beta" "$world/away"
soon "beta does not see that its folder is away" warns_of beta root.missing
ended=0
ctl beta --json restore "$beta/f" >"$world/refused" || ended=$?
[ "$ended" -eq 1 ] && grep -q '"code":"root.missing"' "$world/refused" ||
    fail "why nothing comes back to a folder that is away is not said ($ended): $(cat "$world/refused")"
mv "$world/away" "$beta"
soon "beta does not see that its folder is back" warns_no_more_of beta root.missing
settle
