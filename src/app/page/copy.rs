//! What is copied of a thing: what a person pastes elsewhere, or the key that commands take.

use crate::app::msg::Effect;
use crate::app::rows::history;
use crate::app::sheet;
use crate::app::state::State;
use crate::core::model::report::need::NeedKind;
use crate::core::model::{ClaimView, Key, Location, RecordView, ResourceKind, WindowView};
use crate::present::need::between;
use crate::present::report_index::{Index, place_of};
use crate::present::text::{outside, safe};

/// What a text is, and the text.
type CopyText = (&'static str, String);

/// Copies what is of most use of the thing.
pub(crate) fn useful(state: &mut State) -> Vec<Effect> {
    let (Some(index), Some(key)) = (&state.index, state.subject()) else { return Vec::new() };
    let command = index.finding(key).and_then(|finding| finding.command.as_deref());
    let command = command.map(|command| ("the command", command.to_owned()));
    let advised = || Some(("the command", advice(index, state.selected()?)?));
    let copied = resume(state, index).or_else(|| history_text(state, key)).or(command).or_else(advised);
    let copied = copied.unwrap_or_else(|| of(index, key));
    let on = sheet::meant(index, key).machine().map(safe);
    copy(state, copied, on)
}

/// Copies the key of the thing.
pub(crate) fn key(state: &mut State) -> Vec<Effect> {
    let Some(key) = state.subject() else { return Vec::new() };
    let copied = ("key", key.to_string());
    copy(state, copied, None)
}

/// Copies it, and says where it is good if that is not here.
fn copy(state: &mut State, (what, text): CopyText, on: Option<String>) -> Vec<Effect> {
    let on = on.map(|machine| format!(" for {machine}:")).unwrap_or_default();
    state.message = Some(format!("Copied {what}{on} {text}"));
    vec![Effect::Copy(text), Effect::Redraw]
}

/// Returns the command that resumes the session of a window that died.
fn resume(state: &State, index: &Index) -> Option<CopyText> {
    let of_death = |key: &Key| index.death(key).and_then(|death| index.need(&death.need()));
    let selected = state.selected().filter(|_| state.layers.is_empty());
    let need = selected.and_then(|key| index.need(key)).or_else(|| of_death(state.subject()?))?;
    let NeedKind::Died(left) = &need.kind else { return None };
    Some(("the command", left.resume()?))
}

/// Returns the command that does what the line of a collision advises.
fn advice(index: &Index, selected: &Key) -> Option<String> {
    let kind = &index.need(selected)?.kind;
    let advised = between::advised_command(kind, &|key| index.window(key));
    advised.or_else(|| between::found_command(&index.report, kind))
}

/// Returns the sentence of a history entry.
fn history_text(state: &State, key: &Key) -> Option<CopyText> {
    let entry = state.entry(key).map(|entry| entry.intent.title.as_str());
    let sentence = entry.or_else(|| history::of_key(&state.timeline, key).map(|past| past.told.as_str()))?;
    Some(("the sentence", safe(sentence)))
}

/// Returns what is of most use of a thing; of a finding, of what it is about.
fn of(index: &Index, key: &Key) -> CopyText {
    let key = &sheet::meant(index, key);
    if let Some(window) = index.window(key) {
        return of_window(window);
    }
    if let Some(stash) = index.left_stash(key) {
        return ("the command", stash.apply());
    }
    match (index.record(key), index.claim(key)) {
        (Some(record), _) => of_record(record, key),
        (None, Some(claim)) => of_claim(claim),
        (None, None) => ("key", key.to_string()),
    }
}

fn of_window(window: &WindowView) -> CopyText {
    match (&window.session_id, &window.cwd) {
        (Some(id), _) => ("session ID", outside(Some(id))),
        (None, Some(cwd)) => ("folder", outside(Some(cwd))),
        (None, None) => ("PID", window.pid.to_string()),
    }
}

fn of_record(record: &RecordView, key: &Key) -> CopyText {
    match (&record.location, &record.session_id) {
        (Location::File(_), _) => ("path", place_of(record)),
        (Location::Row { .. }, Some(id)) => ("session ID", outside(Some(id))),
        (Location::Row { .. }, None) => ("key", key.to_string()),
    }
}

fn of_claim(claim: &ClaimView) -> CopyText {
    let what = match claim.resource.kind {
        ResourceKind::Files | ResourceKind::Worktree => "path",
        kind @ (ResourceKind::AgentRole
        | ResourceKind::Project
        | ResourceKind::Branch
        | ResourceKind::WorkItem
        | ResourceKind::Task
        | ResourceKind::Session
        | ResourceKind::Lock) => kind.name(),
    };
    (what, outside(Some(&claim.resource.id)))
}
