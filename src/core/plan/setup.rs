//! Plans that change agents' settings.

use crate::core::model::action::PUT_BACK;
use crate::core::model::{Confirmation, Key, Plan, SettingsEdit, SetupWay, Step};

/// What becomes of one file.
pub(crate) struct PlannedSettings {
    /// What is done, in words.
    pub(crate) done: String,
    /// What a person should know of it.
    pub(crate) notes: Vec<String>,
    /// How the file differs.
    pub(crate) diff: Vec<String>,
    /// Whether there is a file now, and whether there is one then.
    pub(crate) is_there: (bool, bool),
}

/// Plans to change one agent's settings.
pub(crate) fn plan_settings(file: &SettingsEdit, planned: PlannedSettings) -> Plan {
    let path = file.path.clone();
    let change = planned.done;
    let (what, why) = match file.way {
        SetupWay::Add => (
            format!("set up claimtop in {}: {change}", file.agent),
            "its hooks report which window is which, and ask the guard",
        ),
        SetupWay::Remove => {
            (format!("remove claimtop from {}: {change}", file.agent), "all other settings stay as they are")
        }
    };
    let (step, inverse) = match planned.is_there {
        (_, false) => (Step::Park { path }, PUT_BACK),
        (true, true) => (Step::Settings { path, change, replaces: true }, PUT_BACK),
        (false, true) => (Step::Settings { path, change, replaces: false }, "undo parks the new file"),
    };
    Plan {
        name: file.path.text().to_string(),
        what,
        why: std::iter::once(why.to_owned()).chain(planned.notes).collect(),
        steps: vec![step],
        diff: planned.diff,
        inverse: inverse.to_owned(),
        refuses_when: vec![
            "the file changed since it was seen, or is younger than 2 s",
            "the file is not a plain file of yours with one link, or is read-only",
            "the way to it leads through a link",
            "another claimtop is at work on it",
        ],
        confirmation: Confirmation::Yes,
        ..Plan::empty(&Key::typed(file.path.text().raw()))
    }
}

/// Plans to change the settings of several agents, confirmed and undone as one; one that is refused does not stop the
/// others.
pub(crate) fn plan_all(files: &[SettingsEdit], parts: Vec<Plan>) -> Plan {
    let mut agents: Vec<&str> = files.iter().map(|file| file.agent.as_str()).collect();
    agents.dedup();
    let agents = match agents.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        all => all.concat(),
    };
    let is_removal = files.iter().any(|file| file.way == SetupWay::Remove);
    let what = if is_removal { "remove claimtop from" } else { "set up claimtop in" };
    let first = parts.first();
    Plan {
        name: "setup".to_owned(),
        what: format!("{what} {agents}"),
        why: first.and_then(|part| part.why.first().cloned()).into_iter().collect(),
        refuses_when: first.map(|part| part.refuses_when.clone()).unwrap_or_default(),
        diff: parts.iter().flat_map(|part| part.diff.clone()).collect(),
        inverse: "undo takes back each of them, as far as it has not changed since".to_owned(),
        confirmation: Confirmation::Yes,
        follows: parts,
        ..Plan::empty(&Key::typed("setup"))
    }
}
