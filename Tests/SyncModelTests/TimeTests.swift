/// Time as values: nothing here may trap or go backwards, whatever a clock or a file system says.
import SyncModel
import Testing

struct TimeTests {
    @Test(
        "milliseconds before and after 1970",
        arguments: [
            (0, 0, 0), (1, 0, 1), (999, 0, 999), (1_000, 1, 0), (1_001, 1, 1), (-1, -1, 999), (-999, -1, 1),
            (-1_000, -1, 0), (-1_001, -2, 999), (1_795_226_584_123, 1_795_226_584, 123),
        ] as [(Int64, Int64, UInt32)])
    func milliseconds(milliseconds: Int64, seconds: Int64, rest: UInt32) {
        let time = Timestamp(milliseconds: milliseconds)
        #expect(time == Timestamp(seconds: seconds, nanoseconds: rest * 1_000_000))
        #expect(time.milliseconds == milliseconds)
    }

    @Test("the last and the first millisecond there is are no trap") func extremes() async {
        #expect(Timestamp(milliseconds: .max).milliseconds == .max)
        await #expect(processExitsWith: .success) {
            let first = Timestamp(milliseconds: .min)
            precondition(first.milliseconds == .min && first.nanoseconds < 1_000_000_000, "it says another time")
        }
    }

    @Test("a file time beyond what milliseconds can say is held at the end") func heldTimes() {
        #expect(Timestamp(seconds: .max, nanoseconds: 999_999_999).milliseconds == .max)
        #expect(Timestamp(seconds: .min, nanoseconds: 0).milliseconds == .min)
        #expect(Timestamp(seconds: .min, nanoseconds: 999_999_999).milliseconds == .min)
        let last = Int64.max / 1_000
        #expect(Timestamp(seconds: last, nanoseconds: 999_999_999).milliseconds == .max)
        #expect(Timestamp(seconds: last, nanoseconds: 0).milliseconds == last * 1_000)
        #expect(Timestamp(seconds: last + 1, nanoseconds: 0).milliseconds == .max)
    }

    @Test("a wait beyond what can be counted never ends") func waits() {
        #expect(Moment.end(of: 0, after: 5) == 5)
        #expect(Moment.end(of: 7, after: 5) == 12)
        #expect(Moment.end(of: UInt64.max - 5, after: 5) == UInt64.max)
        #expect(Moment.end(of: UInt64.max - 4, after: 5) == nil)
        #expect(Moment.end(of: UInt64.max, after: UInt64.max) == nil)
    }

    @Test("file times order by seconds, then nanoseconds") func order() {
        let times = [(-1, 0), (-1, 999_999_999), (0, 0), (0, 1), (1, 0)].map {
            Timestamp(seconds: $0.0, nanoseconds: $0.1)
        }
        #expect(times.shuffledBySeed(1).sorted() == times)
    }

    @Test("a hybrid time holds 48 bits of wall and counts within a millisecond") func hybrid() {
        #expect(HybridTime(wallMilliseconds: 5, counter: 7).raw == 5 << 16 | 7)
        #expect(HybridTime(wallMilliseconds: 5, counter: .max).wallMilliseconds == 5)
        #expect(HybridTime(wallMilliseconds: 5, counter: .max) < HybridTime(wallMilliseconds: 6))
        for wall in [-1, Int64.min] { #expect(HybridTime(wallMilliseconds: wall) == .zero) }
        for wall in [Int64.max, Int64(HybridTime.wallMillisecondsMax) + 1] {
            #expect(HybridTime(wallMilliseconds: wall).wallMilliseconds == HybridTime.wallMillisecondsMax)
        }
    }

    @Test("R-10: the logical clock only goes forward, above all it has stamped and seen", arguments: 1...4)
    func monotone(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var clock = HybridClock()
        var highest = HybridTime.zero
        var wall: Int64 = 1_000_000
        for _ in 0..<5_000 {
            // The wall stands still, runs, jumps ahead and falls back.
            if random.chance(percent: 50) { wall += Int64(random.below(3)) }
            if random.chance(percent: 3) { wall = Int64(random.range(-10...2_000_000)) }
            if random.chance(percent: 30) {
                let seen = HybridTime(raw: UInt64(random.below(2_000_000)) << 16 | UInt64(random.below(1 << 16)))
                clock.witness(seen)
                highest = max(highest, seen)
                if clock.last < highest { Issue.record("it forgot what it saw") }
            } else {
                let stamp = clock.tick(wallMilliseconds: wall)
                if stamp <= highest { Issue.record("\(stamp.raw) after \(highest.raw)") }
                if stamp.wallMilliseconds < UInt64(max(0, wall)) { Issue.record("it is behind the wall") }
                if clock.last != stamp { Issue.record("it forgot what it stamped") }
                highest = stamp
            }
        }
        #expect(clock.last == highest)
    }

    @Test("a running wall is followed, a standing one is counted on") func ticks() {
        var clock = HybridClock()
        #expect(clock.tick(wallMilliseconds: 10) == HybridTime(wallMilliseconds: 10))
        #expect(clock.tick(wallMilliseconds: 10) == HybridTime(wallMilliseconds: 10, counter: 1))
        #expect(clock.tick(wallMilliseconds: 9) == HybridTime(wallMilliseconds: 10, counter: 2))
        #expect(clock.tick(wallMilliseconds: 11) == HybridTime(wallMilliseconds: 11))
        clock.witness(HybridTime(wallMilliseconds: 12, counter: .max))
        #expect(clock.tick(wallMilliseconds: 11) == HybridTime(wallMilliseconds: 13))
    }

    @Test("the end of all time is no trap") func theEnd() {
        var clock = HybridClock(last: HybridTime(raw: .max))
        #expect(clock.tick(wallMilliseconds: .max) == HybridTime(raw: .max))
        clock.witness(.zero)
        #expect(clock.last == HybridTime(raw: .max))
    }
}
