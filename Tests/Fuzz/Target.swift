/// How libFuzzer calls a law: `fuzz --law=NAME` and its own options. Built into a program by `.ci/fuzz` only; in the test bundle nobody
/// calls this.
import Glibc

/// Bytes that break the law end the program, which is how libFuzzer learns of it.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    guard let breach = Target.law.breach(by: bytes) else { return 0 }
    fatalError("\(Target.law.name): \(breach)")
}

private enum Target {
    static let law: Law = {
        let option = "--law="
        let name = CommandLine.arguments.first { $0.hasPrefix(option) }?.dropFirst(option.count)
        guard let law = Law.all.first(where: { $0.name == name.map(String.init) }) else {
            print("The laws are: \(Law.all.map(\.name).joined(separator: " "))")
            exit(2)
        }
        return law
    }()
}
