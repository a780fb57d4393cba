/// What documents promise about the repository: links that lead somewhere and make targets that exist.
enum DocumentRules {
    /// Links to files of the repository that are not there. `exists` gets a path from the root.
    static func findings(linksOf document: String, text: String, exists: (String) -> Bool) -> [Finding] {
        let folder = document.split(separator: "/").dropLast().map(String.init)
        return prose(of: text).flatMap { line, text in
            links(in: text).filter { !isOutside($0) }.compactMap { link in
                let path = String(link.prefix { $0 != "#" })
                if let target = resolve(path, from: folder), path.isEmpty || exists(target) { return nil }
                return Finding(
                    file: document, line: line, rule: "links-lead-somewhere", cure: "\(link) does not exist.")
            }
        }
    }

    /// `make x` in a document, where the Makefile has no target `x`.
    static func findings(makeTargetsOf document: String, text: String, makefile: String) -> [Finding] {
        let known = targets(in: makefile)
        return zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)).flatMap { line, text in
            commands(in: text).filter { !known.contains($0) }.map {
                Finding(
                    file: document, line: line, rule: "make-targets-exist",
                    cure: "The Makefile has no target \($0). Document what exists.")
            }
        }
    }

    /// Names in front of a colon at the start of a line.
    static func targets(in makefile: String) -> [String] {
        makefile.split(separator: "\n")
            .filter { !$0.hasPrefix("\t") && !$0.hasPrefix(".") && !$0.hasPrefix("#") && !$0.contains(":=") }
            .flatMap { line -> [Substring] in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return parts.count == 2 ? parts[0].split(separator: " ") : []
            }
            .map(String.init)
    }

    /// Lines outside of fenced blocks, where brackets are links.
    private static func prose(of text: String) -> [(line: Int, text: Substring)] {
        var isFenced = false
        return zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)).filter { _, text in
            let isFence = text.drop { $0 == " " }.hasPrefix("```")
            if isFence { isFenced.toggle() }
            return !isFenced && !isFence
        }.map { (line: $0, text: $1) }
    }

    /// The targets of `[text](target)`.
    private static func links(in line: Substring) -> [String] {
        line.split(separator: "](", omittingEmptySubsequences: false).dropFirst()
            .compactMap {
                $0.split(separator: ")", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init)
            }
    }

    private static func isOutside(_ link: String) -> Bool {
        link.contains("://") || link.hasPrefix("mailto:")
    }

    /// A relative path from the root; nil when it leaves the repository.
    private static func resolve(_ link: String, from folder: [String]) -> String? {
        var parts = folder
        for part in link.split(separator: "/") {
            if part == ".." {
                guard parts.popLast() != nil else { return nil }
            } else if part != "." {
                parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }

    /// What follows `make` where a command may stand: at the start of a line, or of a code span.
    private static func commands(in line: Substring) -> [String] {
        var starts = line.split(separator: "`", omittingEmptySubsequences: false)
        starts[0] = starts[0].drop { $0 == " " || $0 == "$" }
        return starts.compactMap { text in
            let words = text.split(separator: " ")
            guard words.first == "make", words.count > 1 else { return nil }
            let name = words[1].prefix { $0.isLetter || $0.isNumber || $0 == "-" }
            return name.isEmpty ? nil : String(name)
        }
    }
}
