# both machines are rebooted at once, and by themselves they go on where they were, with what was written just before and in between
install_on alpha
install_on beta
pair
for node in alpha beta; do
    enable "$node"
    user "$node" "mkdir from-$node && for n in \$(seq 100); do echo $node \$n >from-$node/\$n; done && echo one >both-$node"
done
settle
# What is being sent when they go down.
for node in alpha beta; do user "$node" "for n in \$(seq 101 200); do echo $node \$n >from-$node/\$n; done && echo two >both-$node"; done
reboot alpha beta
settle
[ "$(wc -l <"$world/alpha/hashes")" -eq 402 ] || fail "there are $(wc -l <"$world/alpha/hashes") files, not 402"
for node in alpha beta; do [ "$(on "${other[$node]}" cat "/srv/shared/both-$node")" = two ] || fail "an edit of $node is gone"; done
# One after the other, while the one that is up goes on working.
for node in alpha beta; do
    user "${other[$node]}" "rm from-$node/1 && mv from-$node/2 moved-$node"
    reboot "$node"
    user "${other[$node]}" "echo three >both-$node"
    settle
    [ "$(on "$node" cat "/srv/shared/moved-$node" "/srv/shared/both-$node")" = "$node 2"$'\n'three ] || fail "$node has missed something"
    on "$node" test ! -e "/srv/shared/from-$node/1" || fail "what was deleted is back on $node"
done
[ "$(on alpha syncctl --json conflicts)" = '{"conflicts":[]}' ] || fail "a conflict: $(on alpha syncctl conflicts)"
