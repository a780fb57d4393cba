# a log level that is set for a time ends by itself, and the one before it holds again
paired_world
# told NUMBER: beta's journal tells of the operation of file NUMBER.
told() { grep -q "shown: \"$1\"" "$world/beta/log"; }
# comes NUMBER: a file that goes over; its whole story is written by then.
comes() {
    echo text >"$alpha/$1"
    settle
}
comes 1
told 1 && fail "operations are told of at level 1"
ctl beta log-level 3 --for 60 >"$world/level" || fail "level 3 for a minute: $(cat "$world/level")"
comes 2
soon "operations are not told of at level 3" told 2
# Another time takes the place of the first.
ctl beta log-level 3 --for 1 >"$world/level" || fail "level 3 for a second: $(cat "$world/level")"
number=10
quiet() {
    number=$((number + 1))
    comes "$number"
    ! told "$number"
}
soon "level 3 does not end" quiet
comes 3
told 3 && fail "level 3 comes back"
# What it is back to is what was set to stay, and that bears a time beside it.
ctl beta log-level 3 >"$world/level" || fail "level 3: $(cat "$world/level")"
ctl beta log-level 0 --for 1 >"$world/level" || fail "level 0 for a second: $(cat "$world/level")"
loud() { ! quiet; }
soon "the level that was set to stay does not come back" loud
