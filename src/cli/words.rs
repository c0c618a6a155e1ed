//! The words and tones in which plain output tells states, ages and rules.

use jiff::Timestamp;

use super::output::Tone;
use crate::core::model::action::Action;
use crate::core::model::claim::{ClaimStatus, ClaimView, Releasable};
use crate::core::model::code::Severity;
use crate::core::model::finding::Remedy;
use crate::core::model::judged::RecordView;
use crate::core::model::record::claim::SurfaceState;
use crate::core::model::record::holder::Role;
use crate::core::model::report::Report;
use crate::core::model::text::Untrusted;
use crate::core::model::verdict::{Reason, VerdictState};
use crate::core::model::window::{ContextSource, WindowState, WindowView};

/// Tells an age coarsely: `42s`, `7m`, `3h`, `5d`; a moment that lies ahead as `in 7m`.
pub(crate) fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs();
    let span = match seconds.unsigned_abs() {
        s @ 0..120 => format!("{s}s"),
        s @ 120..7_200 => format!("{}m", s / 60),
        s @ 7_200..172_800 => format!("{}h", s / 3_600),
        s => format!("{}d", s / 86_400),
    };
    if seconds < 0 { format!("in {span}") } else { span }
}

/// Counts in words: `1 claim`, `2 claims`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns the word and tone of a verdict.
pub(crate) fn verdict(state: VerdictState) -> (&'static str, Tone) {
    match state {
        VerdictState::Alive => ("alive", Tone::Good),
        VerdictState::Dead => ("dead", Tone::Bad),
        VerdictState::Unknown => ("unknown", Tone::Doubtful),
    }
}

/// Returns the word and tone of a claim's status.
pub(crate) fn status(status: ClaimStatus) -> (&'static str, Tone) {
    match status {
        ClaimStatus::Contested => ("contested", Tone::Bad),
        ClaimStatus::Dead => ("dead", Tone::Bad),
        ClaimStatus::Ghost => ("ghost", Tone::Bad),
        ClaimStatus::Expired => ("expired", Tone::Doubtful),
        ClaimStatus::Unproven => ("unproven", Tone::Doubtful),
        ClaimStatus::Quiet => ("quiet", Tone::Doubtful),
        ClaimStatus::Held => ("held", Tone::Good),
    }
}

/// Returns the word of an action.
pub(crate) fn action(action: Action) -> &'static str {
    match action {
        Action::Release => "release",
        Action::Migrate => "migrate",
        Action::Park => "park",
        Action::Undo => "undo",
    }
}

/// Returns the word and tone of a severity.
pub(crate) fn severity(severity: Severity) -> (&'static str, Tone) {
    match severity {
        Severity::Info => ("info", Tone::Dim),
        Severity::Warning => ("warning", Tone::Doubtful),
        Severity::Collision => ("collision", Tone::Bad),
    }
}

/// Returns the word and tone of what a window's process does.
pub(crate) fn window_state(state: WindowState) -> (&'static str, Tone) {
    match state {
        WindowState::Running => ("running", Tone::Good),
        WindowState::Stopped => ("stopped", Tone::Doubtful),
        WindowState::Zombie => ("zombie", Tone::Bad),
    }
}

/// Returns what helps, in words; `None` where claimtop does nothing about it.
pub(crate) fn remedy(remedy: Remedy) -> Option<&'static str> {
    match remedy {
        Remedy::Release => Some("release the claim"),
        Remedy::Migrate => Some("migrate the record"),
        Remedy::Park => Some("park the file"),
        Remedy::Undo => Some("undo the action"),
        Remedy::None => None,
    }
}

/// Returns how a claim can be let go.
pub(crate) fn releasable(releasable: Releasable) -> &'static str {
    match releasable {
        Releasable::Yes => "yes",
        Releasable::Confirm => "confirm",
        Releasable::No => "no",
    }
}

/// Returns the name of a PID's role.
pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::Agent => "agent",
        Role::Shell => "shell",
        Role::Hook => "hook",
        Role::Daemon => "daemon",
        Role::Unknown => "unknown role",
    }
}

