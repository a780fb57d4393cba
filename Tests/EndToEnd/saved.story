# what was saved before a status is asked for is never called in sync before it is
paired_world
for ((round = 0; round < 60; round++)); do
    case $((round % 3)) in
        0) echo "$round" >"$alpha/file" ;;
        1) mkdir -p "$alpha/d$round/e" && echo "$round" >"$alpha/d$round/e/file" ;;
        2) mv "$alpha/file" "$alpha/file-$round" ;;
    esac
    ctl alpha wait --for in-sync --timeout "$patience" >"$world/waited" 2>&1 || fail "round $round: $(cat "$world/waited")"
    same_trees
done
