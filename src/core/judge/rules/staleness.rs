//! Findings about age and number: stale, expired, about to be deleted, too many, missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::core::judge::rules::facts::{Facts, count, file_name, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::model::{
    ClaimStatus, Code, Deletion, Evidence, Finding, Format, HomeFolder, HomePart, JudgedRecord, Key, LetGo,
    NamedHome, ProcessId, Reason, RecordKind, Remedy, Sentence, Spares, Tie, Untrusted, VerdictState,
    WindowView,
};
use jiff::{SignedDuration, Timestamp};

/// The number of records of helpers' PIDs from which on a system counts as flooded.
const FLOOD: usize = 20;
/// How long before its deletion a live window's record is reported.
const LIVE_SOON: SignedDuration = SignedDuration::from_hours(1);
/// How long before its deletion unsaved work is reported.
const UNSAVED_SOON: SignedDuration = SignedDuration::from_hours(24);

/// Finds problems of time and number.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    found.extend(expired(facts));
    found.extend(flood(facts));
    found.extend(no_record(facts));
}

/// Finds a record that is past its time, soon deleted, or left alone.
pub(crate) fn of_record<'a>(judged: &'a JudgedRecord, facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    found.extend(stale(judged, facts));
    found.extend(deletion_ahead(judged, facts));
    found.extend(orphan(judged, facts));
}

/// A record past its own system's limit whose holder is not known to live.
fn stale(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let now = facts.world.snapshot.taken_at;
    let expiry = judged.record.expiry.as_ref().filter(|expiry| expiry.at <= now)?;
    let is_told_elsewhere = judged.verdict.state != VerdictState::Unknown
        || judged.record.has_ended
        || runs_out_alone(judged)
        || judged.record.kind == RecordKind::Temporary;
    if is_told_elsewhere {
        return None;
    }
    Some(Finding::of_record(
        Code::StaleRecord,
        judged,
        format!("{}, and no live owner was found", expiry.rule),
        judged.all_evidence(),
        Remedy::Park,
    ))
}

/// Returns whether a record is of a system that claimtop only reads: once expired, such a record hinders no window.
fn runs_out_alone(judged: &JudgedRecord) -> bool {
    judged.record.format.let_go(judged.record.kind) == LetGo::Never
}

/// A record that another system's clean-up will remove although it lives or holds unsaved work.
fn deletion_ahead(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let deletion = judged.record.deletion.as_ref()?;
    let now = facts.world.snapshot.taken_at;
    let is_live = judged.verdict.state == VerdictState::Alive && !is_spared(judged, deletion, facts);
    let is_unsaved = judged.record.has_unsaved_work && judged.verdict.state != VerdictState::Alive;
    let is_near = is_within(deletion, if is_live { LIVE_SOON } else { UNSAVED_SOON }, now);
    if !is_near || !(is_live || is_unsaved) {
        return None;
    }
    let whose = if is_live { "a live window's record" } else { "a record with unsaved work" };
    let says = format!("{whose}, {} ({})", when(deletion.at, now), deletion.rule);
    Some(Finding::of_record(Code::DeletionAhead, judged, says, judged.all_evidence(), Remedy::None))
}

/// Returns whether unsaved work of a record is reported to be deleted soon.
pub(crate) fn is_loss_near(deletion: &Deletion, now: Timestamp) -> bool {
    is_within(deletion, UNSAVED_SOON, now)
}

fn is_within(deletion: &Deletion, span: SignedDuration, now: Timestamp) -> bool {
    deletion.at <= now.checked_add(span).unwrap_or(Timestamp::MAX)
}

fn when(at: Timestamp, now: Timestamp) -> String {
    let seconds = at.duration_since(now).as_secs();
    match seconds {
        ..=0 => "deleted by the next clean-up".to_owned(),
        1..7_200 => format!("deleted by the first clean-up after {} min", seconds / 60 + 1),
        _ => format!("deleted by the first clean-up after {} h", seconds / 3_600),
    }
}

/// Returns whether the clean-up spares this record because of its process's name.
fn is_spared(judged: &JudgedRecord, deletion: &Deletion, facts: &Facts<'_>) -> bool {
    match deletion.spares {
        Spares::Nobody => false,
        Spares::AgentNames => {
            judged.record.pid().and_then(|pid| facts.world.snapshot.processes.get(pid)).is_some_and(
                |process| {
                    let comm = process.comm.raw().to_lowercase();
                    comm.contains("claude") || comm.contains("native-binary")
                },
            )
        }
    }
}

