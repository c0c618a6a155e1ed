//! entire's sessions against git: working trees that are gone, work that no commit has taken,
//! and what no session owns.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::rules::facts::{Facts, count, grouped, listed};
use crate::core::judge::rules::found::Findings;
use crate::core::judge::rules::staleness::is_loss_near;
use crate::core::model::report::context::is_valid_id;
use crate::core::model::report::need::quoted;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::text::is_harmless;
use crate::core::model::{
    Code, Evidence, Finding, Format, JudgedRecord, Key, KeyKind, Reason, RecordKind, RecordView, Remedy,
    Repo, Sentence, Snapshot, SourceState, Untrusted,
};

/// After how long entire itself calls a session that has not ended stuck: 1 h. A commit that
/// follows the end of a session sooner takes its work along.
const LEFT_AFTER: SignedDuration = SignedDuration::from_hours(1);
/// How long the registry or a branch may be behind a state: hooks write one after the other.
const BEHIND_FOR: SignedDuration = SignedDuration::from_mins(1);
/// For how long git keeps unreferenced objects, unless it is configured otherwise: two weeks (`gc.pruneExpire` of
/// git-config(1)).
const KEPT_FOR: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Finds what entire keeps for no session any more.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let snapshot = facts.world.snapshot;
    // Absence means something only if everything was read.
    let whole = snapshot.repos.iter().filter(|repo| snapshot.is_whole(repo));
    let repos: BTreeMap<&Path, &Repo> = whole.map(|repo| (repo.common_dir.as_path(), repo)).collect();
    let states: Vec<State<'_>> =
        facts.records.iter().filter_map(|judged| State::of(judged, &repos)).collect();
    found.extend(states.iter().filter_map(without_tree));
    found.extend(states.iter().filter_map(|state| uncondensed(state, snapshot.taken_at)));
    found.extend(states.iter().filter_map(|state| lost(state, snapshot)));
    let own = grouped(states.iter().map(|state| (state.repo.common_dir.as_path(), state)));
    let entries = facts.records.iter().filter(|judged| is_current_entry(judged));
    let entries = grouped(entries.filter_map(|entry| Some((folder_of(entry)?, entry))));
    for (folder, repo) in repos {
        let own = own.get(folder).map(Vec::as_slice).unwrap_or_default();
        let of_repo = entries.get(folder).into_iter().flatten();
        found.extend(of_repo.filter_map(|entry| registered(entry, repo, own, snapshot)));
        found.extend(unowned(repo, own, snapshot));
    }
}

/// A session's state, and the repository that it lies in.
struct State<'a> {
    judged: &'a JudgedRecord,
    repo: &'a Repo,
}

impl<'a> State<'a> {
    fn of(judged: &'a JudgedRecord, repos: &BTreeMap<&Path, &'a Repo>) -> Option<Self> {
        let is_state = judged.record.format == Format::Entire && judged.record.kind == RecordKind::Session;
        let path = judged.record.location.path().filter(|_| is_state)?;
        Some(Self { judged, repo: repos.get(path.parent()?.parent()?)? })
    }

    /// Returns the branch of its checkpoints, such as `entire/3397a23-e3b0c4`.
    fn branch(&self) -> Option<&'a str> {
        self.judged.record.detail.entire()?.shadow_branch.as_ref().map(Untrusted::raw)
    }
}

/// Describes what a dead holder was in the middle of (modes E13 and E15), as the end of a sentence.
pub(crate) fn left_undone(judged: &RecordView) -> String {
    let Some(entire) = judged.record.detail.entire() else { return String::new() };
    let tasks = match entire.open_tasks {
        0 => String::new(),
        tasks => format!("; unfinished sub-agent tasks: {tasks}"),
    };
    let condensing = "; its checkpoints were being condensed, which entire doctor finishes";
    tasks + if entire.is_condensing { condensing } else { "" }
}

