# the downgrade story (row D13, VM-1): a newer format is never overwritten by who does not understand it, and both nodes say so
new_world
supports() {
    mkdir -p "$world/models-$1"
    cat >"$world/models-$1/project.json" <<EOF
{ "model": "org.example.app", "formats": [
  { "name": "project", "files": "*.proj.json", "version": {"json": "/version"}, "supports": [1, $2] },
  { "name": "catalog", "files": "*.db", "version": {"sqlite": "user_version"}, "supports": [1, $2] },
  { "name": "container", "files": "*.box", "version": {"bytes": {"offset": 8, "length": 4, "endian": "big"}}, "supports": [1, $2] },
  { "name": "notes", "files": "*.note", "version": {"regex": "^%NOTE-([0-9]+)"}, "supports": [1, $2] } ] }
EOF
    sed -i "s|^;* *models = .*|models = $world/models-$1|" "$world/$1/syncd.conf"
}
supports alpha 2
supports beta 1
up alpha
up beta
# Without a peer nothing could be put back.
printf '%%NOTE-2\n' >"$alpha/alone.note"
known() { ctl alpha --json explain alone.note | grep -q 'its header here: version'; }
soon "the first state is not taken in" known
printf '%%NOTE-1\n' >"$alpha/alone.note"
none_waits() { tells alpha '"pending":[]' status; }
sleep 0.5
soon "an older save waits although there is no other node" none_waits
rm "$alpha/alone.note"
pair
settle

# write FOLDER VERSION TEXT: one file of each kind, as a program of that version saves it.
write() {
    printf '{"version": %s, "text": "%s"}\n' "$2" "$3" >"$1/plan.proj.json"
    { printf 'SQLite format 3\0'; head -c 44 /dev/zero; printf '\0\0\0%b' "\\x0$2"; head -c 36 /dev/zero; printf '%s' "$3"; } \
        >"$1/list.db"
    { printf 'CONTAIN:'; printf '\0\0\0%b' "\\x0$2"; printf '%s' "$3"; } >"$1/case.box"
    printf '%%NOTE-%s\n%s\n' "$2" "$3" >"$1/memo.note"
}
files="plan.proj.json list.db case.box memo.note"
stamp() { (cd "$1" && stat -c '%n %i %Y %.9Y' $files && sha256sum $files); }
warnings() { ctl "$1" --json alerts | grep -o '"code":"format.newer"' | wc -l; }
has_warnings() { [ "$(warnings "$1")" = "$2" ]; }
held() { ctl "$1" --json conflicts | grep -o '"kind":"downgrade"' | wc -l; }
holds() { [ "$(held "$1")" = "$2" ]; }

# 1: both have version 1.
write "$alpha" 1 first
settle
has_warnings alpha 0 && has_warnings beta 0 || fail "somebody is warned of a format that both understand"
for file in $files; do
    ctl beta --json doc check "$beta/$file" >"$world/checked" || fail "$file does not load: $(cat "$world/checked")"
done

# 2 and 3: alpha's program is upgraded, and rewrites the files as version 2.
write "$alpha" 2 second
settle
soon "beta is not warned of four files" has_warnings beta 4
soon "alpha is not warned of what beta does not understand" has_warnings alpha 4
ctl alpha --json alerts | grep -q '"found":2,"supported":\[1,1\]' || fail "no versions are named: $(ctl alpha --json alerts)"
id=$(ctl alpha --json alerts | grep -o '"id":"a[0-9a-f]*"' | head -1 | cut -d'"' -f4)
ctl alpha alerts show "$id" | tr '\n' ' ' | grep -q "beta understands version 1" || fail "alpha's alert does not say who lags behind"
tells beta '"outcome":"newerVersion"' doc check "$beta/plan.proj.json" || fail "doc check does not see it: $(cat "$world/told")"
stamp "$beta" >"$world/second"

# 4: beta's program, still of version 1, opens them: nothing of them changes.
sleep 1
stamp "$beta" | diff "$world/second" - || fail "the newer files were touched"

# 5: it writes over them blindly.
write "$alpha" 2 "second again"
settle
sums() { (cd "$1" && sha256sum $files); }
sums "$alpha" >"$world/newest"
write "$beta" 1 blind
soon "the blind writes are not held" holds beta 4
settle
sums "$alpha" | diff "$world/newest" - || fail "alpha lost the newer content"
sums "$beta" | diff "$world/newest" - || fail "the newer content did not come back on beta"
soon "alpha does not know of the downgrades" holds alpha 4
warns_of alpha format.downgrade-held && warns_of beta format.downgrade-held || fail "an alert is missing"
for node in alpha beta; do
    for old in $(find "$world/$node/folder" -name '*.conflict-beta-*'); do
        grep -qa blind "$old" || fail "$old does not hold what the old program wrote"
    done
done

# The same by a program that deletes and makes anew, and by one that renames over.
for id in $(ctl beta --json conflicts | grep -o '"id":"c[0-9a-f]*"' | cut -d'"' -f4); do
    ctl beta conflicts discard "$id" >/dev/null || fail "a copy cannot be discarded"
done
settle
rm "$beta/plan.proj.json"
printf '{"version": 1, "text": "anew"}\n' >"$beta/plan.proj.json"
printf '%%NOTE-1\nrenamed\n' >"$beta/.memo.tmp"
mv "$beta/.memo.tmp" "$beta/memo.note"
soon "writes in two other ways are not held" holds beta 2
settle
sums "$beta" | diff "$world/newest" - || fail "the newer content did not come back a second time"

# And by one that writes while the other node is away: what is put back comes from here.
down alpha
printf '%%NOTE-1\nalone\n' >"$beta/memo.note"
alone() { sums "$beta" | diff "$world/newest" - >/dev/null; }
soon "without the other node the newer content does not come back" alone
up alpha
settle
sums "$alpha" | diff "$world/newest" - || fail "alpha lost the newer content after it was away"

# Empty and broken files never replace a healthy one.
: >"$beta/memo.note"
printf '{"version": 2, ' >"$beta/plan.proj.json"
soon "broken files are not put right" alone
settle
sums "$alpha" | diff "$world/newest" - || fail "a broken file came to alpha"

# Who insists may: conflicts take.
id=$(ctl beta --json conflicts | grep -o '"id":"c[0-9a-f]*","code":"[a-z.-]*","kind":"downgrade","path":"memo.note"' | head -1 | cut -d'"' -f4)
[ -n "$id" ] || fail "there is no downgrade to insist on: $(ctl beta --json conflicts)"
ctl beta conflicts take "$id" copy >/dev/null || fail "taking the copy is refused"
insisted() { grep -q '^%NOTE-1' "$alpha/memo.note" && grep -q '^%NOTE-1' "$beta/memo.note"; }
soon "who insists is not heard" insisted
settle

# 6: beta is upgraded, and the alerts go by themselves.
supports beta 2
down beta
up beta
soon "beta is still warned after the upgrade" has_warnings beta 0
soon "alpha is still warned after the upgrade of beta" has_warnings alpha 0
settle
