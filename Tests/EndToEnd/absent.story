# a folder that is away when its node starts is waited for, and people are told meanwhile
paired_world
echo kept >"$alpha/kept"
settle
down beta
# (Models that lie in it are away as well, and are no reason not to wait.)
sed -i "s|^;* *models = .*|models = $beta/.models|" "$world/beta/syncd.conf"
grep -q "^models = $beta" "$world/beta/syncd.conf" || fail "beta takes no models"
mkdir "$beta/.models"
mv "$beta" "$world/away"
launch beta
soon "beta does not answer while its folder is away" tells beta '"state":"halted"' status
status=0
ctl beta status >"$world/status" 2>&1 || status=$?
[ "$status" -eq 1 ] || fail "status says $status while the folder is away: $(cat "$world/status")"
grep -qxF "beta  halted (root.missing), alpha is away" "$world/status" || fail "status does not say why: $(cat "$world/status")"
grep -qE 'peer +alpha, not connected, last heard of .* ago, syncd ' "$world/status" || fail "it is not told when alpha was there: $(cat "$world/status")"
tells beta '"code":"root.missing"' alerts || fail "no alert: $(cat "$world/told")"
tells beta "No directory is at \\\"$beta\\\"." alerts || fail "the alert does not say where: $(cat "$world/told")"
grep -F root.missing "$world/beta/log" | finds -F "$beta" || fail "nor does the log: $(tail -n 3 "$world/beta/log")"
ctl beta --json rescan >"$world/out" && fail "what is not there was looked through"
grep -q '"code":"root.missing"' "$world/out" || fail "the refusal does not say why: $(cat "$world/out")"
# one_problem NODE: doctor counts a folder that is away once.
one_problem() {
    ctl "$1" doctor >"$world/out" && fail "doctor finds nothing: $(cat "$world/out")"
    [ "$(grep -cE '^problem +(folder|disk|daemon|root\.)' "$world/out")" -eq 1 ] || fail "one thing is wrong: $(cat "$world/out")"
    grep -qF "No directory is at \"$world/$1/folder\"." "$world/out" || fail "doctor does not say what: $(cat "$world/out")"
}
one_problem beta
down beta
[ "$ended" -eq 0 ] || fail "beta ended with $ended while it waited"
mkdir "$beta"
launch beta
soon "beta takes an empty folder for its own" tells beta '"state":"halted"' status
echo more >"$alpha/more"
rmdir "$beta"
mv "$world/away" "$beta"
soon "beta does not see that its folder is back" warns_no_more_of beta root.missing
settle
[ "$(cat "$beta/more")" = more ] || fail "what was made meanwhile is missing"
[ -z "$(find "$alpha" -name '*.conflict-*')" ] || fail "there are conflict copies"
mv "$alpha" "$world/away"
soon "alpha does not notice that its folder went" warns_of alpha root.missing
one_problem alpha
mv "$world/away" "$alpha"
soon "alpha does not see that its folder is back" warns_no_more_of alpha root.missing
settle
