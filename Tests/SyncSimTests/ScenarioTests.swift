import Testing

@testable import SyncSim

@Suite("Transcripts: commands, and what the world says to them")
struct ScenarioTests {
    @Test("Blocks are read and written as they stand") func roundTrip() {
        let text = """
            # What this is about.

            start
            alpha write a "1"
            ----

            # Then the other side.
            show
            ----
            alpha  a=1
            beta   (nothing)

            settle
            ----

            """
        let scenario = Scenario(parsing: text)
        #expect(scenario.blocks.count == 3)
        #expect(scenario.blocks[0].commands == ["start", "alpha write a \"1\""])
        #expect(scenario.blocks[1].preamble == ["# Then the other side."])
        #expect(scenario.blocks[1].expected == ["alpha  a=1", "beta   (nothing)"])
        #expect(Scenario(parsing: scenario.text) == scenario)
    }

    @Test("A transcript that tells the truth has no differences, another shows both versions") func replays() {
        let honest = Scenario(
            parsing: """
                start
                alpha write a/x "1"
                settle
                show
                ----
                alpha  a/x=1
                beta   a/x=1

                """)
        #expect(honest.differences(from: honest.replayed()) == [])
        let wrong = Scenario(
            parsing: """
                start
                alpha write a/x "1"
                settle
                show
                ----
                alpha  a/x=1
                beta   a/x=2

                """)
        let differences = wrong.differences(from: wrong.replayed())
        #expect(differences.map(\.found) == [["alpha  a/x=1", "beta   a/x=1"]])
    }

    @Test(
        "Lines that mean nothing say so",
        arguments: [
            ("jump", "error: there is no command jump"),
            ("alpha jump", "error: there is no command jump for a machine"),
            ("alpha write a", "error: the content is missing"),
            ("alpha write ../a 1", "error: ../a is no path"),
            ("alpha write a \"1", "error: a quote is not closed or an escape is none"),
            ("alpha clock soon", "error: soon is no span of time: write 90s, -2h or 500ms"),
            ("alpha power-cut gentle", "error: gentle is no crash model: strict, ordered, zeroLength, siblings"),
            ("settle now", "error: now is one word too many"),
            ("alpha image restore", "error: no image was saved"),
            ("alpha rm a", "error: notFound"),
        ])
    func refusals(line: String, said: String) {
        #expect(ScenarioRunner(seed: 1).perform(line) == [said])
    }

    @Test("Quoted words hold spaces and escapes") func quotes() {
        let runner = ScenarioRunner(seed: 1)
        #expect(runner.perform(#"alpha write "a b" "1\n\x00\"""#) == [])
        #expect(runner.perform(#"alpha read "a b""#) == [#"1\x0a\x00""#])
        #expect(runner.perform("show") == [#"alpha  a b=1\x0a\x00""#, "beta   (nothing)"])
    }

    @Test("A sketch tells files, empty directories, links, special files and unusual modes") func sketches() {
        let runner = ScenarioRunner(seed: 1)
        for line in [
            "alpha write a/x 1", "alpha mkdir d", "alpha symlink l a/x", "alpha fifo p", "alpha chmod 600 a/x",
        ] {
            #expect(runner.perform(line) == [])
        }
        #expect(runner.perform(#"expect alpha "a/x=1 (600)  d/  l->a/x  p|""#) == [])
        #expect(runner.perform(#"expect alpha "a/x=2""#) == ["alpha  a/x=1 (600)  d/  l->a/x  p|"])
    }
}
