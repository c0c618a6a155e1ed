//! Where a window is: in which multiplexer, editor or container, and from where a person came.
//!
//! These variables leak: an editor that was started from a pane hands them on to terminals of its
//! own. So a multiplexer counts only where its server stands above the window.

use serde::Serialize;

use super::process::{Details, Process, ProcessTable, ancestry};
use super::text::Untrusted;

/// The environment variables that say where a process is.
pub const VARIABLES: [&str; 8] = [
    "TMUX",
    "TMUX_PANE",
    "ZELLIJ_SESSION_NAME",
    "ZELLIJ_PANE_ID",
    "STY",
    "WINDOW",
    "TERM_PROGRAM",
    "SSH_CONNECTION",
];

/// What keeps a window's terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keeper {
    /// A tmux server.
    Tmux,
    /// A zellij server.
    Zellij,
    /// GNU screen.
    Screen,
    /// VS Code or an editor made of it.
    Vscode,
}

impl Keeper {
    /// Returns its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tmux => "tmux",
            Self::Zellij => "zellij",
            Self::Screen => "screen",
            Self::Vscode => "VS Code",
        }
    }
}

/// Where a window is, as far as that can be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlaceView {
    /// What keeps its terminal, beside the terminal itself.
    pub keeper: Option<Keeper>,
    /// The keeper's session: a name, or tmux's `$3`.
    pub session: Option<Untrusted>,
    /// The pane or window in it.
    pub pane: Option<Untrusted>,
    /// The socket of its tmux server.
    pub socket: Option<Untrusted>,
    /// The server's own program, which understands it whatever is installed now; only where the
    /// server is of the window's own user.
    pub program: Option<Untrusted>,
    /// The address from which a person came by ssh.
    pub ssh_from: Option<Untrusted>,
    /// Its PID inside its own PID namespace, where that is another one: a container.
    pub inner_pid: Option<u32>,
}

/// Finds where a process is.
pub fn place_of(process: &Process, table: &ProcessTable) -> PlaceView {
    let Some(details) = process.details.as_ref() else { return PlaceView::default() };
    let above: Vec<&Process> = ancestry(table, process.id.pid).into_iter().skip(1).collect();
    let seat = above.iter().find_map(|server| seat_at(server, details)).or_else(|| editor(details));
    let ssh = variable(details, "SSH_CONNECTION").and_then(|text| text.raw().split(' ').next());
    PlaceView {
        ssh_from: ssh.filter(|from| !from.is_empty()).map(Untrusted::from),
        inner_pid: details.ns_pids.last().copied().filter(|_| details.ns_pids.len() > 1),
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

/// Returns the server's program if it is called as it should be and is of the same user: it will
/// be run.
fn program(server: &Process, own: &Details) -> Option<Untrusted> {
    let details =
        server.details.as_ref().filter(|details| details.uid.is_some() && details.uid == own.uid)?;
    let name = |exe: &&Untrusted| matches!(exe.raw().rsplit('/').next(), Some("tmux" | "zellij" | "screen"));
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

impl PlaceView {
    /// Tells where to look, such as `tmux pane %3 of session $0 (socket /tmp/tmux-0/default)`.
    pub fn words(&self) -> Option<String> {
        let mut words = Vec::new();
        if let Some(keeper) = self.keeper {
            let part = |name: &str, value: &Option<Untrusted>| {
                value.as_ref().map(|value| format!(" {name} {value}")).unwrap_or_default()
            };
            let (pane, session) = (part("pane", &self.pane), part("of session", &self.session));
            let socket = self.socket.as_ref().map(|at| format!(" (socket {at})")).unwrap_or_default();
            words.push(format!("{}{pane}{session}{socket}", keeper.name()));
        }
        words.extend(self.inner_pid.map(|pid| format!("a container, as PID {pid} there")));
        words.extend(self.ssh_from.as_ref().map(|from| format!("ssh from {from}")));
        (!words.is_empty()).then(|| words.join(", "))
    }
}
