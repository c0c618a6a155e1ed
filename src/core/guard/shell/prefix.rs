//! Prefixes of a command's program: words of the shell, and programs that run another one.

/// Returns the name of a program that may be called by its path.
pub(crate) fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Removes the prefixes of a program: words of the shell, and programs that run another.
pub(super) fn without_prefix(words: &[String]) -> &[String] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        rest = match first.as_str() {
            word if is_reserved(word) => after,
            name if is_assignment(name) && !moves_git(name) => after,
            name => {
                match RUNNERS.iter().find(|runner| runner.name == name_of(name)).and_then(|it| it.run(after))
                {
                    Some(run) => run,
                    None => break,
                }
            }
        };
    }
    rest
}

/// Returns whether a word of the shell itself precedes a command.
pub(super) fn is_reserved(word: &str) -> bool {
    matches!(word, "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "!" | "{")
}

/// A program, or a word of the shell, that runs another program.
struct Runner {
    name: &'static str,
    /// The letters of its options that have a value.
    valued: &'static str,
    /// The letters of those that have none.
    plain: &'static str,
    /// Its long options; one whose value is in the same word with its sign of equality.
    long: &'static [&'static str],
    /// How many words of its own precede the program.
    words: usize,
}

const RUNNERS: [Runner; 13] = [
    Runner {
        name: "flock",
        valued: "wE",
        plain: "nsxeouF",
        long: &["--nonblock", "--exclusive", "--shared"],
        words: 1,
    },
    Runner { name: "command", valued: "", plain: "p", long: &[], words: 0 },
    Runner { name: "builtin", valued: "", plain: "", long: &[], words: 0 },
    Runner { name: "exec", valued: "", plain: "", long: &[], words: 0 },
    Runner { name: "nohup", valued: "", plain: "", long: &[], words: 0 },
    Runner {
        name: "sudo",
        valued: "ug",
        plain: "EHSbkn",
        long: &["--preserve-env", "--preserve-env=", "--non-interactive", "--user=", "--set-home"],
        words: 0,
    },
    Runner { name: "time", valued: "", plain: "p", long: &["--portability"], words: 0 },
    Runner { name: "nice", valued: "n", plain: "0123456789", long: &["--adjustment="], words: 0 },
    Runner { name: "ionice", valued: "cn", plain: "t", long: &["--class=", "--classdata="], words: 0 },
    Runner { name: "setsid", valued: "", plain: "cfw", long: &["--ctty", "--fork", "--wait"], words: 0 },
    Runner {
        name: "stdbuf",
        valued: "ioe",
        plain: "",
        long: &["--input=", "--output=", "--error="],
        words: 0,
    },
    Runner {
        name: "timeout",
        valued: "ks",
        plain: "v",
        long: &["--kill-after=", "--signal=", "--preserve-status", "--foreground", "--verbose"],
        words: 1,
    },
    Runner { name: "env", valued: "u", plain: "i", long: &["--ignore-environment", "--unset="], words: 0 },
];

impl Runner {
    /// Returns the command that it runs, from the words after it; `None` if an option is not known.
    fn run<'a>(&self, words: &'a [String]) -> Option<&'a [String]> {
        let mut rest = words;
        while let Some((option, after)) = rest.split_first() {
            let Some(letters) = option.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
            if letters.starts_with('-') {
                rest = after;
                if option == "--" {
                    break;
                }
                let is_that =
                    |long: &&str| option == long || long.ends_with('=') && option.starts_with(*long);
                self.long.iter().find(|long| is_that(long))?;
                continue;
            }
            let value = letters.find(|letter| self.valued.contains(letter));
            let plain = letters.get(..value.unwrap_or(letters.len()))?;
            if !plain.chars().all(|letter| self.plain.contains(letter)) {
                return None;
            }
            // The value is the rest of the word, or the next one.
            let is_next = value.is_some_and(|at| at + 1 == letters.len());
            rest = after.get(usize::from(is_next)..)?;
        }
        rest.get(self.words..)
    }
}

/// Returns whether a variable makes git work elsewhere, or on something else.
fn moves_git(assignment: &str) -> bool {
    MOVING.iter().any(|prefix| assignment.starts_with(prefix))
}

/// Returns whether exporting it does not change what git takes.
pub(super) fn may_be_exported(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !moves_git(word)
}

/// Prefixes of git's variables that change where it works, and the meaning of paths (git(1)).
const MOVING: [&str; 15] = [
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE",
    "GIT_NAMESPACE", "GIT_CEILING", "GIT_DISCOVERY", "GIT_PREFIX", "GIT_NOGLOB", "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY", "GIT_CONFIG_VALUE", "GIT_CONFIG_PARAMETERS",
];

pub(super) fn is_assignment(word: &str) -> bool {
    let name =
        word.split_once('=').map(|(name, _)| name.strip_suffix('+').unwrap_or(name)).unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
