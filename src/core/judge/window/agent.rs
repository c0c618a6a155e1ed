//! Which processes are agents: signatures as data, matched on facts and never on mere text.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::core::judge::window::interpreter::{INTERPRETERS, Invocation, file_name, is_version_of, runs};
use crate::core::judge::window::loader::{from_folder, without_loader};
use crate::core::model::{Details, Process, Untrusted};

/// The signatures that claimtop ships; a test makes them from `assets/agents.toml`.
const BUILT_IN: &str = include_str!("../../../../assets/agents.json");

/// Every signature in use.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Signatures {
    /// The agents, a user's own before the built-in ones.
    #[serde(default, rename = "agent")]
    pub agents: Vec<Signature>,
}

/// How one agent's processes look.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The name in JSON, such as `claude-code`.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// Whether a parent and its child both match and only the last of them is the window.
    #[serde(default)]
    pub leaf: bool,
    /// Whether other programs have its name too.
    #[serde(default)]
    pub shares_name: bool,
    /// A process is this agent when one of these fits.
    #[serde(default, rename = "match")]
    pub matches: Vec<Pattern>,
    /// What else it may be; the first that fits.
    #[serde(default, rename = "role")]
    pub roles: Vec<Pattern>,
}

/// What a process must look like: every key that is given, any value within one key.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pattern {
    /// The main thread's name.
    pub comm: Vec<String>,
    /// A part of the executable's path.
    pub exe_contains: Vec<String>,
    /// The executable's file name.
    pub exe_name: Vec<String>,
    /// The interpreter that runs it, of any version, such as `node` for `node-22` too.
    pub runtime: Vec<String>,
    /// The file name of the first argument.
    pub argv0: Vec<String>,
    /// The end of what an interpreter runs: the first argument after the name that is neither an option nor the value
    /// of one.
    pub script: Vec<String>,
    /// An argument anywhere after the name.
    pub argv: Vec<String>,
    /// The first argument after the name.
    pub argv1: Vec<String>,
    /// The first argument after the script.
    pub command: Vec<String>,
    /// The role of a process that fits.
    pub role: Role,
    /// Whether it runs sessions itself, although it is not a window.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub runs_sessions: bool,
}

/// The role of an agent's process in its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The agent itself.
    #[default]
    Agent,
    /// It starts the agent and waits.
    Launcher,
    /// A short or side command.
    Helper,
    /// It serves several sessions.
    Daemon,
    /// A session only if the agent's own registry states so.
    Spare,
}

impl Signatures {
    /// Returns the signatures that claimtop ships.
    ///
    /// # Errors
    /// The parser's message; a test proves that the shipped file has none.
    pub fn built_in() -> Result<Self, serde_json::Error> {
        serde_json::from_str(BUILT_IN)
    }

    /// Puts a user's own signatures before these.
    pub fn with_own(mut self, own: Vec<Signature>) -> Self {
        self.agents.splice(0..0, own);
        self
    }

    /// Returns the title of an agent.
    pub fn title<'a>(&'a self, name: &'a str) -> &'a str {
        self.agents.iter().find(|agent| agent.name == name).map_or(name, |agent| &agent.title)
    }

    /// Returns the name of the agent that has a title; not one whose name others share, as its processes may then be
    /// among those that no signature fits.
    pub(crate) fn name_by_title(&self, title: &str) -> Option<&str> {
        let is_it = |agent: &&Signature| !agent.shares_name && agent.title.eq_ignore_ascii_case(title);
        let agent = self.agents.iter().find(is_it)?;
        Some(&agent.name)
    }

