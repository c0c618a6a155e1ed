//! The commands of a shell line that can be read with certainty, each with its working folder.
//!
//! Anything that depends on more than the line itself and its folder - a variable that it does not set, a
//! substitution, a pattern - is unknown, and unknown values are never guessed.

mod expand;
mod prefix;
mod state;
pub(crate) mod token;
mod variables;

use std::rc::Rc;

use self::expand::Expander;
pub(crate) use self::expand::ShellContext;
pub(crate) use self::prefix::name_of;
use self::prefix::{is_assignment, is_reserved, may_be_exported, without_prefix};
use self::state::{Link, State};
use self::token::{Token, Tokens, has_signs, is_known};
use crate::core::guard::folder::joined;

/// The longest line that is read, in bytes: agents write short ones.
const MOST: usize = 64 << 10;
/// How deeply `sh -c` may nest.
const DEEPEST: usize = 3;

/// One command and its working folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// Its words; [`token::UNKNOWN`] in one stands for a part that only the shell knows.
    pub(crate) words: Vec<String>,
    /// The folder, absolute; `None` if it is not known.
    pub(crate) folder: Option<Rc<str>>,
}

/// What a shell line does, as far as that can be read with certainty.
#[derive(Default)]
pub(crate) struct ShellLine {
    pub(crate) commands: Vec<Command>,
    /// The files, absolute, that redirections overwrite (`>`).
    pub(crate) outputs: Vec<String>,
}

/// Reads a line.
pub(crate) fn read_line(line: &str, place: &ShellContext<'_>) -> ShellLine {
    let found = ShellLine::default();
    let mut reader = Reader { expander: Expander { place, room: 4 * MOST }, found };
    if line.len() <= MOST && !has_signs(line) {
        reader.read(line, State::in_folder(Some(place.folder.into())), DEEPEST);
    }
    reader.found
}

/// Returns the commands of a line.
pub(crate) fn commands(line: &str, place: &ShellContext<'_>) -> Vec<Command> {
    read_line(line, place).commands
}

struct Reader<'a> {
    expander: Expander<'a>,
    found: ShellLine,
}

