# records.md: the model of the design, letter by letter; two nodes that make one friend each while apart have one afterwards, by a name that no field lists
new_world
give_model schedules <<'END'
{ "model": "org.example.schedules", "version": 2, "reads": [1, 2],
  "root": "schedules",
  "versionAt": "/version",
  "entities": {
    "Note":          { "files": "notes/*.json", "id": "stem",
                       "fields": { "title": {"type": "string", "required": true}, "body": {"type": "string"} },
                       "relations": { "schedule": {"to": "ChildSchedule", "kind": "one", "required": true,
                                                    "inverse": "note", "onContest": "quarantine"} } },
    "ChildSchedule": { "files": "schedules/*.json", "id": "stem",
                       "relations": { "note": {"to": "Note", "kind": "one", "required": true, "inverse": "schedule"} } },
    "Settings":      { "files": "settings.json", "id": "singleton", "singleton": true },
    "Friend":        { "files": "*.friends.json", "at": "/friends", "id": "/id", "identity": ["name"] } } }
END
up alpha
up beta
pair
for node in alpha beta; do
    warns_of $node schema.invalid && fail "$node refuses the model of the design: $(tail -n 3 "$world/$node/log")"
done
mkdir -p "$alpha"/schedules/{notes,schedules}
echo '{"version": 2, "title": "plan", "schedule": "S1"}' >"$alpha/schedules/notes/N1.json"
echo '{"note": "N1"}' >"$alpha/schedules/schedules/S1.json"
echo '{"version": 1, "theme": "dark"}' >"$alpha/schedules/settings.json"
echo 'plain' >"$alpha/schedules/other.txt"
settle
tells beta '"path":"schedules/notes/N1.json","outcome":"success"' doc check schedules/notes/N1.json ||
    fail "doc check: $(cat "$world/told")"

# friend NODE ID MEMBER: the node has a file of friends with this one.
friend() {
    printf '{"version": 2, "friends": [{"id": "%s", "name": "Ann", %s}]}\n' "$2" "$3" \
        >"$world/$1/folder/schedules/$1.friends.json"
}
knows() { ctl "$1" explain "$2" >"$world/explained" 2>&1; }

ctl alpha pause >/dev/null
ctl beta pause >/dev/null
friend alpha f1 '"phone": "123"'
friend beta f2 '"mail": "ann@example.org"'
soon "alpha does not take its friend in" knows alpha Friend/f1
soon "beta does not take its friend in" knows beta Friend/f2
ctl alpha resume >/dev/null
ctl beta resume >/dev/null
settle
no_conflicts
cat "$alpha"/schedules/*.friends.json >"$world/friends"
[ "$(grep -o '"name"' "$world/friends" | wc -l)" -eq 1 ] || fail "there is not one friend: $(cat "$world/friends")"
for words in '"Ann"' '"123"' '"ann@example.org"'; do
    grep -q "$words" "$world/friends" || fail "the friend has lost $words: $(cat "$world/friends")"
done
for node in alpha beta; do
    knows $node Friend/f1 && knows $node Friend/f2 || fail "$node does not know both names: $(cat "$world/explained")"
done
# (Whose put is shown depends on who of the two saved later.)
knows alpha Friend/f1
grep -q 'alpha set [0-9]*: put Friend/f1 into the file "schedules/alpha.friends.json"' "$world/explained" ||
    fail "its file is not named: $(cat "$world/explained")"

# Either name is the one friend.
sed -i 's/"123"/"456"/' "$alpha"/schedules/*.friends.json
settle
grep -q '"456"' "$beta"/schedules/*.friends.json || fail "an edit of the one friend did not arrive"
