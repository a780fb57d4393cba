/// Rows F2, K5, T3 and T5 of the design's sources, and L11 as far as it is about all tests of the library.
import Foundation
import Testing

@Suite("what the library offers, and what it keeps from being said")
struct InterfaceTests {
    /// Row F8 asks for a class: what is handed in through `userInfo` as a value would be lost.
    private static let classes: Set<String> = ["DecodeErrorCollector"]
    private static let list = "docs/library-interface.txt"

    @Test(
        "T3, T5: the public interface has protocols, values and functions that make them, and nothing to inherit from")
    func kinds() throws {
        for file in try Repository().swiftFiles(under: "Sources/SyncKit") {
            report(InterfaceRules.findings(classesIn: file, except: Self.classes))
        }
    }

    /// `SYNCD_WRITE_DOCS=1` writes the list anew; the difference is to be looked at like any other.
    @Test("T5: the public interface is the one that was written down") func unchanged() throws {
        let repository = try Repository()
        let lines = try repository.swiftFiles(under: "Sources/SyncKit").flatMap { file in
            let declarations = InterfaceRules.declarations(in: file)
            return declarations.isEmpty ? [] : ["# \(file.path)"] + declarations
        }
        let text = lines.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["SYNCD_WRITE_DOCS"] != nil {
            try text.write(to: repository.root.appendingPathComponent(Self.list), atomically: true, encoding: .utf8)
        }
        let written = try repository.text(Self.list).split(separator: "\n").map(String.init)
        #expect(Set(written).subtracting(lines).sorted() == [], "gone from the interface")
        #expect(Set(lines).subtracting(written).sorted() == [], "new in the interface")
        // What stands there more than once is missed where it belongs.
        #expect(lines == written, "another order, or another number of them")
    }

    @Test("F2: nothing is optional because it might not decode", arguments: ["SyncKit", "birthdays", "RecordMerge"])
    func strict(target: String) throws {
        for file in try Repository().swiftFiles(under: "Sources/\(target)") {
            report(InterfaceRules.findings(loosenedIn: file))
        }
    }

    @Test(
        "K5: what was not checked cannot be written or taken in: only the check itself makes the type that may be",
        arguments: [
            (
                "VerifiedBytes", "Sources/SyncCore/Session/VerifiedBytes.swift", "private init(_ bytes:",
                [
                    "Sources/SyncCore/Node/Node+Fetch.swift"
                ]
            ),
            (
                "AdmittedSet", "Sources/SyncCore/Records/HeldSets.swift", "fileprivate init(_ set:",
                [
                    "Sources/SyncCore/Records/Node+OwnSets.swift"
                ]
            ),
        ])
    func stages(type: String, home: String, making: String, checking: [String]) throws {
        let repository = try Repository()
        #expect(try repository.text(home).contains(making))
        for file in try repository.swiftFiles(under: "Sources/SyncCore") where file.path != home {
            let made = file.occurrences(of: "\(type)(")
            #expect(made.isEmpty || checking.contains(file.path), "\(file.path)")
        }
        // Who takes them in takes nothing else.
        let book = try repository.source("Sources/SyncCore/Records/RecordBook.swift")
        #expect(book.occurrences(of: "func note(_ admitted: AdmittedSet)").count == 1)
        #expect(book.occurrences(of: "func note(_ set: ChangeSet)").isEmpty)
        #expect(
            try repository.source("Sources/SyncCore/Node/Node+Fetch.swift").occurrences(of: "case bytes(VerifiedBytes)")
                .count == 1)
    }

    @Test("L11: no test of the library sleeps for a fixed time") func sleeping() throws {
        for file in try Repository().swiftFiles(under: "Tests/SyncKitTests") {
            for word in ["Task.sleep", "usleep", "nanosleep", "Thread.sleep"] {
                #expect(file.occurrences(of: word).isEmpty, "\(file.path): \(word)")
            }
        }
    }
}

@Suite("interface rules find planted violations")
struct InterfaceRulesTests {
    @Test(
        "declarations are found with what belongs to them",
        arguments: [
            (
                "public struct A: B {\n    public let c: Int\n    let d: Int\n}",
                ["public struct A: B", "public let c: Int"]
            ),
            ("public protocol P {\n    var a: Int { get }\n}", ["public protocol P", "    var a: Int { get }"]),
            ("public enum E {\n    case a, b\n    var c: Int { 1 }\n}", ["public enum E", "    case a, b"]),
            ("public func f(\n    _ a: Int\n) -> B {\n    public1\n}", ["public func f( _ a: Int ) -> B"]),
            ("public typealias A = B", ["public typealias A = B"]), ("public var a = 1", ["public var a"]),
            ("// public let a: Int\npublic import B\nstruct C {}", []),
        ]) func declarations(text: String, expected: [String])
    {
        #expect(InterfaceRules.declarations(in: SourceFile(path: "x", text: text + "\n")) == expected)
    }

    @Test(
        "something to inherit from is found",
        arguments: [
            ("public final class A {}", 1), ("open class A {}", 2), ("public actor A {}", 1), ("final class A {}", 0),
            ("public struct A {}", 0), ("public final class Known {}", 0), ("public class func f() {}", 0),
        ]) func classes(text: String, expected: Int)
    {
        let file = SourceFile(path: "x", text: text + "\n")
        #expect(InterfaceRules.findings(classesIn: file, except: ["Known"]).count == expected)
    }

    @Test(
        "a type that was loosened for decoding is found",
        arguments: [
            ("a = try c.decodeIfPresent(Int.self, forKey: .a)", 1), ("a = try? c.decode(Int.self)", 1),
            ("a = try c.decode(Int.self)", 0), ("a = try? f()", 0),
        ]) func loosened(text: String, expected: Int)
    {
        #expect(InterfaceRules.findings(loosenedIn: SourceFile(path: "x", text: text + "\n")).count == expected)
    }
}