impl Reader<'_> {
    fn read(&mut self, line: &str, state: State, depth: usize) {
        let mut tokens = Tokens::from_line(line);
        // The state of each shell, and the loops that it runs in subshells: how many were open, and its state before.
        let mut shells: Vec<(State, Vec<(usize, State)>)> = vec![(state, Vec::new())];
        let mut words = Vec::new();
        let (mut is_piped, mut piped) = (false, None);
        loop {
            let token = match tokens.next() {
                Some(Token::Words(some)) => {
                    words.extend(some);
                    continue;
                }
                Some(Token::Lost) => return,
                token => token,
            };
            // In a pipeline each command has a folder, and variables, of its own.
            let is_forked = std::mem::replace(&mut is_piped, matches!(token, Some(Token::Fork))) || is_piped;
            if let Some((state, loops)) = shells.last_mut() {
                let before = is_forked.then(|| state.clone());
                for line in tokens.inner().into_iter().filter(|_| depth > 0) {
                    self.read(line, state.clone(), depth - 1);
                }
                self.output(&tokens.outputs(), state);
                let given = tokens.bodies().pop().or_else(|| piped.take().filter(|_| is_forked));
                if matches!(token, Some(Token::Fork)) {
                    piped = printed(&words).or_else(|| given.clone());
                }
                match given.filter(|_| depth > 0 && reads_its_input(&words)) {
                    Some(line) => self.read(&line, state.of_child(), depth - 1),
                    None => self.command(std::mem::take(&mut words), state, depth),
                }
                words.clear();
                match before {
                    Some(before) if state.nested > before.nested => loops.push((before.nested, before)),
                    Some(before) => *state = before,
                    None => {}
                }
                while let Some((_, before)) = loops.pop_if(|(nested, _)| state.nested <= *nested) {
                    *state = before;
                }
                state.follow(match token {
                    Some(Token::And) => Link::IfWell,
                    Some(Token::Or) => Link::IfFailed,
                    _ => Link::Always,
                });
            }
            match token {
                Some(Token::Open) => {
                    let state = shells.last().map(|(state, _)| state.clone()).unwrap_or_default();
                    shells.push((state, Vec::new()));
                }
                Some(Token::Close) if shells.len() > 1 => drop(shells.pop()),
                Some(Token::End | Token::And | Token::Or | Token::Fork) => {}
                Some(Token::Words(_) | Token::Close | Token::Lost) | None => return,
            }
        }
    }

    /// Adds the files that a command's redirections overwrite.
    fn output(&mut self, words: &[String], state: &State) {
        for word in words {
            let folder = state.folder.as_deref().unwrap_or_default();
            let path = self.expander.text(word, state).and_then(|path| joined(folder, &path));
            self.found.outputs.extend(path);
        }
    }

    /// Reads one command, which may change the state for those after it.
    fn command(&mut self, words: Vec<String>, state: &mut State, depth: usize) {
        state.nest(&words);
        let mut own = words.iter().skip_while(|word| is_reserved(word)).peekable();
        if own.peek().is_some() && own.clone().all(|word| is_assignment(word)) {
            for (name, value) in own.filter_map(|word| word.split_once('=')) {
                let value = self.expander.text(value, state);
                assign(name, value, state);
            }
            return;
        }
        match self.expander.expand(words, state).as_slice() {
            [words] => self.run(without_prefix(words), state, depth),
            turns => {
                for words in turns {
                    let mut after = state.clone();
                    self.run(without_prefix(words), &mut after, depth);
                    // Changes of one turn of a loop apply to the next one.
                    if after.folder != state.folder {
                        return state.lose();
                    }
                }
            }
        }
    }

    fn run(&mut self, words: &[String], state: &mut State, depth: usize) {
        // An unknown program is not a shell builtin, so it does not change the folder.
        let Some((program, rest)) = words.split_first().filter(|(program, _)| is_known(program)) else {
            return;
        };
        let mut at = |to: &str| {
            let folder = state.folder.as_deref().unwrap_or_default();
            self.expander.spend(folder.len())?;
            joined(folder, to).map(Rc::from)
        };
        match (name_of(program), rest) {
            ("cd" | "chdir", []) => {
                let home = self.expander.value("HOME", state, None);
                state.go(home.map(Rc::from));
            }
            ("cd" | "chdir", [to]) if to == "-" => state.go(state.previous.clone()),
            ("cd" | "chdir", [options @ .., to])
                if options.iter().all(|one| is_of_cd(one)) && !to.starts_with('-') && is_known(to) =>
            {
                let to = at(to);
                state.go(to);
            }
            ("pushd", [to]) if !to.starts_with(['-', '+']) && is_known(to) => {
                let to = at(to);
                state.push(to);
            }
            ("popd", []) => state.pop(),
            ("for" | "select", [name, within, values @ ..]) if within == "in" => {
                state.set_each(name, values);
            }
            ("read" | "mapfile" | "readarray" | "getopts" | "printf" | "let" | "unset", names) => {
                let names = names.iter().filter_map(|name| name.split(['=', '+', '-', '[']).next());
                names.for_each(|name| state.forget(name));
            }
            // Nothing after it runs.
            ("exit", _) => {
                state.is_git_elsewhere |= state.is_certain();
            }
            ("export" | "declare" | "typeset" | "local" | "readonly", names) => {
                for word in names {
                    let (name, value) = word.split_once('=').unzip();
                    if let Some((name, value)) = name.zip(value) {
                        assign(name, Some(value.to_owned()).filter(|value| is_known(value)), state);
                    }
                    state.is_git_elsewhere |= !word.starts_with('-') && !may_be_exported(word);
                }
            }
            ("eval", words) if depth > 0 && words.iter().all(|word| is_known(word)) => {
                self.read(&words.join(" "), state.clone(), depth - 1);
                state.lose();
            }
            ("source" | ".", [script, ..]) if SETTING_UP.contains(&name_of(script)) => {
                state.variables = Rc::default();
            }
            ("alias", names) => {
                let is_own = |name: &String| name.starts_with("git=") || name.starts_with("cd=");
                state.is_git_elsewhere |= names.iter().any(is_own);
            }
            ("cd" | "chdir" | "pushd" | "popd" | "eval" | "source" | "." | "function", _) => {
                state.lose();
            }
            ("sh" | "bash" | "zsh" | "dash" | "ksh", words) if depth > 0 => {
                if let Some(line) = line_of(words) {
                    self.read(line, state.of_child(), depth - 1);
                }
            }
            _ if state.is_git_elsewhere => {}
            _ => {
                self.found.commands.push(Command { words: words.to_vec(), folder: state.folder.clone() });
            }
        }
    }
}

