//! Goes to a window's pane, on a thread of its own: a multiplexer may not answer at all.
//!
//! It is the only foreign program that claimtop ever runs beside its demo and the git that
//! `leftovers --trees` asks. The server's own program is
//! asked for, because another version may wait for its answer for ever.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Sender;

use crate::app::msg::{Jump, Msg};
use crate::core::fleet::transport::Machine;
use crate::core::fleet::transport::attach;
use crate::core::model::text::shown;
use crate::core::model::{Keeper, PlaceView, Untrusted};
use crate::run::threads::event::Event;
use crate::source::os::clock;

/// How long a program may take for its answer.
const DEADLINE: Duration = Duration::from_secs(1);
/// How often it is asked whether it has ended.
const STEP: Duration = Duration::from_millis(5);
/// The most bytes of an error that are read.
const WORDS: u64 = 512;

/// Why a jump did not succeed.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("its pane is not known exactly")]
    Nowhere,
    #[error("failed to start {0}: {1}")]
    NotStarted(String, std::io::Error),
    #[error("{0} did not answer within 1 s and was ended")]
    Silent(String),
    #[error("{0} refused: {1}")]
    Refused(String, String),
}

/// How panes of other machines are reached.
#[derive(Clone, Default)]
pub(crate) struct Ways {
    pub(crate) machines: Arc<[Machine]>,
    /// Whether the screen is in a tmux, which can open a window.
    pub(crate) is_in_tmux: bool,
}

/// Jumps, and sends the result to the screen.
pub(crate) fn start(jump: Jump, ways: Ways, sender: Sender<Event>) {
    let work = move || {
        // The screen may have ended in between.
        let _ = sender.blocking_send(Event::Message(Msg::Jumped(go(&jump, &ways))));
    };
    // Without a thread nothing happens, and the line that says where to look stays.
    let _ = std::thread::Builder::new().name("jumping".to_owned()).spawn(work);
}

/// Jumps and says in one sentence what became of it.
fn go(jump: &Jump, ways: &Ways) -> String {
    let Jump { name, machine, place } = jump;
    if let Some(machine) = machine {
        return elsewhere((name, machine), place, ways);
    }
    let outcome = match place.keeper {
        Some(Keeper::Tmux) => tmux(place),
        Some(Keeper::Zellij) => zellij(place),
        Some(Keeper::Screen | Keeper::Vscode) | None => Err(Trouble::Nowhere),
    };
    match outcome {
        Ok(done) => format!("{name}: {done}"),
        Err(trouble) => {
            let words = place.to_text().unwrap_or_default();
            format!("{name} is in {words}; {}", shown(&trouble.to_string()))
        }
    }
}

