//! What is never done, why, and what to do instead.

use super::about::{About, is_row};
use crate::core::judge::git::lock_of;
use crate::core::model::action::Action;
use crate::core::model::judged::RecordView;
use crate::core::model::record::detail::{ClaudeCode, GitLock, RecordDetail};
use crate::core::model::record::format::Format;
use crate::core::model::record::kind::RecordKind;
use crate::core::model::record::let_go::LetGo;
use crate::core::model::verdict::{Reason, VerdictState};
use crate::core::plan::{leo, rows};

impl About<'_> {
    /// Decides whether it is never done, and says what to do instead.
    pub(crate) fn never(&self, action: Action) -> Option<(&'static str, &'static str)> {
        let record = self.record;
        let is_dead = record.verdict.state == VerdictState::Dead;
        if self.is_foreign {
            return Some(("the file belongs to another user", "claimtop never touches other users' files"));
        }
        if self.claim.is_some_and(|claim| !claim.is_known()) {
            return Some((
                "whether anything is held is not known: it is kept where claimtop could not look",
                "name the database with --postgres; or release the session itself",
            ));
        }
        match (record.format, action) {
            (_, Action::Undo) => Some(("this is no entry of the journal", "undo an entry of the journal")),
            (_, Action::Migrate) => self.never_migrated(),
            (Format::Entire, _) if record.kind == RecordKind::Marker => {
                Some(("the live registry expires by itself", "the entire CLI removes it after 12 h"))
            }
            (Format::Entire, _) if record.kind == RecordKind::Lock => Some((
                "only a held lock means anything",
                "the file of a lock that nobody holds is in nobody's way",
            )),
            (Format::Entire, _) if record.has_ended => {
                Some(("the session has ended already", "entire doctor condenses what it left"))
            }
            (Format::Observability, _) if record.detail == RecordDetail::RateLimit => {
                Some(("a rate-limit file holds nothing", "its system overwrites it at the next start"))
            }
            (Format::ClaudeCode, _) if is_other_program(record) => Some((
                "a daemon's or an editor's own file is let go by that program alone",
                "end the daemon, or close the editor; by what rule another takes over is not known for certain",
            )),
            (Format::ClaudeCode, _) if record.kind == RecordKind::Metadata => Some((
                "Claude Code alone changes its task lists and teams",
                "in a session that works on the list, ask for the task to become pending and without an owner",
            )),
            (Format::ClaudeCode, _) if !is_dead => Some((
                "Claude Code's own registry is only parked when its process is provably gone",
                "close the window",
            )),
            (Format::Obra, _) => rows::never(self.report, record),
            (Format::Beads, _) => Some((
                "beads keeps its issues in a database of its own",
                "bd update <id> --status open lets an issue go; the kernel frees a daemon's lock at its end",
            )),
            (Format::AgentMail, _) => Some((
                "mcp_agent_mail keeps its reservations in a database of its own",
                "wait for its end, or have its tool force_release_file_reservation let it go",
            )),
            (Format::Codex | Format::Copilot, _) => Some((
                "an agent's own lock is let go by that agent alone",
                "close its window; by what rule it takes over an old lock is not known for certain",
            )),
            (Format::Own(own), _) if own.definition().let_go == LetGo::Never => Some((
                "its description does not say that it may be parked",
                "its own system lets it go; or write park = \"when-dead\" into the description",
            )),
            (Format::Own(_), _) if !is_dead => Some((
                "its description lets only what is proven dead be parked",
                "end its process, or let its own system let it go",
            )),
            (Format::Leo, _) if is_row(record) => leo::never(self.report, record),
            (Format::Git, _) if !is_dead && !is_undecided(record) => Some(git_is_alive(record)),
            (
                Format::Maia
                | Format::Observability
                | Format::Entire
                | Format::Leo
                | Format::ClaudeCode
                | Format::Git
                | Format::Own(_),
                _,
            ) => None,
        }
    }
}

/// Returns whether no git lives that may hold a lock, and yet somebody else could have made it:
/// then a person decides.
fn is_undecided(record: &RecordView) -> bool {
    let verdict = &record.verdict;
    let is_open = verdict.state == VerdictState::Unknown && verdict.reason == Reason::NoPid;
    lock_of(record) == GitLock::Command && is_open
}

/// Says why a lock of git's stays, and what git itself would do.
fn git_is_alive(record: &RecordView) -> (&'static str, &'static str) {
    if lock_of(record) == GitLock::Worktree {
        ("its holder is not proven dead", "git worktree unlock <tree> lets it go, if its owner agrees")
    } else {
        (
            "a git process that may hold it is not ruled out",
            "wait for every git process to end, then look again",
        )
    }
}

/// Returns whether a record is the own file of Claude Code's daemon or of an editor.
fn is_other_program(record: &RecordView) -> bool {
    matches!(record.detail, RecordDetail::ClaudeCode(ClaudeCode::Daemon | ClaudeCode::Editor))
}