/// A session that is not over, in a linked working tree that is gone (mode E6).
fn without_tree(state: &State<'_>) -> Option<Finding> {
    let RecordView { record, verdict, .. } = &**state.judged;
    let id = record.detail.entire()?.worktree_id.as_ref()?;
    let is_elsewhere = matches!(verdict.reason, Reason::OtherHost | Reason::OtherNamespace);
    let listed = state.repo.worktrees.iter().find(|tree| tree.id == id.raw());
    if record.has_ended || is_elsewhere || listed.is_some_and(|tree| tree.exists) {
        return None;
    }
    let what = if listed.is_some() { "its folder is gone" } else { "git no longer lists it" };
    let says = format!("works in the working tree {id}, but {what}");
    Some(Finding::of_record(
        Code::StaleRecord,
        state.judged,
        says,
        state.judged.all_evidence(),
        Remedy::Release,
    ))
}

/// A session that has ended with checkpoints which no commit has taken (mode E3).
fn uncondensed(state: &State<'_>, now: Timestamp) -> Option<Finding> {
    let record = &state.judged.record;
    let branch = state.branch().filter(|own| state.repo.entire_branches().any(|known| known == *own))?;
    let is_left = record.heartbeat_at.is_none_or(|last| now.duration_since(last) >= LEFT_AFTER);
    let is_waiting = record.has_ended && record.has_unsaved_work;
    let is_told = record.deletion.as_ref().is_some_and(|deletion| is_loss_near(deletion, now));
    if !is_waiting || !is_left || is_told {
        return None;
    }
    let says = format!(
        "has ended with checkpoints that no commit has taken; they are on {branch} until the next commit \
         there, or entire doctor"
    );
    Some(Finding::of_record(Code::StaleRecord, state.judged, says, state.judged.all_evidence(), Remedy::None))
}

/// A session whose checkpoints wait on a branch that is gone: all sessions of one base and tree share it, and entire
/// deletes it with the commit of another one. The session's own next commit then names a checkpoint that does not
/// exist.
fn lost(state: &State<'_>, snapshot: &Snapshot) -> Option<Finding> {
    let (record, now) = (&state.judged.record, snapshot.taken_at);
    let entire = record.detail.entire().filter(|entire| !entire.is_condensing && record.has_unsaved_work)?;
    let branch = state.branch().filter(|own| is_shadow(own) && state.repo.has_branch(own) == Some(false))?;
    let last = record.heartbeat_at.unwrap_or(record.written_at);
    // Branches were read before states, and entire writes one after the other.
    let is_settled = now.duration_since(record.written_at) >= BEHIND_FOR && !runs_entire(snapshot);
    if !is_settled || now.duration_since(last) >= KEPT_FOR {
        return None;
    }
    let so = match record.has_ended {
        true => "no commit can take them any more",
        false => "its next commit will name a checkpoint that does not exist",
    };
    let checkpoints = count(entire.checkpoints.try_into().unwrap_or(usize::MAX), "checkpoint");
    let says = format!(
        "{checkpoints} on {branch}, but that branch is gone: {so}; git keeps the commits for two weeks"
    );
    let folder = Untrusted::from_path(&state.repo.common_dir);
    let missing = Evidence::new("branch", format!("git has no branch {branch}"), folder);
    let evidence = [missing, state.judged.evidence()];
    let finding = Finding::of_record(Code::LostCheckpoint, state.judged, says, evidence, Remedy::None);
    Some(Finding { command: bring_back(state.repo, branch, record.context_id.as_ref()?), ..finding })
}

/// Returns whether the entire CLI is at work: what is missing may be about to be written.
fn runs_entire(snapshot: &Snapshot) -> bool {
    snapshot.processes.by_pid.values().any(|process| process.comm.raw() == "entire" && !has_exited(process))
}

/// Returns the command that makes a branch of the newest unreferenced commit that bears a session's name as entire
/// writes it into each (`Entire-Session`): git-fsck(1), git-rev-list(1). Without such a commit it does nothing.
fn bring_back(repo: &Repo, branch: &str, session: &Untrusted) -> Option<Box<str>> {
    let folder = repo.common_dir.to_str().filter(|folder| is_harmless(folder))?;
    let session = Some(session.raw()).filter(|session| is_valid_id(session))?;
    let git = format!("git -C {}", quoted(folder));
    let lost = format!("{git} fsck --connectivity-only --unreachable --no-reflogs --no-progress");
    let newest = format!("{git} rev-list --stdin --not --all --date-order --max-count=1");
    let command = format!(
        "{git} branch {branch} \"$({lost} | sed -n 's/^unreachable commit //p' | {newest} --grep='^Entire-Session: {session}$')\""
    );
    Some(command.into())
}

