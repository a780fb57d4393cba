# a full disk holds back what does not fit, says so, harms nothing that is there, and catches up by itself when there is room
install_on alpha
install_on beta
pair
for node in alpha beta; do enable "$node"; done
user alpha 'echo kept >kept && echo old >edited && mkdir d && for n in $(seq 50); do echo $n >d/$n; done'
settle
before=$(on beta bash -c 'cd /srv/shared && sha256sum kept edited d/*')
fill beta 16000000
user alpha 'head -c 20M /dev/urandom >large && head -c 20M /dev/urandom >edited'
is_full() { on "$1" syncctl --json alerts 2>/dev/null | grep -q '"code":"disk.full"'; }
is_full_or_down() { is_full "$1" || is_off "$1"; }
answers_again() { ! is_off "$1" && says "$1" '"schema":1'; }
is_no_longer_full() { ! is_full "$1"; }
soon "beta does not say that its disk is full" is_full beta
[ "$(on beta bash -c 'cd /srv/shared && sha256sum kept edited d/*')" = "$before" ] || fail "what was there has changed"
on alpha syncctl wait --timeout 2 >"$world/out" 2>&1 && fail "alpha is content while beta lacks files"
user alpha 'rm d/1 && mv d/2 moved'
soon "deletes wait for room" on beta test ! -e /srv/shared/d/1
drain beta
settle
soon "the alert stays" is_no_longer_full beta
on beta test -e /srv/shared/moved || fail "a rename is lost"
# Not a block is left, where the tier can: nor for the state.
fill beta 0
user alpha 'for n in $(seq 51 80); do echo $n >d/$n; done && rm d/3 && echo new >kept'
user beta 'rm d/4'
soon "beta neither says that its disk is full nor ends" is_full_or_down beta
if [ "$tier" = vm ]; then
    # Its state finds no room either: it ends, and is started in vain for as long as that lasts.
    tries_on() {
        [ "$(on beta systemctl is-active syncd)" != failed ] || fail "the service is given up while the disk is full"
        [ "$(on beta systemctl show --property NRestarts --value syncd)" -ge 8 ]
    }
    soon "the service is not tried again" tries_on
fi
drain beta
soon "the service does not come back by itself" answers_again beta
settle
[ "$(on beta cat /srv/shared/kept)" = new ] || fail "an edit is lost"
on alpha test ! -e /srv/shared/d/4 || fail "what was deleted on the full disk is back"
soon "the alert stays" is_no_longer_full beta
[ "$(on alpha syncctl --json conflicts)" = '{"conflicts":[]}' ] || fail "a conflict: $(on alpha syncctl conflicts)"
