# a rule on one node only: the newer version wins there and on the other as well, whatever the clocks say, and who insists on the older one gets it
new_world
mkdir -p "$world/models"
cat >"$world/models/notes.json" <<'EOF'
{ "model": "org.example.app", "formats": [
  { "name": "notes", "files": "*.note", "version": {"regex": "^%NOTE-([0-9]+)"}, "supports": [1, 1] } ] }
EOF
sed -i "s|^;* *models = .*|models = $world/models|" "$world/alpha/syncd.conf"
up alpha
up beta
pair
printf '%%NOTE-1\nfirst\n' >"$alpha/memo.note"
settle

# Apart: a newer one on beta, which knows of no rule, and an older one on alpha, later.
down beta
printf '%%NOTE-2\nfrom beta\n' >"$beta/memo.note"
sleep 1.1
printf '%%NOTE-1\nlater\n' >"$alpha/memo.note"
tells alpha '"pending"' status || fail "alpha says nothing: $(cat "$world/told")"
up beta
shows() { grep -q "$1" "$alpha/memo.note" && grep -q "$1" "$beta/memo.note"; }
newer() { shows "from beta"; }
soon "the older save took the place of the newer one" newer
settle
newer || fail "the newer one does not stay"
copies() { find "$1" -name 'memo.conflict-*' | wc -l; }
for folder in "$alpha" "$beta"; do
    [ "$(copies "$folder")" = 1 ] || fail "not one copy: $(ls "$folder")"
    grep -q later "$folder"/memo.conflict-alpha-* || fail "the copy is not what alpha saved: $(ls "$folder")"
done
tells alpha '"kind":"downgrade"' conflicts || fail "alpha does not say why: $(cat "$world/told")"

# An old program of alpha's writes over it once more.
printf '%%NOTE-1\nagain\n' >"$alpha/memo.note"
soon "an older save stays" newer
settle

# Who takes an older one means it, and it stays through a restart of both.
id=$(ctl alpha --json conflicts | grep -o '"id":"c[0-9a-f]*"' | head -1 | cut -d'"' -f4)
ctl alpha conflicts take "$id" copy >/dev/null || fail "it cannot be taken"
older() { grep -q '^%NOTE-1' "$alpha/memo.note" && cmp -s "$alpha/memo.note" "$beta/memo.note"; }
soon "what was taken is not there" older
settle
down alpha
down beta
up alpha
up beta
settle
older || fail "what was taken is gone after a restart"
