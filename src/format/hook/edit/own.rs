//! What is claimtop's in settings, and what becomes of them.

use crate::core::model::HookForm;
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

/// Says how many hooks, and whether the status line.
pub(super) fn counted(hooks: usize, is_with_line: bool) -> String {
    let hooks = match hooks {
        0 => None,
        1 => Some("1 hook".to_owned()),
        many => Some(format!("{many} hooks")),
    };
    let line = is_with_line.then(|| "the status line".to_owned());
    hooks.into_iter().chain(line).collect::<Vec<_>>().join(" and ")
}
