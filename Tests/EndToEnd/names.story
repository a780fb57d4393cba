# odd names, kinds and modes arrive as they are
paired_world
(
    cd "$alpha" || exit
    printf one >$'line\nbreak'
    printf two >$'not\xff\xfeutf8'
    printf three >"$(printf 'n%.0s' {1..255})"
    printf four >'-rf'
    printf five >' space '
    printf six >'back\slash'
    printf seven >'quo"te'
    : >empty
    ln -s /nowhere/at/all absolute
    ln -s ../../outside dangling
    ln -s loop loop
    mkdir -p "$(printf 'd/%.0s' {1..60})" && printf deep >"$(printf 'd/%.0s' {1..60})deep"
    mkdir hollow
    printf x >private && chmod 600 private
    printf x >program && chmod 755 program
    truncate -s 50M sparse && printf end >>sparse
    printf x >old && touch -d '1999-12-31 23:59:59.123456789' old
    mkfifo pipe
)
settle
[ -p "$beta/pipe" ] && fail "a pipe was copied"
tells alpha '"path.special"' events || fail "nobody says that the pipe is left out"
rm "$beta/sparse" "$beta"/*break
settle

# A directory whose children have no name here, because it is as deep as a path may be, is listed with its reason; and all is well without it.
(cd "$alpha" && for _ in $(seq 140); do mkdir x && cd x || exit; done)
waits_too_deep() { waits_for alpha path.unsupported && grep -q '"state":"waiting"' "$world/told" && grep -q '"pendingTotal":1[,}]' "$world/told"; }
soon "no reason is told of what is too deep" waits_too_deep
soon "beta claims that both show the same" tells beta '"waits":true' status
rm -r "$alpha/x"
settle

# A name as it is shown is not guessed at, for a file can be called just like that; but how to type it is said.
ctl alpha explain 'not\xff\xfeutf8' >"$world/out" 2>&1 && fail "what is shown was taken for a name: $(cat "$world/out")"
grep -qF "\$'not\\xff\\xfeutf8'." "$world/out" || fail "how to type the name is not said: $(cat "$world/out")"
# In quotation marks it is seen where a name ends.
ctl alpha explain 'no" thing' >"$world/out" 2>&1 && fail "what is not there is explained: $(cat "$world/out")"
grep -qF '"no\x22 thing" is no message code' "$world/out" || fail "a quotation mark in a name ends it: $(cat "$world/out")"
ctl alpha explain $'not\xff\xfeutf8' >"$world/out" || fail "the name is not known: $(cat "$world/out")"
head -n 1 "$world/out" | grep -qxF 'not\xff\xfeutf8' || fail "another name is told of: $(cat "$world/out")"
echo literally >"$alpha/"'not\xff\xfeutf8'
settle
ctl alpha explain 'not\xff\xfeutf8' >"$world/out" || fail "what is called just like that is not known: $(cat "$world/out")"
head -n 1 "$world/out" | grep -qxF 'not\x5cxff\x5cxfeutf8' || fail "another file is meant: $(cat "$world/out")"
