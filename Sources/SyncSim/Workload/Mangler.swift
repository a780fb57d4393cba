import SyncCore
import SyncModel

/// Changes frames of an honest node: what a broken or hostile program on the other end of a sound line could send.
final class Mangler {
    static let rareStates = ["enemy: mangled a frame whose checksum was made right again"]

    private var random: SeededRandom
    private var held: [UInt8]?

    init(_ random: SeededRandom) {
        self.random = random
    }

    func mangle(_ frame: [UInt8], _ world: World) -> [[UInt8]] {
        if let earlier = held {
            held = nil
            return [frame, earlier]
        }
        guard random.chance(percent: 12), !frame.isEmpty else { return [frame] }
        switch random.below(8) {
        case 0: return []
        case 1: return [frame, frame]
        case 2: return [Array(frame.prefix(random.below(frame.count)))]
        case 3: return [flipped(frame)]
        case 4: return [random.bytes(random.range(0...64))]
        case 5:
            held = frame
            return []
        case 6: return [frame + random.bytes(4)]
        default:
            world.rare.hit("enemy: mangled a frame whose checksum was made right again")
            return [resealed(frame)]
        }
    }

    private func flipped(_ frame: [UInt8]) -> [UInt8] {
        var changed = frame
        changed[random.below(frame.count)] ^= 1 << UInt8(random.below(8))
        return changed
    }

    /// A change within, with length and checksum that fit: only meaning can be wrong.
    private func resealed(_ frame: [UInt8]) -> [UInt8] {
        guard frame.count > 9 else { return frame }
        var body = Array(frame[4..<(frame.count - 4)])
        for _ in 0..<random.range(1...3) where body.count > 1 {
            body[random.range(1...(body.count - 1))] ^= UInt8(random.range(1...255))
        }
        return Forger.sealed(body)
    }
}
