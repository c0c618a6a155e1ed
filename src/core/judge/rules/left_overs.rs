//! Findings about left-overs: processes and working trees that stay after the window that made them.

use crate::core::judge::rules::facts::{Facts, count, listed};
use crate::core::judge::rules::found::Findings;
use crate::core::model::{
    Certainty, Code, Edit, Finding, Format, LeftOver, LeftTree, Remedy, Sentence, WindowView, Work,
};
use jiff::{SignedDuration, Timestamp};

/// Reports each one that belongs to its window beyond reasonable doubt.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let left = facts.left_overs.iter().filter(|one| one.is_left());
    left.for_each(|one| found.push(finding(one)));
    let trees = facts.left_trees.iter().filter(|tree| tree.is_left());
    trees.for_each(|tree| found.push(tell_tree(tree)));
    let now = facts.world.snapshot.taken_at;
    facts.left_trees.iter().filter_map(|tree| collected(tree, now)).for_each(|one| found.push(one));
    facts
        .world
        .snapshot
        .work
        .iter()
        .filter_map(|work| transcript_ends(work, facts))
        .for_each(|one| found.push(one));
}

/// For how long Claude Code keeps transcripts and the working trees that it made, unless `cleanupPeriodDays` sets
/// another time: 30 days (measured with 2.1.332; unpushed work goes as well).
const KEPT_FOR: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How long before that it is reported: a day.
const SOON: SignedDuration = SignedDuration::from_hours(24);

/// Reports a dead window's working tree that Claude Code's clean-up will delete, with what only that holds.
fn collected(tree: &LeftTree, now: Timestamp) -> Option<Finding> {
    let is_claudes = tree.agent.is_some() && tree.path.raw().contains("/.claude/worktrees/") && !tree.is_gone;
    let last = tree.window_ended_at.filter(|_| is_claudes && tree.certainty != Certainty::Held)?;
    let says = format!("{}; commit and push what it holds", ends(last, now)?);
    let message = Sentence::with_subject(&tree.path, says);
    Some(Finding::new(Code::DeletionAhead, [tree.key.clone()], message, tree.evidence.clone(), Remedy::None))
}

/// Reports the transcript of a dead session with uncommitted edits that will be deleted: it alone shows whose these
/// are.
fn transcript_ends(work: &Work, facts: &Facts<'_>) -> Option<Finding> {
    let is_run =
        |window: &WindowView| window.session.as_ref().is_some_and(|session| session.id == work.session);
    let has_edits = work.doing.edits.iter().any(Edit::is_open);
    if work.format != Format::ClaudeCode || !has_edits || facts.windows.iter().any(is_run) {
        return None;
    }
    let entry = facts.records.iter().find(|judged| judged.session_id.as_ref() == Some(&work.session))?;
    let says = format!(
        "its transcript {}, with the copies of its uncommitted edits",
        ends(work.written_at, facts.world.snapshot.taken_at)?
    );
    Some(Finding::of_record(Code::DeletionAhead, entry, says, [entry.evidence()], Remedy::None))
}

/// Describes when Claude Code's clean-up deletes what was last used at a moment, if that is near.
fn ends(last: Timestamp, now: Timestamp) -> Option<String> {
    let at = last.checked_add(KEPT_FOR).ok()?;
    let left = at.duration_since(now);
    (left <= SOON).then(|| match left.as_hours() {
        ..=0 => "will be deleted by Claude Code's next clean-up (30 days after last use)".to_owned(),
        hours => format!("will be deleted by Claude Code's clean-up in {hours} h (30 days after last use)"),
    })
}

fn finding(one: &LeftOver) -> Finding {
    let more = match one.descendants().len() {
        0 => String::new(),
        more => format!(" and {} below it", count(more, "process")),
    };
    let (code, keeps) = match ports(one) {
        Some(ports) => (Code::LeftOverPort, format!(" listens on {ports} and")),
        None => (Code::LeftOverProcess, String::new()),
    };
    let agent = one.agent.as_ref().map_or("a window", |agent| agent.raw());
    let window = one.window_pid.map(|pid| format!(" (PID {pid})")).unwrap_or_default();
    let doubt = if one.why.is_empty() { String::new() } else { format!("; {}", one.why) };
    let says = format!("PID {}{more}{keeps} outlived {agent}{window}, which started it{doubt}", one.pid);
    // A command line that begins with a path is not one.
    let message = Sentence::from(format!("{}: {says}", one.command));
    let remedy = if one.refused.is_some() { Remedy::None } else { Remedy::Stop };
    Finding::new(code, [one.key.clone()], message, one.evidence.clone(), remedy)
}

/// Names the ports that its processes listen on.
fn ports(one: &LeftOver) -> Option<String> {
    let numbers: Vec<String> = one.ports().iter().map(|port| port.number.to_string()).collect();
    let word = if numbers.len() == 1 { "port" } else { "ports" };
    (!numbers.is_empty()).then(|| format!("{word} {}", listed(&numbers)))
}

fn tell_tree(tree: &LeftTree) -> Finding {
    let agent = tree.agent.as_ref().map_or("a window", |agent| agent.raw());
    let name = tree.window_name.as_ref().map(|name| format!(" {}", name.raw())).unwrap_or_default();
    let pid = tree.window_pid.map(|pid| format!(" (PID {pid})")).unwrap_or_default();
    let known = tree.known().join(", ");
    let known = if known.is_empty() { known } else { format!("; {known}") };
    let doubt = if tree.why.is_empty() { String::new() } else { format!("; {}", tree.why) };
    let says = format!("{agent}{name}{pid} made this working tree and has ended{known}{doubt}");
    let message = Sentence::with_subject(&tree.path, says);
    Finding::new(Code::LeftOverWorktree, [tree.key.clone()], message, tree.evidence.clone(), Remedy::None)
}
