//! Which session a window runs: by the strongest evidence there is, and how strong that is.
//!
//! Only an exact session drives anything: it is one of [`World::sessions`](crate::core::judge::world::World::sessions)
//! or the one that the agent's own lock names. By a strong one it is also reported whose edits collide, which
//! nothing is done about; a guess is shown and used for nothing else.

pub(crate) mod arguments;
mod beginnings;

use crate::core::judge::session::arguments::named;
use crate::core::judge::session::beginnings::Beginnings;
use crate::core::judge::window::Window;
use crate::core::judge::world::World;
use crate::core::model::context::SESSION_VARIABLE;
use crate::core::model::process::ancestry;
use crate::core::model::{Evidence, Process, SessionFile, SessionView, Strength, Tie, Untrusted};

pub(crate) fn session_of(window: &Window<'_>, world: &World<'_>) -> Option<SessionView> {
    let pid = window.process.id.pid;
    noted(pid, world)
        .or_else(|| registered(pid, world))
        .or_else(|| tied(window, world))
        .or_else(|| by_argument(window))
        .or_else(|| by_environment(pid, world))
        .or_else(|| guessed(window, world))
}

fn view(id: &Untrusted, strength: Strength, evidence: Evidence) -> SessionView {
    SessionView { id: id.clone(), strength, evidence }
}

fn noted(pid: u32, world: &World<'_>) -> Option<SessionView> {
    let note = world.bindings.of(pid)?;
    Some(view(&note.session_id, Strength::Exact, note.evidence()))
}

fn registered(pid: u32, world: &World<'_>) -> Option<SessionView> {
    let session = *world.sessions.get(&pid)?;
    let record = world.registered(pid).first()?;
    let fact = "registry";
    let evidence = Evidence::new(fact, "PID and start are this process's", record.location.text().clone());
    Some(view(session, Strength::Exact, evidence.at(record.written_at)))
}

/// Finds what its agent's own files say of this process.
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
        Some((strength, file.written_at, view(&file.session, strength, evidence.at(file.written_at))))
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

/// Finds a process that inherited Claude Code's session from this window, and from none nearer.
fn by_environment(pid: u32, world: &World<'_>) -> Option<SessionView> {
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
    let mut agents = above.filter(|above| {
        world.signatures.classify(above).is_some_and(|(agent, _)| agent.name == "claude-code")
    });
    agents.next().map(|agent| agent.id.pid)
}

/// Guesses by folder and time: the newest session where no other window of the agent works in the folder, and else the one
/// that can be no other's by when it began.
fn guessed(window: &Window<'_>, world: &World<'_>) -> Option<SessionView> {
    let folder = folder_of(window)?;
    let is_here = |file: &&SessionFile| {
        file.agent == window.agent && matches!(&file.tie, Tie::Folder(own) if own == folder)
    };
    let here = world.snapshot.session_files.iter().filter(is_here);
    let same = world.windows.iter().filter(|other| other.agent == window.agent);
    let same: Vec<&Window<'_>> = same.filter(|other| folder_of(other) == Some(folder)).collect();
    let (found, says) = match same.len() {
        1 => {
            let mine = here.filter(|file| !world.is_born_after(window.process, file.written_at));
            let newest = mine.max_by_key(|file| file.written_at)?;
            (newest, "the newest session of this folder, written since the window started")
        }
        _ => {
            let of = Beginnings { windows: &same, files: here.collect(), world };
            (of.only(window)?, "the one session of this folder that no other window can have begun")
        }
    };
    let evidence = Evidence::new("folder", says, found.path.text().clone()).at(found.written_at);
    Some(view(&found.session, Strength::Guess, evidence))
}

fn folder_of<'a>(window: &Window<'a>) -> Option<&'a Untrusted> {
    window.process.details.as_ref()?.cwd.as_ref()
}
