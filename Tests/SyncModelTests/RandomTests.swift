import SyncModel
import Testing

/// Seeds in bug reports must replay for years, so the draws are frozen here. The expected values come from a separate
/// program written from the published algorithms.
struct RandomTests {
    @Test("SplitMix64 gives the published sequence") func splitMix() {
        var filler = SplitMix64(seed: 1_234_567)
        let draws = [filler.next(), filler.next(), filler.next()]
        #expect(draws == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
    }

    @Test("a seed gives the same draws for ever") func frozenDraws() {
        var random = SeededRandom(seed: 42)
        #expect(
            (0..<6).map { _ in random.next() } == [
                0x1578_0b2e_0c2e_c716, 0x6104_d986_6d11_3a7e, 0xae17_5332_39e4_99a1, 0xecb8_ad47_03b3_60a1,
                0xfde6_dc7f_e2ec_5e64, 0xc50d_a531_0179_5238,
            ])
    }

    @Test("what is made of the draws is frozen too") func frozenUses() {
        var random = SeededRandom(seed: 42)
        #expect((0..<8).map { _ in random.below(1000) } == [83, 378, 680, 924, 991, 769, 719, 850])

        random = SeededRandom(seed: 42)
        #expect(random.bytes(11) == [0x16, 0xc7, 0x2e, 0x0c, 0x2e, 0x0b, 0x78, 0x15, 0x7e, 0x3a, 0x11])

        random = SeededRandom(seed: 42)
        var order = Array(0..<10)
        random.shuffle(&order)
        #expect(order == [9, 1, 4, 2, 8, 7, 6, 5, 3, 0])
    }

    @Test("each concern has a stream of its own, by number or by name") func streams() {
        var seventh = SeededRandom(seed: 42, stream: 7)
        #expect([seventh.next(), seventh.next()] == [0xa3cc_2bc5_a624_ce69, 0xbfb4_a815_5976_37ea])
        var network = SeededRandom(seed: 42, stream: "network")
        #expect([network.next(), network.next()] == [0xc38a_86cd_24a0_ebd3, 0x2fea_37ee_d260_e177])
        var disk = SeededRandom(seed: 42, stream: "disk")
        #expect(disk.next() != 0xc38a_86cd_24a0_ebd3)
    }

    @Test("numbers stay in their range and reach all of it, at the extremes too") func ranges() {
        var random = SeededRandom(seed: 1)
        var seen = [Int](repeating: 0, count: 7)
        for _ in 0..<7000 { seen[random.range(-3...3) + 3] += 1 }
        #expect(seen.allSatisfy { $0 > 850 && $0 < 1150 })
        #expect(random.range(5...5) == 5)
        #expect(random.below(1) == 0)
        let wide = (0..<100).map { _ in random.range(Int.min...Int.max) }
        #expect(wide.contains { $0 < 0 } && wide.contains { $0 > 0 })
    }

    @Test("a chance of nothing never comes, a chance of everything always does") func chances() {
        var random = SeededRandom(seed: 2)
        #expect((0..<1000).allSatisfy { _ in !random.chance(percent: 0) && random.chance(percent: 100) })
        let rare = (0..<100_000).count { _ in random.chance(perMille: 10) }
        #expect(rare > 850 && rare < 1150)
    }

    @Test("picking from nothing gives nothing and costs no draw") func picks() {
        var random = SeededRandom(seed: 3)
        var untouched = random
        #expect(random.pick([Int]()) == nil)
        #expect(random.next() == untouched.next())
        var seen = [false, false, false]
        for _ in 0..<100 { if let index = random.pick([0, 1, 2][...]) { seen[index] = true } }
        #expect(seen == [true, true, true])
    }

    @Test("a shuffle keeps every element") func shuffleKeeps() {
        var random = SeededRandom(seed: 4)
        var empty: [Int] = []
        random.shuffle(&empty)
        #expect(empty.isEmpty)
        var many = Array(0..<1000)
        random.shuffle(&many)
        #expect(many != Array(0..<1000))
        #expect(many.sorted() == Array(0..<1000))
    }
}
