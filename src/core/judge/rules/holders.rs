//! Findings about one holder: dead, recycled, suspended, quiet, foreign.

use std::collections::BTreeMap;

use crate::core::judge::left_over::lone_server::holding_server;
use crate::core::judge::rules::facts::{Facts, count, file_name};
use crate::core::judge::rules::found::Findings;
use crate::core::judge::rules::system::entire::left_undone;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{
    Code, Evidence, Finding, Format, GitLock, JudgedRecord, LetGo, ProcessState, Reason, RecordDetail,
    RecordKind, RecordView, Remedy, Role, Sentence, Untrusted, VerdictState,
};
use jiff::SignedDuration;

/// Finds what is wrong with single holders.
pub(crate) fn of_record(judged: &JudgedRecord, facts: &Facts<'_>, found: &mut Findings<'_>) {
    if is_holding(judged) {
        found.extend(wrong_pid(judged, facts));
        found.extend(suspended(judged, facts));
        found.extend(quiet(judged, facts));
        found.extend(foreign(judged, facts));
        found.extend(blocking(judged, facts));
        found.extend(lone(judged, facts));
    }
}

/// Returns whether a record stands for a holder at all.
fn is_holding(judged: &JudgedRecord) -> bool {
    let is_of_kind = match judged.record.kind {
        RecordKind::Session | RecordKind::Marker | RecordKind::Tick | RecordKind::Lock => true,
        RecordKind::Pointer | RecordKind::Companion | RecordKind::Metadata | RecordKind::Temporary => false,
    };
    is_of_kind && !judged.record.has_ended
}

/// Reports every dead holder once: the records of one session of one system belong together.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let mut sessions: BTreeMap<(Code, Format, &Untrusted), Vec<&JudgedRecord>> = BTreeMap::new();
    for judged in facts.records.iter().filter(|judged| is_holding(judged)) {
        match (dead_code(judged), &judged.record.session_id) {
            (Some(code), Some(session)) => {
                sessions.entry((code, judged.record.format, session)).or_default().push(judged);
            }
            (Some(code), None) => found.extend(tell_dead(code, &[judged], facts)),
            (None, _) => {}
        }
    }
    found.extend(sessions.into_iter().filter_map(|((code, ..), members)| tell_dead(code, &members, facts)));
}

fn dead_code(judged: &JudgedRecord) -> Option<Code> {
    if judged.verdict.state != VerdictState::Dead || judged.lives_in.is_some() {
        return None;
    }
    if judged.record.kind == RecordKind::Lock {
        return Some(Code::StaleLock);
    }
    Some(match judged.verdict.reason {
        Reason::OtherProcess | Reason::BornLater | Reason::NotAnAgent => Code::RecycledPid,
        Reason::OtherBoot => Code::RebootedHolder,
        Reason::NoProcess
        | Reason::Exited
        | Reason::SameProcess
        | Reason::ProcessPresent
        | Reason::SignOfLife
        | Reason::OtherHost
        | Reason::OtherNamespace
        | Reason::OtherClock
        | Reason::NoPermission
        | Reason::PartialScan
        | Reason::NoPid
        | Reason::BadPid
        | Reason::WrongRole
        | Reason::Unreadable
        | Reason::Witnessed
        | Reason::NotSeen => Code::DeadHolder,
    })
}

fn tell_dead(code: Code, members: &[&JudgedRecord], facts: &Facts<'_>) -> Option<Finding> {
    let first = members.first()?;
    let remedy = remedy(members);
    let heir = members.iter().find_map(|judged| facts.successors.successor(judged));
    let heir = heir.map_or_else(String::new, |heir| format!("; but {}", heir.reason()));
    if members.len() == 1 {
        return Some(Finding::of_record(code, first, says_dead(first) + &heir, first.all_evidence(), remedy));
    }
    let (why, undone) = (why_dead(first), left_undone(first) + &heir);
    let subjects = members.iter().map(|judged| judged.key.clone());
    let members_evidence = members.iter().map(|judged| judged.evidence());
    let evidence: Vec<Evidence> = first.verdict.evidence.iter().cloned().chain(members_evidence).collect();
    let says = format!("{why} ({} of one session){undone}", count(members.len(), "record"));
    let message = Sentence::with_subject(&first.record.title, says);
    Some(Finding::new(code, subjects, message, evidence, remedy))
}