/// Sets a variable as a line does, or adds to it (`+=`); if `cd` depends on it, the folder becomes unknown.
fn assign(name: &str, value: Option<String>, state: &mut State) {
    match name {
        "CDPATH" | "PWD" => (state.folder, state.previous) = (None, None),
        "OLDPWD" => state.previous = None,
        _ => {}
    }
    match name.strip_suffix('+') {
        None => state.set(name, value),
        // Not every shell supports that.
        Some(name) => state.forget(name),
    }
}

/// Names of scripts that set variables for later commands, and stay in the folder.
const SETTING_UP: [&str; 10] = [
    "activate", "env", ".env", "nvm.sh", ".bashrc", ".profile", ".bash_profile", ".zshrc", "sdkman-init.sh",
    "environment",
];

/// Returns whether a command is a shell that runs the lines of its input.
fn reads_its_input(words: &[String]) -> bool {
    let is_shell = |word: &String| matches!(name_of(word), "sh" | "bash" | "zsh" | "dash" | "ksh");
    matches!(words, [shell, rest @ ..] if is_shell(shell) && rest.iter().all(|word| word == "-s" || word == "-"))
}

/// Returns the text that a command prints, if it is known.
fn printed(words: &[String]) -> Option<String> {
    match words {
        [echo, text] if name_of(echo) == "echo" && is_known(text) && !text.contains('\\') => {
            Some(text.clone())
        }
        _ => None,
    }
}

/// Returns the line that a shell runs with `-c`, from its words.
fn line_of(words: &[String]) -> Option<&str> {
    let mut is_given = false;
    let mut words = words.iter().map(String::as_str);
    loop {
        let word = words.next().filter(|word| is_known(word))?;
        match word.strip_prefix(['-', '+']) {
            None => return Some(word).filter(|_| is_given),
            Some("-rcfile" | "-init-file" | "-emulate") => return None,
            // A long option, or the end of all options.
            Some(long) if long.starts_with('-') || long.is_empty() => {}
            Some(letters) => {
                is_given |= letters.contains('c');
                // Each takes an option's name from the next word.
                for _ in letters.matches(['o', 'O']) {
                    words.next()?;
                }
            }
        }
    }
}

