# a file in a newer format is never overwritten by a node that does not understand it; both say so, until that node is upgraded
install_on alpha
install_on beta
# supports NODE VERSION: what the application on it understands, at most.
supports() {
    printf '{ "model": "org.example.app", "formats": [
  { "name": "project", "files": "*.proj.json", "version": {"json": "/version"}, "supports": [1, %d] },
  { "name": "notes", "files": "*.note", "version": {"regex": "^%%NOTE-([0-9]+)"}, "supports": [1, %d] } ] }\n' "$2" "$2" >"$world/model"
    put "$1" "$world/model" /etc/syncd/models.d/app.json
}
supports alpha 2
supports beta 1
pair
# saves NODE VERSION TEXT: a program of that version.
saves() { user "$1" "printf '{\"version\": %d, \"text\": \"%s\"}\n' $2 '$3' >plan.proj.json && printf '%%NOTE-%d\n%s\n' $2 '$3' >memo.note"; }
newer() { on "$1" syncctl --json alerts | grep -o '"code":"format.newer"' | wc -l; }
has_newer() { [ "$(newer "$1")" = "$2" ]; }
holds() { [ "$(on "$1" syncctl --json conflicts | grep -o '"kind":"downgrade"' | wc -l)" = "$2" ]; }
text() { on "$1" bash -c 'cd /srv/shared && cat plan.proj.json memo.note'; }
saves alpha 1 first
settle
has_newer alpha 0 && has_newer beta 0 || fail "somebody is warned of a format that both understand"
saves alpha 2 second
settle
for node in alpha beta; do soon "$node is not warned of two files" has_newer "$node" 2; done
second=$(text alpha)
# The old program writes over them: here, and while the other node is away.
saves beta 1 blind
for node in alpha beta; do soon "$node does not hold the blind saves" holds "$node" 2; done
settle
[ "$(text alpha)" = "$second" ] && [ "$(text beta)" = "$second" ] || fail "the newer content is gone: $(text beta)"
for file in plan memo; do on beta bash -c "grep -q blind /srv/shared/$file*.conflict-beta-*" || fail "what was saved blindly in $file is gone"; done
cut
for node in alpha beta; do soon "$node does not notice" unlinked "$node"; done
saves beta 1 alone
is_back() { [ "$(text beta)" = "$second" ]; }
soon "without the other node the newer content does not come back" is_back
heal
settle
[ "$(text alpha)" = "$second" ] || fail "the newer content is gone: $(text alpha)"
supports beta 2
halt beta
boot beta
for node in alpha beta; do soon "$node is still warned" has_newer "$node" 0; done
saves beta 2 third
settle
on alpha grep -q third /srv/shared/memo.note || fail "the upgraded program's save does not arrive"
