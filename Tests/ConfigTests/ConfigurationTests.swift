import SyncModel
import Testing

/// What a good syncd.conf means, and that what is written is what is read.
@testable import Config

@Suite("configuration")
struct ConfigurationTests {
    private func parse(_ text: String) throws(ConfigurationError) -> Configuration {
        try Configuration.parse(Array(text.utf8), file: "syncd.conf")
    }

    /// The sample of the product's contract, word for word.
    private static let contract = """
        [node]
        name = alpha
        state = /var/lib/syncd/default
        control = /run/syncd/default.sock
        [folder]
        path = /srv/shared
        models = /etc/syncd/models.d
        [link]
        transport = tls            ; or: directory
        listen = [::]:7420
        peer = beta.example:7420
        ;mailbox = /mnt/both       ; for transport = directory
        rate-limit = 0
        [safety]
        delete-fuse-files = 50
        delete-fuse-percent = 25
        keep-versions-days = 30
        keep-versions-size = 10GiB
        reserve = 1%
        [alerts]
        hook =                     ; a command, gets the alert as JSON on stdin
        """

    @Test("the contract's sample says what it says") func contract() throws {
        let configuration = try parse(Self.contract)
        #expect(configuration.node.name == "alpha")
        #expect(configuration.node.state == Array("/var/lib/syncd/default".utf8))
        #expect(configuration.node.control == Array("/run/syncd/default.sock".utf8))
        #expect(configuration.folder.path == Array("/srv/shared".utf8))
        #expect(configuration.folder.models == Array("/etc/syncd/models.d".utf8))
        #expect(configuration.link.transport == .tls)
        #expect(configuration.link.listen == "[::]:7420")
        #expect(configuration.link.peer == "beta.example:7420")
        #expect(configuration.link.mailbox == nil)
        #expect(configuration.link.rateLimitBytesPerSecond == 0)
        #expect(configuration.safety.settings == Settings())
        #expect(configuration.safety.reserve == .percent(1))
        #expect(configuration.alerts.hook == nil)
        #expect(configuration == .sample)
    }

    @Test("config/syncd.conf is the commented sample, as this program writes it") func sampleFile() throws {
        let file = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/config/syncd.conf"
        #expect(try UnreadableFile.contents(file) == Configuration.sample.text)
        #expect(try Configuration.read(path: file) == .sample)
    }

    @Test("every key stands in the sample once, set or as a comment") func everyKey() throws {
        let lines = String(decoding: Configuration.sample.text, as: UTF8.self).split(separator: "\n")
        for key in ConfigurationKey.allCases {
            #expect(lines.count { $0.hasPrefix("\(key.name) =") || $0.hasPrefix(";\(key.name) =") } == 1, "\(key)")
        }
        #expect(lines.allSatisfy { $0.utf8.count <= 120 })
    }

    @Test("a name and a folder are enough") func defaults() throws {
        let configuration = try parse("[node]\nname=b\n[folder]\npath=/data")
        #expect(configuration == Configuration(name: "b", folder: Array("/data".utf8)))
        #expect(configuration.link.listen == "[::]:7420" && configuration.link.peer == nil)
    }

    @Test("everything else than the default is read, too") func everythingElse() throws {
        let configuration = try parse(
            """
            [alerts]
            hook = /usr/local/bin/mail-alert --to root
            [safety]
            delete-fuse-files = 7
            delete-fuse-percent: 0
            keep-versions-days = 365
            keep-versions-size = 1tib
            reserve = 512 MiB
            [link]
            transport = directory
            mailbox = /mnt//both/
            listen =
            peer = [fe80::1%eth0]:1
            rate-limit = 1500000
            [folder]
            models = /opt/models
            path = /
            path2 = x
            """.replacing("path = /\npath2 = x", with: "path = /srv/./a b")
                + "\n[node]\nname = b-2.example\nstate = /s\ncontrol = /c.sock\n")
        #expect(configuration.alerts.hook == Array("/usr/local/bin/mail-alert --to root".utf8))
        #expect(configuration.safety.settings.deleteFuseFiles == 7)
        #expect(configuration.safety.settings.deleteFusePercent == 0)
        #expect(configuration.safety.settings.keepVersionsMilliseconds == 365 * 86_400_000)
        #expect(configuration.safety.settings.keepVersionsBytes == 1 << 40)
        #expect(configuration.safety.reserve == .bytes(512 << 20))
        #expect(configuration.link.transport == .directory)
        #expect(configuration.link.mailbox == Array("/mnt/both".utf8))
        #expect(configuration.link.listen == nil)
        #expect(configuration.link.peer == "[fe80::1%eth0]:1")
        #expect(configuration.link.rateLimitBytesPerSecond == 1_500_000)
        #expect(configuration.folder.path == Array("/srv/a b".utf8))
        #expect(configuration.node.name == "b-2.example")
    }

