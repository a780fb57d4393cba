# R-14: no key and no token is in anything that the nodes or syncctl say or keep for others, at the level that tells most
new_world
up alpha
up beta
for node in alpha beta; do ctl $node log-level 3 >"$world/out" || fail "no level 3: $(cat "$world/out")"; done
# keep NODE: what nobody may be told of its key, a line of it at a time.
keep() { sed '/^-----/d' "$world/$1/state/identity"/*.pem >>"$world/secrets"; }
for node in alpha beta; do keep $node; done
# The first is mistyped, and so in the words of a refusal; the second is used up, and then tried again.
for turn in first second; do
    token=$(new_token ctl alpha)
    [ -n "$token" ] || fail "no token"
    # (Its secret stands after what tells of which kind it is.)
    echo "${token#syncd1-}" >>"$world/secrets"
    if [ $turn = second ]; then continue; fi
    ctl beta join "${token%?}" >>"$world/said" 2>&1 && fail "a mistyped token pairs"
done
ctl beta join "$token" >>"$world/said" 2>&1 || fail "no pair: $(tail -n 3 "$world/said")"
ctl beta join "$token" >>"$world/said" 2>&1 && fail "a token pairs twice"
echo something >"$alpha/f"
settle
ctl beta renew-key >>"$world/said" 2>&1 || fail "no new key: $(tail -n 3 "$world/said")"
settle
keep beta
for node in alpha beta; do
    for words in status alerts 'alerts --all' conflicts locks events log 'log verify' metrics doctor version 'explain f' 'history f' verify reload; do
        for form in '' --json; do
            # shellcheck disable=SC2086
            ctl $node $form $words >>"$world/said" 2>&1
        done
    done
done
[ "$(wc -l <"$world/said")" -gt 100 ] && [ "$(wc -l <"$world/alpha/log")" -gt 10 ] || fail "little was said: $(wc -l "$world/said" "$world/alpha/log")"
[ "$(wc -l <"$world/secrets")" -ge 5 ] && ! grep -q '^.\{0,20\}$' "$world/secrets" || fail "these are no secrets: $(wc -L "$world/secrets")"
grep -nFf "$world/secrets" "$world/said" "$world"/*/log "$world"/*/syncd.conf >"$world/found" && fail "a secret is told: $(head -n 3 "$world/found")"
# Nor is it in what both put where others may look: the folder, and what may be read in the state by anybody.
grep -rlFf "$world/secrets" "$alpha" "$beta" >"$world/found" && fail "a secret is in the folder: $(cat "$world/found")"
find "$world"/*/state -perm /077 ! -type l >"$world/found"
[ ! -s "$world/found" ] || fail "others may read of the state: $(cat "$world/found")"
