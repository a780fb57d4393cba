# a file that is larger than a node may write waits there with a warning, and comes when it may
needs prlimit
paired_world
pid=$(cat "$world/beta/pid")
most=$(ulimit -Hf)
prlimit --pid "$pid" --fsize=8000000:"$most"
head -c 12000000 /dev/urandom >"$alpha/large"
soon "beta does not say why it waits" waits_for beta path.unsupported
soon "nobody is told of a file that is too large" warns_of beta path.unsupported
echo beside >"$alpha/beside"
soon "what is too large holds up the rest" test -s "$beta/beside"
prlimit --pid "$pid" --fsize="$most:$most"
soon "the alert stays although the file may be written" warns_no_more_of beta path.unsupported
settle
