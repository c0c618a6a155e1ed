//! Findings about identity: shared, inherited and split.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::judge::rules::facts::{Facts, count, file_name, listed, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::judge::window::window_of;
use crate::core::model::text::shown_span;
use crate::core::model::{
    Binding, Code, ContextSource, Evidence, Finding, Format, JudgedRecord, Key, Leo, RecordDetail,
    RecordKind, Remedy, Untrusted, VerdictState, WindowView,
};

/// Finds identities that two windows share or that disagree.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    found.extend(shared_session(facts));
    found.extend(shared_context(facts));
    found.extend(shared_terminal(facts));
    found.extend(two_sessions(facts));
}

/// Finds what is wrong with the identity that one record gives.
pub(crate) fn of_record(judged: &JudgedRecord, facts: &Facts<'_>, found: &mut Findings<'_>) {
    found.extend(inherited(judged, facts));
    found.extend(split_marker(judged, facts));
    found.extend(split_pointer(judged, facts));
}

/// Two live processes, one session ID: both append to one transcript.
fn shared_session(facts: &Facts<'_>) -> Vec<Finding> {
    let mut pids: BTreeMap<&Untrusted, BTreeMap<u32, (Evidence, Option<Key>)>> = BTreeMap::new();
    for (session, pid, note) in facts.world.bindings.all() {
        if let Some(window) = own_window(pid, facts) {
            pids.entry(session).or_default().insert(window, (note, None));
        }
    }
    for judged in facts.records.iter().filter(|judged| judged.verdict.state == VerdictState::Alive) {
        let binds = judged.record.holder.as_ref().is_some_and(|holder| holder.binding >= Binding::Marker);
        let of_process = judged.record.pid().filter(|_| binds).and_then(|pid| own_window(pid, facts));
        if let (Some(session), Some(pid)) = (judged.record.session_id.as_ref(), of_process) {
            pids.entry(session).or_default().insert(pid, (judged.evidence(), Some(judged.key.clone())));
        }
    }
    pids.into_iter()
        .filter(|(_, holders)| holders.len() > 1)
        .map(|(session, holders)| tell_shared(session, &holders, facts))
        .collect()
}

fn own_window(pid: u32, facts: &Facts<'_>) -> Option<u32> {
    let world = facts.world;
    window_of(&world.snapshot.processes, &world.windows, pid).map(|window| window.process.id.pid)
}

fn tell_shared(
    session: &Untrusted,
    holders: &BTreeMap<u32, (Evidence, Option<Key>)>,
    facts: &Facts<'_>,
) -> Finding {
    let windows: Vec<&WindowView> = holders.keys().filter_map(|pid| facts.window(*pid)).collect();
    let names: Vec<String> = windows.iter().map(|window| window_name(window)).collect();
    let subjects = windows
        .iter()
        .map(|window| window.key.clone())
        .chain(holders.values().filter_map(|(_, key)| key.clone()));
    let evidence: Vec<Evidence> = holders.values().map(|(evidence, _)| evidence.clone()).collect();
    let message = format!(
        "{} run one session, {session}: both write its transcript; close one, or restart it without --resume",
        listed(&names)
    );
    Finding::new(Code::SharedSessionId, subjects, message, evidence, Remedy::None)
}

/// Two live windows, one context ID.
fn shared_context(facts: &Facts<'_>) -> Vec<Finding> {
    let mut windows: BTreeMap<&Untrusted, Vec<&WindowView>> = BTreeMap::new();
    for window in facts.windows {
        windows.entry(&window.context_id.value).or_default().push(window);
    }
    windows
        .into_iter()
        .filter(|(_, sharing)| sharing.len() > 1)
        .map(|(id, sharing)| tell_context(id, &sharing))
        .collect()
}

fn tell_context(id: &Untrusted, sharing: &[&WindowView]) -> Finding {
    let names: Vec<String> = sharing.iter().map(|window| window_name(window)).collect();
    let how = match sharing.first().map(|window| window.context_id.source) {
        Some(ContextSource::Env) => ", from CLAUDE_SESSION_ID in their environment",
        Some(ContextSource::AgentPid | ContextSource::Terminal | ContextSource::ParentPid) | None => "",
    };
    let message = format!(
        "{} share one context ID, {id}{how}: they read and write one record; unset it in one of them",
        listed(&names)
    );
    let mut evidence: Vec<Evidence> = sharing.iter().map(|window| window_evidence(window)).collect();
    evidence.push(Evidence::new("context ID", id.clone(), "environment of the windows"));
    Finding::new(
        Code::SharedContextId,
        sharing.iter().map(|window| window.key.clone()),
        message,
        evidence,
        Remedy::None,
    )
}

