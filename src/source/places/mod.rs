//! The places of one person: the folder of each base of a format on this machine.

pub(crate) mod homes;
pub(crate) mod names;
pub(crate) mod path_trust;

use std::path::{Path, PathBuf};

use crate::format::Base;
use crate::source::database::postgres::Target;
use crate::source::database::sqlite::copies::COPIES;
use crate::source::os::fence::Fence;
use crate::source::own::descents;

/// The name of claimtop's journal in the state folder.
pub(crate) const JOURNAL: &str = "journal.jsonl";

/// The name of the folder in the state folder in which files are parked.
pub(crate) const PARKED: &str = "parked";

/// Where to look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// The temporary folder.
    pub tmp: PathBuf,
    /// The home.
    pub home: PathBuf,
    /// Claude Code's configuration folder.
    pub claude_config: PathBuf,
    /// The cache folder.
    pub cache: PathBuf,
    /// Repositories, or folders to find repositories in.
    pub roots: Vec<PathBuf>,
    /// The repository that claimtop runs in, which counts as named by the person.
    pub here: Option<PathBuf>,
    /// The folder of claimtop's own notes about which process runs which session.
    pub bindings: PathBuf,
    /// The folder of copies of databases that can only be read that way.
    pub copies: PathBuf,
    /// Databases of Obra that a person named.
    pub obra_databases: Vec<PathBuf>,
    /// LEO's database, if a person named it.
    pub leo_database: Option<Target>,
    /// Where programs are found by their names.
    pub programs: Vec<PathBuf>,
    /// Whether only these folders are read, and not the repositories of windows and records elsewhere: so with
    /// `--home` and `--tmp`.
    pub confined: bool,
    /// Whether homes, configuration folders of Claude Code and caches that windows have for themselves are read as
    /// well: not if a person has named the home.
    pub follows_homes: bool,
}

/// The name of the file of what was read of git's events.
pub(crate) const GIT_COMMANDS: &str = "git-commands.jsonl";

/// The name of the file of what an open claimtop foresees.
pub(crate) const FORECASTS: &str = "forecasts.json";

/// Returns that file in a state folder.
pub(crate) fn forecasts_in(state: &Path) -> PathBuf {
    state.join(FORECASTS)
}

/// Returns the folder of git's events in a state folder. It exists only if a person has made it: without it nothing
/// listens.
pub(crate) fn git_events_in(state: &Path) -> PathBuf {
    state.join("git-events")
}

/// Returns the file of what was read of them, beside it.
pub(crate) fn git_commands_in(state: &Path) -> PathBuf {
    state.join(GIT_COMMANDS)
}

impl Places {
    /// Returns the usual places of a home and a temporary folder, and nothing outside of them but these
    /// roots: so with `--home` and `--tmp`.
    pub fn new(home: PathBuf, tmp: PathBuf, roots: Vec<PathBuf>) -> Self {
        let state = home.join(".local/state/claimtop");
        Self {
            claude_config: home.join(".claude"),
            cache: home.join(".cache"),
            bindings: state.join("bindings"),
            copies: state.join(COPIES),
            roots,
            home,
            tmp,
            confined: true,
            ..Self::default()
        }
    }

    /// Returns the state folder, in which the notes lie.
    pub(crate) fn state(&self) -> Option<PathBuf> {
        self.bindings.parent().filter(|state| state.is_absolute()).map(Path::to_path_buf)
    }

    /// Returns the file of tombstones, which lies beside the notes.
    pub(crate) fn tombstones(&self) -> Option<PathBuf> {
        Some(self.state()?.join("tombstones.jsonl"))
    }

    /// Returns the file of descents below windows that have ended, which lies there too.
    pub(crate) fn descents(&self) -> Option<PathBuf> {
        self.tombstones().map(|path| descents::beside(&path))
    }

    /// Returns the folder in which guarded windows keep their ledgers, which lies beside the notes too.
    pub(crate) fn ledgers(&self) -> Option<PathBuf> {
        Some(self.state()?.join("guard").join("trees"))
    }

    /// Returns what may be read.
    pub(crate) fn fence(&self) -> Fence {
        // claimtop's own notes can lie elsewhere (`--state`).
        let in_state = |name: &str| self.state().map(|state| state.join(name));
        let in_state = [
            self.tombstones(),
            self.descents(),
            in_state(JOURNAL),
            in_state(PARKED),
            self.state().map(|state| git_events_in(&state)),
            self.state().map(|state| git_commands_in(&state)),
            self.state().map(|state| forecasts_in(&state)),
        ];
        let own = [&self.bindings, &self.copies].into_iter().chain(in_state.iter().flatten());
        let own = own.filter(|path| path.is_absolute());
        let folders = [&self.tmp, &self.home].into_iter().chain(&self.roots).chain(own);
        if self.confined { Fence::new(folders.map(PathBuf::as_path)) } else { Fence::default() }
    }

    /// Returns the folder of a base; repositories have many.
    pub(crate) fn folder(&self, base: Base) -> Option<&Path> {
        match base {
            Base::Tmp => Some(&self.tmp),
            Base::Home => Some(&self.home),
            Base::ClaudeConfig => Some(&self.claude_config),
            Base::Cache => Some(&self.cache),
            Base::GitCommon | Base::Worktree => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_down_elsewhere_may_be_read_and_nothing_else_there() {
        let places = Places {
            confined: true,
            bindings: "/s/claimtop/bindings".into(),
            ..Places::new("/home/dev".into(), "/tmp/dev".into(), Vec::new())
        };
        let fence = places.fence();
        for (path, is_allowed) in [
            ("/s/claimtop/bindings/a.wait", true),
            ("/s/claimtop/tombstones.jsonl", true),
            ("/s/claimtop/descents.jsonl", true),
            ("/home/dev/.claude", true),
            ("/s/claimtop/journal.jsonl", true),
            ("/s/claimtop/parked/1-1-a", true),
            ("/s/claimtop/git-events/20261129T094706.756893Z-H0a7c9cdf-P00007cdc", true),
            ("/s/claimtop/git-commands.jsonl", true),
            ("/s/claimtop/forecasts.json", true),
            ("/s/claimtop/history.ring", false),
            ("/s", false),
        ] {
            assert_eq!(fence.allows(Path::new(path)), is_allowed, "{path}");
        }
    }
}