/// Opens the pane of another machine in a window of the tmux here, or says by which command that goes.
fn elsewhere((name, machine): (&str, &str), place: &PlaceView, ways: &Ways) -> String {
    let transport = ways.machines.iter().find(|known| known.name == machine).map(|known| &known.transport);
    let machine = shown(machine);
    let Some(command) = transport.and_then(|transport| attach::command(transport, place)) else {
        let words = place.to_text().unwrap_or_default();
        return format!("{name} is on {machine}, in {words}: go there yourself");
    };
    let line = shown(&attach::for_shell(&command));
    if !ways.is_in_tmux {
        return format!("{name} is on {machine}; show it with: {line}");
    }
    let arguments = attach::for_tmux(&command);
    let arguments: Vec<&str> =
        ["new-window", "--"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    match run("tmux", &arguments) {
        Ok(()) => format!("{name}: a new window of this tmux shows its pane on {machine}"),
        Err(trouble) => format!("{}; show {name} with: {line}", shown(&trouble.to_string())),
    }
}

/// Selects the pane in its session and shows that session to the clients of the server.
fn tmux(place: &PlaceView) -> Result<String, Trouble> {
    let pane = place.pane.as_ref().filter(|pane| is_number(pane.raw(), "%")).ok_or(Trouble::Nowhere)?;
    let socket = place.socket.as_ref().filter(|at| at.raw().starts_with('/')).ok_or(Trouble::Nowhere)?;
    let (at, to) = (socket.raw(), pane.raw());
    let select = ["-S", at, "select-window", "-t", to, ";", "select-pane", "-t", to];
    run(program(place, "tmux"), &select)?;
    match run(program(place, "tmux"), &["-S", at, "switch-client", "-t", to]) {
        Ok(()) => Ok(format!("tmux shows its pane {pane}")),
        Err(Trouble::Refused(..)) => {
            Ok(format!("its pane {pane} is selected; nobody is attached: tmux -S {socket} attach"))
        }
        Err(trouble) => Err(trouble),
    }
}

/// Asks zellij, from version 0.44 on, to show the pane.
fn zellij(place: &PlaceView) -> Result<String, Trouble> {
    let pane = place.pane.as_ref().filter(|pane| is_number(pane.raw(), "")).ok_or(Trouble::Nowhere)?;
    let session =
        place.session.as_ref().filter(|name| !name.raw().starts_with('-')).ok_or(Trouble::Nowhere)?;
    let arguments =
        ["--session", session.raw(), "action", "focus-pane-id", &format!("terminal_{}", pane.raw())];
    run(program(place, "zellij"), &arguments)?;
    Ok(format!("zellij shows its pane {pane} of session {session}"))
}

fn is_number(text: &str, prefix: &str) -> bool {
    let digits = text.strip_prefix(prefix).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn program<'a>(place: &'a PlaceView, usual: &'a str) -> &'a str {
    place.program.as_ref().map_or(usual, Untrusted::raw)
}

/// Runs a program to its end, or to its deadline; then it is killed.
fn run(program: &str, arguments: &[&str]) -> Result<(), Trouble> {
    let name = || program.rsplit('/').next().unwrap_or(program).to_owned();
    #[expect(clippy::disallowed_methods, reason = "a person asked to be shown a pane")]
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| Trouble::NotStarted(name(), error))?;
    match ended(&mut child) {
        Some(status) if status.success() => Ok(()),
        Some(_) => Err(Trouble::Refused(name(), words(&mut child))),
        None => {
            // It may have ended at this very moment.
            let _ = child.kill();
            let _ = child.wait();
            Err(Trouble::Silent(name()))
        }
    }
}

fn ended(child: &mut Child) -> Option<ExitStatus> {
    let began_at = clock::steady();
    while began_at.elapsed() < DEADLINE {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(STEP);
    }
    None
}

/// Returns the first line of what a program that has ended said of its failure. A grandchild may
/// still have the pipe, so no more is read than is there.
fn words(child: &mut Child) -> String {
    let mut text = Vec::new();
    if let Some(errors) = child.stderr.take() {
        let _ = rustix::fs::fcntl_setfl(&errors, rustix::fs::OFlags::NONBLOCK);
        let _ = errors.take(WORDS).read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(program: &str, pane: &str) -> PlaceView {
        PlaceView {
            keeper: Some(Keeper::Tmux),
            pane: Some(pane.into()),
            socket: Some("/tmp/x".into()),
            program: Some(program.into()),
            ..PlaceView::default()
        }
    }

    #[track_caller]
    fn check(place: PlaceView, expected: &str) {
        let told = go(&Jump { name: "shop".to_owned(), machine: None, place }, &Ways::default());
        assert!(told.contains(expected), "{told}");
    }

    #[test]
    fn what_the_program_does_is_told() {
        check(place("/bin/true", "%3"), "shop: tmux shows its pane %3");
        check(place("/bin/false", "%3"), "shop is in tmux pane %3 (socket /tmp/x); false refused: ");
        check(place("/nowhere/tmux", "%3"), "failed to start tmux");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test writes its script")]
    fn a_program_that_hangs_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let hanging = folder.path().join("tmux");
        std::fs::write(&hanging, "#!/bin/sh\nexec sleep 60\n").unwrap();
        std::fs::set_permissions(&hanging, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let jump =
            Jump { name: "shop".to_owned(), machine: None, place: place(hanging.to_str().unwrap(), "%3") };
        // As long as another thread's child has the script open for writing, it is busy.
        let told = std::iter::repeat_with(|| go(&jump, &Ways::default()))
            .find(|told| !told.contains("busy"))
            .unwrap();
        assert!(told.ends_with("tmux did not answer within 1 s and was ended"), "{told}");
    }

    #[test]
    fn a_pane_of_another_machine_is_shown_by_a_command_that_is_told() {
        let machines = ["devbox", "wsl:Ubuntu"].map(|on| Machine::parse(on).unwrap());
        let ways = Ways { machines: machines.into(), is_in_tmux: false };
        let told = |machine: &str| {
            let (name, machine) = ("shop".to_owned(), Some(machine.to_owned()));
            go(&Jump { name, machine, place: place("tmux", "%3") }, &ways)
        };
        let expected = "shop is on devbox; show it with: ssh -t -- devbox 'tmux -S /tmp/x select-window -t ";
        assert!(told("devbox").starts_with(expected), "{}", told("devbox"));
        assert!(told("wsl:Ubuntu").ends_with("in tmux pane %3 (socket /tmp/x): go there yourself"));
        assert!(told("unknown").ends_with("go there yourself"));
    }

    #[test]
    fn only_a_pane_is_an_argument() {
        for pane in ["%3;kill-server", "-t", "%", "3", ""] {
            check(place("/bin/true", pane), "its pane is not known exactly");
        }
    }
}
