# a machine and a copy of it run in turn under one name: each time the other node meets one that does not know what the other did, and nothing that was written on any of them is lost
paired_world
mkdir "$alpha/d"
for name in one two three; do echo "$name" >"$alpha/d/$name"; done
settle
down alpha
cp -a "$world/alpha" "$world/copy"
swap() { mv "$world/alpha" "$world/between" && mv "$world/copy" "$world/alpha" && mv "$world/between" "$world/copy"; }

: >"$world/written"
# write FILE TEXT: what is to be found again, as a digest.
write() {
    echo "$2" >"$1"
    echo "$(echo "$2" | sha256sum | cut -d " " -f 1) $2" >>"$world/written"
}
# Both tell of about as many changes each time, so that their logs are as long: a number would stand for two things.
for turn in 1 2 3 4; do
    up alpha
    for name in one two; do write "$alpha/d/$name" "$name of turn $turn"; done
    write "$alpha/d/turn-$turn" "made in turn $turn"
    settle
    write "$beta/d/three" "of beta, turn $turn"
    settle
    down alpha
    # Who was away wakes up with what he knew, and people work on him before he meets the other node.
    swap
    down beta
    up alpha
    begin_log alpha
    write "$alpha/d/two" "of the one who comes back, turn $turn"
    write "$alpha/d/apart-$turn" "apart, turn $turn"
    soon "alpha does not take its saves in" logs alpha "d/two" "d/apart-$turn"
    up beta
    settle
    down alpha
    swap
done
up alpha
settle
for node in alpha beta; do
    if warns_of $node log.forked; then fail "$node takes it for a fork"; fi
    ctl $node log verify >"$world/out" || fail "the logs of $node do not verify: $(cat "$world/out")"
done
find "$alpha" "$beta" "$world/copy/folder" -type f -print0 | xargs -0 sha256sum >"$world/digests"
while read -r digest text; do
    grep -q "^$digest" "$world/digests" || fail "nowhere is \"$text\""
done <"$world/written"
