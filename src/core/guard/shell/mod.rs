//! The commands of a shell line that can be read with certainty, each with the folder that it runs in.
//!
//! What depends on anything but the line itself - a variable, a substitution, a pattern - is not known, and
//! what is not known is never guessed.

pub(crate) mod token;

use crate::core::guard::folder::joined;
use crate::core::guard::shell::token::{Token, Tokens, is_known};

/// The longest line that is read, in bytes: agents write short ones.
const MOST: usize = 64 << 10;
/// How deep `sh -c` may hold another line.
const DEEPEST: usize = 3;

/// One command and the folder that it runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// Its words; [`token::UNKNOWN`] stands in one for what only the shell knows.
    pub(crate) words: Vec<String>,
    /// The folder, absolute.
    pub(crate) folder: String,
}

/// Returns the commands of a line that runs in some folder; those whose folder is not known are left out.
pub(crate) fn commands(line: &str, folder: &str) -> Vec<Command> {
    let mut found = Vec::new();
    if line.len() <= MOST {
        read(line, Some(folder.to_owned()), DEEPEST, &mut found);
    }
    found
}

fn read(line: &str, folder: Option<String>, depth: usize, found: &mut Vec<Command>) {
    let mut tokens = Tokens::of(line);
    let mut folders = vec![folder];
    let mut words = Vec::new();
    let mut is_piped = false;
    loop {
        let token = match tokens.next() {
            Some(Token::Words(some)) => {
                words.extend(some);
                continue;
            }
            Some(Token::Lost) => return,
            token => token,
        };
        // In a pipeline each has a folder of its own.
        let is_forked = std::mem::replace(&mut is_piped, matches!(token, Some(Token::Fork))) || is_piped;
        if let Some(folder) = folders.last_mut() {
            let before = folder.clone().filter(|_| is_forked);
            command(std::mem::take(&mut words), folder, depth, found);
            *folder = before.or(folder.take());
        }
        match token {
            Some(Token::Open) => folders.push(folders.last().cloned().flatten()),
            Some(Token::Close) if folders.len() > 1 => drop(folders.pop()),
            Some(Token::End | Token::Fork) => {}
            Some(Token::Words(_) | Token::Close | Token::Lost) | None => return,
        }
    }
}

/// Reads one command, which may change the folder of those after it.
fn command(words: Vec<String>, folder: &mut Option<String>, depth: usize, found: &mut Vec<Command>) {
    let words = without_prefix(&words);
    // A program that a variable names is none of the shell's own words, so it does not change the folder.
    let Some((program, rest)) = words.split_first().filter(|(program, _)| is_known(program)) else { return };
    match (name_of(program), rest) {
        ("cd" | "chdir", [options @ .., to])
            if options.iter().all(|one| is_of_cd(one)) && !to.starts_with('-') && is_known(to) =>
        {
            *folder = folder.as_deref().and_then(|at| joined(at, to))
        }
        ("pushd", [to]) if !to.starts_with(['-', '+']) && is_known(to) => {
            *folder = folder.as_deref().and_then(|at| joined(at, to))
        }
        ("export", names) if names.iter().all(|name| may_be_exported(name)) => {}
        ("eval", words) if depth > 0 && words.iter().all(|word| is_known(word)) => {
            read(&words.join(" "), folder.take(), depth - 1, found);
        }
        ("source" | ".", [script, ..]) if SETTING_UP.contains(&name_of(script)) => {}
        ("alias", names)
            if names.iter().all(|name| !name.starts_with("git=") && !name.starts_with("cd=")) => {}
        (
            "cd" | "chdir" | "pushd" | "popd" | "eval" | "source" | "." | "export" | "alias" | "function",
            _,
        ) => *folder = None,
        ("sh" | "bash" | "zsh" | "dash" | "ksh", words) if depth > 0 => {
            if let Some(line) = line_of(words) {
                read(line, folder.clone(), depth - 1, found);
            }
        }
        _ => found.extend(folder.clone().map(|folder| Command { words: words.to_vec(), folder })),
    }
}

/// Names of scripts that set variables for what follows, and stay in the folder.
const SETTING_UP: [&str; 10] = [
    "activate", "env", ".env", "nvm.sh", ".bashrc", ".profile", ".bash_profile", ".zshrc", "sdkman-init.sh",
    "environment",
];

/// Returns the name of a program that may be called by its path.
fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Returns the line that a shell is given to run (`-c`), by its words.
fn line_of(words: &[String]) -> Option<&str> {
    let mut is_given = false;
    let mut words = words.iter().map(String::as_str);
    loop {
        let word = words.next().filter(|word| is_known(word))?;
        match word.strip_prefix(['-', '+']) {
            None => return Some(word).filter(|_| is_given),
            Some("-rcfile" | "-init-file" | "-emulate") => return None,
            // A long one, or the end of all.
            Some(long) if long.starts_with('-') || long.is_empty() => {}
            Some(letters) => {
                is_given |= letters.contains('c');
                // Each names an option by the next word.
                for _ in letters.matches(['o', 'O']) {
                    words.next()?;
                }
            }
        }
    }
}

