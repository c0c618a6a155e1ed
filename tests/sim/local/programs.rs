//! The programs of processes, as the kernel shows them.

/// The program of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Claude,
    Codex,
    Opencode,
    /// An agent that an interpreter runs.
    Gemini,
    /// Claude Code's daemon, the keeper of a terminal below it, and the session in that.
    Daemon,
    PtyHost,
    Worker,
    /// A shell that an agent runs a hook in, or a person works in.
    Shell,
    /// A script that starts an agent and ends.
    Script,
    Sleep,
    /// A server of the Model Context Protocol, and the shell that one may run behind.
    Mcp,
    Wrapper,
    /// A command of an agent's Bash tool.
    Tool,
    Server,
    Loop,
    Tmux,
    Vim,
    /// A user's systemd, and another program that adopts orphans.
    Keeper,
    Reaper,
}

const CLAUDE: &str = "/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe";
const SNAPSHOT: &str =
    "source /home/dev/.claude/shell-snapshots/snapshot-bash-1-a.sh && eval 'x' < /dev/null";

impl Sort {
    /// Returns the kernel's name for it, its executable, and its arguments.
    pub(crate) fn look(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::Claude => ("claude", CLAUDE, &["claude"]),
            Self::Codex => {
                ("codex", "/opt/node_modules/@openai/codex-linux-x64/vendor/x/bin/codex", &["codex"])
            }
            Self::Opencode => {
                ("opencode", "/opt/node_modules/opencode-linux-x64/bin/opencode", &["opencode"])
            }
            Self::Gemini => ("node", "/usr/bin/node", &["node", "/opt/node_modules/.bin/gemini"]),
            Self::Daemon => ("claude", CLAUDE, &["claude", "daemon", "run"]),
            Self::PtyHost => ("claude", CLAUDE, &["claude", "--bg-pty-host", "/tmp/s"]),
            Self::Worker => ("claude", CLAUDE, &["claude", "--bg-spare", "/tmp/s"]),
            Self::Shell => ("bash", "/usr/bin/bash", &["bash"]),
            Self::Script => ("start", "/usr/bin/dash", &["sh", "./start"]),
            Self::Sleep => ("sleep", "/usr/bin/sleep", &["sleep"]),
            Self::Mcp => ("node", "/usr/bin/node", &["node", "/srv/mcp/index.js"]),
            Self::Wrapper => ("sh", "/usr/bin/dash", &["sh", "-c", "serve"]),
            Self::Tool => ("bash", "/usr/bin/bash", &["/bin/bash", "-c", SNAPSHOT]),
            Self::Server => ("python3", "/usr/bin/python3", &["python3", "-m", "http.server"]),
            Self::Loop => ("sh", "/usr/bin/dash", &["sh", "-c", "while sleep 1; do :; done"]),
            Self::Tmux => ("tmux: server", "/usr/bin/tmux", &["tmux"]),
            Self::Vim => ("vim", "/usr/bin/vim", &["vim", "notes"]),
            Self::Keeper => ("systemd", "/usr/lib/systemd/systemd", &["systemd", "--user"]),
            Self::Reaper => ("tini", "/usr/bin/tini", &["tini"]),
        }
    }

    /// Returns whether it existed before any window left a process.
    pub(crate) fn is_left_by_windows(self) -> bool {
        match self {
            Self::Mcp | Self::Wrapper | Self::Tool | Self::Server | Self::Loop => true,
            Self::Claude
            | Self::Codex
            | Self::Opencode
            | Self::Gemini
            | Self::Daemon
            | Self::PtyHost
            | Self::Worker => false,
            Self::Shell
            | Self::Script
            | Self::Sleep
            | Self::Tmux
            | Self::Vim
            | Self::Keeper
            | Self::Reaper => false,
        }
    }
}
