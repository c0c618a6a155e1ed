//! The servers of the Model Context Protocol that agents are configured to start: their names and command
//! lines. The variables that stand beside them are not kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::core::model::text::secret::{hidden, hide_in_arguments};
use crate::core::model::{FileMeta, Trace, Untrusted};
use crate::format::Base;
use crate::source::interface::Scope;
use crate::source::os::open::folder::look_at;
use crate::source::os::open::plain::small;

/// The files of a home and of a project that name servers.
const OF_HOME: [&str; 4] =
    [".claude.json", ".codex/config.toml", ".gemini/settings.json", ".config/opencode/opencode.json"];
const OF_CLAUDE: &str = ".claude.json";
const OF_PROJECT: [&str; 2] = [".mcp.json", "opencode.json"];
/// The most bytes of one that are read; Claude Code keeps much else in its own.
const MOST: usize = 16 << 20;
/// The most files that are read.
const MOST_FILES: usize = 64;

/// Reads the files again and again, each once until it changes.
#[derive(Default)]
pub(super) struct Servers {
    known: BTreeMap<PathBuf, (FileMeta, Vec<Server>)>,
}

/// One server.
#[derive(Debug, PartialEq, Eq)]
struct Server {
    name: Untrusted,
    argv: Vec<Untrusted>,
}

/// The relevant part of all these files.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Settings {
    #[serde(alias = "mcpServers")]
    mcp_servers: BTreeMap<String, Entry>,
    mcp: BTreeMap<String, Entry>,
    projects: BTreeMap<String, Project>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Project {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Apart {
        command: String,
        #[serde(default)]
        args: Vec<String>,
    },
    Joined {
        command: Vec<String>,
    },
    Other(IgnoredAny),
}

impl Servers {
    /// Reads what may name the servers among these processes.
    pub(super) fn refresh<'a>(&mut self, traces: impl Iterator<Item = &'a Trace>, scope: &Scope) {
        let mut before = std::mem::take(&mut self.known);
        let mut traces = traces.peekable();
        if traces.peek().is_none() {
            return;
        }
        for path in files(traces, scope).into_iter().take(MOST_FILES) {
            let Some(meta) = scope.fence.reaches(&path).then(|| look_at(&path)).flatten() else { continue };
            let known = match before.remove(&path).filter(|(known, _)| *known == meta) {
                Some((_, known)) => known,
                None => small(&path, MOST).map(|bytes| understood(&path, &bytes)).unwrap_or_default(),
            };
            self.known.insert(path, (meta, known));
        }
    }

    /// Returns the name of the server with these arguments, if it is the only one with them.
    pub(super) fn name_of(&self, argv: &[Untrusted]) -> Option<&Untrusted> {
        name_of(self.known.values().flat_map(|(_, servers)| servers), argv)
    }
}

/// Returns the name that these files, by path, give to the server with these arguments; made-up worlds have some.
pub fn named_in<'a>(
    files: impl Iterator<Item = (&'a Path, &'a str)>,
    argv: &[Untrusted],
) -> Option<Untrusted> {
    let servers: Vec<Server> = files.flat_map(|(path, text)| understood(path, text.as_bytes())).collect();
    name_of(servers.iter(), argv).cloned()
}

/// Returns whether a file by this path may name servers.
pub fn may_name(path: &Path) -> bool {
    OF_HOME.iter().chain(&OF_PROJECT).any(|name| path.ends_with(name))
}

fn name_of<'a>(servers: impl Iterator<Item = &'a Server>, argv: &[Untrusted]) -> Option<&'a Untrusted> {
    let mut names = servers.filter(|one| runs(one, argv)).map(|one| &one.name);
    let first = names.next()?;
    names.all(|other| other == first).then_some(first)
}

/// Returns the files in the homes and in the folders that the processes work in.
fn files<'a>(traces: impl Iterator<Item = &'a Trace>, scope: &Scope) -> Vec<PathBuf> {
    let homes = scope.homes.folders_of(Base::Home).flat_map(|home| OF_HOME.map(|name| home.path.join(name)));
    let claudes = scope.homes.folders_of(Base::ClaudeConfig).map(|folder| folder.path.join(OF_CLAUDE));
    let folders = traces.filter_map(|trace| trace.cwd.as_ref()).map(|folder| Path::new(folder.raw()));
    let projects = folders.filter(|folder| folder.is_absolute());
    let mut files: Vec<PathBuf> = homes.chain(claudes).collect();
    files.extend(projects.flat_map(|folder| OF_PROJECT.map(|name| folder.join(name))));
    let mut seen = std::collections::BTreeSet::new();
    files.retain(|path| seen.insert(path.clone()));
    files
}

