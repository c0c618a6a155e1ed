//! Goes to a window's pane, on a thread of its own: a multiplexer may not answer at all.
//!
//! It is the only foreign program that claimtop ever runs beside its demo and the git that
//! `leftovers --trees` asks. The server's own program is
//! asked for, because another version may wait for its answer for ever.

use std::sync::Arc;

use tokio::sync::mpsc::Sender;

use crate::app::msg::{Jump, Msg};
use crate::core::fleet::transport::Machine;
use crate::core::fleet::transport::attach;
use crate::core::model::text::shown;
use crate::core::model::{Keeper, PlaceView, Untrusted};
use crate::run::bring_back::Opener;
use crate::run::threads::event::Event;
use crate::source::os::program::{ProgramError, output, output_with, run, run_slow};

/// Why a jump did not succeed.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("its pane is not known exactly")]
    Nowhere,
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// How panes of other machines are reached.
#[derive(Clone, Default)]
pub(crate) struct Ways {
    pub(crate) machines: Arc<[Machine]>,
    /// The multiplexer that the screen is in.
    pub(crate) opener: Opener,
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
    let Jump { name, machine, place, tty: _ } = jump;
    if let Some(machine) = machine {
        return elsewhere((name, machine), place, ways);
    }
    let outcome = match place.keeper {
        Some(Keeper::Tmux) => tmux(place),
        Some(Keeper::Zellij) => zellij(place),
        Some(Keeper::Kitty) => kitty(place),
        Some(Keeper::Wezterm) => wezterm(place, jump.tty.as_deref()),
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
    if ways.opener != Opener::Tmux {
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

/// Returns the lines that a pane shows; `None` if it is in no multiplexer that can be asked for one pane.
pub(crate) fn lines_of(place: &PlaceView) -> Option<Result<Vec<Untrusted>, String>> {
    let (Some(Keeper::Tmux), Ok((at, to))) = (place.keeper, tmux_pane(place)) else { return None };
    let shown = output(program(place, "tmux"), &["-S", at, "capture-pane", "-p", "-t", to]);
    Some(match shown {
        Ok(text) => Ok(String::from_utf8_lossy(&text).trim_end().lines().map(Untrusted::from).collect()),
        Err(error) => Err(error.to_string()),
    })
}

/// Returns the socket of a tmux server and a pane of it.
fn tmux_pane(place: &PlaceView) -> Result<(&str, &str), Trouble> {
    let pane = place.pane.as_ref().filter(|pane| is_number(pane.raw(), "%")).ok_or(Trouble::Nowhere)?;
    let socket = place.socket.as_ref().filter(|at| at.raw().starts_with('/')).ok_or(Trouble::Nowhere)?;
    Ok((socket.raw(), pane.raw()))
}

/// Selects the pane in its session and shows that session to the clients of the server.
fn tmux(place: &PlaceView) -> Result<String, Trouble> {
    let (at, to) = tmux_pane(place)?;
    let select = ["-S", at, "select-window", "-t", to, ";", "select-pane", "-t", to];
    run(program(place, "tmux"), &select)?;
    match run(program(place, "tmux"), &["-S", at, "switch-client", "-t", to]) {
        Ok(()) => Ok(format!("tmux shows its pane {to}")),
        Err(ProgramError::Refused(..)) => {
            Ok(format!("its pane {to} is selected; nobody is attached: tmux -S {at} attach"))
        }
        Err(error) => Err(error.into()),
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

/// Asks kitty to show the window in which it has started this very process.
fn kitty(place: &PlaceView) -> Result<String, Trouble> {
    let pane = place.pane.as_ref().filter(|pane| is_number(pane.raw(), "")).ok_or(Trouble::Nowhere)?;
    let socket = place.socket.as_ref().ok_or(Trouble::Nowhere)?;
    let pids: Vec<String> = place.pane_pids.iter().map(|pid| format!("pid:{pid}")).collect();
    if pids.is_empty() {
        return Err(Trouble::Nowhere);
    }
    let to = format!("unix:{}", socket.raw());
    // It refuses if it has started another process in that window.
    let which = format!("id:{} and ({})", pane.raw(), pids.join(" or "));
    let arguments = ["@", "--to", &to, "focus-window", "--match", &which];
    run_slow(program(place, "kitty"), &arguments)?;
    Ok(format!("kitty shows its window {pane}"))
}

/// Asks WezTerm to show the pane, if it says that this pane has the window's very terminal.
fn wezterm(place: &PlaceView, tty: Option<&str>) -> Result<String, Trouble> {
    let pane = place.pane.as_ref().filter(|pane| is_number(pane.raw(), "")).ok_or(Trouble::Nowhere)?;
    let (socket, tty) = place.socket.as_ref().zip(tty).ok_or(Trouble::Nowhere)?;
    let variables = [("WEZTERM_UNIX_SOCKET", socket.raw())];
    let ask = |arguments: &[&str]| output_with(program(place, "wezterm"), (arguments, &variables));
    let panes = ask(&["cli", "--no-auto-start", "list", "--format", "json"])?;
    if !has_pane(&panes, pane.raw(), tty) {
        return Err(Trouble::Nowhere);
    }
    ask(&["cli", "--no-auto-start", "activate-pane", "--pane-id", pane.raw()])?;
    Ok(format!("WezTerm shows its pane {pane}"))
}

/// Returns whether a list of WezTerm's panes has one of this number on this terminal.
fn has_pane(panes: &[u8], pane: &str, tty: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Pane {
        pane_id: u64,
        tty_name: Option<String>,
    }
    let panes: Vec<Pane> = serde_json::from_slice(panes).unwrap_or_default();
    let is_on = |name: &str| name.strip_prefix("/dev/").unwrap_or(name) == tty;
    panes.iter().any(|one| one.pane_id.to_string() == pane && one.tty_name.as_deref().is_some_and(is_on))
}

fn is_number(text: &str, prefix: &str) -> bool {
    let digits = text.strip_prefix(prefix).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn program<'a>(place: &'a PlaceView, usual: &'a str) -> &'a str {
    place.program.as_ref().map_or(usual, Untrusted::raw)
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
        let jump = Jump { name: "shop".to_owned(), machine: None, place, tty: Some("pts/3".to_owned()) };
        let message = go(&jump, &Ways::default());
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn what_the_program_does_is_reported() {
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
        let place = place(hanging.to_str().unwrap(), "%3");
        let jump = Jump { name: "shop".to_owned(), machine: None, place, tty: None };
        // As long as another thread's child has the script open for writing, it is busy.
        let message = std::iter::repeat_with(|| go(&jump, &Ways::default()))
            .find(|message| !message.contains("busy"))
            .unwrap();
        assert!(message.ends_with("tmux did not answer within 1 s and was ended"), "{message}");
    }

    #[test]
    fn a_pane_of_another_machine_is_named_by_the_command_for_it() {
        let machines = ["devbox", "wsl:Ubuntu"].map(|on| Machine::parse(on).unwrap());
        let ways = Ways { machines: machines.into(), opener: Opener::Nobody };
        let message = |machine: &str| {
            let (name, machine) = ("shop".to_owned(), Some(machine.to_owned()));
            go(&Jump { name, machine, place: place("tmux", "%3"), tty: None }, &ways)
        };
        let expected = "shop is on devbox; show it with: ssh -t -- devbox 'tmux -S /tmp/x select-window -t ";
        assert!(message("devbox").starts_with(expected), "{}", message("devbox"));
        assert!(message("wsl:Ubuntu").ends_with("in tmux pane %3 (socket /tmp/x): go there yourself"));
        assert!(message("unknown").ends_with("go there yourself"));
    }

    #[test]
    fn kitty_shows_a_window_only_by_its_number_and_its_process() {
        let kitty = |pane: &str, pids: &[u32]| PlaceView {
            keeper: Some(Keeper::Kitty),
            pane_pids: pids.to_vec(),
            ..place("/bin/true", pane)
        };
        check(kitty("3", &[72, 71]), "shop: kitty shows its window 3");
        check(kitty("3", &[]), "its pane is not known exactly");
        check(kitty("3 or id:4", &[71]), "its pane is not known exactly");
        check(PlaceView { program: Some("/bin/false".into()), ..kitty("3", &[71]) }, "false refused: ");
    }

    /// What `wezterm cli list --format json` prints, with what is not read left out.
    const PANES: &str = r#"[{"window_id":0,"tab_id":0,"pane_id":7,"workspace":"default","size":{"rows":24,"cols":80},
        "title":"shop","cwd":"file://vm/w","is_active":true,"tty_name":"/dev/pts/3"},{"pane_id":8,"tty_name":null}]"#;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test writes its script")]
    fn wezterm_shows_a_pane_only_if_that_has_the_windows_terminal() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("wezterm");
        let asked = folder.path().join("asked");
        let text = format!(
            "#!/bin/sh\necho \"$WEZTERM_UNIX_SOCKET $*\" >> {}\n[ \"$3\" != list ] || cat <<'END'\n{PANES}\nEND\n",
            asked.display()
        );
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let message = |pane: &str, tty: Option<&str>| {
            let place = PlaceView {
                keeper: Some(Keeper::Wezterm),
                socket: Some("/run/gui-sock-9".into()),
                ..place(script.to_str().unwrap(), pane)
            };
            let tty = tty.map(str::to_owned);
            let jump = Jump { name: "shop".to_owned(), machine: None, place, tty };
            // As long as another thread's child has the script open for writing, it is busy.
            std::iter::repeat_with(|| go(&jump, &Ways::default()))
                .find(|message| !message.contains("busy"))
                .unwrap()
        };
        assert_eq!(message("7", Some("pts/3")), "shop: WezTerm shows its pane 7");
        let expected = "/run/gui-sock-9 cli --no-auto-start list --format json\n\
                        /run/gui-sock-9 cli --no-auto-start activate-pane --pane-id 7\n";
        assert_eq!(std::fs::read_to_string(&asked).unwrap(), expected);
        for (pane, tty) in [("7", Some("pts/4")), ("8", Some("pts/3")), ("7", None), ("7 -h", Some("pts/3"))]
        {
            assert!(message(pane, tty).ends_with("its pane is not known exactly"), "{pane} {tty:?}");
        }
        assert!(!std::fs::read_to_string(&asked).unwrap().replace(expected, "").contains("activate"));
    }

    #[test]
    fn only_a_pane_is_an_argument() {
        for pane in ["%3;kill-server", "-t", "%", "3", ""] {
            check(place("/bin/true", pane), "its pane is not known exactly");
        }
    }
}
