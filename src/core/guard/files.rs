//! Calls of programs that remove, move or overwrite files which another window may have written.

use crate::core::guard::call::TreeCall;
use crate::core::guard::folder::joined;
use crate::core::guard::git::reach::Reach;
use crate::core::guard::shell::token::UNKNOWN;
use crate::core::guard::shell::{Command, ShellContext, name_of, read_line};

/// Returns the calls in a shell line, run in some place, that remove, move or overwrite files, as far as it names them.
pub(crate) fn file_calls(line: &str, place: &ShellContext<'_>) -> Vec<TreeCall> {
    let line = read_line(line, place);
    let mut calls: Vec<TreeCall> = line.commands.iter().flat_map(calls_of).collect();
    let outputs = line.outputs.into_iter().filter(|path| path != "/dev/null").collect();
    calls.extend(call(">", outputs, Reach::Files));
    calls.dedup();
    calls
}

/// Returns a call that reaches these paths, if there are any. Each may lie in another working tree.
fn call(verb: &'static str, paths: Vec<String>, reach: impl Fn(Vec<String>) -> Reach) -> Option<TreeCall> {
    (!paths.is_empty()).then(|| TreeCall::of_files(verb, "/", reach(paths)))
}

fn calls_of(command: &Command) -> Vec<TreeCall> {
    let Some((program, words)) = command.words.split_first() else { return Vec::new() };
    let folder = command.folder.as_deref().unwrap_or_default();
    let arguments = FileArguments::parse(name_of(program), words, folder);
    let paths = |verb| call(verb, arguments.paths(), Reach::Paths);
    let files = |verb, paths| call(verb, paths, Reach::Files);
    let found = match name_of(program) {
        "rm" => paths("rm"),
        "unlink" => paths("unlink"),
        "shred" => paths("shred"),
        "mv" => {
            let (from, onto) = arguments.moved();
            let onto = if arguments.has('n', "--no-clobber") { Vec::new() } else { onto };
            return [call("mv", from, Reach::Paths), files("mv -f", onto)].into_iter().flatten().collect();
        }
        "cp" if !arguments.has('n', "--no-clobber") => files("cp", arguments.moved().1),
        "install" => files("install", arguments.moved().1),
        "ln" if arguments.has('f', "--force") => files("ln -f", arguments.moved().1),
        "tee" if !arguments.has('a', "--append") => paths("tee"),
        "truncate" => paths("truncate"),
        "dd" => files("dd", arguments.values("of=")),
        "sed" if arguments.has('i', "--in-place") => paths("sed -i"),
        "perl" if arguments.has('i', "--in-place") => paths("perl -i"),
        "sort" => files("sort -o", arguments.outputs.clone()),
        "find" => call("find", arguments.found(), Reach::Paths),
        "rsync" if arguments.long.iter().any(|option| option.starts_with("--del")) => {
            call("rsync --delete", arguments.paths().pop().into_iter().collect(), Reach::Paths)
        }
        _ => None,
    };
    found.into_iter().collect()
}

/// The arguments of a program that works on files.
struct FileArguments<'a> {
    folder: &'a str,
    long: Vec<&'a str>,
    letters: String,
    /// The words that are not options, nor their values.
    words: Vec<&'a str>,
    /// All words, in their order.
    all: &'a [String],
    /// The absolute paths that options name as outputs.
    outputs: Vec<String>,
    /// The folder that an option names as the target (`-t`).
    target: Option<&'a str>,
}

/// Returns the letters of a program's options that have a value.
fn valued(program: &str) -> &'static str {
    match program {
        "mv" | "cp" | "ln" => "tS",
        "install" => "tSgmo",
        "truncate" => "sr",
        "sed" => "efl",
        "perl" => "eEMmI",
        "sort" => "okStT",
        "shred" => "ns",
        "rsync" => "efBMT",
        _ => "",
    }
}