    @Test("what is written is read as the same, whatever it is") func roundTrip() throws {
        var random = SeededRandom(seed: 55)
        for _ in 0..<300 {
            let configuration = RandomConfiguration.make(&random)
            #expect(try Configuration.parse(configuration.text, file: "x") == configuration)
        }
    }

    @Test("a path of bytes that are no UTF-8 stays what it is") func bytesPath() throws {
        let path: [UInt8] = Array("/srv/".utf8) + [0xFF, 0xE4, 0x22, 0x5C]
        let text = Array("[node]\nname = a\n[folder]\npath = ".utf8) + path + [0x0A]
        #expect(try Configuration.parse(text, file: "x").folder.path == path)
    }

    @Test("what differs is named key by key, in the order of the file") func differences() throws {
        let old = Configuration.sample
        var new = old
        #expect(new.keysThatDiffer(from: old).isEmpty)
        new.alerts.hook = [0x61]
        new.link.listen = nil
        new.safety.settings.keepVersionsBytes = 1 << 30
        new.node.name = "beta"
        #expect(new.keysThatDiffer(from: old) == [.name, .listen, .keepVersionsSize, .hook])
    }

    @Test("a reserve is a share of any size, or its own size") func reserves() {
        #expect(Configuration.Reserve.percent(1).bytes(of: 1_000) == 10)
        #expect(Configuration.Reserve.percent(90).bytes(of: 99) == 89)
        #expect(Configuration.Reserve.percent(1).bytes(of: .max) == UInt64.max / 100)
        #expect(Configuration.Reserve.percent(0).bytes(of: 1 << 40) == 0)
        #expect(Configuration.Reserve.bytes(7).bytes(of: 1) == 7)
    }
}

/// Configurations as far from the defaults as they may be.
enum RandomConfiguration {
    static func make(_ random: inout SeededRandom) -> Configuration {
        var made = Configuration(name: name(&random), folder: path(&random, under: "/folder"))
        made.node.state = path(&random, under: "/state")
        made.node.control = path(&random, under: "/run")
        made.folder.models = path(&random, under: "/models")
        made.link.peer = random.chance(percent: 50) ? "host.example:\(random.range(1...65_535))" : nil
        made.link.listen = random.chance(percent: 50) || made.link.peer == nil ? "[::1]:\(random.below(65_536))" : nil
        made.link.rateLimitBytesPerSecond = random.next() >> UInt64(random.range(14...63))
        if random.chance(percent: 30) {
            made.link.transport = .directory
            made.link.mailbox = path(&random, under: "/mailbox")
        }
        made.safety.settings.deleteFuseFiles = random.below(1_000)
        made.safety.settings.deleteFusePercent = random.below(101)
        made.safety.settings.keepVersionsMilliseconds = Int64(random.range(1...36_500)) * 86_400_000
        made.safety.settings.keepVersionsBytes = UInt64(random.range(1...1 << 40)) << 20
        made.safety.reserve =
            random.chance(percent: 50)
            ? .percent(random.below(91)) : .bytes(random.next() >> UInt64(random.range(4...63)))
        if random.chance(percent: 50) { made.alerts.hook = Array("/bin/sh -c 'cat >> /tmp/a;b' #".utf8) }
        return made
    }

    private static func name(_ random: inout SeededRandom) -> String {
        let allowed = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_".utf8)
        let bytes = (0..<random.range(1...64)).map { _ in allowed[random.below(allowed.count)] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func path(_ random: inout SeededRandom, under directory: String) -> [UInt8] {
        let tail = (0..<random.range(1...40)).map { _ in UInt8(random.range(0x21...0xFF)) }.map {
            $0 == 0x2F ? 0x30 : $0
        }
        return Array(directory.utf8) + [0x2F, 0x78] + tail
    }
}
