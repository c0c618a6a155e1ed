//! What finishes an action of claimtop's own that was cut off or got stuck.

use crate::core::model::{Finding, Halfway, Key, NeedKind, Report};

/// Returns the command that finishes it, and what that does.
pub(crate) fn way(entry: &Key, end: Halfway) -> String {
    let number = entry.entry().unwrap_or_default();
    let machine = entry.machine().map(|machine| format!("@{machine}")).unwrap_or_default();
    let on = entry.machine().map(|machine| format!("on {machine}, ")).unwrap_or_default();
    match end {
        Halfway::CutOff => format!("`claimtop undo {number}{machine}` puts it right"),
        Halfway::AtWork(pid) => format!("{on}`kill -CONT {pid}` resumes it"),
        Halfway::Stuck => format!("`claimtop undo {number}{machine} --beside` brings back what is parked"),
        Halfway::LeftParked => format!("`claimtop undo {number}{machine}` brings it back"),
    }
}

/// Returns the command that finishes what a finding is about, if it is about such an action.
pub(crate) fn way_of(report: &Report, finding: &Finding) -> Option<String> {
    let entry = finding.subjects.first().filter(|key| key.entry().is_some())?;
    report.needs.iter().find(|need| need.subject == *entry).and_then(|need| match need.kind {
        NeedKind::Unfinished { end, .. } => Some(way(entry, end)),
        NeedKind::Waits { .. }
        | NeedKind::Failed { .. }
        | NeedKind::Stuck { .. }
        | NeedKind::Done { .. }
        | NeedKind::Collision { .. }
        | NeedKind::Alike { .. }
        | NeedKind::Died(_)
        | NeedKind::MoreDied { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_for_another_machine_says_so() {
        let entry = Key::of_entry(7);
        assert_eq!(way(&entry, Halfway::AtWork(90)), "`kill -CONT 90` resumes it");
        assert_eq!(way(&entry.on_machine("far"), Halfway::AtWork(90)), "on far, `kill -CONT 90` resumes it");
        assert_eq!(way(&entry.on_machine("far"), Halfway::CutOff), "`claimtop undo 7@far` puts it right");
    }
}