    /// Returns the thread names that make a process worth a closer look.
    pub fn candidates(&self) -> Candidates {
        let mut comms = BTreeSet::new();
        for pattern in self.agents.iter().flat_map(|agent| &agent.matches) {
            comms.extend(pattern.comm.iter().cloned());
            let names = pattern.exe_name.iter().chain(&pattern.runtime);
            // A thread's name is cut (PR_SET_NAME of prctl(2)).
            comms.extend(names.map(|name| name.chars().take(15).collect::<String>()));
        }
        comms.extend(self.agents.iter().map(|agent| agent.name.clone()));
        // Copilot names its main thread so.
        comms.extend(["MainThread", "claude", "claude.exe"].map(str::to_owned));
        let patterns = self.agents.iter().flat_map(|agent| &agent.matches);
        Candidates {
            comms,
            exe_parts: patterns.clone().flat_map(|pattern| pattern.exe_contains.iter().cloned()).collect(),
            script_ends: patterns.flat_map(|pattern| pattern.script.iter().cloned()).collect(),
        }
    }

    /// Returns the names under which agents are called.
    pub(crate) fn commands(&self) -> BTreeSet<&str> {
        let patterns = self.agents.iter().flat_map(|agent| &agent.matches);
        let names = patterns.flat_map(|pattern| pattern.comm.iter().chain(&pattern.exe_name));
        names.chain(self.agents.iter().map(|agent| &agent.name)).map(String::as_str).collect()
    }

    /// Returns which agent a process is and its role in its window.
    pub fn classify(&self, process: &Process) -> Option<(&Signature, Role)> {
        self.matched(process).map(|(agent, pattern)| (agent, pattern.role))
    }

    /// Returns the agent whose process it is, and the pattern that gives its role in its window.
    pub(crate) fn matched(&self, process: &Process) -> Option<(&Signature, &Pattern)> {
        let details = process.details.as_ref().filter(|details| !details.is_stand_in)?;
        let details = &*without_loader(details);
        let runs = runs(&details.argv);
        self.agents.iter().find_map(|agent| {
            let fits = |pattern: &&Pattern, run| pattern.fits(process, details, run);
            // Every candidate for the script is tried; its role then follows from the arguments after it.
            let (fit, run) = runs
                .iter()
                .find_map(|run| Some((agent.matches.iter().find(|pattern| fits(pattern, *run))?, *run)))?;
            let other = agent.roles.iter().find(|pattern| fits(pattern, run));
            Some((agent, other.unwrap_or(fit)))
        })
    }
}

impl Signatures {
    /// Returns whether a process bears an agent's name without fitting its signature: another
    /// way of installing it, perhaps. Good enough to keep a record, never to make a window.
    pub fn resembles(&self, process: &Process) -> bool {
        self.resembled(process).next().is_some()
    }

    /// Returns the agents whose names a process bears in this way.
    pub(crate) fn resembled<'a>(
        &'a self,
        process: &Process,
    ) -> impl Iterator<Item = &'a Signature> + use<'a> {
        let details = process.details.as_ref().filter(|details| !details.is_stand_in);
        let is_stand_in = process.details.is_some() && details.is_none();
        let details = details.map(without_loader).unwrap_or_default();
        let exe = details.exe.as_ref().map_or("", |exe| file_name(exe.raw()));
        let argv0 = file_name(details.argv.first().map_or("", |arg| arg.raw()));
        let is_interpreter = INTERPRETERS.iter().any(|name| is_version_of(exe, name));
        let runs = if is_interpreter { runs(&details.argv) } else { Vec::new() };
        let scripts = runs.iter().flat_map(|run| names_in(run.script));
        let texts = [process.comm.raw(), exe, argv0].into_iter().chain(scripts);
        let texts: Vec<String> =
            texts.filter(|text| !text.is_empty()).map(|text| text.to_lowercase()).collect();
        let arguments: Vec<String> =
            details.argv.iter().take(MOST_ARGUMENTS).map(|arg| arg.raw().to_owned()).collect();
        let fits = move |agent: &&Signature| {
            let Some(name) = agent.name.split('-').next() else { return false };
            let bears_name = |text: &String| !agent.shares_name && bears(text, name);
            !is_stand_in
                && (texts.iter().any(bears_name)
                    || arguments.iter().any(|argument| agent.has_script(argument)))
        };
        self.agents.iter().filter(fits)
    }

    /// Returns whether a process whose executable could not be read is an interpreter by all its names, and runs
    /// something that bears no agent's name: many of root's services do.
    pub(crate) fn runs_another(&self, process: &Process) -> bool {
        let Some(details) = process.details.as_ref().filter(|details| details.exe.is_none()) else {
            return false;
        };
        let Some(program) = details.argv.first() else { return false };
        let is_interpreter = |name: &str| INTERPRETERS.iter().any(|known| is_version_of(name, known));
        let has_script = runs(&details.argv).iter().any(|run| !run.script.is_empty());
        let named = Details { exe: Some(program.clone()), ..details.clone() };
        let named = Process { details: Some(named), ..process.clone() };
        has_script
            && [process.comm.raw(), file_name(program.raw())].into_iter().all(is_interpreter)
            && self.classify(&named).is_none()
            && !self.resembles(&named)
    }
}

