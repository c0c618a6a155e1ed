//! Findings about tasks and issues that were begun, of systems that claimtop only reads.

use crate::core::judge::liveness::is_unowned;
use crate::core::judge::rules::facts::{Facts, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::model::text::is_uuid;
use crate::core::model::{Code, Finding, JudgedRecord, LetGo, Remedy, ResourceKind, VerdictState};

/// Finds tasks that their takers will not finish.
pub(crate) fn of_record(judged: &JudgedRecord, facts: &Facts<'_>, found: &mut Findings<'_>) {
    if is_task(judged) {
        found.extend(stranded(judged, facts));
    }
}

fn is_task(judged: &JudgedRecord) -> bool {
    let record = &judged.record;
    record.format.let_go(record.kind) == LetGo::Never
        && record.claims.iter().any(|claim| claim.resource.kind == ResourceKind::Task)
}

fn stranded(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<Finding> {
    let says = match judged.verdict.state {
        VerdictState::Alive => return None,
        VerdictState::Unknown => orphaned(judged, facts)?,
        VerdictState::Dead => {
            let owner = judged.record.detail.owner();
            let owner = owner.map_or_else(|| "its session".to_owned(), |owner| owner.shown());
            format!("taken by {owner}, whose process is gone")
        }
    };
    let message = format!("{}: {says}", judged.record.title);
    Some(Finding::new(Code::StrandedItem, [judged.key.clone()], message, judged.all_evidence(), Remedy::None))
}

/// Returns why a session's task is not worked on, though no process of it is proven dead: its window has turned to
/// another session, or no window that lives can run it.
fn orphaned(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<String> {
    let session = judged.record.session_id.as_ref().filter(|session| is_uuid(session.raw()))?;
    let world = facts.world;
    if let Some(left_by) = world.bindings.who_ran(session).first() {
        let window = facts.window(*left_by).map_or_else(|| format!("PID {left_by}"), window_name);
        return Some(format!("orphaned: {window} left its session and runs another one (/clear, /resume)"));
    }
    is_unowned(&judged.record, world).then(|| "orphaned: no live window runs its session".to_owned())
}
