//! Findings about tasks and issues that were begun, of systems that claimtop only reads.

use super::Facts;
use crate::core::assess::{Judged, fact};
use crate::core::finding::{Code, Finding, Remedy};
use crate::core::record::{LetGo, ResourceKind};
use crate::core::report::VerdictState;

/// Finds tasks that whoever took them will not finish.
pub(super) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Vec<Finding>) {
    found.extend(facts.records.iter().filter(|judged| is_task(judged)).filter_map(stranded));
}

fn is_task(judged: &Judged) -> bool {
    let record = &judged.record;
    record.format.let_go(record.kind) == LetGo::Never
        && record.claims.iter().any(|claim| claim.resource.kind == ResourceKind::Task)
}

fn stranded(judged: &Judged) -> Option<Finding> {
    if judged.verdict.state != VerdictState::Dead {
        return None;
    }
    let owner = fact(&judged.record, "owner").map_or_else(|| "its session".to_owned(), |owner| owner.shown());
    let message = format!("{}: taken by {owner}, whose process is gone", judged.record.title);
    Some(Finding::new(Code::StrandedItem, [judged.key.clone()], message, judged.all_evidence(), Remedy::None))
}
