# every command of README and docs/operations.md does what it says, as it is written there
documents=$(realpath ../../README.md) operations=$(realpath ../../docs/operations.md)
# Where there is no systemd: what it does with a unit, as far as these commands go.
for node in alpha beta; do
    on "$node" bash -c "echo ${place[alpha]} alpha.example >>/etc/hosts"
    put "$node" "$package" /root/syncd_0.1.0-1_amd64.deb
    if [ "$tier" != light ]; then continue; fi
    cat >"$world/systemctl" <<'SYSTEMCTL'
#!/bin/bash
set -eu
if [ "$1" = daemon-reload ]; then exit 0; fi
action=$1
shift
if [ "$1" = --now ]; then shift; fi
unit=$1 file=/lib/systemd/system/$1.service instance=
if [[ $unit = *@* ]]; then file=/lib/systemd/system/${unit%@*}@.service instance=${unit#*@}; fi
key() { sed -n "s/^$1=//p" "$file" | head -n 1 | sed "s/%i/$instance/g"; }
case $action in
    enable)
        install -d -o syncd -g syncd /run/syncd
        read -ra words <<<"$(key ExecStart)"
        config=${words[-1]}
        setpriv --reuid "$(key User)" --regid "$(key Group)" --clear-groups --no-new-privs --bounding-set=-all \
            setsid "${words[@]}" >>/run/"$unit.journal" 2>&1 </dev/null &
        echo $! >"/run/$unit.pid"
        status=3
        while [ "$status" -eq 3 ]; do
            kill -0 "$(cat "/run/$unit.pid")"
            status=0
            syncctl --config "$config" status >/dev/null 2>&1 || status=$?
        done
        ;;
    stop)
        pid=$(cat "/run/$unit.pid")
        kill "$pid"
        while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
        ;;
    reload) read -ra words <<<"$(key ExecReload)"; "${words[@]}" ;;
    *) echo "this systemctl cannot $action" >&2; exit 1 ;;
esac
SYSTEMCTL
    put "$node" "$world/systemctl" /usr/local/bin/systemctl
    on "$node" chmod 755 /usr/local/bin/systemctl
done
# does NODE COMMAND [WORD INSTEAD]: it stands in one of the two, and runs there.
does() {
    local node=$1 command=$2
    grep -qF -e "$command" "$documents" "$operations" || fail "not written anywhere: $command"
    on "$node" bash -c "cd /root && ${command//${3:-TOKEN}/${4:-TOKEN}}" >"$world/did" 2>&1 || fail "$command: $(tail -n 5 "$world/did")"
}
# says_next COMMAND: what was run last has printed it.
says_next() { grep -qF -e "$1" "$world/did" || fail "it does not print $1: $(cat "$world/did")"; }
# invites COMMAND: on alpha, in the background; the token is left in $token.
invites() {
    grep -qF -e "$1" "$documents" "$operations" || fail "not written anywhere: $1"
    # What an earlier one has said is no answer of this one.
    : >"$world/invited"
    on alpha bash -c "$1" >"$world/invited" 2>&1 </dev/null &
    soon "no token of $1" grep -q '^syncd1-' "$world/invited"
    token=$(grep -m 1 '^syncd1-' "$world/invited")
}
for node in alpha beta; do
    does "$node" 'apt-get install ./syncd_0.1.0-1_amd64.deb'
