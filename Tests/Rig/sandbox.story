# the stories of two daemons hold in the sandbox of the unit, each daemon a service of its own
[ "$tier" = container ] || skip "it takes a machine with systemd and the tools of the stories: the tier container has one"
command -v sqlite3 >/dev/null && command -v strace >/dev/null || skip "sqlite3 or strace is missing: .ci/packages tests installs them"
install_on alpha
# What the stories and the programs of the package need, where the sandbox lets them be read.
on alpha mkdir -p /opt/syncd/programs /srv/worlds
(cd ../.. && git ls-files -z | xargs -0 tar -cf - 2>/dev/null) | on alpha tar -C /opt/syncd -xf - ||
    broken "the stories do not come across"
on alpha ln -s /usr/sbin/syncd /usr/bin/syncctl /opt/syncd/programs/
stories=${STORIES:-$(cd ../EndToEnd && ls -- *.story)}
# shellcheck disable=SC2086
on alpha env -C /opt/syncd SANDBOX=yes WORLDS=/srv/worlds JOBS="${JOBS:-2}" Tests/EndToEnd/run.sh /opt/syncd/programs $stories >"$world/told" 2>&1
grep -v '^ok: ' "$world/told"
[[ $(tail -n 1 "$world/told") = [1-9]*" passed, 0 failed, "*" skipped" ]] || fail "not all hold"