/// Claims past their own lease without a proven live holder.
fn expired<'a>(facts: &'a Facts<'a>) -> impl Iterator<Item = Finding> + 'a {
    facts.claims.iter().filter(|claim| claim.status == ClaimStatus::Expired).filter_map(|claim| {
        let judged = &claim.record;
        if runs_out_alone(judged) {
            return None;
        }
        let rule = judged.record.expiry.as_ref().map_or("past its lease", |expiry| expiry.rule);
        let what = format!("{} {}", claim.resource.kind.name(), claim.resource.id.raw()).into();
        let message = Sentence::with_subject(&what, format!("{rule}; no holder is proven"));
        Some(Finding::new(
            Code::ExpiredClaim,
            [claim.key.clone()],
            message,
            [judged.evidence()],
            Remedy::Release,
        ))
    })
}

/// Very many records of one system without a holder: a new one for every call, or one for each window, never removed.
fn flood(facts: &Facts<'_>) -> Vec<Finding> {
    let mut by_format: BTreeMap<(Format, bool), Vec<&JudgedRecord>> = BTreeMap::new();
    for judged in facts.records.iter().filter(|judged| judged.record.kind == RecordKind::Session) {
        let is_helpers = is_own_kind(judged) && judged.record.pid().is_some();
        if is_helpers && judged.verdict.state != VerdictState::Alive || is_nobodys(judged) {
            by_format.entry((judged.record.format, is_helpers)).or_default().push(judged);
        }
    }
    let floods = by_format.into_iter().filter(|(_, records)| records.len() >= FLOOD);
    floods.map(|((format, is_helpers), records)| tell_flood(format, is_helpers, &records)).collect()
}

/// Returns whether a file has no known holder: it is dead, or the file names none.
fn is_nobodys(judged: &JudgedRecord) -> bool {
    let is_left = match judged.verdict.state {
        VerdictState::Dead => judged.lives_in.is_none(),
        VerdictState::Unknown => judged.verdict.reason == Reason::NoPid && judged.is_stale,
        VerdictState::Alive => false,
    };
    is_left && !judged.record.has_ended && judged.record.location.path().is_some()
}

fn tell_flood(format: Format, is_helpers: bool, records: &[&JudgedRecord]) -> Finding {
    let number = count(records.len(), "record");
    let name = format.name();
    let message = match is_helpers {
        true => format!("{number} of {name} name PIDs that are gone: a new record for every shell or call"),
        false => format!("{number} of {name} have no known holder: its own system does not remove them"),
    };
    let subjects = records.iter().map(|judged| judged.key.clone());
    let evidence: Vec<Evidence> = records.iter().take(5).map(|judged| judged.evidence()).collect();
    let is_never = format.let_go(RecordKind::Session) == LetGo::Never;
    let remedy = if is_never { Remedy::None } else { Remedy::Park };
    Finding::new(Code::RecordFlood, subjects, message, evidence, remedy)
}

/// Returns whether a record is of a sort that floods: a file per helper PID.
fn is_own_kind(judged: &JudgedRecord) -> bool {
    let record = &judged.record;
    let is_named_so = || record.session_id.as_ref().is_some_and(|id| id.raw().starts_with("session_"));
    record.format == Format::Maia || record.format == Format::Leo && is_named_so()
}

/// A companion without the record that it belongs to.
fn orphan<'a>(judged: &'a JudgedRecord, facts: &Facts<'a>) -> Option<Finding> {
    if judged.record.kind != RecordKind::Companion || judged.record.format == Format::Observability {
        return None;
    }
    let context = judged.record.context_id.as_ref()?;
    if !facts.index.sessions(judged.record.format, context).is_empty() {
        return None;
    }
    let message = format!("{} belongs to context {context}, which no longer has a record", file_name(judged));
    Some(Finding::new(
        Code::OrphanCompanion,
        [judged.key.clone()],
        message,
        [judged.evidence()],
        Remedy::Park,
    ))
}

