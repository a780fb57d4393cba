/// A file that names worlds: on each line what their users do, and seeds.
struct SeedList {
    private(set) var worlds: [NumberedWorld] = []

    init(parsing text: String, of file: String) throws(System.Failure) {
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("#") { continue }
            let words = line.split(separator: " ")
            guard let first = words.first else { continue }
            guard let kind = Worlds(rawValue: String(first)) else {
                throw System.Failure(
                    text: "\(file), line \(number + 1): there are no worlds of \(first): "
                        + "write files, records, formats or locks")
            }
            for word in words.dropFirst() {
                guard let seed = UInt64(word) else {
                    throw System.Failure(text: "\(file), line \(number + 1): \(word) is no seed: write a whole number")
                }
                worlds.append(NumberedWorld(kind, seed))
            }
        }
        guard !worlds.isEmpty else {
            throw System.Failure(text: "\(file) names no world: write one on each line, as in: files 7")
        }
    }
}
