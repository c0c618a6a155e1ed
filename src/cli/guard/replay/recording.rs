//! The form of a recording of guards: one JSON value a line, of what happened and what was asked, in order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The name of the form; the first line of each file.
pub(super) const SCHEMA: &str = "claimtop.guard-recording.v1";

/// One line. Paths are below the world's folder; in a hook's input `$ROOT` stands for that.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Line {
    Schema(String),
    /// Another world begins, empty, at no time.
    World(String),
    /// The clock stands at so many milliseconds since then.
    At(u64),
    /// A person has written this configuration.
    Config(String),
    /// A window was opened.
    Opened(NewWindow),
    /// It has died.
    Died(String),
    /// A file has this text now.
    Wrote {
        path: String,
        text: String,
    },
    Removed(String),
    /// A name leads to another one.
    Linked {
        path: String,
        to: String,
    },
    /// Git did something in a working tree.
    Git {
        tree: String,
        verb: Verb,
        #[serde(default)]
        names: Vec<String>,
    },
    /// A file is to have this text, else the recording is not sound.
    Holds {
        path: String,
        text: String,
    },
    /// An agent ran its hook.
    Call {
        window: String,
        /// The input, byte by byte but for `$ROOT`.
        hook: Box<RawValue>,
        expect: Option<Expectation>,
    },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewWindow {
    pub(super) window: String,
    /// As `--for` names it.
    pub(super) agent: String,
    /// None for one whose hooks a daemon runs.
    pub(super) pid: Option<u32>,
    /// The window whose process runs this one.
    pub(super) below: Option<String>,
}

/// What git can be recorded to do: nothing that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verb {
    /// Begins a repository.
    Init,
    /// Commits these paths, or all that it knows.
    Commit,
    /// Commits all, new files too.
    CommitAll,
    /// Commits these paths into the last commit.
    Amend,
    /// Takes the last commit back and leaves its files.
    Uncommit,
    Stash,
    StashAll,
    StashPop,
    /// Takes these paths from the last commit.
    Restore,
    ResetHard,
    /// Removes what it does not know.
    Clean,
    /// Begins a branch and checks it out.
    Branch,
    Switch,
    Merge,
    /// Makes a linked working tree of a new branch by its last name.
    Worktree,
}

/// What is true of a call, and is therefore to be said.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Expectation {
    pub(super) said: Speech,
    /// Which windows have uncommitted edits, of which files as they lie in their working tree.
    pub(super) about: BTreeMap<String, Vec<String>>,
    /// Earlier windows of the same session, by which one may be named whose hooks have not shown it here yet.
    pub(super) earlier: BTreeMap<String, Vec<String>>,
    /// Why no hook can see it; then silence is right as well.
    pub(super) hidden: Option<String>,
}

/// How an agent is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Speech {
    #[default]
    None,
    Brief,
    Note,
    HoldUp,
    Ask,
    Deny,
}

impl Speech {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::Brief => "brief",
            Self::Note => "note",
            Self::HoldUp => "hold-up",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}