impl<'a> FileArguments<'a> {
    fn parse(program: &str, all: &'a [String], folder: &'a str) -> Self {
        let mut found = Self {
            folder,
            long: Vec::new(),
            letters: String::new(),
            words: Vec::new(),
            all,
            outputs: Vec::new(),
            target: None,
        };
        let mut rest = all.iter().map(String::as_str);
        while let Some(word) = rest.next() {
            match word.strip_prefix('-') {
                Some("-") => {
                    found.words.extend(rest);
                    break;
                }
                Some(long) if long.starts_with('-') => {
                    found.target = word.strip_prefix("--target-directory=").or(found.target);
                    found.outputs.extend(word.strip_prefix("--output=").and_then(|to| joined(folder, to)));
                    found.long.push(word);
                }
                Some(cluster) if !cluster.is_empty() => found.cluster(program, cluster, &mut rest),
                Some(_) | None => found.words.push(word),
            }
        }
        found
    }

    /// Reads the letters of short options, and the value of the last one if it has one.
    fn cluster(&mut self, program: &str, cluster: &'a str, rest: &mut impl Iterator<Item = &'a str>) {
        for (place, letter) in cluster.char_indices() {
            self.letters.push(letter);
            // The rest of the word is a suffix for copies.
            if letter == 'i' && matches!(program, "sed" | "perl") {
                return;
            }
            if valued(program).contains(letter) {
                let own = cluster.get(place + letter.len_utf8()..).filter(|own| !own.is_empty());
                let value = own.or_else(|| rest.next());
                match letter {
                    't' if program != "sort" => self.target = value,
                    'o' if program == "sort" => {
                        self.outputs.extend(value.and_then(|to| joined(self.folder, to)));
                    }
                    _ => {}
                }
                return;
            }
        }
    }

    fn has(&self, letter: char, long: &str) -> bool {
        self.letters.contains(letter) || self.long.iter().any(|option| option.split('=').next() == Some(long))
    }

    /// Returns a path, absolute, if no part of it is known to the shell alone but what stands for names of files.
    fn path(&self, word: &str) -> Option<String> {
        joined(self.folder, word).filter(|path| !path.contains(UNKNOWN))
    }

    fn paths(&self) -> Vec<String> {
        self.words.iter().filter_map(|word| self.path(word)).collect()
    }

    /// Returns what is moved or copied, and the files that it may take the place of: the target, or those below it if
    /// that is a folder.
    fn moved(&self) -> (Vec<String>, Vec<String>) {
        let mut words = self.words.clone();
        let to = self.target.or_else(|| words.pop()).and_then(|to| self.path(to));
        let from: Vec<String> = words.iter().filter_map(|word| self.path(word)).collect();
        let Some(to) = to else { return (from, Vec::new()) };
        let below = |path: &String| joined(&to, path.rsplit('/').next()?);
        let mut onto: Vec<String> = from.iter().filter_map(below).collect();
        if self.target.is_none() {
            onto.insert(0, to);
        }
        (from, onto)
    }

    /// Returns the values of words such as `of=FILE`, as absolute paths.
    fn values(&self, name: &str) -> Vec<String> {
        self.words.iter().filter_map(|word| self.path(word.strip_prefix(name)?)).collect()
    }

