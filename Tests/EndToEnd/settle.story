# conflicts are taken, discarded and restored by command, and nothing of them is lost
paired_world
for name in taken kept; do echo base >"$alpha/$name"; done
settle
down beta
begin_log alpha
for name in taken kept; do echo "$name at alpha" >"$alpha/$name"; done
soon "alpha does not date its edits before beta does anything" logs alpha taken kept
for name in taken kept; do echo "$name at beta" >"$beta/$name"; done
up beta
settle

# id NAME [--all]: of the conflict about a file, as alpha tells it.
id() {
    ctl alpha --json conflicts ${2:-} | sed -E 's/\{"id":"c/\n&/g' | sed -nE "s/^\{\"id\":\"(c[0-9a-f]+)\",.*\"path\":\"$1\",\"subject\".*/\1/p"
}
taken=$(id taken)
kept=$(id kept)
[ -n "$taken" ] && [ -n "$kept" ] || fail "two conflicts are not listed: $(ctl alpha --json conflicts)"
# The alert about it has another ID: it does for the conflict as well, and says what that one is called.
alert=$(ctl alpha --json alerts | sed -E 's/\{"id":"a/\n&/g' | sed -nE "s/^\{\"id\":\"(a[0-9a-f]+)\",.*\"conflict\":\"$taken\".*/\1/p")
[ -n "$alert" ] || fail "no alert names the conflict: $(ctl alpha --json alerts)"
tells alpha "{\"id\":\"$taken\"," conflicts show "$alert" || fail "the ID of the alert is not understood: $(cat "$world/told")"
tells alpha "syncctl conflicts take $taken VERSION" alerts show "$alert" || fail "the alert does not say what to type: $(cat "$world/told")"
tells alpha '"subject":"taken.conflict-alpha-' explain "$taken" || fail "the conflict is not explained: $(cat "$world/told")"
status=0
ctl alpha conflicts take "$taken" nonsense >"$world/out" 2>&1 || status=$?
[ "$status" -eq 1 ] || fail "a version that does not exist gives $status: $(cat "$world/out")"
# While a program holds the file it is not taken, with the reason, and the conflict stays open.
ctl alpha lock "$alpha/taken" --mode local >"$world/out" || fail "no lock: $(cat "$world/out")"
status=0
ctl alpha conflicts take "$taken" copy >"$world/out" 2>&1 || status=$?
[ "$status" -eq 1 ] && grep -q "has a lock on this file" "$world/out" || fail "a held file was taken ($status): $(cat "$world/out")"
[ "$(cat "$alpha/taken")" = "taken at beta" ] || fail "a held file was changed"
is_open() { [ "$(id taken)" = "$taken" ]; }
soon "the conflict is gone" is_open
ctl alpha unlock >"$world/out" || fail "unlock: $(cat "$world/out")"
settle
ctl alpha conflicts take "$taken" copy >"$world/out" 2>&1 || fail "take was refused: $(cat "$world/out")"
ctl alpha conflicts discard "$kept" >"$world/out" 2>&1 || fail "discard was refused: $(cat "$world/out")"
settle
for folder in "$alpha" "$beta"; do
    [ "$(cat "$folder/taken")" = "taken at alpha" ] || fail "the copy was not taken in $folder"
    [ "$(cat "$folder/kept")" = "kept at beta" ] || fail "the file changed that was to stay"
    [ -z "$(find "$folder" -name '*.conflict-*' -not -path '*/.syncd/*')" ] || fail "copies are left in $folder"
done
kept_somewhere "$(echo "taken at beta" | sha256sum | cut -d ' ' -f 1)" "what had the name"
kept_somewhere "$(echo "kept at alpha" | sha256sum | cut -d ' ' -f 1)" "what was discarded"
tells alpha '"conflicts":[]' conflicts || fail "conflicts are still open: $(ctl alpha --json conflicts)"
tells alpha '"open":false,"taken":true' conflicts show "$taken" || fail "nobody is told that it was taken: $(cat "$world/told")"
tells alpha '"open":false,"versions"' conflicts show "$kept" || fail "what was discarded counts as taken: $(cat "$world/told")"
[ "$(id kept --all)" = "$kept" ] || fail "the settled conflict is not listed: $(ctl alpha --json conflicts --all)"
tells alpha '"node":"beta"' history "$alpha/taken" || fail "what had the name is not in the history"
# What was taken stands there: there is nothing to bring back but what it has replaced, and that is a version of the path.
status=0
ctl alpha conflicts restore "$taken" >"$world/out" 2>&1 || status=$?
[ "$status" -eq 1 ] && grep -q "not discarded but taken" "$world/out" || fail "what was taken comes back ($status): $(cat "$world/out")"
[ -z "$(find "$alpha" -name '*.conflict-*' -not -path '*/.syncd/*')" ] || fail "what was taken is there twice"
ctl alpha conflicts show "$taken" >"$world/out" 2>&1
grep -q "syncctl .*history PATH" "$world/out" || fail "nobody is told where the other version is: $(cat "$world/out")"
ctl alpha restore "$alpha/taken" >"$world/out" 2>&1 || fail "restore was refused: $(cat "$world/out")"
settle
[ "$(cat "$beta/taken")" = "taken at beta" ] || fail "what had the name did not come back: $(cat "$beta/taken")"
ctl alpha status >"$world/status" || fail "status is not 0 after all is settled: $(cat "$world/status")"
ctl alpha conflicts restore "$kept" >"$world/out" 2>&1 || fail "restore was refused: $(cat "$world/out")"
settle
[ "$(cat "$beta"/kept.conflict-alpha-*)" = "kept at alpha" ] || fail "the copy did not come back to both"
[ "$(id kept)" = "$kept" ] || fail "the conflict is not open again"
