# another disk mounted over a directory holds up that directory alone, also where its rules are not known: nothing in it is told or deleted
needs_root
paired_world
mkdir "$alpha"/{build,kept,plain,other}
# It comes whole: a daemon that reads it while it is empty tells of it.
echo '*' >"$world/rules"
mv "$world/rules" "$alpha/build/.syncignore"
echo '*.o' >"$alpha/kept/.syncignore"
for place in kept plain other; do echo one >"$alpha/$place/f"; done
settle_but_for_rules() { agree && [ -e "$beta/build" ] && [ ! -e "$beta/build/.syncignore" ]; }
settle_but_for_rules || fail "rules that leave out their own file are told: $(ls -A "$beta/build")"
echo secret >"$alpha/build/s"
echo secret >"$alpha/kept/f.o"
agree

# untold: what the rules leave out, and what is on the other disks, is not on beta, and all that was there is.
untold() {
    [ "$(cd "$beta" && find build kept plain | LC_ALL=C sort | tr '\n' ' ')" = "build kept kept/.syncignore kept/f plain plain/f " ] ||
        fail "beta has $(cd "$beta" && find build kept plain | LC_ALL=C sort | tr '\n' ' ')"
}
untold
# covers CODE PLACE: alpha has this alert of this directory open.
covers() { tells alpha "\"code\":\"$1\"" alerts && grep -q "\"code\":\"$1\"[^}]*\"subject\":\"$2\"" "$world/told"; }

for place in build kept plain; do
    mount_tmpfs "$alpha/$place" 1m
    echo strange >"$alpha/$place/strange"
done
# All rules are read anew.
mv "$alpha/other" "$alpha/third"
soon "a directory that moved is not told" test -e "$beta/third/f"
echo new >"$alpha/n"
soon "nothing is told any more" test -e "$beta/n"
echo new >"$beta/m"
soon "nothing is taken any more" test -e "$alpha/m"
for place in build kept; do soon "nobody is told of the disk over $place" covers path.unsupported $place; done
untold

down alpha
up alpha
echo later >"$alpha/later"
soon "nothing is told after a start" test -e "$beta/later"
for place in build kept plain; do
    soon "nobody is told of the disk over $place after a start" covers path.unsupported $place
done
echo two >"$beta/kept/f"
# It is looked at again after some pauses.
sleep 5
for place in build kept plain; do
    covers path.permission $place && fail "a disk over $place counts as something that syncd may not read"
    covers path.unsupported $place || fail "it is no longer told that a disk is over $place: $(cat "$world/told")"
done
warns_no_more_of alpha disk.error || fail "a disk that works is said to fail: $(cat "$world/told")"
cmp -s "$alpha/plain/strange" <(echo strange) && [ ! -e "$alpha/kept/f" ] || fail "something was written to another disk"
[ "$(cat "$beta/kept/f")" = two ] && [ "$(cat "$beta/plain/f")" = one ] || fail "beta lost something"

for place in build kept plain; do umount "$alpha/$place"; done
soon "the alert stays although no disk is there any more" warns_no_more_of alpha path.unsupported
soon "what beta wrote meanwhile does not come" grep -qx two "$alpha/kept/f"
agree
untold
[ -e "$alpha/build/s" ] && [ -e "$alpha/kept/f.o" ] || fail "what rules leave out is gone"
