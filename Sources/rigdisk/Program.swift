import Glibc
import SyncModel

/// `rigdisk`: the disk of one virtual machine of the rig, from when it is switched on until it is off. Who ends without a word has lost its
/// power, and with it any part of what was not flushed; then the last line says what that was. See `VolatileDisk`.
@main
struct Program {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 4, let seed = UInt64(words[2]), ["all", "some"].contains(words[3]) else {
            print("rigdisk SOCKET IMAGE SEED all|some: a cut takes all, or some, of what was not flushed")
            exit(64)
        }
        do throws(MediumError) {
            let image = try Image(path: words[1])
            try serve(
                VolatileDisk(medium: image), at: words[0], seed: seed, loss: words[3] == "all" ? .everything : .chance)
        } catch {
            print("rigdisk: \(words[0]), \(words[1]): error \(error.number)")
            exit(74)
        }
    }

    private static func serve(
        _ disk: VolatileDisk<Image>, at socket: String, seed: UInt64, loss: VolatileDisk<Image>.Loss
    ) throws(MediumError) {
        let door = try Door(path: socket)
        var conversation = Conversation(disk: disk)
        var isThere = door.send(Conversation<Image>.greeting)
        while isThere, conversation.end == nil {
            let heard = door.receive()
            isThere = !heard.isEmpty && door.send(conversation.hear(heard))
        }
        switch conversation.end {
        case .agreed:
            try conversation.disk.flush()
            print("off: \(conversation.disk.toll.writes) writes, \(conversation.disk.toll.flushes) flushes")
        case .nonsense:
            print("rigdisk: what the machine says is not understood")
            exit(76)
        case nil:
            var random = SeededRandom(seed: seed, stream: "power cut")
            try conversation.disk.cut(loss, using: &random)
            let toll = conversation.disk.toll
            print(
                "cut: \(toll.writes) writes, \(toll.flushes) flushes, \(toll.unflushed) unflushed, \(toll.lost) lost, \(toll.torn) torn"
            )
        }
    }
}
