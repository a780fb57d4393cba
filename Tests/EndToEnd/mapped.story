# a file that is written through mmap, which changes no time, is not asked for in vain for ever
needs python3
paired_world
cat >"$world/write.py" <<'END'
import mmap, os, sys, time
file = open(sys.argv[1], 'r+b')
pages = mmap.mmap(file.fileno(), 0)
pages[0:6] = b'first '
os.chmod(sys.argv[1], 0o600)
time.sleep(3)
pages[0:6] = b'second'
END
head -c 5000 /dev/zero >"$alpha/mapped"
settle
# Beta asks for what alpha has read at the first write, and that is there no more.
kill -STOP "$(cat "$world/beta/pid")"
python3 "$world/write.py" "$alpha/mapped" || fail "the writer failed"
kill -CONT "$(cat "$world/beta/pid")"
settle
grep -q second "$beta/mapped" || fail "the second write is missing"
