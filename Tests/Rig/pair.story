# two machines with nothing but the package are paired, and sync both ways
install_on alpha
install_on beta
pair
grep -qF 'systemctl enable --now syncd && syncctl invite' "$world/alpha/init" || fail "init does not say what is next"
user alpha 'mkdir -p a/b && echo one >a/b/one && ln -s one a/b/link && head -c 5M /dev/urandom >large'
user beta 'echo two >two'
settle
user beta 'mv a moved && echo more >>moved/b/one'
settle
[ "$(on alpha cat /srv/shared/moved/b/one)" = $'one\nmore' ] || fail "the edit is not there"
on alpha syncctl status >"$world/status" || fail "$(cat "$world/status")"
on alpha syncctl doctor >"$world/doctor" || fail "$(cat "$world/doctor")"
grep -E '^(warning|problem)' "$world/doctor" | grep -v inotify >"$world/findings" && fail "doctor: $(cat "$world/findings")"
halt alpha
[ "$ended" -eq 0 ] || fail "it ended with $ended"
