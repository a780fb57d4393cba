/// `syncsim`: the door to the simulator. See `Arguments.help`.

/// `sysexits.h`: the command line is wrong.
let usageExit: Int32 = 64

do {
    let request = try Arguments.parse(Array(CommandLine.arguments.dropFirst()), processors: System.processors)
    System.exit(try await Run.perform(request) ? 0 : 1)
} catch let error as UsageError {
    System.note("syncsim: \(error.text)")
    System.exit(usageExit)
} catch let error as System.Failure {
    System.note("syncsim: \(error.text)")
    System.exit(1)
}