/// Unreleased records with one terminal ID: the next lookup adopts the wrong one.
fn shared_terminal(facts: &Facts<'_>) -> Vec<Finding> {
    let mut records: BTreeMap<(Option<&Untrusted>, &Untrusted), Vec<&JudgedRecord>> = BTreeMap::new();
    for judged in facts.records.iter().filter(|judged| judged.record.kind == RecordKind::Session) {
        if let Some(terminal) = judged.record.terminal_id.as_deref().filter(|_| !judged.record.has_ended) {
            let machine = judged.record.holder.as_ref().and_then(|holder| holder.machine_id());
            records.entry((machine, terminal)).or_default().push(judged);
        }
    }
    let shared = records.into_iter().filter(|(_, sharing)| has_several(sharing));
    shared
        .map(|((_, terminal), sharing)| {
            let message = format!(
                "{} share one terminal ID, {terminal}: a window that looks itself up by it can get the other's identity",
                count(sharing.len(), "unreleased record")
            );
            let subjects = sharing.iter().map(|judged| judged.key.clone());
            let evidence: Vec<Evidence> = sharing.iter().map(|judged| judged.evidence()).collect();
            Finding::new(Code::SharedTerminalId, subjects, message, evidence, Remedy::Park)
        })
        .collect()
}

/// Returns whether records are of several sessions: a session's file and its row are one.
fn has_several(records: &[&JudgedRecord]) -> bool {
    let first = records.first().and_then(|first| first.record.session_id.as_ref());
    records.iter().skip(1).any(|other| first.is_none() || other.record.session_id.as_ref() != first)
}

/// A live window that uses a record older than its own process.
fn inherited(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let pid = judged.record.pid()?;
    let window = facts.window(pid)?;
    let began = began_at(judged, facts)?;
    let process = facts.world.snapshot.processes.get(pid)?;
    if !facts.world.is_born_after(process, began) {
        return None;
    }
    let message = format!(
        "{} uses {}, which began {} before the window's process: it has a dead window's identity",
        window_name(window),
        file_name(judged),
        window.started_at.map_or_else(String::new, |started| shown_span(began, started)),
    );
    let evidence = [
        window_evidence(window),
        judged.evidence(),
        Evidence::new("session began", began.to_string(), "record").dated(began),
    ];
    Some(Finding::new(
        Code::InheritedRecord,
        [window.key.clone(), judged.key.clone()],
        message,
        evidence,
        Remedy::Park,
    ))
}