/// How many of a process's first arguments may name an agent's script, whatever program runs it.
const MOST_ARGUMENTS: usize = 8;

/// How long an agent's name must be so that no other word contains it by chance.
const LONG_NAME: usize = 5;

/// Returns whether the name of a file or a thread contains an agent's: a short one only as a word of its own, as
/// `examples` is not `amp`.
fn bears(text: &str, name: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    if name.len() < LONG_NAME { words.any(|word| word == name) } else { text.contains(name) }
}

/// Returns the names in a script's path that identify it: its file's, and those of its package.
fn names_in(script: &str) -> impl Iterator<Item = &str> {
    let mut names = script.rsplit('/');
    let file = names.next().unwrap_or(script);
    // Of `claude-agent-sdk/cli.js` the folder identifies it.
    let is_general = ["cli", "index", "main"].contains(&file.split('.').next().unwrap_or_default());
    let folder = names.next().filter(|_| is_general);
    let package = script.rsplit_once("/node_modules/").map(|(_, package)| package);
    let package = package.into_iter().flat_map(|package| package.split('/').take(2));
    [file].into_iter().chain(folder).chain(package)
}

impl Signature {
    /// Returns whether a path ends as the path of one of its scripts, or lies in the package of one.
    fn has_script(&self, path: &str) -> bool {
        let scripts = self.matches.iter().flat_map(|pattern| &pattern.script);
        scripts.filter(|script| script.starts_with("/@")).any(|script| path.ends_with(script.as_str()))
    }
}

/// The thread names that make a process worth a closer look.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    comms: BTreeSet<String>,
    exe_parts: Vec<String>,
    script_ends: Vec<String>,
}

impl Candidates {
    /// Returns whether an executable at this path could be an agent's.
    pub(crate) fn may_run(&self, exe: &str) -> bool {
        self.exe_parts.iter().any(|part| exe.contains(part.as_str()))
    }

    /// Returns whether a process's command line contains an agent's program or script, which any program may run: the
    /// dynamic loader, or an editor that is also a runtime.
    pub(crate) fn may_start(&self, argv: &[Untrusted]) -> bool {
        let is_one = |argument: &str| {
            let is_end = |end: &String| argument.ends_with(end.as_str());
            self.may_run(argument) || self.script_ends.iter().any(is_end)
        };
        argv.iter().skip(1).take(MOST_ARGUMENTS).any(|argument| is_one(argument.raw()))
    }

    /// Returns whether a process of this thread name could be an agent. Version numbers count:
    /// Claude Code's native installer runs a file named by its version.
    pub(crate) fn may_be(&self, comm: &str) -> bool {
        self.comms.contains(comm)
            || INTERPRETERS.iter().any(|name| comm.starts_with(name))
            || (comm.starts_with(|c: char| c.is_ascii_digit()) && comm.contains('.'))
    }
}

