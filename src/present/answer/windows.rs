//! Who works at a path.

use std::path::Path;

use crate::core::model::snapshot::is_read_here;
use crate::core::model::{ProcessId, RecordView, Report, Role, Topic, VerdictState, WindowState, WindowView};
use crate::present::answer::{AgentAnswer, Item, Quote};
use crate::present::need::doing::folder;
use crate::present::report_index::window_name;
use crate::present::text::age;

/// Answers which living windows work at a path: in its working tree, or below it.
pub fn who_is_here(report: &Report, path: &Path, own: Option<ProcessId>) -> AgentAnswer {
    let here: Vec<&WindowView> = report.windows.iter().filter(|window| is_at(window, path)).collect();
    let others: Vec<&&WindowView> = here.iter().filter(|window| !is_own(window, own)).collect();
    let is_complete = is_complete(report);
    let (verdict, advice) = match (others.len(), here.len(), is_complete) {
        (0, _, false) => (
            ("unknown", "not-all-processes-read"),
            "Not every process could be read, so another window may work here. Treat this place as shared.",
        ),
        (0, 0, true) => (("none", "no-window"), "No known window is working here: continue."),
        (0, _, true) => (("only-you", "no-other-window"), "You are alone here: go on."),
        (_, _, _) if own.is_none() => (
            ("others", "windows"),
            "Windows work here, and you may be one of them: which one could not be determined. Ask may_i_edit before you edit a file.",
        ),
        (..) => (
            ("others", "windows"),
            "Other windows work here. Ask may_i_edit before you edit a file, leave their changes alone, or use a working tree of your own.",
        ),
    };
    let now = report.taken_at;
    let newest = others.iter().filter_map(|window| window.doing_since.or(window.started_at)).max();
    let evidence = others.iter().map(|window| sentence(window));
    let items = here.iter().map(|window| Item {
        age_seconds: window.doing_since.map(|since| age::seconds(now, since).max(0)),
        ..item(window, own)
    });
    AgentAnswer::new("who_is_here", now, verdict, advice)
        .with_evidence(evidence, newest)
        .with_items(items.collect())
        .with_unread(report, Topic::Windows)
}

/// Returns whether every living window is in a report: all processes could be read, and each agent that a record proves
/// alive was recognised, which another user's often is not.
pub(super) fn is_complete(report: &Report) -> bool {
    let is_unseen = |record: &RecordView| {
        let is_agents = record.holder.as_ref().is_some_and(|holder| holder.role == Role::Agent);
        record.verdict.state == VerdictState::Alive && is_agents && record.window.is_none()
    };
    is_read_here(&report.sources) && !report.records().any(is_unseen)
}

/// Returns whether a window is the asking one.
pub(crate) fn is_own(window: &WindowView, own: Option<ProcessId>) -> bool {
    let id = ProcessId { pid: window.pid, start_ticks: window.start_ticks };
    window.key.machine().is_none() && own == Some(id)
}

/// Returns whether a window lives and works at a path: in the working tree that has it, or in a folder at or below it.
pub(crate) fn is_at(window: &WindowView, path: &Path) -> bool {
    let is_here = |place: &Path| {
        // A window in a folder above, such as the home, works at what it has itself, and not at all below.
        let is_above = match window.repo {
            Some(_) => path.starts_with(place),
            None => path.parent() == Some(place),
        };
        is_above || place.starts_with(path)
    };
    let is_of_here = window.key.machine().is_none() && window.state != WindowState::Zombie;
    is_of_here && (folder(window).is_some_and(is_here) || is_in(window, path))
}

/// Returns whether the folder of a window's process is at or below a path.
fn is_in(window: &WindowView, path: &Path) -> bool {
    window.cwd.as_ref().is_some_and(|cwd| Path::new(cwd.raw()).starts_with(path))
}

/// Describes a window as something that an answer is about.
pub(crate) fn item(window: &WindowView, own: Option<ProcessId>) -> Item {
    Item {
        kind: "window",
        key: Some(window.key.clone()),
        pid: Some(window.pid),
        agent: Some(Quote::from(&window.agent)),
        name: Some(Quote::new(&window_name(window))),
        state: state(window),
        path: folder(window).and_then(Path::to_str).map(Quote::new),
        branch: window.repo.as_ref().and_then(|repo| repo.branch.as_ref()).map(Quote::from),
        age_seconds: None,
        you: is_own(window, own),
    }
}

/// Returns what a window does, in one word of the interface.
pub(crate) fn state(window: &WindowView) -> &'static str {
    match (window.doing, window.state) {
        (Some(doing), _) => doing.name(),
        (None, WindowState::Running) => "running",
        (None, WindowState::Stopped) => "stopped",
        (None, WindowState::Zombie) => "zombie",
    }
}

fn sentence(window: &WindowView) -> Quote {
    let place = folder(window).map(|folder| format!(" in {}", folder.display())).unwrap_or_default();
    Quote::new(&format!("{} (PID {}): {}{place}", window_name(window), window.pid, state(window)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::core::testing::busy;

    #[test]
    fn an_agent_that_only_its_record_proves_alive_may_be_anywhere() {
        let mut report = busy();
        report.records.retain(|record| record.window.is_some());
        let verdict = |report: &Report| who_is_here(report, Path::new("/elsewhere"), None).verdict;
        assert_eq!(verdict(&report), "none");
        let is_agents = |record: &&mut Arc<RecordView>| {
            let role = record.holder.as_ref().map(|holder| holder.role);
            record.verdict.state == VerdictState::Alive && role == Some(Role::Agent)
        };
        let record = report.records.iter_mut().find(is_agents).unwrap();
        Arc::make_mut(record).window = None;
        assert_eq!(verdict(&report), "unknown");
    }
}