/// Returns whether a word before a folder changes nothing of where `cd` goes.
fn is_of_cd(word: &str) -> bool {
    matches!(word, "--" | "-L" | "-P")
}

/// Leaves out what stands before a program: words of the shell, and programs that run another.
fn without_prefix(words: &[String]) -> &[String] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        rest = match first.as_str() {
            "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "!" | "{" => after,
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

/// A program, or a word of the shell, that runs another program.
struct Runner {
    name: &'static str,
    /// The letters of its options that have a value.
    valued: &'static str,
    /// The letters of those that have none.
    plain: &'static str,
    /// Its long options; one whose value is in the same word with its sign of equality.
    long: &'static [&'static str],
    /// How many words of its own stand before the program.
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
    /// Returns what it runs, of the words behind it; `None` where an option is not known.
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

/// Returns whether a variable lets git work elsewhere, or on something else.
fn moves_git(assignment: &str) -> bool {
    MOVING.iter().any(|prefix| assignment.starts_with(prefix))
}

/// Returns whether exporting it changes neither where `cd` goes nor what git takes.
fn may_be_exported(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name && !moves_git(word) && !matches!(name, "CDPATH" | "HOME" | "PWD" | "OLDPWD")
}

/// How the names of git's variables begin that change where it works, and what paths mean to it (git(1)).
const MOVING: [&str; 15] = [
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE",
    "GIT_NAMESPACE", "GIT_CEILING", "GIT_DISCOVERY", "GIT_PREFIX", "GIT_NOGLOB", "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY", "GIT_CONFIG_VALUE", "GIT_CONFIG_PARAMETERS",
];

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::guard::shell::token::UNKNOWN;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let told = |command: &Command| {
            let words: Vec<String> = command.words.iter().map(|word| word.replace(UNKNOWN, "?")).collect();
            format!("{}: {}", command.folder, words.join(" "))
        };
        let found: Vec<String> = commands(line, "/w").iter().map(told).collect();
        assert_eq!(found.join("\n"), expected, "{line}");
    }

    #[test]
    fn a_line_is_cut_into_its_commands() {
        check("git stash", "/w: git stash");
        check("a && b || c; d | e & f\ng", "/w: a\n/w: b\n/w: c\n/w: d\n/w: e\n/w: f\n/w: g");
        check("git commit -m 'a && b; c' -a", "/w: git commit -m a && b; c -a");
        check(r#"git commit -m "say \"x\"" # git stash"#, r#"/w: git commit -m say "x""#);
        check("make 2>&1 >out && git stash", "/w: make\n/w: git stash");
        check("if git diff --quiet; then git stash; fi", "/w: git diff --quiet\n/w: git stash\n/w: fi");
        check("FOO=1 sudo timeout 5 git clean -fd", "/w: git clean -fd");
        check("bash -lc 'cd x && git stash'", "/w/x: git stash");
        check("nice -n 5 git stash; nice -5 git a; nice git b", "/w: git stash\n/w: git a\n/w: git b");
        check("timeout -k 5 -s INT 10 git stash; time -p git a", "/w: git stash\n/w: git a");
        check("setsid -w stdbuf -oL env -i -u X A=b git stash", "/w: git stash");
        check("env -C /x git stash; sudo -D /x git a", "/w: env -C /x git stash\n/w: sudo -D /x git a");
        check("GIT_EDITOR=true GIT_AUTHOR_NAME='a b' git rebase", "/w: git rebase");
        check("[[ -f x ]] && [ -f y ] && git stash", "/w: [[\n/w: [ -f y ]\n/w: git stash");
        check("make && \\\n  git stash", "/w: make\n/w: git stash");
        check("git \\\n\t stash \\\n", "/w: git stash");
        check("gi\\\nt stash", "/w: git stash");
        check("git checkout -- src/{a,b}.rs {c,d}{1,2}", "/w: git checkout -- src/a.rs src/b.rs c1 c2 d1 d2");
        check(
            "find . -exec echo {} +; git a x{y}z '{a,b}'",
            "/w: find . -exec echo {} +\n/w: git a x{y}z {a,b}",
        );
        check("/bin/bash -euo pipefail -c 'git stash'", "/w: git stash");
        check("sh -e -c 'git stash' name; bash --norc -c 'git a'", "/w: git stash\n/w: git a");
        check("bash build.sh -c 'git stash'; bash", "");
        check("/usr/bin/env -- git stash; sudo -E -u me git a", "/w: git stash\n/w: git a");
        check("timeout --preserve-status --signal=KILL 5 git stash", "/w: git stash");
        check("env --chdir=/x git stash", "/w: env --chdir=/x git stash");
        check("eval 'cd x; git stash'; git a", "/w/x: git stash");
        check("builtin cd /x && git stash; chdir /y; git a", "/x: git stash\n/y: git a");
        check("export A=b C; git stash", "/w: git stash");
        check("export PATH=\"$HOME/bin:$PATH\" && git stash", "/w: git stash");
        check("source .venv/bin/activate; . \"$HOME/.cargo/env\"; git stash", "/w: git stash");
        check(". ./build.sh; git stash", "");
        check("alias ll=ls; git a; alias git=hub; git stash", "/w: git a");
        check("\"$PYTHON\" -c 1; git stash; GIT_LFS_SKIP_SMUDGE=1 git a", "/w: git stash\n/w: git a");
        check("flock -n /tmp/x git stash", "/w: git stash");
        check("export GIT_DIR=/x; git stash", "");
        check("export CDPATH=/x; git stash", "");
    }

    #[test]
    fn a_command_runs_where_cd_went() {
        check("cd x && git stash", "/w/x: git stash");
        check("cd ../y/./z && git stash", "/y/z: git stash");
        check("(cd /x && git stash); git stash", "/x: git stash\n/w: git stash");
        check("cd -P -- x && git stash", "/w/x: git stash");
        check("pushd x && git stash; popd; git a", "/w/x: git stash");
        check("pushd && git stash", "");
        check("cd a b && git stash", "");
        check("cd \"$DIR\" && git stash", "");
        check("cd && git stash", "");
        check("cd - && git stash", "");
        check("cd ~/x && git stash", "");
        check("$x y; git stash", "/w: git stash");
        check("cd x | tee y; git stash", "/w: tee y\n/w: git stash");
        check("ls | cd x; git stash", "/w: ls\n/w: git stash");
        check("cd x || exit 1; git stash", "/w/x: exit 1\n/w/x: git stash");
    }

    #[test]
    fn what_only_the_shell_knows_is_not_guessed() {
        check("git checkout $branch", "/w: git checkout ?branch");
        check("git restore *.rs", "/w: git restore ?.rs");
        check("echo $(git stash)", "/w: echo ?");
        check("echo `git stash`", "/w: echo ?");
        check(
            "git commit -m \"$(cat <<'EOF'\nIt's (done)\n\nEOF\n)\" -a; ls",
            "/w: git commit -m ? -a\n/w: ls",
        );
        check("git commit -m \"$(cat <<EOF\nx\"", "");
        check("cat <<EOF\ngit stash\nEOF", "/w: cat");
        check(
            "cat > f <<'E F' 2>&1\ngit stash\nE F\ngit a",
            "/w: cat > f\n/w: git a".replace(" > f", "").as_str(),
        );
        check("cat <<-X && git a\n\tgit stash\n\tX\n git b", "/w: cat\n/w: git a\n/w: git b");
        check("cat <<A <<B\nx\nA\ngit stash\nB\ngit b", "/w: cat\n/w: git b");
        check("cat <<$X\ngit stash", "");
        check("cat <<EOF\ngit stash", "/w: cat");
        check("wc <<< 'a b'; git stash", "/w: wc\n/w: git stash");
        check("diff <(git stash) x", "/w: diff ? x");
        check("git stash; echo 'open", "/w: git stash");
        check("echo $(date) && git stash", "/w: echo ?\n/w: git stash");
        check("X=$(pwd) git stash; echo `date`; git a", "/w: git stash\n/w: echo ?\n/w: git a");
        check("echo \"${A:-b}\" '$(' \"$(echo \")\")\"; git stash", "/w: echo ? $( ?\n/w: git stash");
        check("echo $(case x in a) ls;; esac); git stash", "");
        check("A=(1 2 'x y'); git stash", "/w: git stash");
        check("cd $(git rev-parse --show-toplevel) && git stash", "");
        check("f() { git stash; }", "");
        check("f () { git stash; }; git a", "");
        check("((n++)); git stash", "/w: ((\n/w: git stash");
        check("for ((i = 0; i < (2 + 1); i++)); do git a; done", "/w: for ((\n/w: git a\n/w: done");
        check("x=$((1 << (2 + 1)))\ngit stash", "/w: git stash");
        check("echo \"$((1<<3))\" | cat\ngit stash", "/w: echo ?\n/w: cat\n/w: git stash");
        check("D=\"${1:-$PWD}\" E=${x:+\"}\"} F=${a[$i]} G=${x%'}'}; git stash", "/w: git stash");
        check("exec > >(tee x) 2>&1; git stash", "/w: git stash");
        check("mapfile -t f < <(git a); git stash", "/w: mapfile -t f\n/w: git stash");
        check("[[ $b =~ ^(main|master)$ && ! x < y ]] && git stash", "/w: [[\n/w: git stash");
        check("[[ \"]]\" == a ]] || git stash", "/w: [[\n/w: git stash");
        check("cat > x <<EOF\none \\\nEOF\ngit stash\nEOF\ngit a", "/w: cat\n/w: git a");
        check("cat > x <<'EOF'\none \\\nEOF\ngit a", "/w: cat\n/w: git a");
        check(&format!("git stash{}", " >a".repeat(20_000)), "/w: git stash");
        check(&format!("git a {}", "{a,b}".repeat(5) + &"}".repeat(9_000)), "/w: git a ?");
        check(&"x".repeat(MOST + 1), "");
    }
}
