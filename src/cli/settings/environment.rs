//! The one place where the environment is read.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use directories::BaseDirs;

pub(crate) use crate::core::judge::window::stand_in::STAND_IN_VARIABLE;
use crate::core::model::report::context::{CONTEXT_VARIABLE, SESSION_VARIABLE};
use crate::core::model::{Secret, Untrusted};

/// The variable that says what is played of what a window of the demo leaves running.
pub(crate) const PART_VARIABLE: &str = "CLAIMTOP_STAND_IN_PART";

/// With these git uses something else than it would find.
const GIT_VARIABLES: [&str; 5] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];

/// What the environment says; variables that are empty count as not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    /// The working folder.
    pub(crate) folder: Option<PathBuf>,
    /// The home, from `HOME` or the user database.
    pub(crate) home: Option<PathBuf>,
    /// The folder of configurations (`XDG_CONFIG_HOME`, or the platform's own).
    pub(crate) config: Option<PathBuf>,
    /// `XDG_CACHE_HOME`, where it is an absolute path as its specification wants.
    pub(crate) cache: Option<PathBuf>,
    /// The folder of states (`XDG_STATE_HOME`, or the platform's own).
    pub(crate) state: Option<PathBuf>,
    /// The folders of `PATH`.
    pub(crate) programs: Vec<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`.
    pub(crate) claude_config: Option<PathBuf>,
    /// Where other agents keep their settings, if that is elsewhere than in the home.
    pub(crate) agents: AgentFolders,
    /// `CLAUDE_SESSION_ID`: the context ID that a person or a system gave.
    pub(crate) context_id: Option<Untrusted>,
    /// `CLAUDE_CODE_SESSION_ID`: Claude Code's own session.
    pub(crate) session_id: Option<Untrusted>,
    /// `PGPASSWORD`.
    pub(crate) postgres_password: Option<Secret>,
    /// `PGPASSFILE`.
    pub(crate) postgres_password_file: Option<PathBuf>,
    /// `PGSSLMODE`.
    pub(crate) postgres_ssl_mode: Option<String>,
    /// `PGSSLROOTCERT`.
    pub(crate) postgres_root_cert: Option<PathBuf>,
    /// Why colours are not wanted: `NO_COLOR`, or a terminal without any.
    pub(crate) colorless: Option<&'static str>,
    /// Whether the locale has ASCII alone (`LC_ALL`, `LC_CTYPE`, `LANG`: `C` or `POSIX`; locale(7)).
    pub(crate) is_ascii: bool,
    /// Whether the terminal says that it shows 24-bit colours (`COLORTERM`).
    pub(crate) has_truecolor: bool,
    /// Whether the terminal says that its ground is light (`COLORFGBG`).
    pub(crate) has_light_ground: bool,
    /// Whether the terminal can only print one line after the other (`TERM=dumb`).
    pub(crate) is_dumb: bool,
    /// Whether claimtop runs in a pane of tmux (`TMUX`).
    pub(crate) is_in_tmux: bool,
    /// Whether claimtop runs in a pane of zellij (`ZELLIJ`).
    pub(crate) is_in_zellij: bool,
    /// Whether git is to use another repository, working tree or index than it would find (git(1)).
    pub(crate) is_git_elsewhere: bool,
}

impl Environment {
    pub(crate) fn read() -> Self {
        let folders = BaseDirs::new();
        Self {
            folder: std::env::current_dir().ok(),
            home: folders.as_ref().map(|folders| folders.home_dir().to_path_buf()),
            config: folders.as_ref().map(|folders| folders.config_dir().to_path_buf()),
            cache: variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()),
            state: folders.as_ref().and_then(|folders| folders.state_dir().map(PathBuf::from)),
            programs: variable("PATH")
                .iter()
                .flat_map(std::env::split_paths)
                .filter(|path| path.is_absolute())
                .collect(),
            claude_config: variable("CLAUDE_CONFIG_DIR").map(PathBuf::from),
            agents: AgentFolders::read(),
            context_id: text(CONTEXT_VARIABLE),
            session_id: text(SESSION_VARIABLE),
            postgres_password: plain("PGPASSWORD").map(Secret),
            postgres_password_file: variable("PGPASSFILE").map(PathBuf::from),
            postgres_ssl_mode: plain("PGSSLMODE"),
            postgres_root_cert: variable("PGSSLROOTCERT").map(PathBuf::from),
            colorless: colorless(),
            is_ascii: ["LC_ALL", "LC_CTYPE", "LANG"]
                .iter()
                .find_map(|name| plain(name))
                .is_some_and(|locale| locale == "C" || locale == "POSIX"),
            has_truecolor: variable("COLORTERM")
                .is_some_and(|value| value == "truecolor" || value == "24bit"),
            has_light_ground: plain("COLORFGBG").is_some_and(|value| is_light(&value)),
            is_dumb: is_dumb(),
            is_in_tmux: variable("TMUX").is_some(),
            is_in_zellij: variable("ZELLIJ").is_some(),
            is_git_elsewhere: GIT_VARIABLES.iter().any(|name| variable(name).is_some()),
        }
    }
}

/// Where agents keep their settings, as their own variables say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AgentFolders {
    /// `CODEX_HOME`, in place of `~/.codex`.
    pub(crate) codex: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`, in place of the home above `.gemini`.
    pub(crate) gemini_home: Option<PathBuf>,
    /// `QWEN_HOME`, in place of `~/.qwen`.
    pub(crate) qwen: Option<PathBuf>,
    /// `COPILOT_HOME`, in place of `~/.copilot`.
    pub(crate) copilot: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, in place of `~/.config`; opencode reads it on every system.
    pub(crate) config: Option<PathBuf>,
}

