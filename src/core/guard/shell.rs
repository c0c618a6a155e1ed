//! The commands of a shell line that can be read with certainty, each with the folder that it runs in.
//!
//! What depends on anything but the line itself - a variable, a substitution, a pattern - is not known, and
//! what is not known is never guessed.

use std::iter::Peekable;
use std::str::Chars;

use crate::core::guard::folder::joined;

/// The longest line that is read, in bytes: agents write short ones.
const MOST: usize = 64 << 10;
/// How deep `sh -c` may hold another line.
const DEEPEST: usize = 3;

/// One command and the folder that it runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// Its words; `None` for one that only the shell knows.
    pub(crate) words: Vec<Option<String>>,
    /// The folder, absolute.
    pub(crate) folder: String,
}

enum Token {
    Word(Option<String>),
    /// The end of a command that runs in this very shell.
    End,
    /// The end of one that runs beside it, and the beginning of another: `|`; or `&`.
    Fork,
    Open,
    Close,
    /// What follows is read otherwise; nothing after it is understood.
    Lost,
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
    let mut chars = line.chars().peekable();
    let mut folders = vec![folder];
    let mut words = Vec::new();
    let mut is_piped = false;
    loop {
        let token = token(&mut chars);
        if let Some(Token::Word(word)) = token {
            words.push(word);
            continue;
        }
        if matches!(token, Some(Token::Lost)) {
            return;
        }
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
            Some(Token::Word(_) | Token::Close | Token::Lost) | None => return,
        }
    }
}

/// Reads one command, which may change the folder of those after it.
fn command(words: Vec<Option<String>>, folder: &mut Option<String>, depth: usize, found: &mut Vec<Command>) {
    let words = without_prefix(&words);
    let Some((Some(program), rest)) = words.split_first() else {
        // Whatever it is may be `cd`.
        if !words.is_empty() {
            *folder = None;
        }
        return;
    };
    match (program.as_str(), rest) {
        ("cd", [options @ .., Some(to)])
            if options.iter().all(|one| is_of_cd(one.as_deref())) && !to.starts_with('-') =>
        {
            *folder = folder.as_deref().and_then(|at| joined(at, to))
        }
        ("pushd", [Some(to)]) if !to.starts_with(['-', '+']) => {
            *folder = folder.as_deref().and_then(|at| joined(at, to))
        }
        ("export", names) if names.iter().all(|name| name.as_deref().is_some_and(may_be_exported)) => {}
        ("cd" | "pushd" | "popd" | "eval" | "source" | "." | "export" | "alias" | "function", _) => {
            *folder = None
        }
        ("sh" | "bash" | "zsh" | "dash", [Some(option), Some(line), ..])
            if depth > 0 && matches!(option.as_str(), "-c" | "-lc") =>
        {
            read(line, folder.clone(), depth - 1, found);
        }
        _ => found.extend(folder.clone().map(|folder| Command { words: words.to_vec(), folder })),
    }
}

/// Returns whether a word before a folder changes nothing of where `cd` goes.
fn is_of_cd(word: Option<&str>) -> bool {
    matches!(word, Some("--" | "-L" | "-P"))
}

