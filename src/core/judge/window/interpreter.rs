//! What an interpreter runs, by its arguments: many agents are scripts.

use crate::core::model::{Process, Untrusted};

/// The interpreters whose processes are looked at more closely.
pub(crate) const INTERPRETERS: [&str; 5] = ["node", "bun", "deno", "python", "pypy"];

/// Their options that take the next argument with them (node(1), `bun --help`, python(1)).
const WITH_VALUE: [&str; 11] = [
    "-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file",
    "--preload", "-W", "-X",
];

/// What comes before the script or package in `bun run`, `bun x` and `deno run`.
const SUBCOMMANDS: [&str; 2] = ["run", "x"];

/// The option before a module (python(1)): what follows is run, and is not a value.
const MODULE: &str = "-m";

/// Returns the file that is opened when the program of a process starts: the executable, or what an
/// interpreter runs.
pub(crate) fn program(process: &Process) -> Option<&str> {
    let details = process.details.as_ref()?;
    let exe = details.exe.as_ref()?.raw();
    if !INTERPRETERS.iter().any(|name| is_version_of(file_name(exe), name)) {
        return Some(exe);
    }
    runs(&details.argv).into_iter().map(|run| run.script).find(|script| script.starts_with('/'))
}

/// A script that an interpreter may run, and the argument after it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Invocation<'a> {
    pub(crate) script: &'a str,
    pub(crate) command: &'a str,
}

impl Invocation<'_> {
    /// Returns whether the script's path ends so; of a package, such as `npm:@a/b@1.2`, its name.
    pub(crate) fn is_of(&self, end: &str) -> bool {
        let name = self.script.trim_start_matches("npm:");
        let package = name.rfind('@').filter(|at| *at > 0).and_then(|at| name.get(..at)).unwrap_or(name);
        let ends_so =
            |text: &str| text.ends_with(end) || end.strip_prefix('/').is_some_and(|whole| whole == text);
        ends_so(name) || ends_so(package)
    }
}

/// Returns everything that an interpreter may run, at least one, which may be empty. The first argument that is not
/// an option is the script; but after an unknown option, it may be that option's value, and the script follows.
pub(crate) fn runs(argv: &[Untrusted]) -> Vec<Invocation<'_>> {
    let mut runs = Vec::new();
    let mut rest = argv.iter().skip(1).map(|arg| arg.raw()).peekable();
    let mut is_doubtful = false;
    while let Some(arg) = rest.next() {
        if WITH_VALUE.contains(&arg) {
            rest.next();
        } else if arg.starts_with('-') {
            is_doubtful = arg != MODULE && !arg.contains('=');
        } else {
            runs.push(Invocation { script: arg, command: rest.peek().copied().unwrap_or("") });
            if !std::mem::take(&mut is_doubtful) && !SUBCOMMANDS.contains(&arg) {
                break;
            }
        }
    }
    if runs.is_empty() { vec![Invocation::default()] } else { runs }
}

/// Returns whether a program is an interpreter of some version, such as `node-22`, `nodejs` or `python3.15`; `bundle`
/// is not `bun`.
pub(crate) fn is_version_of(program: &str, name: &str) -> bool {
    let rest = program.strip_prefix(name);
    rest.is_some_and(|rest| rest == "js" || !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