    /// Returns the paths that `find` removes, if it does and they depend on names alone (find(1)).
    fn found(&self) -> Vec<String> {
        let mut words = self.all.iter().map(String::as_str).peekable();
        let mut starts = Vec::new();
        while let Some(start) = words.next_if(|word| !word.starts_with(['-', '(', '!'])) {
            starts.extend(self.path(start));
        }
        let (mut name, mut removes) = (None, false);
        while let Some(word) = words.next() {
            match word {
                "-delete" => removes = true,
                "-exec" | "-execdir" if words.peek() == Some(&"rm") => {
                    removes = true;
                    words.by_ref().find(|word| matches!(*word, ";" | "+"));
                }
                "-name" if name.is_none() => name = words.next().filter(|name| !name.contains(UNKNOWN)),
                "-type" if words.peek() == Some(&"f") => drop(words.next()),
                "-depth" | "-xdev" | "-mount" | "-print" => {}
                // It depends on more.
                _ => return Vec::new(),
            }
        }
        match name {
            _ if !removes => Vec::new(),
            None => starts,
            Some(name) => starts
                .iter()
                .flat_map(|start| [format!("{start}/{name}"), format!("{start}/*/{name}")])
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::guard::git::reach::is_pattern;
    use crate::core::guard::shell::token::{ANY, MANY};

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let place = ShellContext { folder: "/w", home: Some("/home/me"), top_of: &|_| None };
        let label = |call: &TreeCall| {
            let (Reach::Paths(paths) | Reach::Files(paths)) = &call.reach else { panic!("{call:?}") };
            let paths: Vec<String> =
                paths.iter().map(|path| path.replace(MANY, "*").replace(ANY, "?")).collect();
            format!("{} {}", call.verb, paths.join(" "))
        };
        let found: Vec<String> = file_calls(line, &place).iter().map(label).collect();
        assert_eq!(found.join("; "), expected, "{line}");
    }

    #[test]
    fn what_removes_files_is_known() {
        check("rm -rf src ../x/a.rs", "rm /w/src /x/a.rs");
        check("rm -- -odd 'a b'", "rm /w/-odd /w/a b");
        check("cd src && rm *.rs", "rm /w/src/*.rs");
        check("find . -name new.rs -delete", "find /w/new.rs /w/*/new.rs");
        check(
            "find src docs -type f -name '*.md' -exec rm -f {} +",
            "find /w/src/*.md /w/src/*/*.md /w/docs/*.md /w/docs/*/*.md",
        );
        check("find src -delete", "find /w/src");
        check("rsync -a --delete ../copy/ src/", "rsync --delete /w/src");
        assert!(is_pattern("/w/*/new.rs"));
    }

    #[test]
    fn what_overwrites_files_is_known() {
        check("cp README.md src/pay.rs", "cp /w/src/pay.rs /w/src/pay.rs/README.md");
        check("cp -r -t src a.rs b.rs", "cp /w/src/a.rs /w/src/b.rs");
        check("mv src/pay.rs ../out/", "mv /w/src/pay.rs; mv -f /out /out/pay.rs");
        check("mv -n a b", "mv /w/a");
        check("ln -sf ../x src/pay.rs", "ln -f /w/src/pay.rs /w/src/pay.rs/x");
        check("install -m 644 a src/pay.rs", "install /w/src/pay.rs /w/src/pay.rs/a");
        check("echo broken > src/pay.rs", "> /w/src/pay.rs");
        check("git show HEAD:a.rs | tee a.rs", "tee /w/a.rs");
        check("dd if=/dev/null of=a.rs status=none", "dd /w/a.rs");
        check("truncate -s 0 a.rs", "truncate /w/a.rs");
        check("sed -i.bak -e 's/a/b/' a.rs", "sed -i /w/a.rs");
        check("sed --in-place 's/a/b/' a.rs", "sed -i /w/s/a/b /w/a.rs");
        check("sort -u a.rs -o a.rs", "sort -o /w/a.rs");
    }

    #[test]
    fn what_takes_nothing_away_passes() {
        for line in [
            "cat src/pay.rs",
            "sed -n 1,5p a.rs",
            "echo x >> a.rs",
            "tee -a a.rs",
            "cp -n a b",
            "ln -s a b",
            "make > /dev/null 2>&1",
            "rm \"$F\"",
            "find . -name '*.rs'",
            "find . -mtime +1 -delete",
            "rsync -a src/ ../copy/",
            "mkdir -p src/x && touch src/x/y",
            "grep -r rm src",
        ] {
            check(line, "");
        }
    }
}
