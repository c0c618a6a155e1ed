//! The current work of a window's session, which is more than its file states.

use std::sync::Arc;

use crate::core::judge::window::stand_in::is_played;
use crate::core::judge::world::World;
use crate::core::model::{ContextFill, Format, Process, Record, Turn, TurnState, Work};

/// Returns the work of the session that a process runs: with the size of its context if its agent has reported that
/// only to its status line, and without what was written before the process began, or before its own entry stated
/// that it waits for a prompt; and it works while its shell runs, which its file does not state yet.
pub(crate) fn doing_now(
    work: &Arc<Work>,
    (process, entry): (&Process, Option<&Record>),
    world: &World<'_>,
) -> Arc<Work> {
    let mut now = Arc::clone(work);
    // A size smaller than its content is another model's.
    let noted = world.snapshot.bound.contexts.get(&work.session).copied();
    let size = |fill: ContextFill| fill.window.or(noted.filter(|size| *size >= fill.tokens));
    let sized = work.doing.context.map(|fill| ContextFill { window: size(fill), ..fill });
    if sized != work.doing.context {
        Arc::make_mut(&mut now).doing.context = sized;
    }
    if let Some(turn) = goes_on(work, process, world) {
        Arc::make_mut(&mut now).doing.turn = turn;
    }
    if let Some(turn) = over(work, (process, entry), world) {
        let now = Arc::make_mut(&mut now);
        now.doing.turn = turn;
        now.doing.calls.clear();
        now.doing.asks.clear();
        if turn.state == TurnState::CutOff {
            now.agents.clear();
        }
        now.doing.compacting = None;
    }
    now
}

/// Returns since when a turn runs that counts as over in its file: Gemini CLI writes its answer down before the calls
/// that come with it run, and the calls when they have ended. Its shell is a child of its own.
fn goes_on(work: &Work, process: &Process, world: &World<'_>) -> Option<Turn> {
    let answered_at = work.doing.turn.since?;
    if work.format != Format::Gemini || work.doing.turn.state != TurnState::Finished {
        return None;
    }
    let is_its_shell = |other: &&Process| other.parent == process.id.pid && other.comm.raw() == "bash";
    let mut shells = world.snapshot.processes.by_pid.values().filter(is_its_shell);
    let runs = shells.any(|shell| world.started_at(shell).is_some_and(|at| at >= answered_at));
    let asked_at = work.doing.prompt.as_ref().and_then(|prompt| prompt.at);
    runs.then(|| Turn { state: TurnState::Working, since: asked_at.or(Some(answered_at)) })
}

/// Returns how a turn ended if the session's own file states only how it began.
fn over(work: &Work, (process, entry): (&Process, Option<&Record>), world: &World<'_>) -> Option<Turn> {
    if work.doing.turn.state != TurnState::Working {
        return None;
    }
    // A title or a snapshot may have been appended since, and a copy of the file is younger than its lines.
    // Claimtop's own demo dates its lines back.
    let heard_at = work.doing.heard_at.filter(|_| !is_played(process)).unwrap_or(work.written_at);
    if world.started_at(process).is_some_and(|started_at| world.is_after(started_at, heard_at)) {
        return Some(Turn { state: TurnState::CutOff, since: Some(heard_at) });
    }
    let status = entry?.detail.claude_status()?;
    let is_idle = status.status.as_ref().is_some_and(|status| status.raw() == "idle");
    let idle_since = status.updated_at.filter(|_| is_idle)?;
    let is_newer = world.is_after(idle_since, heard_at);
    is_newer.then_some(Turn { state: TurnState::Finished, since: Some(idle_since) })
}
