//! Evidence that names exactly the process that runs a session: hook notes, the agent's registry, locks and open
//! files, arguments, and the processes below it.

use crate::core::judge::session::arguments::named;
use crate::core::judge::window::Window;
use crate::core::judge::world::World;
use crate::core::model::report::context::SESSION_VARIABLE;
use crate::core::model::snapshot::process::ancestry;
use crate::core::model::{Evidence, Process, SessionView, Strength, Tie, Untrusted};

/// The agent whose own processes inherit its session.
const CLAUDE: &str = "claude-code";

/// Returns the session that the evidence gives to exactly this process.
pub(super) fn known(window: &Window<'_>, world: &World<'_>) -> Option<SessionView> {
    let pid = window.process.id.pid;
    noted(pid, world)
        .or_else(|| registered(pid, world))
        .or_else(|| tied(window, world))
        .or_else(|| by_argument(window))
        .or_else(|| by_environment(window, world))
}

fn view(id: &Untrusted, strength: Strength, evidence: Evidence) -> SessionView {
    SessionView { id: id.clone(), strength, evidence }
}

fn noted(pid: u32, world: &World<'_>) -> Option<SessionView> {
    let note = world.bindings.newest_of(pid)?;
    Some(view(&note.session_id, Strength::Exact, note.evidence()))
}

fn registered(pid: u32, world: &World<'_>) -> Option<SessionView> {
    let session = *world.sessions.get(&pid)?;
    let record = world.registered(pid).first()?;
    let fact = "registry";
    let evidence = Evidence::new(fact, "PID and start are this process's", record.location.text().clone());
    Some(view(session, Strength::Exact, evidence.dated(record.written_at)))
}

/// Finds the session that its agent's own files give to this process.
fn tied(window: &Window<'_>, world: &World<'_>) -> Option<SessionView> {
    let pid = window.process.id.pid;
    let files = world.snapshot.session_files.iter().filter(|file| file.agent == window.agent);
    let ties = files.filter_map(|file| {
        let (strength, fact, says) = match file.tie {
            Tie::Locked(holder) if holder == pid => (Strength::Exact, "lock", "held by this process"),
            Tie::Stated(process) if process == window.process.id => {
                (Strength::Exact, "registry", "PID, start and boot are this process's")
            }
            Tie::Opened(holder) if holder == pid => (Strength::Strong, "open file", "open in this process"),
            // The PID may be an earlier process's.
            Tie::Named(named) if named == pid && !world.is_born_after(window.process, file.written_at) => {
                (Strength::Strong, "lock", "names this PID, and was written in its time")
            }
            Tie::Locked(_) | Tie::Stated(_) | Tie::Opened(_) | Tie::Named(_) | Tie::Folder(_) => {
                return None;
            }
        };
        let evidence = Evidence::new(fact, says, file.path.text().clone());
        Some((strength, file.written_at, view(&file.session, strength, evidence.dated(file.written_at))))
    });
    ties.max_by_key(|(strength, written_at, _)| (*strength, *written_at)).map(|(_, _, view)| view)
}

fn by_argument(window: &Window<'_>) -> Option<SessionView> {
    let details = window.process.details.as_ref()?;
    let session = named(window.agent, &details.argv)?;
    let source = format!("/proc/{}/cmdline", window.process.id.pid);
    Some(view(
        &session,
        Strength::Strong,
        Evidence::new("argument", "it was started with this session", source),
    ))
}

/// Finds a process that inherited Claude Code's session from this window, without a nearer one in between.
fn by_environment(window: &Window<'_>, world: &World<'_>) -> Option<SessionView> {
    let pid = Some(window.process.id.pid).filter(|_| window.agent == CLAUDE)?;
    let heirs = world.snapshot.processes.by_pid.values().filter(|process| process.id.pid != pid);
    let (heir, session) = heirs
        .filter_map(|process| Some((process, process.details.as_ref()?.env.get(SESSION_VARIABLE)?)))
        .find(|(process, _)| nearest_claude(process, world) == Some(pid))?;
    let fact = "environment";
    let says = format!("process {} below it inherited {SESSION_VARIABLE}", heir.id.pid);
    let source = format!("/proc/{}/environ", heir.id.pid);
    Some(view(session, Strength::Strong, Evidence::new(fact, says, source)))
}

fn nearest_claude(process: &Process, world: &World<'_>) -> Option<u32> {
    let above = ancestry(&world.snapshot.processes, process.id.pid).into_iter().skip(1);
    let mut agents =
        above.filter(|above| world.signatures.classify(above).is_some_and(|(agent, _)| agent.name == CLAUDE));
    agents.next().map(|agent| agent.id.pid)
}