/// Returns the remedy for records whose holder is dead: nothing of ours if only their own system releases them.
fn remedy(members: &[&JudgedRecord]) -> Remedy {
    let is_ours = |judged: &&&JudgedRecord| judged.record.format.let_go(judged.record.kind) != LetGo::Never;
    let ours: Vec<&JudgedRecord> = members.iter().filter(is_ours).copied().collect();
    let has_claims = ours.iter().any(|judged| !judged.record.claims.is_empty());
    let is_file = ours.iter().any(|judged| judged.record.location.path().is_some());
    match (has_claims, is_file) {
        (true, _) => Remedy::Release,
        (false, true) => Remedy::Park,
        // A row that holds nothing is for its own system to remove.
        (false, false) => Remedy::None,
    }
}

/// Reports that a record's holder is dead.
fn says_dead(record: &RecordView) -> String {
    why_dead(record) + &left_undone(record)
}

pub(crate) fn why_dead(judged: &RecordView) -> String {
    let pid = judged.record.pid().map_or_else(|| "its agent".to_owned(), |pid| format!("PID {pid}"));
    match judged.verdict.reason {
        Reason::OtherProcess => format!("{pid} now belongs to another process: its start differs"),
        Reason::BornLater => {
            format!("{pid} now belongs to another process, started after the record's last write")
        }
        Reason::NotAnAgent => {
            format!("{pid} now belongs to another process, of another user or the kernel")
        }
        Reason::OtherBoot => "its holder is from before the last boot".to_owned(),
        Reason::Exited => format!("{pid} has exited and is not yet reaped"),
        Reason::NoProcess
        | Reason::SameProcess
        | Reason::ProcessPresent
        | Reason::SignOfLife
        | Reason::OtherHost
        | Reason::OtherNamespace
        | Reason::OtherClock
        | Reason::NoPermission
        | Reason::PartialScan
        | Reason::NoPid
        | Reason::BadPid
        | Reason::WrongRole
        | Reason::Unreadable
        | Reason::Witnessed
        | Reason::NotSeen => match judged.record.pid() {
            Some(_) => format!("{pid} is gone"),
            None => "no running agent can own it".to_owned(),
        },
    }
}

/// Reports a helper's or former process's PID that is gone while the session lives.
fn wrong_pid(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let pid = judged.record.pid()?;
    let lives_in = match judged.verdict.state {
        VerdictState::Alive => judged.window_pid,
        VerdictState::Dead => judged.lives_in,
        VerdictState::Unknown => None,
    }?;
    let process = facts.world.snapshot.processes.get(pid);
    let is_gone = process.is_none_or(has_exited)
        || process.is_some_and(|process| facts.world.is_younger(process, &judged.record));
    // Nothing is known of another machine's PID.
    let host = judged.record.holder.as_ref().and_then(|holder| holder.host());
    if !is_gone || pid == lives_in || host.is_some_and(|host| !is_our_name(host, facts)) {
        return None;
    }
    let file = file_name(judged);
    let says = format!("PID {pid} in {file} is gone, but the session runs in PID {lives_in}: do not release");
    Some(Finding::of_record(Code::WrongPid, judged, says, judged.verdict.evidence.clone(), Remedy::None))
}

/// Reports a stopped holder: it keeps what it has.
fn suspended(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let pid = judged
        .window_pid
        .or_else(|| judged.record.pid())
        .filter(|_| judged.verdict.state == VerdictState::Alive)?;
    let process = facts.world.snapshot.processes.get(pid)?;
    if process.state != ProcessState::Stopped {
        return None;
    }
    let says = format!("PID {pid} is stopped; it keeps its claims and can be continued");
    Some(Finding::of_record(
        Code::SuspendedHolder,
        judged,
        says,
        judged.verdict.evidence.clone(),
        Remedy::None,
    ))
}

