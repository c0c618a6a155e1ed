//! Actions that are never done, why, and what to do instead.

use super::about::{About, is_row};
use crate::core::judge::git::lock_of;
use crate::core::model::record::let_go::Refusal;
use crate::core::model::{
    Action, ClaimView, ClaudeCode, Format, GitLock, LetGo, Reason, RecordDetail, RecordKind, RecordView,
    VerdictState,
};
use crate::core::plan::{leo, rows};

impl About<'_> {
    /// Returns why it is never allowed and what to do instead, if so.
    pub(crate) fn never(&self, action: Action) -> Option<Refusal> {
        if self.is_foreign {
            return Some(("the file belongs to another user", "claimtop never touches other users' files"));
        }
        if self.claim.is_some_and(ClaimView::is_of_transcript) {
            return Some((
                "this comes from a transcript, and claimtop never changes an agent's transcript",
                "commit, stash or restore the files",
            ));
        }
        if self.claim.is_some_and(|claim| !claim.is_known()) {
            return Some((
                "it is not known whether anything is held: claimtop could not look where that is stored",
                "name the database with --postgres; or release the session itself",
            ));
        }
        match action {
            Action::Rescue => Some(("this is not a file that a window wrote", "claimtop rescue lists them")),
            Action::BringBack => Some(("this is not a dead window", "claimtop bring-back lists those")),
            Action::Setup => Some(("these are not an agent's settings", "claimtop setup changes those")),
            Action::Stop => Some(("this is not a process", "end a window or a left-over")),
            Action::Undo => Some(("this is not a journal entry", "undo a journal entry")),
            Action::Migrate => self.never_migrated(),
            Action::Release | Action::Park => self.never_let_go().or_else(|| self.is_locked()),
        }
    }

    /// Reports that a process holds a kernel lock on its file, because such files are never moved.
    fn is_locked(&self) -> Option<Refusal> {
        let by = self.record.locked_by?;
        let instead = if by == 0 { "wait until it releases the lock" } else { "end that process first" };
        Some(("a process holds a lock on its file", instead))
    }

    /// Returns why its system's rule keeps a record.
    fn never_let_go(&self) -> Option<Refusal> {
        let record = self.record;
        let is_dead = record.verdict.state == VerdictState::Dead;
        if let Format::Described(own) = record.format {
            return described(own.let_go, is_dead);
        }
        if record.format == Format::Obra {
            return rows::never(self.report, record);
        }
        if record.format == Format::Leo && is_row(record) {
            return leo::never(self.report, record);
        }
        if record.format == Format::Entire {
            return entire(record);
        }
        if record.format == Format::ClaudeCode {
            return claude_code(record, is_dead);
        }
        if record.format == Format::Git {
            return (!is_dead && !is_undecided(record)).then(|| git_is_alive(record));
        }
        if record.detail == RecordDetail::RateLimit {
            return Some(("a rate-limit file holds nothing", "its system overwrites it at the next start"));
        }
        record.format.refusal()
    }
}

fn entire(record: &RecordView) -> Option<Refusal> {
    if record.kind == RecordKind::Marker {
        return Some(("the live registry expires on its own", "the entire CLI removes it after 12 h"));
    }
    if record.kind == RecordKind::Lock {
        return Some(("only a held lock means anything", "an unheld lock file blocks nothing"));
    }
    let left = "entire doctor condenses what it left";
    record.has_ended.then_some(("the session has ended already", left))
}

fn claude_code(record: &RecordView, is_dead: bool) -> Option<Refusal> {
    if let RecordDetail::ClaudeCode(detail) = &record.detail {
        match detail {
            ClaudeCode::Daemon if is_dead => return None,
            ClaudeCode::Daemon => {
                return Some(("only the daemon releases its own lock", "end the daemon: claude daemon stop"));
            }
            ClaudeCode::Roster { .. } => {
                return Some((
                    "only Claude Code's daemon changes its list of background sessions",
                    "claude agents lists them, and claude stop ID ends one; remove any that stays by hand while no claude daemon runs",
                ));
            }
            ClaudeCode::Editor if is_dead => {
                return Some((
                    "it holds nothing, and its editor is gone",
                    "the next Claude Code that looks for an editor removes it",
                ));
            }
            ClaudeCode::Editor => {
                return Some(("only the editor removes its own file", "close the editor"));
            }
            ClaudeCode::Session(_) | ClaudeCode::Task { .. } | ClaudeCode::Team { .. } => {}
        }
    }
    if record.kind == RecordKind::Metadata {
        return Some((
            "Claude Code alone changes its task lists and teams",
            "in a session that works on the list, ask to set the task to pending with no owner",
        ));
    }
    let why = "Claude Code's own registry is only parked when its process is provably gone";
    (!is_dead).then_some((why, "close the window"))
}

fn described(rule: LetGo, is_dead: bool) -> Option<Refusal> {
    match rule {
        LetGo::Never => Some((
            "its description does not allow parking it",
            "its own system releases it; or add park = \"when-dead\" to the description",
        )),
        LetGo::OnlyDead | LetGo::ByVerdict if !is_dead => Some((
            "its description allows parking only what is proven dead",
            "end its process, or let its own system release it",
        )),
        LetGo::OnlyDead | LetGo::ByVerdict => None,
    }
}

/// Returns whether no git lives that may hold a lock, but some other program could have made it: then a person
/// decides.
fn is_undecided(record: &RecordView) -> bool {
    let verdict = &record.verdict;
    let is_open = verdict.state == VerdictState::Unknown && verdict.reason == Reason::NoPid;
    lock_of(record) == GitLock::Command && is_open
}

/// Explains why a lock of git's stays, and what git itself would do.
fn git_is_alive(record: &RecordView) -> Refusal {
    if lock_of(record) == GitLock::Worktree {
        ("its holder is not proven dead", "git worktree unlock <tree> releases it, if its owner agrees")
    } else {
        ("a git process may still hold it", "wait for every git process to end, then look again")
    }
}