impl AgentFolders {
    fn read() -> Self {
        let folder = |name| variable(name).and_then(|path| std::path::absolute(path).ok());
        Self {
            codex: folder("CODEX_HOME"),
            gemini_home: folder("GEMINI_CLI_HOME"),
            qwen: folder("QWEN_HOME"),
            copilot: folder("COPILOT_HOME"),
            config: folder("XDG_CONFIG_HOME"),
        }
    }
}

/// Returns how long a guard may take at most, in milliseconds, where a person allows it more or less.
pub(crate) fn guard_patience() -> Option<u64> {
    plain(PATIENCE_VARIABLE)?.parse().ok()
}

/// Returns whether this process plays a window of the demo.
pub(crate) fn is_stand_in() -> bool {
    variable(STAND_IN_VARIABLE).is_some()
}

/// Returns what this process plays of what a window of the demo leaves running.
pub(crate) fn part() -> Option<String> {
    plain(PART_VARIABLE)
}

/// See <https://no-color.org>; a dumb terminal has no colours either.
fn colorless() -> Option<&'static str> {
    if variable("NO_COLOR").is_some() {
        return Some("NO_COLOR");
    }
    is_dumb().then_some("TERM=dumb")
}

fn is_dumb() -> bool {
    variable("TERM").is_some_and(|term| term == "dumb")
}

/// Returns whether `COLORFGBG`, such as `0;15` or `0;default;15`, ends with a light one of the
/// sixteen colours: the last is the ground.
fn is_light(colors: &str) -> bool {
    matches!(colors.rsplit(';').next().map(str::parse), Some(Ok(7 | 9..=15)))
}

/// Names how long a guard may take.
const PATIENCE_VARIABLE: &str = "CLAIMTOP_GUARD_MS";

fn plain(name: &str) -> Option<String> {
    variable(name)?.into_string().ok()
}

fn text(name: &str) -> Option<Untrusted> {
    variable(name).map(|value| Untrusted::from_bytes(value.as_bytes()))
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_colour_is_the_ground() {
        for (colors, expected) in [
            ("0;15", true),
            ("0;default;7", true),
            ("15;0", false),
            ("7;8", false),
            ("15;default", false),
            ("default;", false),
        ] {
            assert_eq!(is_light(colors), expected, "{colors}");
        }
    }
}
