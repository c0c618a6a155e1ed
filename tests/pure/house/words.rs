//! Names and comments use plain words: what a thing is, and who does what.

use std::path::Path;

use super::{code_of, sources};

/// Participles with irregular endings.
const PARTICIPLES: [&str; 38] = [
    "Begun", "Born", "Bound", "Built", "Chosen", "Done", "Drawn", "Found", "Given", "Gone", "Heard", "Held",
    "Hidden", "Kept", "Known", "Left", "Lost", "Made", "Meant", "Met", "Put", "Read", "Run", "Said", "Seen",
    "Sent", "Set", "Shown", "Sought", "Stuck", "Taken", "Told", "Torn", "Undone", "Unread", "Unseen",
    "Unknown", "Written",
];

/// Types that look like participles and are not: a noun, and an adjective that stands for external text everywhere.
const NOUNS: [&str; 2] = ["Need", "Untrusted"];

/// Words that do not, by themselves, describe what a function makes of what.
const BARE: [&str; 31] = [
    "about", "above", "after", "among", "around", "as", "at", "before", "below", "between", "by", "for",
    "hear", "in", "into", "of", "on", "over", "per", "rest", "said", "say", "tell", "than", "through", "to",
    "told", "under", "with", "within", "words",
];

/// Returns the word after a keyword that begins a definition in a line, and whether the definition is public.
fn defined<'a>(line: &'a str, keywords: &[&str]) -> Option<(bool, &'a str)> {
    let line = line.trim_start();
    let is_public = line.starts_with("pub");
    let rest =
        if is_public { line.split_once(' ').map_or("", |(first, rest)| after_in(first, rest)) } else { line };
    let rest = rest.strip_prefix("const ").or_else(|| rest.strip_prefix("async ")).unwrap_or(rest);
    let rest = keywords.iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    rest.get(..end).map(|name| (is_public, name))
}

/// Returns the text after a visibility, also one such as `pub(in crate::core)`.
fn after_in<'a>(first: &str, rest: &'a str) -> &'a str {
    if first.contains('(') && !first.contains(')') {
        rest.split_once(") ").map_or(rest, |(_, rest)| rest)
    } else {
        rest
    }
}

fn is_bare_participle(name: &str) -> bool {
    let is_one_word =
        name.chars().filter(|c| c.is_uppercase()).count() == 1 && name.starts_with(char::is_uppercase);
    is_one_word && !NOUNS.contains(&name) && (PARTICIPLES.contains(&name) || name.ends_with("ed"))
}

/// Returns the faults of the names that some code defines.
fn wrong_names(code: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let of_type = defined(line, &["struct ", "enum ", "union ", "trait ", "type "]);
        let of_function = defined(line, &["fn "]);
        let participle = of_type.filter(|(_, name)| is_bare_participle(name));
        let participle = participle.map(|(_, name)| format!("{name} is a participle: say what it is"));
        let bare = of_function.filter(|(is_public, name)| *is_public && BARE.contains(name));
        participle.or_else(|| bare.map(|(_, name)| format!("fn {name}: say what it makes of what")))
    };
    code.lines().filter_map(of_line).collect()
}

#[test]
fn names_say_what_things_are() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let named = |path: &std::path::PathBuf| {
        let wrong = wrong_names(&code_of(path));
        wrong.into_iter().map(|wrong| format!("{}: {wrong}", path.display())).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = files.iter().flat_map(named).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wrong_name_is_found_however_it_is_written() {
    let code = "pub(crate) struct Kept;\nenum Asked {\npub(in crate::core) type Wanted = u8;\npub fn of(x: u8) {}\n\
                    pub(crate) const fn words() {}\nstruct Untrusted;\nfn at() {}\npub fn of_window() {}\nstruct KeptFile;\n";
    assert_eq!(wrong_names(code).len(), 5, "{:?}", wrong_names(code));
}

/// Counts the words of all comments, and of these the two sorts that plain English needs rarely.
fn counted(text: &str) -> [usize; 3] {
    let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
    let words = comments.flat_map(|line| line.split(|c: char| !c.is_alphabetic() && c != '\'' && c != '-'));
    let mut counts = [0; 3];
    for word in words.filter(|word| word.starts_with(char::is_alphabetic)) {
        let word = word.to_lowercase();
        counts[0] += 1;
        counts[1] += usize::from(["tell", "tells", "told", "telling"].contains(&word.as_str()));
        counts[2] += usize::from(["whoever", "nobody"].contains(&word.as_str()));
    }
    counts
}

#[test]
fn comments_name_who_does_what() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    ["src", "tests"].iter().for_each(|folder| sources(&root.join(folder), &mut files));
    let counts = files.iter().map(|path| counted(&std::fs::read_to_string(path).unwrap()));
    let [words, told, nobody] = counts.fold([0; 3], |sum, one| [0, 1, 2].map(|at| sum[at] + one[at]));
    // At most 0.3 in 1,000 each; other code bases of this kind have 0.0 to 0.2.
    assert!(
        told * 10_000 <= words * 3,
        "{told} of {words} words of comments are tell or told: report, return, notify"
    );
    assert!(
        nobody * 10_000 <= words * 3,
        "{nobody} of {words} are whoever or nobody: name the process, or say no caller"
    );
}
