# D8: a file that ends the daemon when it is read is left out after the second time, and everything else goes on
new_world
# Nobody is to read where it died, and finding that takes longer than dying.
export SWIFT_BACKTRACE=enable=no
for node in alpha beta; do
    mkdir -p "$world/models-$node"
    cat >"$world/models-$node/project.json" <<END
{ "model": "org.example.app", "formats": [
  { "name": "project", "files": "*.proj.json", "version": {"json": "/version"}, "supports": [1, 2] } ] }
END
    sed -i "s|^;* *models = .*|models = $world/models-$node|" "$world/$node/syncd.conf"
done
up alpha
up beta
pair
printf '{"version": 1, "text": "healthy"}\n' >"$alpha/plan.proj.json"
settle

# No input is known that does it, so alpha's daemon is told of a text to die of; only a debug build listens.
down alpha
export SYNCD_TEST_DIES_OF=deadly
launch alpha
soon "alpha does not come up" tells alpha '"schema":1' status
printf '{"version": 1, "text": "deadly"}\n' >"$alpha/new.proj.json"
if ! { for _ in $(seq 100); do if is_down alpha; then break; fi; sleep 0.1; done; is_down alpha; }; then
    unset SYNCD_TEST_DIES_OF
    skip "the daemon is not a debug build: nothing makes it die of an input"
fi
launch alpha
soon "alpha does not die a second time" is_down alpha
up alpha
soon "alpha does not say that the file is left out" warns_of alpha item.poisoned
# It stays up, says the same after another start, and everything else goes on.
down alpha
up alpha
soon "alpha has forgotten about the file" warns_of alpha item.poisoned
echo other >"$alpha/other.txt"
echo back >"$beta/back.txt"
settle
[ "$(cat "$beta/other.txt")" = other ] || fail "what else alpha has does not come across"
[ "$(cat "$alpha/back.txt")" = back ] || fail "what beta saves does not come across"
grep -q healthy "$beta/plan.proj.json" || fail "the healthy file has changed"
ctl alpha explain item.poisoned >"$world/explained" || fail "item.poisoned is not explained"
# Once it is another file it is read again.
printf '{"version": 1, "text": "better"}\n' >"$alpha/new.proj.json"
settle
soon "the alert stays although the file is another" warns_no_more_of alpha item.poisoned
grep -q better "$beta/new.proj.json" || fail "the mended file does not come across"

# So it is with one that comes from the other node: it ends the daemon while it lies in the stage.
poisoned() { ctl alpha --json alerts | finds "\"code\":\"item.poisoned\"[^}]*\"subject\":\"$1\""; }
printf '{"version": 1, "text": "deadly from beta"}\n' >"$beta/sent.proj.json"
soon "alpha does not die of what beta sends" is_down alpha
launch alpha
soon "alpha does not die of it a second time" is_down alpha
up alpha
soon "alpha does not say that what beta sent is left out" poisoned sent.proj.json
echo more >"$beta/more.txt"
comes() { cmp -s "$beta/more.txt" "$alpha/more.txt"; }
soon "what else beta saves does not come across" comes
down alpha
unset SYNCD_TEST_DIES_OF

# And with one whose reading never ends: the process ends itself. (With the hook of the test after a second of processor time.)
export SYNCD_TEST_HANGS_OF=endless
up alpha
printf '{"version": 1, "text": "endless"}\n' >"$alpha/slow.proj.json"
soon "alpha reads on and on" is_down alpha
launch alpha
soon "alpha does not end a second time" is_down alpha
up alpha
soon "alpha does not say that the endless file is left out" poisoned slow.proj.json
# A person who asks what is wrong with it does not end the daemon either.
tells alpha 'parsing it ends the program' doc check "$alpha/slow.proj.json" || fail "doc check: $(cat "$world/told")"
tells alpha '"schema":1' status || fail "alpha has ended with doc check"
rm "$alpha/slow.proj.json" "$beta/sent.proj.json"
settle
unset SYNCD_TEST_HANGS_OF
