//! What is claimtop's in settings, and what becomes of them.

use crate::core::model::{HookEntries, HookForm};
use crate::format::hook::edit::scan::{Node, SettingsFault, Value, fault_at, scan};
use crate::format::hook::settings::{IN_ANY_CASE, is_claimtop};

/// What becomes of some settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditedSettings {
    pub(crate) change: SettingsChange,
    /// What is done, in words; empty if nothing is.
    pub(crate) done: String,
    /// What a person should know of it.
    pub(crate) notes: Vec<String>,
}

/// How a file changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingsChange {
    /// Not at all.
    Same,
    /// It gets these bytes.
    New(Vec<u8>),
    /// It was claimtop's alone, and goes.
    Gone,
}

impl EditedSettings {
    pub(super) fn same(notes: Vec<String>) -> Self {
        Self { change: SettingsChange::Same, done: String::new(), notes }
    }

    /// Makes sure that new settings can be read.
    pub(super) fn checked(bytes: Vec<u8>, done: String, notes: Vec<String>) -> Result<Self, SettingsFault> {
        let blank = bytes.iter().all(u8::is_ascii_whitespace);
        if let Err(fault) = scan(&bytes)
            && !blank
        {
            let what = format!("claimtop cannot change these settings ({})", fault.what);
            return Err(SettingsFault { what, ..fault });
        }
        Ok(Self { change: SettingsChange::New(bytes), done, notes })
    }
}

/// Returns the value of a name in an object, if it is there once.
pub(super) fn unique<'a>(
    text: &str,
    object: &'a Node,
    name: &str,
) -> Result<Option<&'a Node>, SettingsFault> {
    let mut found = object.items().iter().filter(|member| member.key == name);
    match (found.next(), found.next()) {
        (_, Some(second)) => {
            Err(fault_at(text.as_bytes(), second.start, format!("`{name}` is here for the second time")))
        }
        (first, None) => Ok(first.map(|member| &member.node)),
    }
}

/// The name of claimtop's entry among the servers that an agent starts.
pub(super) const SERVER: &str = "claimtop";

/// Returns a value that must be an object.
pub(super) fn object<'a>(text: &str, node: &'a Node, what: &str) -> Result<&'a Node, SettingsFault> {
    match node.value {
        Value::Object(_) => Ok(node),
        Value::Array(_) | Value::Text(_) | Value::Switch(_) | Value::Other => {
            Err(fault_at(text.as_bytes(), node.span.start, format!("{what} is not an object")))
        }
    }
}

/// Returns the command line of a hook.
pub(super) fn command_of(hook: &Node, form: HookForm) -> Option<&Node> {
    let command = hook.get("command").filter(|command| command.text().is_some());
    match form {
        HookForm::Groups => command,
        HookForm::Flat => hook.get("bash").or(command),
    }
}

/// Returns the command of claimtop that a command line runs, such as `bind`.
pub(super) fn own_command(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let program = words.next()?;
    is_claimtop(program).then(|| words.next()).flatten()
}

/// Returns whether a command line runs one of claimtop's hooks.
pub(super) fn is_own_hook(line: &str) -> bool {
    matches!(own_command(line), Some("bind" | "guard"))
}

/// Returns a command line in its present form, with the program that it names; `None` if it has that form.
pub(super) fn renewed(line: &str, wanted: &str) -> Option<String> {
    let bare = |line: &str| line.strip_suffix(IN_ANY_CASE).unwrap_or(line).to_owned();
    let (own, new) = (bare(line), bare(wanted));
    let mut words = own.split_whitespace();
    let program = words.next().unwrap_or_default();
    let begins = new.split_whitespace().skip(1).all(|word| words.next() == Some(word));
    if begins && (!wanted.ends_with(IN_ANY_CASE) || line.ends_with(IN_ANY_CASE)) {
        return None;
    }
    let rest: Vec<&str> = wanted.split_whitespace().skip(1).collect();
    Some(format!("{program} {}", rest.join(" ")))
}

/// How many of claimtop's entries there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) hooks: usize,
    pub(super) has_line: bool,
    pub(super) has_server: bool,
}

impl Count {
    /// Counts what belongs into settings.
    pub(super) fn of_all(entries: &HookEntries) -> Self {
        let (has_line, has_server) = (entries.status_line.is_some(), entries.server.is_some());
        Self { hooks: entries.hooks.len(), has_line, has_server }
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Says how many hooks, and whether the status line and the server.
    pub(super) fn text(self) -> String {
        let hooks = match self.hooks {
            0 => None,
            1 => Some("1 hook".to_owned()),
            many => Some(format!("{many} hooks")),
        };
        let line = self.has_line.then(|| "the status line".to_owned());
        let server = self.has_server.then(|| "the MCP server".to_owned());
        hooks.into_iter().chain(line).chain(server).collect::<Vec<_>>().join(" and ")
    }
}

/// Returns whether an agent starts claimtop by an entry among its servers.
pub(super) fn is_own_server(entry: &Node) -> bool {
    let command = entry.get("command");
    let first = command.and_then(|command| Some(&command.items().first()?.node));
    first.or(command).and_then(Node::text).is_some_and(is_claimtop)
}
