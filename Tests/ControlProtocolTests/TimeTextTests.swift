import ControlProtocol
import SyncModel
import Testing

struct TimeTextTests {
    @Test(
        "times are written and read",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_767_225_600_000, "2026-01-01T00:00:00Z"),
            (951_782_399_000, "2000-02-28T23:59:59Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"), (-1_000, "1969-12-31T23:59:59Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00Z"), (253_402_300_799_000, "9999-12-31T23:59:59Z"),
        ] as [(Int64, String)])
    func table(milliseconds: Int64, text: String) {
        #expect(TimeText.seconds(milliseconds) == text)
        #expect(TimeText.parse(text) == milliseconds)
    }

    @Test("milliseconds are always three digits, also before 1970") func fractions() {
        #expect(TimeText.milliseconds(1_005) == "1970-01-01T00:00:01.005Z")
        #expect(TimeText.milliseconds(-1) == "1969-12-31T23:59:59.999Z")
        #expect(TimeText.seconds(-1) == "1969-12-31T23:59:59Z")
    }

    @Test("every time comes back, to the millisecond", arguments: 0..<200) func roundTrip(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let time = Int64(random.below(315_569_520_000_000)) - 62_167_219_200_000
        #expect(TimeText.parse(TimeText.milliseconds(time)) == time)
    }

    @Test("a time that no calendar has is held at the last one that can be written") func clamped() {
        #expect(TimeText.milliseconds(.max) == "9999-12-31T23:59:59.999Z")
        #expect(TimeText.seconds(.min) == "0000-01-01T00:00:00Z")
    }

    @Test("offsets and other decimals are understood") func lenient() {
        #expect(TimeText.parse("2026-01-01T02:00:00+02:00") == 1_767_225_600_000)
        #expect(TimeText.parse("2025-12-31T23:30:00-00:30") == 1_767_225_600_000)
        #expect(TimeText.parse("1970-01-01T00:00:00.5Z") == 500)
        #expect(TimeText.parse("1970-01-01T00:00:00.123456789Z") == 123)
    }

    @Test(
        "everything else is refused",
        arguments: [
            "", "2026", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z", "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-00-10T00:00:00Z", "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00Zx", "+026-01-01T00:00:00Z", "2026-01-01T00:00:00+2:00", "2026-1-01T00:00:00Z",
        ])
    func refused(text: String) {
        #expect(TimeText.parse(text) == nil)
    }
}