done
does alpha 'syncctl init --name alpha --folder /srv/shared'
says_next 'systemctl enable --now syncd && syncctl invite'
does beta 'syncctl init --name beta --folder /srv/shared --peer alpha.example:7420'
says_next 'systemctl enable --now syncd && syncctl join TOKEN'
invites 'systemctl enable --now syncd && syncctl invite'
grep -q 'syncctl join TOKEN' "$world/invited" || fail "invite does not say what is next"
does beta 'systemctl enable --now syncd && syncctl join TOKEN' TOKEN "$token"
words=$(grep -E '^  [a-z]+( [a-z]+){5}$' "$world/did")
soon "alpha shows other words" grep -qxF "$words" "$world/invited"
settle
user alpha 'echo one >FILE'
settle
user beta 'echo two >FILE'
settle
does alpha 'syncctl status'
does alpha 'syncctl wait --timeout 60'
does alpha 'syncctl alerts'
does alpha 'syncctl conflicts'
does alpha 'syncctl history FILE' FILE /srv/shared/FILE
does alpha 'syncctl restore FILE' FILE /srv/shared/FILE
settle
[ "$(on beta cat /srv/shared/FILE)" = one ] || fail "the earlier version is not back"
does alpha 'syncctl pause'
does alpha 'syncctl resume'
does alpha 'syncctl verify --budget 10min'
does alpha 'systemctl reload syncd'
does alpha 'syncctl explain CODE' CODE path.busy
# A folder somewhere else, and one more pair.
on alpha install -d -o syncd -g syncd /data/shared
does alpha "mkdir -p /etc/systemd/system/syncd.service.d && printf '[Service]\nReadWritePaths=%s\n' /data/shared >/etc/systemd/system/syncd.service.d/folder.conf && systemctl daemon-reload"
[ "$(on alpha cat /etc/systemd/system/syncd.service.d/folder.conf)" = $'[Service]\nReadWritePaths=/data/shared' ] || fail "the drop-in is another"
on alpha install -d -o syncd -g syncd /srv/photos
does alpha 'syncctl --config /etc/syncd/photos.conf init --name alpha --folder /srv/photos --listen [::]:7421'
says_next 'systemctl enable --now syncd@photos && syncctl --config /etc/syncd/photos.conf invite'
invites 'systemctl enable --now syncd@photos && syncctl --config /etc/syncd/photos.conf invite'
on alpha test -S /run/syncd/photos.sock || fail "the instance has no socket of its own"
on alpha test -e /var/lib/syncd/photos/state.db || fail "the instance has no state of its own"
on alpha systemctl stop syncd@photos
on alpha adduser --disabled-password --gecos '' anna >"$world/out" 2>&1 || fail "no user: $(cat "$world/out")"
does alpha 'adduser anna syncd-admin'
on alpha su anna -c 'syncctl pause && syncctl resume' >"$world/out" 2>&1 || fail "an administrator may not: $(cat "$world/out")"
on alpha mkdir -p /var/lib/prometheus/node-exporter
does alpha 'syncctl metrics >/var/lib/prometheus/node-exporter/syncd.prom.new && mv /var/lib/prometheus/node-exporter/syncd.prom.new /var/lib/prometheus/node-exporter/syncd.prom'
on alpha grep -q '^syncd_in_sync 1$' /var/lib/prometheus/node-exporter/syncd.prom || fail "no figures"
# New keys, for both; then beta is lost, and another machine takes its place.
for node in alpha beta; do
    does "$node" 'syncctl renew-key'
done
settle
on beta systemctl stop syncd
on beta apt-get purge --yes syncd >"$world/out" 2>&1 || fail "it cannot be purged: $(cat "$world/out")"
on beta rm -rf /srv/shared
does beta 'apt-get install ./syncd_0.1.0-1_amd64.deb'
does alpha 'syncctl unpair --forget'
on alpha bash -c 'test -e /var/lib/syncd/default/state.db.before-forgetting-*' || fail "what was known of the pair is not kept"
does beta 'syncctl init --name beta --folder /srv/shared --peer alpha.example:7420'
invites 'syncctl invite'
does beta 'systemctl enable --now syncd && syncctl join TOKEN' TOKEN "$token"
settle
[ "$(on beta cat /srv/shared/FILE)" = one ] || fail "the file did not come to the new machine"
[ "$(on alpha cat /srv/shared/FILE)" = one ] || fail "the file is gone"
on alpha systemctl stop syncd
does alpha 'apt-get remove syncd' 'remove' 'remove --yes'
does alpha 'apt-get purge syncd' 'purge' 'purge --yes'
on alpha test -e /srv/shared/FILE || fail "purging took a file"
