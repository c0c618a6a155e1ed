//! Where a window is: in which multiplexer, editor or container, and from where a person came.
//!
//! These variables leak: an editor that was started from a pane hands them on to terminals of its own. So a
//! multiplexer counts only if its server stands above the window.

use crate::core::model::snapshot::process::ancestry;
use crate::core::model::{Details, Keeper, PlaceView, Process, ProcessTable, Untrusted};

pub(crate) fn place_of(process: &Process, table: &ProcessTable) -> PlaceView {
    let Some(details) = process.details.as_ref() else { return PlaceView::default() };
    let chain = ancestry(table, process.id.pid);
    let mut above = chain.iter().enumerate().skip(1);
    let seat = above.find_map(|(at, server)| {
        let below = || chain.iter().take(at).map(|process| process.id.pid).collect();
        let seat = seat_at(server, details).or_else(|| kitty(server, below, details));
        seat.or_else(|| wezterm(server, details))
    });
    let seat = seat.or_else(|| editor(details));
    let ssh = variable(details, "SSH_CONNECTION").and_then(|text| text.raw().split(' ').next());
    PlaceView {
        ssh_from: ssh.filter(|from| !from.is_empty()).map(Untrusted::from),
        inner_pid: details.ns_pids.last().copied().filter(|_| details.ns_pids.len() > 1),
        has_own_pid: details.ns_pids.len() == 1,
        ..seat.unwrap_or_default()
    }
}

/// Returns the place that a multiplexer's server above the process gives it.
fn seat_at(server: &Process, own: &Details) -> Option<PlaceView> {
    let comm = server.comm.raw();
    let pane = |name| variable(own, name).cloned();
    if comm.starts_with("tmux") {
        let mut parts = variable(own, "TMUX")?.raw().rsplitn(3, ',');
        let (session, pid, socket) = (parts.next()?, parts.next()?, parts.next()?);
        let is_this = pid.parse() == Ok(server.id.pid) || own.ns_pids.len() > 1;
        return is_this.then(|| PlaceView {
            keeper: Some(Keeper::Tmux),
            session: Some(format!("${session}").into()),
            pane: pane("TMUX_PANE"),
            socket: Some(socket.into()),
            program: program(server, own),
            ..PlaceView::default()
        });
    }
    let (keeper, session, pane) = match comm {
        "zellij" => (Keeper::Zellij, pane("ZELLIJ_SESSION_NAME")?, pane("ZELLIJ_PANE_ID")),
        "screen" | "SCREEN" => (Keeper::Screen, pane("STY")?, pane("WINDOW")),
        _ => return None,
    };
    let program = program(server, own);
    Some(PlaceView { keeper: Some(keeper), session: Some(session), pane, program, ..PlaceView::default() })
}

/// Returns the place in a window of kitty, which has started one of the processes below it there.
fn kitty(server: &Process, below: impl Fn() -> Vec<u32>, own: &Details) -> Option<PlaceView> {
    let is_this = variable(own, "KITTY_PID").is_some_and(|pid| pid.raw().parse() == Ok(server.id.pid));
    if server.comm.raw() != "kitty" || !is_this {
        return None;
    }
    let socket = variable(own, "KITTY_LISTEN_ON").and_then(|at| at.raw().strip_prefix("unix:"));
    Some(PlaceView {
        keeper: Some(Keeper::Kitty),
        pane: Some(variable(own, "KITTY_WINDOW_ID")?.clone()),
        socket: socket.filter(|at| at.starts_with(['/', '@'])).map(Untrusted::from),
        pane_pids: below(),
        program: program(server, own),
        ..PlaceView::default()
    })
}

/// Returns the place in a pane of WezTerm, whose socket bears the number of its process.
fn wezterm(server: &Process, own: &Details) -> Option<PlaceView> {
    let socket = variable(own, "WEZTERM_UNIX_SOCKET").filter(|at| at.raw().starts_with('/'))?;
    let is_this = socket.raw().ends_with(&format!("/gui-sock-{}", server.id.pid));
    if server.comm.raw() != "wezterm-gui" || !is_this {
        return None;
    }
    Some(PlaceView {
        keeper: Some(Keeper::Wezterm),
        pane: Some(variable(own, "WEZTERM_PANE")?.clone()),
        socket: Some(socket.clone()),
        program: program(server, own).map(|gui| gui.raw().trim_end_matches("-gui").into()),
        ..PlaceView::default()
    })
}

/// Returns the server's program if its name is the expected one and its user is the same, because claimtop will run
/// it.
fn program(server: &Process, own: &Details) -> Option<Untrusted> {
    let details =
        server.details.as_ref().filter(|details| details.uid.is_some() && details.uid == own.uid)?;
    let names = ["tmux", "zellij", "screen", "kitty", "wezterm-gui"];
    let name = |exe: &&Untrusted| exe.raw().rsplit('/').next().is_some_and(|name| names.contains(&name));
    details.exe.as_ref().filter(name).cloned()
}

/// Returns whether an editor keeps the process: as its own binary, or in its terminal.
fn editor(own: &Details) -> Option<PlaceView> {
    let is_own = own.exe.as_ref().is_some_and(|exe| exe.raw().contains("/native-binary/"));
    let is_in = variable(own, "TERM_PROGRAM").is_some_and(|name| name.raw() == "vscode");
    (is_own || is_in).then(|| PlaceView { keeper: Some(Keeper::Vscode), ..PlaceView::default() })
}

fn variable<'a>(details: &'a Details, name: &str) -> Option<&'a Untrusted> {
    details.env.get(name).filter(|value| !value.is_empty())
}