/// Returns how a context ID was found.
pub(crate) fn context_source(source: ContextSource) -> &'static str {
    match source {
        ContextSource::Env => "from CLAUDE_SESSION_ID",
        ContextSource::AgentPid => "the agent's PID",
        ContextSource::Terminal => "the terminal's ID",
        ContextSource::ParentPid => "the parent's PID",
    }
}

/// Returns what a surface says of a claim.
pub(crate) fn surface(state: SurfaceState) -> &'static str {
    match state {
        SurfaceState::Agrees => "agrees",
        SurfaceState::Disagrees => "names another holder",
        SurfaceState::Missing => "does not say",
        SurfaceState::Unread => "not read",
    }
}

/// Returns the rule behind a reason, as a sentence.
pub(crate) fn rule(reason: Reason) -> &'static str {
    match reason {
        Reason::SameProcess => "the PID runs with the recorded start: it is the same process",
        Reason::ProcessPresent => "the PID runs, no start is recorded, and nothing contradicts",
        Reason::SignOfLife => "its system's database holds a sign of life that is not over yet",
        Reason::NoProcess => "a complete scan after the record was read found no such process",
        Reason::OtherProcess => "the PID runs with another start than the recorded one: it was given away",
        Reason::BornLater => "the PID's process started after the record's last write: it was given away",
        Reason::NotAnAgent => "the format says the PID is an agent, and this process is none",
        Reason::OtherBoot => "the record is from before the last boot, and no process survives one",
        Reason::Exited => "the process has exited and only waits to be reaped",
        Reason::OtherHost => "the record is another host's, whose processes cannot be seen from here",
        Reason::OtherNamespace => "the PID is a number of another PID namespace",
        Reason::OtherClock => {
            "the PID runs, but the times of record and process cannot be compared: it may be another's"
        }
        Reason::NoPermission => "the process is there, but it may not be read",
        Reason::PartialScan => "not all processes could be seen, so absence proves nothing",
        Reason::NoPid => "the record names no process",
        Reason::BadPid => "the recorded PID cannot be one",
        Reason::WrongRole => "the recorded PID may be a helper's, whose end says nothing about the window",
        Reason::Unreadable => "what would decide could not be read",
    }
}

/// Returns a window's short name: its agent and PID.
pub(crate) fn window_name(window: &WindowView) -> String {
    format!("{} {}", window.agent, window.pid)
}

/// Returns where a window works: its working tree with the branch, else its folder.
pub(crate) fn workplace(window: &WindowView) -> Option<String> {
    let Some(repo) = &window.repo else { return window.cwd.as_ref().map(Untrusted::shown) };
    let branch = repo.branch.as_ref().map_or_else(String::new, |branch| format!(" ({branch})"));
    Some(format!("{}{branch}", repo.worktree))
}

/// Returns a record's short name: its format and title.
pub(crate) fn record_name(record: &RecordView) -> String {
    format!("{} {}", record.format.name(), record.title)
}

/// Returns who holds a claim: the window, else what the record says.
pub(crate) fn holder(claim: &ClaimView, report: &Report) -> Option<String> {
    if let Some(window) = report.windows.iter().find(|window| Some(&window.key) == claim.window.as_ref()) {
        return Some(window_name(window));
    }
    let pid = claim.record.pid()?;
    Some(format!("PID {pid}"))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[track_caller]
    fn check(seconds: i64, expected: &str) {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1_000);
        assert_eq!(age(now - SignedDuration::from_secs(seconds), now), expected);
    }

    #[test]
    fn ages_are_coarse() {
        check(0, "0s");
        check(119, "119s");
        check(120, "2m");
        check(7_199, "119m");
        check(7_200, "2h");
        check(172_800, "2d");
        check(-600, "in 10m");
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!((count(0, "claim"), count(1, "claim")), ("0 claims".into(), "1 claim".into()));
    }
}
