# either node may be ended at any moment while it is written to, and everything written is on both at the end
install_on alpha
install_on beta
pair
for round in 1 2 3; do
    for node in alpha beta; do
        user "$node" "for n in \$(seq 200); do echo $round-\$n >$node-$round-\$n; done"
        crash "$node"
        user "${other[$node]}" "mkdir -p d$round && for n in \$(seq 100); do echo \$n >d$round/${other[$node]}-\$n; done"
        boot "$node"
    done
done
settle
[ "$(wc -l <"$world/alpha/hashes")" -eq 1800 ] || fail "there are $(wc -l <"$world/alpha/hashes") files, not 1800"
[ "$(on alpha syncctl --json conflicts)" = '{"conflicts":[]}' ] || fail "a conflict: $(on alpha syncctl conflicts)"