/// Returns whether a word before a folder has no influence on where `cd` goes.
fn is_of_cd(word: &str) -> bool {
    matches!(word, "--" | "-L" | "-P")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::guard::shell::token::{MANY, UNKNOWN};

    fn read(line: &str) -> Vec<Command> {
        let top_of = |folder: &str| folder.starts_with("/w").then(|| "/w".to_owned());
        commands(line, &ShellContext { folder: "/w", home: Some("/home/me"), top_of: &top_of })
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let label = |command: &Command| {
            let plain = |word: &String| word.replace(UNKNOWN, "?").replace(MANY, "*");
            let words: Vec<String> = command.words.iter().map(plain).collect();
            format!("{}: {}", command.folder.as_deref().unwrap_or("?"), words.join(" "))
        };
        let found: Vec<String> = read(line).iter().map(label).collect();
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
        check("eval 'cd x; git stash'; git a", "/w/x: git stash\n?: git a");
        check("builtin cd /x && git stash; chdir /y; git a", "/x: git stash\n/y: git a");
        check("export A=b C; git stash", "/w: git stash");
        check("export PATH=\"$HOME/bin:$PATH\" && git stash", "/w: git stash");
        check("source .venv/bin/activate; . \"$HOME/.cargo/env\"; git stash", "/w: git stash");
        check(". ./build.sh; git stash", "?: git stash");
        check("alias ll=ls; git a; alias git=hub; git stash", "/w: git a");
        check("\"$PYTHON\" -c 1; git stash; GIT_LFS_SKIP_SMUDGE=1 git a", "/w: git stash\n/w: git a");
        check("flock -n /tmp/x git stash", "/w: git stash");
        check("export GIT_DIR=/x; git stash; cd /x; git a; sh -c 'git b'", "");
        check("export CDPATH=/x; git stash; CDPATH=a; git b", "?: git stash\n?: git b");
    }

    #[test]
    fn a_redirection_overwrites_its_target() {
        let check = |line: &str, expected: &[&str]| {
            let place = ShellContext { folder: "/w", home: Some("/home/me"), top_of: &|_| None };
            assert_eq!(read_line(line, &place).outputs, expected, "{line}");
        };
        check("echo x > a.rs; cat b >| c; d &>e", &["/w/a.rs", "/w/c", "/w/e"]);
        check("echo x >> a.rs; cat < b; d 2>&1 >&2 &>>e", &[]);
        check("cd src && cat > 'pay me.rs' <<'X'\nx\nX", &["/w/src/pay me.rs"]);
        check("> a; : > b; (cd c; make 2> d) > e", &["/w/a", "/w/b", "/w/c/d", "/w/e"]);
        check("F=a; echo > $F; echo > \"$F.rs\"; echo > $G", &["/w/a", "/w/a.rs"]);
        check("bash -c 'echo > a'; echo \"$(echo > b)\"; diff <(cat > c) x", &["/w/a", "/w/b", "/w/c"]);
        check("echo '>' a \\> b \"> c\"; [[ a > b ]]; (( a > b ))", &[]);
        check("cat <<X > a\n> b\nX", &["/w/a"]);
    }

    #[test]
    fn a_shell_runs_the_lines_of_its_input() {
        check("bash <<'X'\ngit reset --hard\nX\ngit a", "/w: git reset --hard\n/w: git a");
        check("cat <<X | sh\ngit stash\nX", "/w: cat\n/w: git stash");
        check("cat <<X | sh\ngit stash $y\nX", "/w: cat");
        check("cd x; echo 'git stash' | bash; git a", "/w/x: echo git stash\n/w/x: git stash\n/w/x: git a");
        check("echo 'git stash' | cat; bash", "/w: echo git stash\n/w: cat");
        check("cat > f <<'X'\ngit stash\nX\nbash f", "/w: cat");
    }

    #[test]
    fn a_list_of_changed_files_is_the_whole_tree() {
        check("git checkout -- $(git diff --name-only)", "/w: git checkout -- :/");
        check("for f in $(git ls-files -m); do git restore \"$f\"; done", "/w: git restore :/\n/w: done");
    }

    #[test]
    fn a_command_runs_where_cd_went() {
        check("cd x && git stash", "/w/x: git stash");
        check("cd ../y/./z && git stash", "/y/z: git stash");
        check("(cd /x && git stash); git stash", "/x: git stash\n/w: git stash");
        check("cd -P -- x && git stash", "/w/x: git stash");
        check("pushd x && git stash; popd; git a", "/w/x: git stash\n/w: git a");
        check("pushd && git stash", "?: git stash");
        check("cd a b && git stash", "?: git stash");
        check("cd \"$DIR\" && git stash", "?: git stash");
        check("cd && git stash", "/home/me: git stash");
        check("cd - && git stash", "?: git stash");
        check("cd x && make; cd - >/dev/null; git stash", "/w/x: make\n/w: git stash");
        check("cd $X; git -C /y stash; cd /y; git a", "?: git -C /y stash\n/y: git a");
        check("cd ~/x && git stash", "/home/me/x: git stash");
        check("cd \"$HOME/x\"; git -C ~ a; git ~you", "/home/me/x: git -C /home/me a\n/home/me/x: git ?you");
        check("$x y; git stash", "/w: git stash");
        check("cd x | tee y; git stash", "/w: tee y\n/w: git stash");
        check("ls | cd x; git stash", "/w: ls\n/w: git stash");
        check("cd x || exit 1; git stash", "/w/x: git stash");
    }

    #[test]
    fn what_only_the_shell_knows_is_not_guessed() {
        check("git checkout $branch ${x:-y} $1", "/w: git checkout ? ? ?1");
        check("git restore *.rs '*.c' \\*", "/w: git restore *.rs *.c *");
        check("echo $(git stash)", "/w: git stash\n/w: echo ?");
        check("x=\"$(cd a && git stash 2>&1)\"; git b", "/w/a: git stash\n/w: git b");
        check("echo \"a $(b \"$(git c)\") $(git d)\"", "/w: git c\n/w: b ?\n/w: git d\n/w: echo a ? ?");
        check("echo `git stash` `git a \\`b\\``", "/w: git stash\n/w: echo ? ?");
        check(
            "git commit -m \"$(cat <<'EOF'\nIt's (done)\n\nEOF\n)\" -a; ls",
            "/w: cat\n/w: git commit -m ? -a\n/w: ls",
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
        check("diff <(git stash) x", "/w: git stash\n/w: diff ? x");
        check("git stash; echo 'open", "/w: git stash");
        check("echo $(date) && git stash", "/w: date\n/w: echo ?\n/w: git stash");
        check("X=$(pwd) git stash; echo `date`; git a", "/w: git stash\n/w: date\n/w: echo ?\n/w: git a");
        check(
            "echo \"${A:-b}\" '$(' \"$(echo \")\")\"; git stash",
            "/w: echo )\n/w: echo ? $( ?\n/w: git stash",
        );
        check("echo $(case x in a) ls;; esac); git stash", "");
        check("A=(1 2 'x y'); git stash", "/w: git stash");
        check("cd a; cd $(git rev-parse --show-toplevel) && git stash", "/w: git stash");
        check("cd /x; cd \"$(git rev-parse --show-toplevel 2>/dev/null)\"; git a", "?: git a");
        check("f() { git stash; }", "");
        check("f () { git stash; }; git a", "");
        check("((n++)); git stash", "/w: ((\n/w: git stash");
        check("for ((i = 0; i < (2 + 1); i++)); do git a; done", "/w: for ((\n/w: git a\n/w: done");
        check("x=$((1 << (2 + 1)))\ngit stash", "/w: git stash");
        check("echo \"$((1<<3))\" | cat\ngit stash", "/w: echo ?\n/w: cat\n/w: git stash");
        check("D=\"${1:-$PWD}\" E=${x:+\"}\"} F=${a[$i]} G=${x%'}'}; git stash", "/w: git stash");
        check("exec > >(tee x) 2>&1; git stash", "/w: tee x\n/w: git stash");
        check("mapfile -t f < <(git a); git stash", "/w: git a\n/w: git stash");
        check("[[ $b =~ ^(main|master)$ && ! x < y ]] && git stash", "/w: [[\n/w: git stash");
        check("[[ \"]]\" == a ]] || git stash", "/w: [[\n/w: git stash");
        check("cat > x <<EOF\none \\\nEOF\ngit stash\nEOF\ngit a", "/w: cat\n/w: git a");
        check("cat > x <<'EOF'\none \\\nEOF\ngit a", "/w: cat\n/w: git a");
        check(&format!("git stash{}", " >a".repeat(20_000)), "/w: git stash");
        check(&format!("git a {}", "{a,b}".repeat(5) + &"}".repeat(9_000)), "/w: git a ?");
        check(&"x".repeat(MOST + 1), "");
    }

    #[test]
    fn a_variable_is_what_the_line_sets_it_to() {
        check("R=/x; git -C \"$R/y\" stash; cd ${R}; git a", "/w: git -C /x/y stash\n/x: git a");
        check("F='a b'; git a $F \"$F\" x$F'y'", "/w: git a a b a b xa by");
        check("A=1 B=$A; git $A $B $C; E=; git $E \"$E\" a", "/w: git 1 1 ?\n/w: git  a");
        check("F=a; git $F; F=b; git $F", "/w: git a\n/w: git b");
        check("F=a git $F; cd \"$PWD/b\" && git $OLDPWD", "/w: git ?\n/w/b: git /w");
        check("if x; then F=a; fi; git $F", "/w: x\n/w: fi\n/w: git ?");
        check("F=a; x || F=b; git $F; (F=c; git $F); git $F", "/w: x\n/w: git ?\n/w: git c\n/w: git ?");
        check("F=a; read F; git $F; F=$(x); git $F", "/w: git ?\n/w: x\n/w: git ?");
        check("export F=a; sh -c 'git $F'; unset F; git $F", "/w: git ?\n/w: git ?");
        check(
            "F=a && git $F; git $F; x && F=b && git $F\ngit $F",
            "/w: git a\n/w: git a\n/w: x\n/w: git b\n/w: git ?",
        );
        check("F=a; F+=b; git $F", "/w: git ?");
        check("F=a; x | while read -r F; do git $F; done; git $F", "/w: x\n/w: git ?\n/w: done\n/w: git a");
        check("F=a; x | { F=b; git $F; }; cd c; git $F", "/w: x\n/w: git ?\n/w: }\n/w/c: git a");
        check("F=a; let F=1; git $F; OLDPWD=/x; cd -; git a", "/w: git ?\n?: git a");
        check("echo ${F:-$(git a)}; exit; git b", "/w: echo ?");
        check("x || exit 1; (exit); git b", "/w: x\n/w: git b");
        check("F='*.rs'; git $F \"$F\"; IFS=,; G=a,b; git $G", "/w: git ? *.rs\n/w: git ?");
        check("G='git -C /x'; $G stash", "/w: git -C /x stash");
        check("D=~/a; cd $D; git a; HOME=/h; git ~/b", "/home/me/a: git a\n/home/me/a: git /h/b");
        check(". env; git $HOME; eval x; git $HOME", "/w: git /home/me\n/w: x\n?: git ?");
    }

    #[test]
    fn a_loop_goes_through_its_words() {
        check(
            "for f in a 'b c'; do git checkout -- \"$f\"; done",
            "/w: git checkout -- a\n/w: git checkout -- b c\n/w: done",
        );
        check("L='a b'; for f in $L; do git -C $f x; done", "/w: git -C a x\n/w: git -C b x\n/w: done");
        check("for f in a b; do cd $f; git x; done", "?: git x\n?: done");
        check(
            "for f in a b; do for g in c d; do git $f $g; git $f; done; done",
            "/w: git ? ?\n/w: git a\n/w: git b\n/w: done\n/w: done",
        );
        check("for f in a b; do x; done; git $f", "/w: x\n/w: done\n/w: git ?");
        check("for f; do git $f; done", "/w: for f\n/w: git ?\n/w: done");
        check("for f in $(x); do git $f; done", "/w: x\n/w: git ?\n/w: done");
        let many = format!("for f in {}; do git $f; done", "a ".repeat(65));
        check(&many, "/w: git ?\n/w: done");
        let long = format!("F={}; {}", "x".repeat(9_000), "git $F; ".repeat(40));
        assert_eq!(read(&long).iter().filter(|one| one.words[1] == "\0").count(), 11);
    }
}