/// Returns whether a record is an entry of the live registry that is not over by its own statement.
fn is_current_entry(judged: &JudgedRecord) -> bool {
    let record = &judged.record;
    record.format == Format::Entire && record.kind == RecordKind::Marker && !record.has_ended
}

/// Returns the common directory of an entry's repository.
fn folder_of(entry: &JudgedRecord) -> Option<&Path> {
    entry.record.detail.entire()?.repository.as_ref().map(|folder| Path::new(folder.raw()))
}

/// An entry of the live registry whose session has ended or is gone (mode E10).
fn registered(entry: &JudgedRecord, repo: &Repo, own: &[&State<'_>], snapshot: &Snapshot) -> Option<Finding> {
    let record = &entry.record;
    let now = snapshot.taken_at;
    let session = own.iter().map(|state| &state.judged.record).find(|of| of.context_id == record.context_id);
    let written_at = session.map_or(record.written_at, |session| session.written_at);
    let is_over = record.expiry.as_ref().is_some_and(|expiry| expiry.at <= now);
    if is_over || now.duration_since(written_at) < BEHIND_FOR {
        return None;
    }
    let (code, what) = match session {
        Some(session) if session.has_ended => (Code::StaleRecord, "has ended"),
        None if !has_unread(repo, snapshot) => (Code::OrphanCompanion, "has no state"),
        Some(_) | None => return None,
    };
    let says = format!("active in entire's live registry, but in its repository the session {what}");
    Some(Finding::of_record(code, entry, says, entry.all_evidence(), Remedy::None))
}

/// Branches of checkpoints that belong to no session (mode E11).
fn unowned(repo: &Repo, own: &[&State<'_>], snapshot: &Snapshot) -> Option<Finding> {
    // Older code left out the part that identifies the working tree.
    let is_owned =
        |branch: &str| own.iter().filter_map(|state| state.branch()).any(|own| own.starts_with(branch));
    let left: Vec<String> =
        repo.entire_branches().filter(|name| is_shadow(name) && !is_owned(name)).map(str::to_owned).collect();
    if left.is_empty() || has_unread(repo, snapshot) {
        return None;
    }
    let folder = Untrusted::from_path(&repo.common_dir);
    let message = Sentence::with_subject(&folder, format!("no entire session uses {}", listed(&left)));
    let evidence = [Evidence::new("branches of entire", left.join(" "), folder.clone())];
    let key = Key::derive(KeyKind::Source, &[folder.raw()]);
    Some(Finding::new(Code::OrphanCompanion, [key], message, evidence, Remedy::None))
}

/// Returns whether a state of a repository may be among what could not be read.
fn has_unread(repo: &Repo, snapshot: &Snapshot) -> bool {
    let is_in_part = |state| matches!(state, SourceState::Partial | SourceState::Failed);
    snapshot.sources.iter().any(|source| source.id == Format::Entire.name() && is_in_part(source.state))
        || snapshot.broken.iter().any(|broken| broken.path.starts_with(&repo.common_dir))
}

/// Returns whether a branch is one of checkpoints that wait: `entire/<commit>`, with the hash of
/// a working tree's name behind it or without. The permanent ones are called differently.
fn is_shadow(branch: &str) -> bool {
    let Some(name) = branch.strip_prefix("entire/") else { return false };
    let (commit, tree) = name.split_once('-').unwrap_or((name, ""));
    let is_hash = |part: &str| part.chars().all(|letter| letter.is_ascii_alphanumeric());
    commit.len() >= 7
        && commit.contains(|letter: char| letter.is_ascii_digit())
        && is_hash(commit)
        && is_hash(tree)
}
