//! Words for what the types of the core say.

use crate::core::model::{
    Action, ClaimStatus, ClaimView, ContextSource, Reason, RecordKind, Releasable, Remedy, ResourceKind,
    Surface, SurfaceState,
};
use crate::present::text::page::Medium;
use crate::present::text::tone::Tone;
use crate::present::text::{count, safe};

/// Returns the key that a remedy is behind, and what it does.
pub(crate) fn remedy_key(remedy: Remedy) -> Option<(&'static str, &'static str)> {
    match remedy {
        Remedy::Release => Some(("r", "release")),
        Remedy::Migrate => Some(("m", "migrate")),
        Remedy::Park => Some(("P", "park")),
        Remedy::Undo => Some(("z", "undo")),
        Remedy::Stop => Some(("x", "end")),
        Remedy::Rescue => Some(("u", "bring back")),
        Remedy::None => None,
    }
}

/// Returns what helps, in words; `None` where claimtop does nothing about it.
pub(crate) fn remedy(remedy: Remedy) -> Option<&'static str> {
    match remedy {
        Remedy::Release => Some("release the claim"),
        Remedy::Migrate => Some("migrate the record"),
        Remedy::Park => Some("park the file"),
        Remedy::Undo => Some("undo the action"),
        Remedy::Stop => Some("end the process"),
        Remedy::Rescue => Some("bring the edits back"),
        Remedy::None => None,
    }
}

pub(crate) fn action(action: Action) -> &'static str {
    match action {
        Action::Release => "release",
        Action::Migrate => "migrate",
        Action::Park => "park",
        Action::Undo => "undo",
        Action::Stop => "stop",
        Action::Rescue => "rescue",
        Action::Setup => "setup",
        Action::BringBack => "bring back",
    }
}

pub(crate) fn record_kind(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Session => "session",
        RecordKind::Marker => "marker",
        RecordKind::Pointer => "pointer",
        RecordKind::Tick => "tick",
        RecordKind::Lock => "lock",
        RecordKind::Companion => "companion",
        RecordKind::Metadata => "metadata",
        RecordKind::Temporary => "temporary",
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

/// Explains the rule that decided a verdict.
pub(crate) fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::SameProcess => "the PID and its start match the record",
        Reason::ProcessPresent => "the PID exists and nothing contradicts it; no start is recorded",
        Reason::SignOfLife => "its system's database holds a sign of life that has not expired",
        Reason::NoProcess => "a complete scan after the record was read found no such PID",
        Reason::OtherProcess => "the PID now belongs to another process: its start differs",
        Reason::BornLater => "the PID's process started after the record was last written",
        Reason::NotAnAgent => "the format says the PID is an agent's; this process is not one",
        Reason::OtherBoot => "the record is from before the last boot",
        Reason::Exited => "the process has exited",
        Reason::OtherHost => "the record is from another host, whose processes cannot be seen from here",
        Reason::OtherNamespace => "the record is from another namespace, as in a container",
        Reason::OtherClock => "the times of record and process cannot be compared",
        Reason::NoPermission => "the process exists, but access is denied",
        Reason::PartialScan => "not all processes could be seen, so a missing one proves nothing",
        Reason::NoPid => "no PID is recorded",
        Reason::BadPid => "the recorded PID is not valid",
        Reason::WrongRole => "the recorded PID may be a helper's, whose end says nothing about the window",
        Reason::Unreadable => "the deciding data could not be read",
        Reason::Witnessed => "its own machine's claimtop has seen it alive, or proven it dead",
        Reason::NotSeen => "its machine is not responding",
    }
}

