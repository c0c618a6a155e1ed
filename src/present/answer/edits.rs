//! Whether files may be edited, and what became of holds.

use std::path::Path;

use jiff::Timestamp;

use crate::core::guard::decide::{Exempt, Life, reaches};
use crate::core::model::{
    ClaimStatus, ClaimView, Edit, ProcessId, Report, ResourceKind, Topic, WindowState, WindowView,
};
use crate::present::answer::{AgentAnswer, Item, Quote, windows};
use crate::present::report_index::window_name;
use crate::present::text::age;

/// How another window keeps a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grip {
    /// It holds it for itself.
    Hold,
    /// It has edits of it that no commit has.
    Edit,
    /// It works there, and not all of its edits could be read.
    Hidden,
}

/// A window that keeps one of the files that are asked about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileHolder {
    pub(crate) life: Life,
    pub(crate) grip: Grip,
    pub(crate) pid: Option<u32>,
    pub(crate) agent: Option<Quote>,
    pub(crate) path: Quote,
    pub(crate) since: Option<Timestamp>,
    /// Who has what, in words.
    pub(crate) says: Quote,
}

/// Answers whether files may be edited, given what guards know of them.
pub(crate) fn may_i_edit(
    report: &Report,
    paths: &[&Path],
    own: Option<ProcessId>,
    guarded: Vec<FileHolder>,
    exempt: &Exempt,
) -> AgentAnswer {
    // What a guard knows too is stated once.
    let is_known = |one: &FileHolder| {
        let is_same =
            |other: &FileHolder| other.pid == one.pid && other.grip <= one.grip && other.path == one.path;
        one.pid.is_some() && guarded.iter().any(is_same)
    };
    let mut holders = in_report(report, paths, own, exempt);
    holders.retain(|one| !is_known(one));
    holders.extend(guarded);
    holders.sort_by_key(|one| (rank(one), one.grip));
    let (verdict, advice) = decided(&holders, windows::is_complete(report));
    let now = report.taken_at;
    let newest = holders.iter().filter_map(|one| one.since).max();
    AgentAnswer::new("may_i_edit", now, verdict, advice)
        .with_evidence(holders.iter().map(|one| one.says.clone()), newest)
        .with_items(holders.iter().map(|one| item(one, now)).collect())
        .with_unread(report, Topic::All)
}

fn rank(holder: &FileHolder) -> u8 {
    match holder.life {
        Life::Alive => 0,
        Life::Unknown => 1,
        Life::Dead => 2,
    }
}

/// Returns the verdict with its reason, and what to do; the holders come with the most serious one first.
fn decided(holders: &[FileHolder], is_complete: bool) -> ((&'static str, &'static str), &'static str) {
    match holders.first().map(|one| (one.life, one.grip)) {
        Some((Life::Alive, Grip::Hold)) => (
            ("no", "held"),
            "A living window holds it for itself: work on something else, or ask the person.",
        ),
        Some((Life::Alive, Grip::Edit)) => (
            ("no", "edited"),
            "A living window has uncommitted edits in it: work on something else or in a working tree of your own, or ask the person. If the person wants it anyway, read the file again first and keep those edits.",
        ),
        Some((Life::Alive | Life::Unknown, Grip::Hidden)) => (
            ("unknown", "edits-not-read"),
            "A window works here whose edits could not all be read: ask the person, or read the file again right before you edit it.",
        ),
        Some((Life::Unknown, _)) => (
            ("unknown", "holder-unknown"),
            "Whether the window that has it is alive is not known: treat it as alive, or ask the person.",
        ),
        _ if !is_complete => (
            ("unknown", "not-all-processes-read"),
            "Not every process could be read, so another window may have it: ask the person.",
        ),
        Some((Life::Dead, _)) => (
            ("yes", "left-edits"),
            "A dead window left uncommitted edits in it: read the file first, keep them, and mention them to the person.",
        ),
        None => (("yes", "free"), "No other window has it: go on. Call hold if you need it for longer."),
    }
}

fn item(holder: &FileHolder, now: Timestamp) -> Item {
    Item {
        kind: match holder.grip {
            Grip::Hold => "hold",
            Grip::Edit => "edit",
            Grip::Hidden => "window",
        },
        pid: holder.pid,
        agent: holder.agent.clone(),
        state: match holder.life {
            Life::Alive => "alive",
            Life::Unknown => "unknown",
            Life::Dead => "dead",
        },
        path: Some(holder.path.clone()),
        age_seconds: holder.since.map(|since| age::seconds(now, since).max(0)),
        ..Item::default()
    }
}

/// Returns the windows that have the files by what the report shows: claims on files, and windows there whose edits
/// could not be read.
fn in_report(report: &Report, paths: &[&Path], own: Option<ProcessId>, exempt: &Exempt) -> Vec<FileHolder> {
    let window =
        |claim: &ClaimView| report.windows.iter().find(|window| claim.window.as_ref() == Some(&window.key));
    let is_others = |claim: &&ClaimView| !window(claim).is_some_and(|window| windows::is_own(window, own));
    let of_files = |claim: &&ClaimView| claim.resource.kind == ResourceKind::Files;
    let claims = report.claims.iter().filter(of_files).filter(is_others);
    let mut holders: Vec<FileHolder> =
        claims.flat_map(|claim| of_claim(claim, window(claim), paths, exempt)).collect();
    let others = report.windows.iter().filter(|window| !windows::is_own(window, own));
    for window in others {
        let edits = open_edits(window, paths, exempt);
        let is_new = |one: &FileHolder| {
            !holders
                .iter()
                .any(|other| (other.pid, &other.path) == (one.pid, &one.path) && other.life == Life::Alive)
        };
        let edits: Vec<FileHolder> = edits.into_iter().filter(is_new).collect();
        holders.extend(edits);
        let why = match &window.work {
            None if window.is_new => continue,
            None => "its edits could not be read",
            Some(work) if work.doing.is_torn => {
                "the last line of its session file is only half written and may be an edit"
            }
            Some(_) => continue,
        };
        let at = paths.iter().find(|path| windows::is_at(window, path));
        holders.extend(at.map(|path| of_hidden(window, path, why)));
    }
    holders
}