impl Pattern {
    fn fits(&self, process: &Process, details: &Details, run: Invocation<'_>) -> bool {
        let exe = details.exe.as_ref().map_or("", |exe| exe.raw());
        let argv0 = details.argv.first().map_or("", |arg| arg.raw());
        let rest = details.argv.get(1..).unwrap_or_default();
        let argv1 = rest.first().map_or("", |arg| arg.raw());
        any(&self.comm, |comm| process.comm.raw() == comm)
            && any(&self.exe_contains, |part| exe.contains(part))
            && any(&self.exe_name, |name| file_name(exe) == name)
            && any(&self.runtime, |name| is_version_of(file_name(exe), name))
            && any(&self.argv0, |name| file_name(argv0.trim_end()) == name)
            && any(&self.script, |end| {
                run.is_of(end) || from_folder(run.script, details.cwd.as_ref()).ends_with(end)
            })
            && any(&self.argv, |arg| rest.iter().any(|given| given.raw() == arg))
            && any(&self.argv1, |arg| argv1 == arg)
            && any(&self.command, |arg| run.command == arg)
    }
}

/// Returns whether a key is not given, or one of its values fits.
fn any(values: &[String], fits: impl Fn(&str) -> bool) -> bool {
    values.is_empty() || values.iter().any(|value| fits(value))
}