/// Explains how a claim stands.
pub(crate) fn claim_status(claim: &ClaimView) -> &'static str {
    match claim.status {
        ClaimStatus::Unproven if claim.is_of_transcript() => {
            "it is not known whether the edits are committed"
        }
        ClaimStatus::Contested => "two live holders",
        ClaimStatus::Dead => "the holder is dead",
        ClaimStatus::Ghost if claim.resource.kind == ResourceKind::Branch => "git has no such branch",
        ClaimStatus::Ghost => "only a mirror still says so",
        ClaimStatus::Expired => "past its own lease, and no live owner was found",
        ClaimStatus::Unproven => "nothing proves whether the holder is alive or dead",
        ClaimStatus::Quiet => "the holder is alive but silent; quiet is not dead",
        ClaimStatus::Held => "the holder is alive",
    }
}

/// Says what a claim holds, in words.
pub(crate) fn holds(claim: &ClaimView) -> String {
    safe(&claim.thing())
}

/// Returns the place of a status among all, worst first.
pub(crate) fn claim_order(status: ClaimStatus) -> i64 {
    match status {
        ClaimStatus::Contested => 0,
        ClaimStatus::Dead => 1,
        ClaimStatus::Ghost => 2,
        ClaimStatus::Expired => 3,
        ClaimStatus::Unproven => 4,
        ClaimStatus::Quiet => 5,
        ClaimStatus::Held => 6,
    }
}

/// Explains whether a claim can be released.
pub(crate) fn releasable(releasable: Releasable, medium: Medium) -> &'static str {
    match (releasable, medium) {
        (Releasable::Yes, Medium::Screen) => "yes: r shows the plan, y confirms",
        (Releasable::Yes, Medium::Text) => "yes",
        (Releasable::Confirm, _) => "only with a typed confirmation",
        (Releasable::No, _) => "not by claimtop",
    }
}

/// Returns what a surface says.
pub(crate) fn surface_state(state: SurfaceState) -> &'static str {
    match state {
        SurfaceState::Agrees => "agrees",
        SurfaceState::Disagrees => "disagrees",
        SurfaceState::Missing => "missing",
        SurfaceState::Unread => "unread",
    }
}

/// Sums up whether the places where a claim is written agree.
pub(crate) fn surfaces(surfaces: &[Surface]) -> (String, Tone) {
    let of = |state| surfaces.iter().filter(|surface| surface.state == state).count();
    let (disagree, missing) = (of(SurfaceState::Disagrees), of(SurfaceState::Missing));
    let unread = of(SurfaceState::Unread);
    // Where no place says anything, there is nothing to disagree with.
    let says_nothing = disagree + of(SurfaceState::Agrees) == 0;
    if unread > 0 && (says_nothing || disagree + missing == 0) {
        return (format!("{unread} of {} unread", surfaces.len()), Tone::Notice);
    }
    if disagree + missing > 0 {
        return (format!("{} of {} disagree", disagree + missing, surfaces.len()), Tone::Warning);
    }
    (count(surfaces.len(), "place"), Tone::Dim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use SurfaceState::{Agrees, Disagrees, Missing, Unread};

    #[track_caller]
    fn check(states: &[SurfaceState], expected: &str) {
        let places: Vec<Surface> =
            states.iter().map(|state| Surface { name: "file", state: *state }).collect();
        assert_eq!(surfaces(&places).0, expected);
    }

    #[test]
    fn of_a_branch_git_says_that_it_is_not_there_and_of_anything_else_a_mirror_says_that_it_is_held() {
        let mut report = crate::core::testing::busy();
        let ghost = report.claims.iter_mut().find(|claim| claim.status == ClaimStatus::Ghost).unwrap();
        assert_eq!(claim_status(ghost), "git has no such branch");
        ghost.resource.kind = ResourceKind::WorkItem;
        assert_eq!(claim_status(ghost), "only a mirror still says so");
    }

    #[test]
    fn places_disagree_only_with_one_that_says_something() {
        check(&[Agrees], "1 place");
        check(&[Agrees, Unread], "1 of 2 unread");
        check(&[Missing, Unread, Unread, Unread], "3 of 4 unread");
        check(&[Agrees, Missing], "1 of 2 disagree");
        check(&[Agrees, Missing, Unread], "1 of 3 disagree");
        check(&[Agrees, Disagrees], "1 of 2 disagree");
    }
}
