# a link that is cut, or dead in one direction only, is noticed and used again, and what was done meanwhile arrives
new_places
own_network
set_up
up alpha
up beta
pair
settle

# within MILLISECONDS WHAT COMMAND...: and ten seconds more, because this machine may have other work.
within() {
    local limit=$(($1 + 10000)) what=$2 begun
    shift 2
    begun=$(milliseconds)
    soon "$what" "$@"
    [ $(($(milliseconds) - begun)) -le "$limit" ] || fail "$what for $(($(milliseconds) - begun)) ms"
}

# outage NAME CUT... -- MEND...: both edit while they are apart.
outage() {
    local name=$1 cut=()
    shift
    while [ "$1" != -- ]; do
        cut+=("$1")
        shift
    done
    shift
    "${cut[@]}" || skip "this machine cannot cut the cable"
    echo "alpha $name" >"$alpha/$name"
    echo "beta $name" >"$beta/$name-too"
    within 5000 "alpha does not notice that the link is dead ($name)" unlinked alpha
    within 1000 "beta does not notice that the link is dead ($name)" unlinked beta
    tells alpha '"inSync":false' status || fail "alpha claims to be in sync without a link: $(cat "$world/told")"
    echo "alpha $name, then" >"$alpha/$name"
    "$@"
    within 2000 "alpha does not use the link again ($name)" linked alpha
    settle
    [ "$(cat "$beta/$name")" = "alpha $name, then" ] || fail "what alpha did is missing"
    [ "$(cat "$alpha/$name-too")" = "beta $name" ] || fail "what beta did is missing"
}

outage down ip link set "$device" down -- ip link set "$device" up
# Frames that nobody takes: what beta sends is lost without a word, then what alpha sends.
stray=02:00:00:00:00:99
there=${address%.*}.2
outage deaf ip -n "$namespace" neigh replace "$address" lladdr $stray dev cable nud permanent -- \
    ip -n "$namespace" neigh delete "$address" dev cable
outage mute ip neigh replace "$there" lladdr $stray dev "$device" nud permanent -- \
    ip neigh delete "$there" dev "$device"
