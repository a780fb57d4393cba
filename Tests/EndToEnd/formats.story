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
known() { ctl alpha --json explain alone.note | finds 'its header here: version'; }
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

# 2 and 3: alpha's program is upgraded, and rewrites the files as version 2. Both are warned; within a second, says .ci/bench-formats.
write "$alpha" 2 second
both_warned() { has_warnings beta 4 && has_warnings alpha 4; }
soon "not both are warned of four files" both_warned
settle
both_warned || fail "the warnings do not stay"
ctl alpha --json alerts | finds '"found":2,"supported":\[1,1\]' || fail "no versions are named: $(ctl alpha --json alerts)"
id=$(ctl alpha --json alerts | grep -o '"id":"a[0-9a-f]*"' | head -1 | cut -d'"' -f4)
ctl alpha alerts show "$id" | tr '\n' ' ' | finds "beta understands version 1" || fail "alpha's alert does not say who lags behind"
ctl alpha explain "$id" | tr '\n' ' ' >"$world/explained"
grep -q "beta understands version 1" "$world/explained" || fail "nor does its explanation: $(cat "$world/explained")"
grep -q "Upgrade the program and its format rules on beta" "$world/explained" || fail "it blames another: $(cat "$world/explained")"
for node in alpha beta; do
    grep -q 'format.newer "plan.proj.json": .*beta understands version 1.*Upgrade the program and its format rules on beta' \
        "$world/$node/log" || fail "$node's journal does not say who lags behind: $(grep format.newer "$world/$node/log")"
done
tells beta 'beta understands version 1' explain plan.proj.json || fail "why beta's file is held is not explained: $(cat "$world/told")"
tells beta 'its header here: version 2' explain plan.proj.json || fail "nor what was found: $(cat "$world/told")"
# Who has seen it is not asked again, also after a restart.
ctl beta --json alerts | grep -o '"id":"a[0-9a-f]*","code":"format.newer"' | cut -d'"' -f4 >"$world/ids"
while read -r one; do ctl beta alerts ack "$one" >/dev/null || fail "an alert cannot be acknowledged"; done <"$world/ids"
acknowledged() { ctl beta status >/dev/null; }
soon "beta still asks for attention" acknowledged
down beta
up beta
settle
soon "beta asks for attention again after a restart" acknowledged
[ "$(ctl beta --json alerts | grep -o '"state":"acknowledged"' | wc -l)" = 4 ] || fail "they are hidden: $(ctl beta --json alerts)"
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
downgrade() {
    tells "$1" '"subject":"memo.note"' alerts &&
        grep -q '"code":"format.downgrade-held"[^}]*"subject":"memo.note"[^}]*"found":1,"kept":2,"writer":"beta"' "$world/told"
}
downgrade alpha && downgrade beta || fail "what was written over what, and by whom, is not told: $(cat "$world/told")"
copy=$(cd "$beta" && ls memo.conflict-beta-*)
take=$(ctl beta --json alerts | grep -o '"code":"format.downgrade-held"[^}]*"subject":"memo.note"[^}]*' |
    grep -o 'conflicts take c[0-9a-f]* copy' | cut -d' ' -f3)
ctl beta --json conflicts | grep -o '"id":"[^"]*","code":"[a-z.-]*","kind":"downgrade","path":"memo.note"' |
    grep -qF "\"$take\"" || fail "the cure does not name the conflict: \"$take\""
tells alpha 'a copy of \"memo.note\": the version of beta lost because it is older in its format' explain "$copy" ||
    fail "why the copy has lost is not explained: $(cat "$world/told")"
for node in alpha beta; do
    for old in $(find "$world/$node/folder" -name '*.conflict-beta-*'); do
        grep -qa blind "$old" || fail "$old does not hold what the old program wrote"
    done
done

[ "$(ctl beta --json alerts | grep -o '"code":"format.newer"[^}]*"state":"acknowledged"' | wc -l)" = 4 ] ||
    fail "who has seen that the files are newer is told again because of the blind writes: $(ctl beta --json alerts)"

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
# What was acknowledged is told again when there is more of it, as one alert.
one() { ctl beta --json alerts | grep -o '"id":"a[0-9a-f]*","code":"format.downgrade-held"[^}]*"subject":"memo.note"[^}]*"state":"[a-z]*"'; }
ctl beta alerts ack "$(one | cut -d'"' -f4)" >/dev/null || fail "the downgrade cannot be acknowledged: $(one)"
one | finds '"state":"acknowledged"' || fail "it is not acknowledged: $(one)"
told=$(grep -c 'format.downgrade-held "memo.note": ' "$world/beta/log")
sleep 1
printf '%%NOTE-1\nonce more\n' >"$beta/memo.note"
has_grown() { one | finds '"state":"open"'; }
soon "nobody is told that there is more of what was acknowledged" has_grown
[ "$(one | wc -l)" = 1 ] || fail "there is more than one alert: $(one)"
[ "$(grep -c 'format.downgrade-held "memo.note": ' "$world/beta/log")" = $((told + 1)) ] || fail "the journal does not say so once"
grep -q 'format.downgrade-held "memo.note": There is more of it .*as 2 conflict copies' "$world/beta/log" || fail "nor how many there are"
settle
sums "$beta" | diff "$world/newest" - || fail "the newer content did not come back a third time"
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

# Rules of a later syncd: what they name is guarded as what nobody here understands, and people are told which syncd they are for.
cat >"$world/models-beta/later.json" <<END
{ "model": "org.example.later", "rules": 2, "formats": [
  { "name": "sheet", "files": "*.sheet", "version": {"xml": "/sheet/@version"}, "supports": [1, 1] } ] }
END
down beta
up beta
soon "nobody is told that the rules are for a later syncd" warns_of beta schema.newer
tells beta 'these are rules of version 2, and version 1 is known' alerts || fail "nor what is not known: $(cat "$world/told")"
echo something >"$alpha/a.sheet"
settle
soon "what rules of a later syncd name is not guarded" warns_of beta format.unknown
tells beta '"found":"what a format rule of a later syncd looks for","supported":[1,1]' alerts || fail "nor what was found: $(cat "$world/told")"
tells beta '"outcome":"unknownVersion"' doc check "$beta/a.sheet" || fail "doc check sees something else: $(cat "$world/told")"
rm "$world/models-beta/later.json"
down beta
up beta
soon "beta is still warned of rules that are gone" warns_no_more_of beta schema.newer
soon "and of a file that nobody guards any more" warns_no_more_of beta format.unknown