/// Returns whether a process runs a server: it has exactly its arguments, or these after a script's interpreter
/// (execve(2)).
fn runs(server: &Server, argv: &[Untrusted]) -> bool {
    let before = argv.len().checked_sub(server.argv.len()).filter(|before| *before <= 1);
    let own = before.and_then(|before| argv.get(before..)).and_then(<[Untrusted]>::split_first);
    own.zip(server.argv.split_first()).is_some_and(|((program, own), (command, args))| {
        let name = Path::new(program.raw()).file_name().and_then(|name| name.to_str());
        own == args && (program == command || name == Some(command.raw()))
    })
}

/// Parses a file; a file of another kind names nothing.
fn understood(path: &Path, bytes: &[u8]) -> Vec<Server> {
    let settings = if path.extension().is_some_and(|end| end == "toml") {
        std::str::from_utf8(bytes).ok().and_then(|text| toml::from_str(text).ok())
    } else {
        serde_json::from_slice(bytes).ok()
    };
    let Settings { mcp_servers, mcp, projects } = settings.unwrap_or_default();
    let of_projects = projects.into_values().flat_map(|project| project.servers);
    mcp_servers.into_iter().chain(mcp).chain(of_projects).filter_map(server).collect()
}

fn server((name, entry): (String, Entry)) -> Option<Server> {
    let argv = match entry {
        Entry::Apart { command, args } => std::iter::once(command).chain(args).collect(),
        Entry::Joined { command } => command,
        Entry::Other(_) => return None,
    };
    let mut argv: Vec<Untrusted> = argv.iter().map(|argument| argument.as_str().into()).collect();
    hide_in_arguments(&mut argv);
    (!argv.is_empty()).then(|| Server { name: (*hidden(&name)).into(), argv })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, text: &str) -> Servers {
        let meta = look_at(Path::new("/")).unwrap();
        Servers { known: [(path.into(), (meta, understood(Path::new(path), text.as_bytes())))].into() }
    }

    #[track_caller]
    fn check(servers: &Servers, argv: &[&str], expected: Option<&str>) {
        let argv: Vec<Untrusted> = argv.iter().map(|argument| (*argument).into()).collect();
        assert_eq!(servers.name_of(&argv).map(Untrusted::raw), expected, "{argv:?}");
    }

    #[test]
    fn each_agents_file_names_its_servers() {
        let claude = read(
            "/.claude.json",
            r#"{"numStartups":7,"mcpServers":{"docs":{"type":"stdio","command":"node","args":["docs.js"],
                "env":{"KEY":"s3cret"}},"web":{"type":"http","url":"https://example.com"},"odd":7},
                "projects":{"/home/dev/shop":{"mcpServers":{"db":{"command":"pg-mcp"}},"history":[]}}}"#,
        );
        check(&claude, &["node", "docs.js"], Some("docs"));
        check(&claude, &["pg-mcp"], Some("db"));
        check(&claude, &["node"], None);
        check(&claude, &["node", "docs.js", "--port"], None);
        assert!(!format!("{:?}", claude.known.values().next().unwrap().1).contains("s3cret"));
        let codex =
            read("/config.toml", "model = \"x\"\n[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"f\"]\n");
        check(&codex, &["npx", "f"], Some("files"));
        let opencode = read("/opencode.json", r#"{"mcp":{"one":{"type":"local","command":["bun","x.ts"]}}}"#);
        check(&opencode, &["bun", "x.ts"], Some("one"));
        check(&read("/.mcp.json", "{"), &["node"], None);
    }

    #[test]
    fn a_script_is_told_by_what_it_is_called() {
        let servers = read("/.mcp.json", r#"{"mcpServers":{"a":{"command":"npx","args":["-y","a"]}}}"#);
        check(&servers, &["node", "/usr/bin/npx", "-y", "a"], Some("a"));
        check(&servers, &["/usr/bin/npx", "-y", "a"], Some("a"));
        check(&servers, &["node", "x", "npx", "-y", "a"], None);
        check(&servers, &["node", "/usr/bin/mynpx", "-y", "a"], None);
    }

    #[test]
    fn a_name_with_a_secret_in_it_is_told_without() {
        let servers = read(
            "/.mcp.json",
            r#"{"mcpServers":{"x --token hush":{"command":"x","args":["--token","hush"]}}}"#,
        );
        check(&servers, &["x", "--token", "***"], Some("x --token ***"));
    }

    #[test]
    fn of_two_servers_with_one_command_line_neither_is_named() {
        let servers = read("/.mcp.json", r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"x"}}}"#);
        check(&servers, &["x"], None);
    }
}