/// Live windows that no system knows.
fn no_record<'a>(facts: &'a Facts<'a>) -> impl Iterator<Item = Finding> + 'a {
    let known: BTreeSet<u32> = facts.records.iter().flat_map(|judged| named_windows(judged, facts)).collect();
    // Qwen Code's registry has no records, and names the session of each window.
    let is_registered = |window: &WindowView| {
        let own = Tie::Stated(ProcessId { pid: window.pid, start_ticks: window.start_ticks });
        let mut files = facts.world.snapshot.session_files.iter();
        files.any(|file| file.tie == own && file.agent == window.agent.raw())
    };
    let unknown =
        facts.windows.iter().filter(move |window| !known.contains(&window.pid) && !is_registered(window));
    unknown.map(|window| {
        let config = unread_config(window, facts)
            .map(|config| format!("its own configuration folder, {config}, was not read"));
        let unread =
            config.or_else(|| Some(format!("its own home, {}, was not read", unread_home(window, facts)?)));
        let why = unread
            .unwrap_or_else(|| "a window at the trust prompt, or an agent that writes no records".to_owned());
        let message = format!("{}: no system has a record of it ({why})", window_name(window));
        Finding::new(Code::NoRecord, [window.key.clone()], message, [window_evidence(window)], Remedy::None)
    })
}

/// Returns the configuration folder of a window of Claude Code if it is not the one that was read.
fn unread_config(window: &WindowView, facts: &Facts<'_>) -> Option<Untrusted> {
    let snapshot = facts.world.snapshot;
    let details = snapshot.processes.get(window.pid)?.details.as_ref()?;
    let named = NamedHome::from_details(details).filter(|_| window.agent.raw() == "claude-code")?;
    let homes = details.homes.as_ref();
    let is_it = |folder: &HomeFolder| {
        // By another name it is the same folder, as a container has it.
        let is_same = homes.is_some_and(|homes| homes.contains(&folder.id));
        folder.path == named.config || (is_same && folder.path.ends_with(".claude"))
    };
    (!snapshot.homes.iter().any(is_it)).then(|| Untrusted::from_path(&named.config))
}

/// Returns the home of a window if it is not the one that was read, as far as that is known.
fn unread_home(window: &WindowView, facts: &Facts<'_>) -> Option<Untrusted> {
    let snapshot = facts.world.snapshot;
    let details = snapshot.processes.get(window.pid)?.details.as_ref()?;
    let named = NamedHome::from_details(details).filter(|_| details.has_certain_homes)?;
    let mut read = snapshot.homes.iter().filter(|folder| folder.part == HomePart::Whole).peekable();
    read.peek()?;
    let reaches =
        |folder: &HomeFolder| details.homes.as_ref().is_some_and(|homes| homes.contains(&folder.id));
    (!read.any(|folder| folder.path == named.home || reaches(folder)))
        .then(|| Untrusted::from_path(&named.home))
}

/// Returns the windows that a record may well be about: its own; and if that cannot be determined, those whose PID it
/// names, here or in the window's own PID namespace.
fn named_windows(judged: &JudgedRecord, facts: &Facts<'_>) -> Vec<u32> {
    let world = facts.world;
    // On another machine the number is another process's.
    let verdict = &judged.verdict;
    let is_open = verdict.state != VerdictState::Dead && verdict.reason != Reason::OtherHost;
    let pid = judged.record.pid().filter(|_| is_open);
    let here = pid.filter(|_| verdict.state == VerdictState::Unknown);
    let here = here.and_then(|pid| world.snapshot.processes.get(pid));
    let inside = pid.map_or(&[][..], |pid| world.inner(pid));
    let named = here.into_iter().chain(inside.iter().copied()).map(|process| process.id.pid);
    judged.window_pid.into_iter().chain(named).collect()
}

/// Leaves out that no system knows a window if another finding names the record it uses.
pub(crate) fn leave_out_users(found: &mut Vec<Arc<Finding>>) {
    let says_so = |finding: &&Arc<Finding>| {
        matches!(
            finding.code,
            Code::InheritedRecord
                | Code::SharedContextId
                | Code::UnstableContextId
                | Code::OverwrittenRecord
                | Code::SweptRegistry
        )
    };
    let users: BTreeSet<Key> =
        found.iter().filter(says_so).flat_map(|finding| finding.subjects.iter().cloned()).collect();
    found.retain(|finding| {
        finding.code != Code::NoRecord || !finding.subjects.iter().any(|window| users.contains(window))
    });
}