/// Returns when the session began that a record ties to its PID; `None` if the format resumes by design (a registry,
/// an owner with start, a marker of a resumed session).
fn began_at(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<jiff::Timestamp> {
    let (record, holder) = (&judged.record, judged.record.holder.as_ref()?);
    if record.format == Format::Maia && record.kind == RecordKind::Session {
        return record.started_at;
    }
    let is_of_new_session = record.detail == RecordDetail::Leo(Leo::Marker { is_new_session: true });
    let is_marker = is_of_new_session && holder.binding == Binding::Marker;
    let session = record.session_id.as_ref().filter(|_| is_marker)?;
    let file = facts.world.records_of(session).iter().find(|other| {
        let is_other = other.holder.as_ref().map(|other| &other.pid) != Some(&holder.pid);
        other.format == Format::Leo && other.kind == RecordKind::Session && is_other
    })?;
    file.started_at
}

/// Agents whose processes run one session at a time; those of others can have several.
const ONE_AT_A_TIME: [&str; 3] = ["claude-code", "gemini", "qwen"];

/// Sessions of the entire CLI that have not ended and name one window, or one that this window does not run by its
/// own registry: it turned to another session without ending the first. A lookup by process finds either.
fn two_sessions(facts: &Facts<'_>) -> Vec<Finding> {
    let mut by_window: BTreeMap<u32, Vec<&JudgedRecord>> = BTreeMap::new();
    for judged in facts.records.iter().filter(|judged| judged.record.format == Format::Entire) {
        let record = &judged.record;
        let is_open = record.kind == RecordKind::Session && !record.has_ended && record.session_id.is_some();
        let pid = record.pid().filter(|_| is_open && judged.verdict.state == VerdictState::Alive);
        let window = pid.and_then(|pid| facts.window(own_window(pid, facts)?));
        if let Some(window) = window.filter(|window| ONE_AT_A_TIME.contains(&window.agent.raw())) {
            by_window.entry(window.pid).or_default().push(judged);
        }
    }
    let found = by_window.into_iter();
    found.filter_map(|(pid, records)| tell_two(facts.window(pid)?, &records, facts)).collect()
}

fn tell_two(window: &WindowView, records: &[&JudgedRecord], facts: &Facts<'_>) -> Option<Finding> {
    let named = records.iter().filter_map(|judged| judged.record.session_id.as_ref());
    let certain = facts.world.sessions.get(&window.pid).copied();
    let sessions: BTreeSet<&Untrusted> = named.chain(certain).collect();
    if sessions.len() < 2 {
        return None;
    }
    let names: Vec<String> = sessions.iter().map(|session| session.shown()).collect();
    let by_registry = certain.map_or_else(String::new, |session| format!(" (its own registry: {session})"));
    let message = format!(
        "{} runs one session at a time, but entire has open sessions for it that disagree: {}{by_registry}; its commits can be \
         attributed to the wrong one",
        window_name(window),
        listed(&names)
    );
    let subjects = std::iter::once(window.key.clone()).chain(records.iter().map(|judged| judged.key.clone()));
    let mut evidence: Vec<Evidence> = records.iter().map(|judged| judged.evidence()).collect();
    evidence.push(window_evidence(window));
    evidence.extend(
        certain.map(|session| Evidence::new("registry", session.clone(), "the agent's own registry")),
    );
    Some(Finding::new(Code::IdentitySplit, subjects, message, evidence, Remedy::None))
}

/// A marker that gives a live window another session than its own registry does.
fn split_marker(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let is_marker = matches!(judged.record.kind, RecordKind::Marker | RecordKind::Tick)
        && judged.verdict.state == VerdictState::Alive;
    let pid = judged.record.pid().filter(|_| is_marker)?;
    let certain = facts.world.sessions.get(&pid)?;
    let named = judged.record.session_id.as_ref().filter(|named| named != certain)?;
    let window = facts.window(pid)?;
    let message = format!(
        "{} is session {certain} by its own registry, but {} says {named}",
        window_name(window),
        file_name(judged)
    );
    let evidence = [
        window_evidence(window),
        Evidence::new("registry", (*certain).clone(), "Claude Code's registry"),
        judged.evidence(),
    ];
    Some(Finding::new(
        Code::IdentitySplit,
        [window.key.clone(), judged.key.clone()],
        message,
        evidence,
        Remedy::None,
    ))
}

/// A checkout's pointer to a session that does not live, beside a marker of one that does.
fn split_pointer(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let session = judged.record.session_id.as_ref().filter(|_| judged.record.kind == RecordKind::Pointer)?;
    let folder = judged.record.location.path()?.parent()?;
    let is_alive = facts.records.iter().any(|other| {
        other.record.session_id.as_ref() == Some(session)
            && other.record.kind != RecordKind::Pointer
            && other.verdict.state == VerdictState::Alive
    });
    let marker = facts.records.iter().find(|other| {
        other.record.kind == RecordKind::Marker
            && other.record.location.path().and_then(std::path::Path::parent) == Some(folder)
            && other.verdict.state == VerdictState::Alive
            && other.record.session_id.as_ref() != Some(session)
    })?;
    if is_alive {
        return None;
    }
    let other = marker.record.session_id.as_ref().map_or_else(String::new, Untrusted::shown);
    let message =
        format!("{} points at session {session}, but the live marker here is {other}'s", file_name(judged));
    let subjects = [judged.key.clone(), marker.key.clone()];
    let evidence = [judged.evidence(), marker.evidence()];
    Some(Finding::new(Code::IdentitySplit, subjects, message, evidence, Remedy::None))
}

/// Collects the distinct windows of some PIDs.
pub(crate) fn distinct(pids: impl IntoIterator<Item = u32>) -> BTreeSet<u32> {
    pids.into_iter().collect()
}
