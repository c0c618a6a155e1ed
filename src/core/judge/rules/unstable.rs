//! Windows that get another context ID at every call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::core::judge::liveness::owner::could_own;
use crate::core::judge::rules::facts::{Facts, count, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::judge::window::Window;
use crate::core::judge::window::possible_agent::PossibleAgent;
use crate::core::judge::world::World;
use crate::core::model::{
    Binding, Code, Evidence, Finding, Format, JudgedRecord, Platform, Reason, RecordKind, Remedy, Role,
    VerdictState, WindowView,
};

/// Several records whose PIDs are helpers of one window: a new context ID for every call.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let mut by_window: BTreeMap<(u32, Format), Vec<&JudgedRecord>> = BTreeMap::new();
    for judged in facts.records.iter().filter(|judged| is_named_for_helper(judged)) {
        let window = living_helper(judged, facts).or_else(|| gone_helper(judged, facts));
        if let Some(window) = window {
            by_window.entry((window, judged.record.format)).or_default().push(judged);
        }
    }
    // An old and a current record of one shell are of one context.
    let pids =
        |records: &[&JudgedRecord]| records.iter().map(|judged| judged.record.pid()).collect::<BTreeSet<_>>();
    let several = by_window.into_iter().filter(|(_, records)| pids(records).len() > 1);
    found.extend(several.filter_map(|((window, _), records)| Some(finding(facts.window(window)?, &records))));
}

/// Returns whether a session record is named by a PID that need not be the agent's.
fn is_named_for_helper(judged: &JudgedRecord) -> bool {
    let holder = judged.record.holder.as_ref().filter(|_| judged.record.kind == RecordKind::Session);
    holder.is_some_and(|holder| holder.binding == Binding::File && holder.role != Role::Daemon)
}

/// Returns the window whose helper a record's PID is.
fn living_helper(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<u32> {
    let pid = judged.record.pid().filter(|_| judged.verdict.state == VerdictState::Alive)?;
    let window = judged.window_pid.filter(|window| *window != pid)?;
    // The number of one of its threads is not a helper's.
    facts.world.snapshot.processes.get(pid).filter(|process| process.id.pid != window).map(|_| window)
}

/// Returns the window of which the PID of a Maia record was a helper that is gone: the only one that could own the
/// record, was there when the session began, and works in the folder that the record names, if it names one. The
/// shells that call Maia end at once. Only on Linux is the PID never an agent's that has ended since: there `ps` cuts
/// the name that Maia looks for, and it always takes its parent's PID.
fn gone_helper(judged: &JudgedRecord, facts: &Facts<'_>) -> Option<u32> {
    let (record, world) = (&judged.record, facts.world);
    let is_shells = record.format == Format::Maia && world.snapshot.host.platform == Platform::Linux;
    let pid = record.pid().filter(|_| is_shells && judged.verdict.reason == Reason::WrongRole)?;
    if world.snapshot.processes.get(pid).is_some() || !world.seen(pid).is_empty() {
        return None;
    }
    let began = record.started_at.unwrap_or(record.written_at);
    let may_be_its = |window: &&Window<'_>| {
        could_own(record, &PossibleAgent::Known(window.process, window.agent), world)
            && !world.is_born_after(window.process, began)
            && record.cwd.as_deref().is_none_or(|folder| works_in(window, folder, world))
    };
    let mut windows = world.windows.iter().filter(may_be_its);
    let only = windows.next().filter(|_| windows.next().is_none())?;
    Some(only.process.id.pid)
}

/// Returns whether a window works in the working tree of a folder, or in that very folder.
fn works_in(window: &Window<'_>, folder: &Path, world: &World<'_>) -> bool {
    let own = window.process.details.as_ref().and_then(|details| details.folder_here());
    let tree = |folder: &Path| world.worktree_of(folder).map(|(_, tree)| tree.path.clone());
    own.map(|own| Path::new(own.raw())).is_some_and(|own| match tree(folder) {
        Some(tree_of_folder) => tree(own) == Some(tree_of_folder),
        None => own == folder,
    })
}

fn finding(window: &WindowView, records: &[&JudgedRecord]) -> Finding {
    let gone = records.iter().filter(|judged| judged.verdict.state != VerdictState::Alive).count();
    let whose = match gone {
        0 => String::new(),
        gone => format!(" ({gone} of them are gone; no other living window can have written those)"),
    };
    let message = format!(
        "{} has {} under the PIDs of its shells{whose}: every call gets a new context ID",
        window_name(window),
        count(records.len(), "record")
    );
    let subjects = std::iter::once(window.key.clone()).chain(records.iter().map(|judged| judged.key.clone()));
    let evidence: Vec<Evidence> = records.iter().map(|judged| judged.evidence()).collect();
    Finding::new(Code::UnstableContextId, subjects, message, evidence, Remedy::None)
}
