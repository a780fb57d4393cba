# a file that is written through mmap, which changes no time, is not asked for in vain for ever
needs perl
case $(uname -m) in
    x86_64) calls=(9 0) ;;
    aarch64) calls=(222 63) ;;
    *) skip "the numbers of mmap and read are not known for $(uname -m)" ;;
esac
paired_world
# read(2) into the mapped page is a write to the file.
cat >"$world/write.pl" <<'END'
my ($path, $mmap, $read, $go) = @ARGV;
open(my $file, '+<', $path) or die;
my $page = syscall($mmap, 0, 4096, 3, 1, fileno($file), 0);
$page > 0 or die "mmap: $!";
for my $word ('first ', 'second') {
    pipe(my $out, my $in) or die;
    syswrite($in, $word) == 6 or die;
    syscall($read, fileno($out), $page, 6) == 6 or die "read: $!";
    next if $word ne 'first ';
    chmod(0600, $path);
    # Until somebody says so, or long enough for alpha to read the first word.
    $go ? do { select(undef, undef, undef, 0.05) until -e $go } : sleep 3;
}
END
head -c 5000 /dev/zero >"$alpha/mapped"
settle
# Beta asks for what alpha has read at the first write, and that is there no more.
kill -STOP "$(cat "$world/beta/pid")"
perl "$world/write.pl" "$alpha/mapped" "${calls[@]}" || fail "the writer failed"
grep -q second "$alpha/mapped" || fail "the writer wrote nothing"
kill -CONT "$(cat "$world/beta/pid")"
settle
grep -q second "$beta/mapped" || fail "the second write is missing"

# Both are awake: what is written after the first word has arrived changes no time, and only the end of the writer tells of it.
head -c 5000 /dev/zero >"$alpha/again"
settle
perl "$world/write.pl" "$alpha/again" "${calls[@]}" "$world/go" &
soon "the first word does not arrive" grep -q first "$beta/again"
touch "$world/go"
wait $! || fail "the writer failed"
arrived() { grep -q second "$beta/again"; }
soon "what was written last does not arrive" arrived
settle