/// Leaves out what stands before a program: words of the shell, and programs that run another.
fn without_prefix(words: &[Option<String>]) -> &[Option<String>] {
    let mut rest = words;
    while let Some((Some(first), after)) = rest.split_first() {
        rest = match first.as_str() {
            "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "!" | "{" => after,
            name if is_assignment(name) && !moves_git(name) => after,
            name => match RUNNERS.iter().find(|runner| runner.name == name).and_then(|it| it.run(after)) {
                Some(run) => run,
                None => break,
            },
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
    /// How many words of its own stand before the program.
    words: usize,
}

const RUNNERS: [Runner; 11] = [
    Runner { name: "command", valued: "", plain: "", words: 0 },
    Runner { name: "exec", valued: "", plain: "", words: 0 },
    Runner { name: "nohup", valued: "", plain: "", words: 0 },
    Runner { name: "sudo", valued: "", plain: "", words: 0 },
    Runner { name: "time", valued: "", plain: "p", words: 0 },
    Runner { name: "nice", valued: "n", plain: "0123456789", words: 0 },
    Runner { name: "ionice", valued: "cn", plain: "t", words: 0 },
    Runner { name: "setsid", valued: "", plain: "cfw", words: 0 },
    Runner { name: "stdbuf", valued: "ioe", plain: "", words: 0 },
    Runner { name: "timeout", valued: "ks", plain: "v", words: 1 },
    Runner { name: "env", valued: "u", plain: "i", words: 0 },
];

impl Runner {
    /// Returns what it runs, of the words behind it; `None` where an option is not known.
    fn run<'a>(&self, words: &'a [Option<String>]) -> Option<&'a [Option<String>]> {
        let mut rest = words;
        while let Some((Some(option), after)) = rest.split_first() {
            let Some(letters) = option.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
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

/// Returns whether a variable may let git work elsewhere, or on something else.
fn moves_git(assignment: &str) -> bool {
    assignment.starts_with("GIT_") && !HARMLESS.iter().any(|prefix| assignment.starts_with(prefix))
}

/// Returns whether exporting it changes neither where `cd` goes nor what git takes.
fn may_be_exported(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name && !moves_git(word) && !matches!(name, "CDPATH" | "HOME" | "PWD" | "OLDPWD" | "PATH")
}

/// How the names of git's variables begin that change nothing of what it takes and where (git(1)).
const HARMLESS: [&str; 11] = [
    "GIT_EDITOR=", "GIT_SEQUENCE_EDITOR=", "GIT_PAGER=", "GIT_MERGE_AUTOEDIT=", "GIT_TERMINAL_PROMPT=",
    "GIT_ASKPASS=", "GIT_SSH", "GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_TRACE", "GIT_OPTIONAL_LOCKS=",
];

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn token(chars: &mut Peekable<Chars<'_>>) -> Option<Token> {
    while chars.next_if(|c| matches!(c, ' ' | '\t' | '\r')).is_some() {}
    let first = *chars.peek()?;
    Some(match first {
        '#' => {
            while chars.next_if(|c| *c != '\n').is_some() {}
            Token::End
        }
        '(' | ')' | ';' | '\n' | '|' | '&' => {
            chars.next();
            match (first, chars.peek()) {
                ('(', Some('(')) => Token::Lost,
                ('(', _) => Token::Open,
                (')', _) => Token::Close,
                // Both outputs into a file.
                ('&', Some('>')) => redirection(chars),
                ('|' | '&', Some(&next)) if next == first => {
                    chars.next();
                    Token::End
                }
                ('|' | '&', _) => Token::Fork,
                _ => Token::End,
            }
        }
        '<' | '>' => redirection(chars),
        _ => word(chars),
    })
}

/// Passes over a redirection and its target; a text that follows in the line ends what is understood.
fn redirection(chars: &mut Peekable<Chars<'_>>) -> Token {
    let mut sign = String::new();
    while let Some(next) = chars.next_if(|c| matches!(c, '<' | '>' | '&' | '|')) {
        sign.push(next);
    }
    if sign.starts_with("<<") || chars.peek() == Some(&'(') {
        return Token::Lost;
    }
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    word(chars);
    token(chars).unwrap_or(Token::End)
}

/// Reads a word with its quotes; it is not known where the shell would put something else in its place.
fn word(chars: &mut Peekable<Chars<'_>>) -> Token {
    let mut text = String::new();
    let mut is_known = true;
    while let Some(&next) = chars.peek() {
        match next {
            ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | ')' => break,
            '<' | '>' => {
                // The number of a descriptor is none of its command's words.
                if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) {
                    return redirection(chars);
                }
                break;
            }
            '\\' => {
                chars.next();
                match chars.next() {
                    Some('\n') => {}
                    Some(other) => text.push(other),
                    None => return Token::Lost,
                }
            }
            '\'' => {
                chars.next();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(other) => text.push(other),
                        None => return Token::Lost,
                    }
                }
            }
            '"' => {
                chars.next();
                match double_quoted(chars, &mut text) {
                    Some(all) => is_known &= all,
                    None => return Token::Lost,
                }
            }
            '`' => return Token::Lost,
            '$' => {
                chars.next();
                if matches!(chars.peek(), Some('(' | '{' | '\'' | '"')) {
                    return Token::Lost;
                }
                is_known = false;
            }
            '(' => return Token::Lost,
            other => {
                is_known &= !(matches!(other, '*' | '?' | '[') || other == '~' && text.is_empty());
                text.push(other);
                chars.next();
            }
        }
    }
    // Tests of the shell's: there is nothing that this could stand for.
    let is_test = matches!(text.as_str(), "[" | "[[");
    Token::Word((is_known || is_test).then_some(text))
}

/// Reads up to the closing quote; whether all of it is known, `None` where that cannot be found.
fn double_quoted(chars: &mut Peekable<Chars<'_>>, text: &mut String) -> Option<bool> {
    let mut is_known = true;
    loop {
        match chars.next()? {
            '"' => return Some(is_known),
            '`' => return None,
            '$' => {
                if chars.next_if_eq(&'(').is_some() {
                    text_in_line(chars)?;
                }
                is_known = false;
            }
            '\\' => match chars.next()? {
                '\n' => {}
                escaped @ ('"' | '\\' | '$' | '`') => text.push(escaped),
                other => text.extend(['\\', other]),
            },
            other => text.push(other),
        }
    }
}

/// Passes over `cat <<'EOF'` with its text and the parenthesis after it, as agents write messages of commits;
/// `None` for any other substitution.
fn text_in_line(chars: &mut Peekable<Chars<'_>>) -> Option<()> {
    let rest: String = chars.clone().collect();
    let (head, text) = rest.split_once('\n')?;
    let end = head.trim().strip_prefix("cat")?.trim().strip_prefix("<<")?.trim_matches(['\'', '"', ' ']);
    let mut passed = head.len() + 1;
    for line in text.split_inclusive('\n') {
        passed += line.len();
        if line.trim_end() == end && !end.is_empty() {
            let left = rest.get(passed..)?;
            let space = left.len() - left.trim_start().len();
            passed += space;
            for _ in 0..rest.get(..passed)?.chars().count() {
                chars.next();
            }
            return chars.next_if_eq(&')').map(drop);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "?".to_owned());
        let told = |command: &Command| {
            let words: Vec<String> = command.words.iter().map(word).collect();
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
        check("[[ -f x ]] && [ -f y ] && git stash", "/w: [[ -f x ]]\n/w: [ -f y ]\n/w: git stash");
        check("export A=b C; git stash", "/w: git stash");
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
        check("$x y; git stash", "");
        check("cd x | tee y; git stash", "/w: tee y\n/w: git stash");
        check("ls | cd x; git stash", "/w: ls\n/w: git stash");
        check("cd x || exit 1; git stash", "/w/x: exit 1\n/w/x: git stash");
    }

    #[test]
    fn what_only_the_shell_knows_is_not_guessed() {
        check("git checkout $branch", "/w: git checkout ?");
        check("git restore *.rs", "/w: git restore ?");
        check("echo $(git stash)", "");
        check("echo `git stash`", "");
        check(
            "git commit -m \"$(cat <<'EOF'\nIt's (done)\n\nEOF\n)\" -a; ls",
            "/w: git commit -m ? -a\n/w: ls",
        );
        check("git commit -m \"$(cat <<EOF\nx\"", "");
        check("cat <<EOF\ngit stash\nEOF", "");
        check("diff <(git stash) x", "");
        check("git stash; echo 'open", "/w: git stash");
        check("f() { git stash; }", "");
        check(&"x".repeat(MOST + 1), "");
    }
}