/// Returns what a claim on files keeps of the paths.
fn of_claim(
    claim: &ClaimView,
    window: Option<&WindowView>,
    paths: &[&Path],
    exempt: &Exempt,
) -> Vec<FileHolder> {
    let is_of_transcript = claim.is_of_transcript();
    let only = [claim.resource.id.clone()];
    let files: &[_] = if is_of_transcript { &claim.files } else { &only };
    let life = match (claim.status, window) {
        (ClaimStatus::Held | ClaimStatus::Quiet | ClaimStatus::Contested, _) => Life::Alive,
        (ClaimStatus::Dead, _) => Life::Dead,
        (ClaimStatus::Unproven | ClaimStatus::Ghost | ClaimStatus::Expired, _) => Life::Unknown,
    };
    let grip = if is_of_transcript { Grip::Edit } else { Grip::Hold };
    let tree = window.and_then(|window| window.repo.as_ref()).map_or("", |repo| repo.worktree.raw());
    let is_asked = |file: &str| {
        let is_reached = paths.iter().filter_map(|path| path.to_str()).any(|path| reaches(path, file));
        is_reached && !(is_of_transcript && exempt.has(file, tree))
    };
    let verb = if is_of_transcript { "has uncommitted edits in" } else { "claims" };
    let who = window.map_or_else(|| claim.holder(), window_name);
    let holder = |file: &crate::core::model::Untrusted| FileHolder {
        life,
        grip,
        pid: window.map(|window| window.pid).or(claim.record.pid()),
        agent: window.map(|window| Quote::from(&window.agent)),
        path: Quote::from(file),
        since: claim.since,
        says: Quote::new(&format!("{who} {verb} {file}")),
    };
    files.iter().filter(|file| is_asked(file.raw())).map(holder).collect()
}

/// Returns the edits of these paths that a window has made and that no commit is known to have, wherever it works.
fn open_edits(window: &WindowView, paths: &[&Path], exempt: &Exempt) -> Vec<FileHolder> {
    let tree = window.repo.as_ref().map_or("", |repo| repo.worktree.raw());
    let is_asked = |edit: &&Edit| {
        let file = edit.path.raw();
        let is_reached = paths.iter().filter_map(|path| path.to_str()).any(|path| reaches(path, file));
        is_reached && !edit.has_ended() && !exempt.has(file, tree)
    };
    let edits = window.work.iter().flat_map(|work| &work.doing.edits);
    let holder = |edit: &Edit| FileHolder {
        life: if window.state == WindowState::Zombie { Life::Dead } else { Life::Alive },
        grip: Grip::Edit,
        pid: Some(window.pid),
        agent: Some(Quote::from(&window.agent)),
        path: Quote::from(&edit.path),
        since: edit.at,
        says: Quote::new(&format!("{} has uncommitted edits in {}", window_name(window), edit.path)),
    };
    edits.filter(is_asked).map(holder).collect()
}

fn of_hidden(window: &WindowView, path: &Path, why: &str) -> FileHolder {
    FileHolder {
        life: Life::Alive,
        grip: Grip::Hidden,
        pid: Some(window.pid),
        agent: Some(Quote::from(&window.agent)),
        path: Quote::new(&path.display().to_string()),
        since: window.doing_since,
        says: Quote::new(&format!("{} works here, and {why}", window_name(window))),
    }
}

/// Answers what became of a hold, or of its end.
pub(crate) fn hold(
    tool: &'static str,
    now: Timestamp,
    done: &[(String, &'static str)],
    refused: Option<&str>,
) -> AgentAnswer {
    let is_release = tool == "release_hold";
    let (verdict, advice) = match (refused, is_release) {
        (Some(_), _) => {
            (("refused", "not-yours"), "Nothing more was done: work on something else, or ask the person.")
        }
        (None, false) => (
            ("held", "own-window"),
            "Guarded windows are kept off until you call release_hold or your window ends. The guard enforces it, and a person can end it.",
        ),
        (None, true) => (("released", "own-window"), "Others may have it now."),
    };
    let item = |(path, state): &(String, &'static str)| Item {
        kind: "hold",
        state,
        path: Some(Quote::new(path)),
        you: true,
        ..Item::default()
    };
    AgentAnswer::new(tool, now, verdict, advice)
        .with_evidence(refused.map(Quote::new), None)
        .with_items(done.iter().map(item).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{busy, edits};

    #[test]
    fn an_edit_counts_wherever_its_window_works() {
        let mut report = busy();
        report.claims.clear();
        report.records.clear();
        let file = "/elsewhere/src/pay.rs";
        // Those without work would be windows whose edits are not known.
        report.windows.truncate(1);
        edits(&mut report.windows[0], &[file]);
        let exempt = Exempt { names: Vec::new() };
        let verdict = |path: &str| may_i_edit(&report, &[Path::new(path)], None, Vec::new(), &exempt).verdict;
        assert_eq!((verdict(file), verdict("/elsewhere/src/tax.rs")), ("no", "yes"));
    }
}