/// Returns whether an agent puts its own PID into the environment of its children.
pub fn names_itself(agent: &str) -> bool {
    matches!(agent, "claude-code" | "opencode")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::{InnerPids, ProcessId, ProcessState};

    fn process(comm: &str, exe: &str, argv: &[&str]) -> Process {
        Process {
            id: ProcessId { pid: 100, start_ticks: 1 },
            parent: 1,
            state: ProcessState::Running,
            comm: comm.into(),
            tty: None,
            group: 0,
            session: 100,
            pidfd_inode: None,
            has_exited: None,
            inner: InnerPids::default(),
            is_renamed: false,
            details: Some(Details {
                exe: Some(exe.into()),
                argv: argv.iter().map(|arg| (*arg).into()).collect(),
                ..Details::default()
            }),
        }
    }

    #[track_caller]
    fn check(comm: &str, exe: &str, argv: &[&str], expected: Option<(&str, Role)>) {
        let signatures = Signatures::built_in().unwrap_or_default();
        let found =
            signatures.classify(&process(comm, exe, argv)).map(|(agent, role)| (agent.name.clone(), role));
        assert_eq!(found, expected.map(|(name, role)| (name.to_owned(), role)));
    }

    #[test]
    fn the_shipped_signatures_parse() {
        assert_eq!(Signatures::built_in().map(|all| all.agents.len()).ok(), Some(22));
    }

    #[test]
    fn agents_are_known_by_their_executables() {
        let npm = "/opt/a/node_modules/@anthropic-ai/claude-code/bin/claude.exe";
        check("claude", npm, &["claude"], Some(("claude-code", Role::Agent)));
        check(
            "2.1.197",
            "/home/u/.local/share/claude/versions/2.1.197",
            &["claude"],
            Some(("claude-code", Role::Agent)),
        );
        check("claude", "/usr/bin/node", &["claude", "", ""], Some(("claude-code", Role::Agent)));
        check("node", "/usr/bin/node", &["node", "/opt/n/.bin/codex"], Some(("codex", Role::Launcher)));
        let gemini = ["/usr/bin/node", "--max-old-space-size=12052", "/opt/g/node_modules/.bin/gemini"];
        check("node", "/usr/bin/node", &gemini, Some(("gemini", Role::Agent)));
        let preloaded = ["node", "-r", "./hook.js", "--import", "x.mjs", "/o/node_modules/.bin/claude"];
        check("node", "/usr/bin/node", &preloaded, Some(("claude-code", Role::Agent)));
        check("MainThread", "/o/@github/copilot-linux-x64/copilot", &["x"], Some(("copilot", Role::Agent)));
    }

    #[test]
    fn agents_are_known_where_distributions_put_them() {
        let claude = Some(("claude-code", Role::Agent));
        check("claude", "/opt/claude-code/bin/claude", &["claude"], claude);
        let nix = "/nix/store/x-claude-code-2.1.19/bin/";
        check(".claude-wrapped", &format!("{nix}.claude-wrapped"), &["claude"], claude);
        check(".claude-unwrapp", &format!("{nix}.claude-unwrapped"), &["claude"], claude);
        check("rg", &format!("{nix}.claude-unwrapped"), &["rg", "x"], Some(("claude-code", Role::Helper)));
        check("claude", "/usr/bin/claude", &["claude", "--resume"], claude);
        check("claude", "/usr/local/bin/claude", &["claude", "mcp"], Some(("claude-code", Role::Helper)));
        check("claude-desktop", "/usr/bin/claude-desktop", &["claude-desktop"], None);
        let opencode = Some(("opencode", Role::Agent));
        check("opencode", "/opt/homebrew/Cellar/opencode/1.18.5/bin/opencode", &["opencode"], opencode);
        check("opencode", "/usr/bin/opencode", &["opencode"], opencode);
        check("opencode", "/home/u/bin/opencode", &["opencode"], None);
        check("amp", "/home/u/.amp/bin/amp", &["amp"], Some(("amp", Role::Agent)));
        check("claude", "/home/u/.local/share/mise/installs/claude/2.1.19/claude", &["claude"], claude);
        check("claude", "/home/u/installs/claude/claude", &["claude"], None);
        let codex = "codex-x86_64-unknown-linux-musl";
        check("codex-x86_64-un", &format!("/home/u/bin/{codex}"), &[codex], Some(("codex", Role::Agent)));
        let server = Some(("codex", Role::Daemon));
        check("codex-x86_64-un", &format!("/home/u/bin/{codex}"), &[codex, "app-server"], server);
    }

    #[track_caller]
    fn check_run(exe: &str, argv: &str, expected: Option<&str>) {
        let argv: Vec<&str> = argv.split(' ').collect();
        check(exe, &format!("/opt/{exe}"), &argv, expected.map(|name| (name, Role::Agent)));
    }

    #[test]
    fn agents_are_known_whatever_version_of_an_interpreter_runs_them() {
        check_run("node-22", "node-22 /o/node_modules/.bin/claude", Some("claude-code"));
        check_run("nodejs", "node node_modules/.bin/gemini --yolo", Some("gemini"));
        check_run("python3.15", "python3.15 /home/u/.local/bin/aider --model x", Some("aider"));
        check_run("pypy3.11-c", "pypy3 -m aider", Some("aider"));
        check_run("python3", "python3 -m pip install aider", None);
        check_run("bun", "bun run /o/@anthropic-ai/claude-code/cli.js", Some("claude-code"));
        check_run("bun", "bun x @google/gemini-cli", Some("gemini"));
        check_run("deno", "deno run -A npm:@google/gemini-cli@0.9.1 -p hi", Some("gemini"));
        check_run("deno", "deno run --allow-read npm:@anthropic-ai/claude-code", Some("claude-code"));
        check_run("bundle", "bundle /o/.bin/claude", None);
    }

    #[test]
    fn what_may_be_the_value_of_an_option_hides_no_script() {
        check_run("node", "node --title x /o/.bin/claude", Some("claude-code"));
        check_run("node", "node --title x --icu-data-dir /icu /o/.bin/claude", Some("claude-code"));
        check_run("node", "node --no-warnings /o/.bin/claude", Some("claude-code"));
        check_run("node", "node --no-warnings /o/.bin/gemini -p hi", Some("gemini"));
        let helper = ["node", "--x", "y", "/o/bin/gemini", "mcp"];
        check("node", "/bin/node", &helper, Some(("gemini", Role::Helper)));
        check_run("node", "node --title=x /srv/app.js /o/.bin/claude", None);
        check_run("node", "node /srv/app.js --agent /o/.bin/claude", None);
    }

    #[test]
    fn helpers_and_daemons_of_an_agent_are_no_agents() {
        let claude = "/o/node_modules/@anthropic-ai/claude-code-linux-x64/claude";
        check("claude", claude, &[claude, "daemon", "run"], Some(("claude-code", Role::Daemon)));
        check("claude", claude, &[claude, "--bg-pty-host", "/tmp/s"], Some(("claude-code", Role::Daemon)));
        check("claude", claude, &[claude, "--bg-spare", "/tmp/s"], Some(("claude-code", Role::Spare)));
        check("claude", claude, &["claude", "mcp", "serve"], Some(("claude-code", Role::Helper)));
        check(
            "codex",
            "/x/codex-linux-x64/vendor/bin/codex",
            &["codex", "app-server"],
            Some(("codex", Role::Daemon)),
        );
    }

    #[test]
    fn an_unknown_installation_resembles_an_agent() {
        let signatures = Signatures::built_in().unwrap_or_default();
        let resembles = |comm, exe, argv: &[&str]| signatures.resembles(&process(comm, exe, argv));
        assert!(resembles("claude", "/home/u/bin/claude", &["claude"]));
        assert!(resembles(".claude-wrapped", "/nix/store/x/bin/.claude-wrapped", &["claude"]));
        assert!(resembles("node", "/usr/bin/node", &["node", "/srv/claude-agent-sdk/cli.js"]));
        assert!(resembles("deno", "/opt/deno", &["deno", "run", "/srv/claude-agent-sdk/cli.js"]));
        assert!(!resembles("vim", "/usr/bin/vim", &["vim", "claude.md"]));
        assert!(!resembles("bash", "/usr/bin/bash", &["bash", "-c", "claude"]));
        let cli = "/o/node_modules/@anthropic-ai/claude-code/cli.js";
        assert!(resembles("code", "/usr/share/code/code", &["code", cli]));
        assert!(!resembles("node", "/usr/bin/node", &["node", "/srv/examples/x.js"]));
        assert!(!resembles("node", "/usr/bin/node", &["node", "/home/u/.claude/plugins/x/server.js"]));
    }

    #[test]
    fn agents_are_known_whatever_runs_their_programs() {
        let claude = Some(("claude-code", Role::Agent));
        let exe = "/o/node_modules/@anthropic-ai/claude-code/bin/claude.exe";
        let loader = "/usr/lib64/ld-linux-x86-64.so.2";
        check("ld-linux-x86-64", loader, &[loader, "--library-path", "/l", exe, "-p", "x"], claude);
        check("fixing a bug", exe, &["claude"], claude);
        let cwd = Some("/o/node_modules/@anthropic-ai/claude-code".into());
        let mut process = process("node", "/usr/bin/node", &["node", "./cli.js"]);
        if let Some(details) = process.details.as_mut() {
            details.cwd = cwd;
        }
        let signatures = Signatures::built_in().unwrap_or_default();
        assert_eq!(signatures.classify(&process).map(|(agent, _)| agent.name.as_str()), Some("claude-code"));
    }

    #[test]
    fn names_in_arguments_and_paths_make_no_agent() {
        check("vim", "/usr/bin/vim", &["vim", "claude.md"], None);
        check("grep", "/usr/bin/grep", &["grep", "claude"], None);
        check("bash", "/usr/bin/bash", &["bash", "-c", "source /home/u/.claude/shell-snapshots/s.sh"], None);
        check("npm exec claude", "/usr/bin/node", &["npm exec claude", ""], None);
        check("sh", "/usr/bin/dash", &["sh", "-c", "claude"], None);
        check("python3", "/home/u/claude/bin/python3", &["python3", "app.py"], None);
        check("claude", "/home/u/bin/claude", &["claude"], None);
        check("Claude", "/Applications/Claude.app/Contents/MacOS/Claude", &["Claude"], None);
        check("node", "/usr/bin/node", &["node", "/srv/mcp/claude-server.js"], None);
    }
}
