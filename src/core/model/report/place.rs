//! Where a window is visible: its terminal, multiplexer or editor.

use serde::{Deserialize, Serialize};

use crate::core::model::Untrusted;

/// The environment variables that identify where a process is.
pub const VARIABLES: [&str; 13] = [
    "TMUX", "TMUX_PANE", "ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID", "STY", "WINDOW", "TERM_PROGRAM",
    "SSH_CONNECTION", "KITTY_PID", "KITTY_WINDOW_ID", "KITTY_LISTEN_ON", "WEZTERM_PANE",
    "WEZTERM_UNIX_SOCKET",
];

/// What keeps a window's terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keeper {
    /// A tmux server.
    Tmux,
    /// A zellij server.
    Zellij,
    /// GNU screen.
    Screen,
    /// VS Code or an editor based on it.
    Vscode,
    /// The terminal kitty.
    Kitty,
    /// The terminal WezTerm.
    Wezterm,
}

impl Keeper {
    /// Returns its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tmux => "tmux",
            Self::Zellij => "zellij",
            Self::Screen => "screen",
            Self::Vscode => "VS Code",
            Self::Kitty => "kitty",
            Self::Wezterm => "WezTerm",
        }
    }
}

/// Where a window is, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceView {
    /// What keeps its terminal, beside the terminal itself.
    pub keeper: Option<Keeper>,
    /// The keeper's session: a name, or tmux's `$3`.
    pub session: Option<Untrusted>,
    /// The pane or window in it.
    pub pane: Option<Untrusted>,
    /// The socket of its tmux server, its kitty or its WezTerm.
    pub socket: Option<Untrusted>,
    /// The processes between kitty and the window, its own included: kitty has started one of them in the pane.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pane_pids: Vec<u32>,
    /// The server's own program, which understands it whatever is installed now; only if the server runs as the
    /// window's own user.
    pub program: Option<Untrusted>,
    /// The address from which a person came by ssh.
    pub ssh_from: Option<Untrusted>,
    /// Its PID inside its own PID namespace, if that is another one: a container.
    pub inner_pid: Option<u32>,
    /// Whether its PID is known to count in its own PID namespace, not in an outer one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_own_pid: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(is: &bool) -> bool {
    !*is
}

impl PlaceView {
    /// Returns where to look, such as `tmux pane %3 of session $0 (socket /tmp/tmux-0/default)`.
    pub fn to_text(&self) -> Option<String> {
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