/// Reports a living holder whose sign of life is past its system's limit.
fn quiet(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let expiry = judged.record.expiry.as_ref().filter(|expiry| expiry.at <= facts.world.snapshot.taken_at)?;
    if judged.verdict.state != VerdictState::Alive {
        return None;
    }
    let says = format!("alive but quiet ({}); busy or waiting, do not release", expiry.rule);
    Some(Finding::of_record(Code::QuietHolder, judged, says, judged.verdict.evidence.clone(), Remedy::None))
}

/// Reports a session whose lock is held by a server that outlives its screen.
fn lone(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let server = holding_server(&judged.record, facts.world)?;
    let pid = server.id.pid;
    let says = format!(
        "{} (PID {pid}) holds its lock, and the process that started it is gone: no one else can open the session until it ends; if \
         it is unused, kill {pid}",
        server.comm
    );
    Some(Finding::of_record(Code::LeftOverProcess, judged, says, judged.all_evidence(), Remedy::None))
}

/// The age at which a lock that git holds for one command is reported though its holder is unknown: 2 min.
const BLOCKS_FOR: SignedDuration = SignedDuration::from_mins(2);

/// Reports a lock of git's that blocks every writer, and what is known of its possible holder.
fn blocking(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let is_open = judged.verdict.state == VerdictState::Unknown;
    let age = facts.world.snapshot.taken_at.duration_since(judged.record.written_at);
    let is_of_command = matches!(judged.record.detail, RecordDetail::Git(GitLock::Command));
    // A process that had it open a moment ago is at work.
    if !is_of_command || !is_open || age < BLOCKS_FOR || judged.record.pid().is_some() {
        return None;
    }
    let known = judged.verdict.evidence.last().map_or_else(String::new, |fact| format!(": {}", fact.value));
    let says = format!("has kept git from writing for {} min, and may have no holder{known}", age.as_mins());
    let may_be_released = judged.verdict.reason == Reason::NoPid;
    let remedy = if may_be_released { Remedy::Release } else { Remedy::None };
    Some(Finding::of_record(Code::BlockingLock, judged, says, judged.verdict.evidence.clone(), remedy))
}

/// Reports a holder on another host or in another PID namespace.
fn foreign(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let what = match judged.verdict.reason {
        Reason::OtherHost => {
            let host = judged.record.holder.as_ref()?.host().filter(|host| !is_our_name(host, facts));
            let place = host.map_or_else(
                || "on another machine or in a container".to_owned(),
                |host| format!("on host {host}"),
            );
            format!("held {place}; its processes cannot be seen from here")
        }
        Reason::OtherNamespace => "held in another namespace, perhaps a container".to_owned(),
        Reason::SameProcess if is_inner(judged) => {
            "held in another PID namespace of this machine, and alive there".to_owned()
        }
        Reason::SameProcess
        | Reason::ProcessPresent
        | Reason::SignOfLife
        | Reason::NoProcess
        | Reason::OtherProcess
        | Reason::BornLater
        | Reason::NotAnAgent
        | Reason::OtherBoot
        | Reason::Exited
        | Reason::OtherClock
        | Reason::NoPermission
        | Reason::PartialScan
        | Reason::NoPid
        | Reason::BadPid
        | Reason::WrongRole
        | Reason::Unreadable
        | Reason::Witnessed
        | Reason::NotSeen => return None,
    };
    Some(Finding::of_record(Code::ForeignHolder, judged, what, judged.verdict.evidence.clone(), Remedy::None))
}

fn is_our_name(host: &Untrusted, facts: &Facts<'_>) -> bool {
    host.raw().eq_ignore_ascii_case(&facts.world.snapshot.host.name)
}

fn is_inner(judged: &JudgedRecord) -> bool {
    judged.record.holder.as_ref().is_some_and(|holder| holder.role == Role::Agent)
        && judged.verdict.in_other_namespace
}
