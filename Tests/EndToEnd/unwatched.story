# where the kernel watches only a few directories, changes in the others are found by scanning, and the alert names the limit
needs unshare
script='echo 5 >/proc/sys/user/max_inotify_watches && exec "$0" "$@"'
few_watches=(unshare --user --map-root-user sh -c "$script")
"${few_watches[@]}" true 2>/dev/null || skip "this machine lets nobody lower the number of watches"
# shellcheck disable=SC2034
through_alpha=("${few_watches[@]}")
new_world
up alpha
up beta
pair
for n in {1..12}; do mkdir -p "$alpha/$n/below" && echo "$n" >"$alpha/$n/below/file"; done
agree
soon "nobody says that watches are missing" warns_of alpha watch.limit
ctl alpha --json alerts | finds 'fs.inotify.max_user_watches is [0-9]' || fail "the alert does not name the limit: $(ctl alpha --json alerts)"
not_content alpha || fail "alpha is content with too few watches: $(cat "$world/status")"
# Not as long as the pause between two usual scans.
patience=30
for n in {1..12}; do echo "edited $n" >"$alpha/$n/below/file"; done
mkdir "$alpha/12/new" && echo new >"$alpha/12/new/file"
arrived() { [ "$(cat "$beta"/{1..12}/below/file 2>/dev/null)" = "$(printf 'edited %s\n' {1..12})" ] && [ -e "$beta/12/new/file" ]; }
soon "edits in directories that nobody watches do not arrive" arrived
# With fewer directories there are watches for all.
rm -r "$alpha"/{2..12}
settle
soon "the alert stays when there are enough watches" warns_no_more_of alpha watch.limit
