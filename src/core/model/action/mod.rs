//! Plans of actions, as data: shown before anything is touched.

pub(crate) mod order;
pub(crate) mod rescue;
pub(crate) mod setup;
pub(crate) mod stop;
pub(crate) mod unfinished;

use std::collections::BTreeSet;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::fixed;
use crate::core::model::text::fixed::Word;
use crate::core::model::{
    FilePath, Format, Key, Member, ProcessId, RescueTarget, RescueWay, SettingsEdit, Signal, Untrusted,
    Wiring,
};

/// The kind of action that a person requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Let a claim go, or end a dead record.
    Release,
    /// Move a legacy record to its present form.
    Migrate,
    /// Put a file aside.
    Park,
    /// Revert an earlier action.
    Undo,
    /// End processes.
    Stop,
    /// Bring back what a window wrote.
    Rescue,
    /// Add claimtop's hooks to agents' settings, or remove them.
    Setup,
    /// Open a dead window again.
    #[serde(rename = "bring-back")]
    BringBack,
}

/// A request for an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Something about a record or a claim.
    Act {
        /// Its key.
        key: Key,
        /// What to do.
        action: Action,
    },
    /// The same for several records, confirmed and undone as one.
    Several {
        /// Their keys.
        keys: Vec<Key>,
        /// What to do with each.
        action: Action,
    },
    /// Everything left by an ended window that is proven dead.
    Left {
        /// One of the records it left.
        of: Key,
    },
    /// A left-over or a window, with all that runs below it.
    Stop {
        /// Its key.
        key: Key,
        /// The signal to send.
        signal: Signal,
    },
    /// What windows wrote and is gone, brought back as one.
    Rescue {
        /// Which files.
        lost: RescueTarget,
        /// Where they go.
        way: RescueWay,
    },
    /// Claimtop's entries in agents' settings, confirmed and undone as one.
    Setup {
        /// The files, one for each agent.
        files: Vec<SettingsEdit>,
    },
    /// A journal entry to be undone.
    Undo {
        /// Its number.
        entry: u64,
        /// Where its files are restored.
        to: RestoreTo,
    },
}

impl Request {
    /// Returns the key of its subject; a journal entry has none.
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::Act { key, .. } | Self::Stop { key, .. } | Self::Left { of: key } => Some(key),
            Self::Several { keys, .. } => keys.first(),
            Self::Rescue { lost: RescueTarget::By(key), .. } => Some(key),
            Self::Undo { .. } | Self::Setup { .. } | Self::Rescue { lost: RescueTarget::Files(_), .. } => {
                None
            }
        }
    }

    /// Returns the requested action.
    pub fn action(&self) -> Action {
        match self {
            Self::Act { action, .. } | Self::Several { action, .. } => *action,
            Self::Left { .. } => Action::Release,
            Self::Undo { .. } => Action::Undo,
            Self::Stop { .. } => Action::Stop,
            Self::Rescue { .. } => Action::Rescue,
            Self::Setup { .. } => Action::Setup,
        }
    }

    /// Returns the settings that it changes, if it is about one file that others write to.
    pub(crate) fn shared_settings(&self) -> Option<&SettingsEdit> {
        let Self::Setup { files } = self else { return None };
        let [file] = files.as_slice() else { return None };
        matches!(file.wiring, Wiring::Hooks(_) | Wiring::Lines(_)).then_some(file)
    }

    /// Returns the machine that it is about, if its key names another one.
    pub fn machine(&self) -> Option<&str> {
        self.key()?.machine()
    }

    /// Returns the request with the key used on its own machine.
    pub(crate) fn there(&self) -> Self {
        let mut request = self.clone();
        match &mut request {
            Self::Act { key, .. }
            | Self::Stop { key, .. }
            | Self::Left { of: key }
            | Self::Rescue { lost: RescueTarget::By(key), .. } => *key = key.there(),
            Self::Several { keys, .. } => keys.iter_mut().for_each(|key| *key = key.there()),
            Self::Undo { .. } | Self::Setup { .. } | Self::Rescue { lost: RescueTarget::Files(_), .. } => {}
        }
        request
    }
}

/// Where a file is restored to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestoreTo {
    /// At its original place.
    Origin,
    /// Beside the file that is there now, under a name of its own.
    Beside,
}

/// A plan with its required confirmation, as shown to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The request.
    pub request: Request,
    /// The plan, and what must be typed if a plain yes is not enough; or why it is not done.
    pub plan: Result<(Plan, Option<String>), Obstacle>,
}

/// Why something is not done, for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Obstacle {
    /// The kind of reason.
    pub kind: ErrorKind,
    /// The reason in words.
    pub text: String,
}

/// The kind of reason why something is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// It is never done.
    Never,
    /// A person's input is not what was requested.
    NotConfirmed,
    /// The state has changed since it was seen.
    Changed,
    /// A file was written just now.
    TooYoung,
    /// Another claimtop is at work.
    Busy,
    /// The destination is already occupied.
    Taken,
    /// The system or a database refused.
    Failed,
    /// It may or may not have been done.
    Unsure,
    /// Something could not be put back.
    Stuck,
}

/// The result of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionResult {
    /// Its subject.
    pub(crate) title: String,
    /// How it ended; `None` if it was not begun.
    pub(crate) ended: Option<EndResult>,
    pub(crate) detail: String,
    /// The journal entry by which it is undone together with all that followed it; a part that only followed has none.
    pub(crate) entry: Option<u64>,
}

/// A shown plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What would be acted on.
    pub subject: Key,
    /// The record it resolves to.
    pub record: Key,
    /// The full name of the subject, which a person must type to let go of what lives: several holders of one thing
    /// have different names.
    pub name: String,
    /// The living window that has it: its name, folder and activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// Possible users although its holder is dead, as the end of a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_by: Option<String>,
    /// What would be done, in one sentence.
    pub what: String,
    /// Why it may or may not be done.
    pub why: Vec<String>,
    /// The processes that would be ended, the topmost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tree: Vec<Member>,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The plans that follow once it is done, each by its own rule and independently: a refused one does not stop the
    /// others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<Self>,
    /// How the merged files would differ from those that are there, as a unified diff.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<String>,
    /// In how many places two edits of the same lines would both stay, between markers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflicts: usize,
    /// How it would be undone.
    pub inverse: String,
    /// The command that resumes the session of a window that is ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// What would make it refuse.
    #[serde(deserialize_with = "fixed::read_words")]
    pub refuses_when: Vec<Word>,
    /// The confirmation that a person must give first.
    pub confirmation: Confirmation,
    /// Why nothing is done, if so.
    #[serde(skip)]
    pub(crate) refusal: Option<Refusal>,
    /// When the file that it is about was last written, if there is one.
    #[serde(skip)]
    pub(crate) written_at: Option<Timestamp>,
    /// Whether a file is left out as it has other work: its version can go beside it, or be merged.
    #[serde(skip)]
    pub(crate) is_in_the_way: bool,
}

/// Returns whether there is none.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Why nothing is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) why: String,
    /// What to do instead.
    pub(crate) instead: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.why, self.instead)
    }
}

impl Plan {
    /// Creates a plan without steps.
    pub(crate) fn empty(key: &Key) -> Self {
        Self {
            subject: key.clone(),
            record: key.clone(),
            name: String::new(),
            held_by: None,
            used_by: None,
            what: String::new(),
            why: Vec::new(),
            tree: Vec::new(),
            steps: Vec::new(),
            follows: Vec::new(),
            diff: Vec::new(),
            conflicts: 0,
            inverse: String::new(),
            resume: None,
            refuses_when: Vec::new(),
            confirmation: Confirmation::Refused,
            refusal: None,
            written_at: None,
            is_in_the_way: false,
        }
    }

    /// Creates a plan that does nothing, with the reason and what to do instead.
    pub(crate) fn refused(key: &Key, why: &str, instead: &str) -> Self {
        Self {
            what: format!("nothing would be done: {why}"),
            why: vec![instead.to_owned()],
            inverse: "nothing to undo".to_owned(),
            refusal: Some(Refusal { why: why.to_owned(), instead: instead.to_owned() }),
            ..Self::empty(key)
        }
    }

    /// Returns whether a plan of a newer look is about the same, unchanged thing, and asks a person the same question
    /// in the same words.
    pub(crate) fn is_same_as(&self, newer: &Self) -> bool {
        let are_same = |own: &[Self], newer: &[Self]| {
            own.len() == newer.len() && own.iter().zip(newer).all(|(one, other)| one.is_same_as(other))
        };
        let is_fixed = |step: &&Step| !matches!(step, Step::Stop { is_topmost: false, .. });
        let fixed = |plan: &'_ Self| plan.steps.iter().filter(is_fixed).cloned().collect::<Vec<_>>();
        (&self.subject, &self.record) == (&newer.subject, &newer.record)
            && (&self.what, &self.name) == (&newer.what, &newer.name)
            && (fixed(self), self.written_at) == (fixed(newer), newer.written_at)
            && self.confirmation == newer.confirmation
            && are_same(&self.follows, &newer.follows)
    }

    /// Returns the keys of the plan and of all plans that follow it.
    pub(crate) fn keys_mut(&mut self) -> Vec<&mut Key> {
        let Self { subject, record, follows, .. } = self;
        [subject, record].into_iter().chain(follows.iter_mut().flat_map(Self::keys_mut)).collect()
    }

    /// Returns the ports on which the processes that it ends listen.
    pub(crate) fn ports(&self) -> BTreeSet<u16> {
        self.tree.iter().flat_map(|member| &member.ports).map(|port| port.number).collect()
    }

    /// Returns whether it ends processes.
    pub(crate) fn ends_processes(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Stop { .. }))
    }
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "step")]
pub enum Step {
    /// Put the file aside, whole.
    Park {
        /// The file.
        path: FilePath,
    },
    /// Move the file to an empty place, and set new times.
    Move {
        /// The file.
        path: FilePath,
        /// Its new place; below the home if it begins with `~`.
        to: FilePath,
    },
    /// Put a parked file back if its place is empty.
    Restore {
        /// Its name among the parked ones.
        parked: Untrusted,
        /// Where it goes.
        to: FilePath,
    },
    /// Put a kept version in a file's place; what is there is parked first.
    BringBack {
        /// The file.
        path: FilePath,
        /// The size of the version in bytes.
        size: u64,
        /// Whether there is a file now, which is as the last commit has it.
        replaces: bool,
    },
    /// Merge a version into a file that has other work; what is there is parked first.
    Merge {
        /// The file.
        path: FilePath,
        /// The size of the result in bytes.
        size: u64,
        /// How many conflicts it has.
        conflicts: usize,
    },
    /// Change an agent's settings; what is there is parked first.
    Settings {
        /// The file.
        path: FilePath,
        /// What changes in it.
        change: String,
        /// Whether there is a file now.
        replaces: bool,
    },
    /// End a session of the entire CLI in its state file: the content is exchanged while holding the CLI's own lock.
    #[serde(rename = "exchange")]
    EndEntireSession {
        /// The state file.
        path: FilePath,
        /// Which fields change, and to what.
        change: String,
    },
    /// Change a row of a database, together with the other rows of the plan or not at all.
    Row {
        /// The format of the database.
        format: Format,
        /// The database.
        database: Untrusted,
        /// The table.
        table: String,
        /// The primary key.
        id: Untrusted,
        /// Which columns change, from what and to what.
        change: String,
    },
    /// Signal one process so that it ends.
    Stop {
        /// The process.
        #[serde(flatten)]
        id: ProcessId,
        /// What it runs, without secrets.
        command: Untrusted,
        /// The signal to send.
        signal: Signal,
        /// Whether it is the chosen process; the processes below it may come and go.
        #[serde(skip)]
        is_topmost: bool,
    },
}

/// What a person must give before a plan is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confirmation {
    /// The holder is proven dead: `y`.
    Yes,
    /// Not known: a short code.
    Code,
    /// The holder lives: the full name of the resource.
    FullName,
    /// It is never done.
    Refused,
}

/// How one moved or parked file is put back.
pub(crate) const PUT_BACK: &str = "undo puts the file back, with its bytes, mode and times";

/// The conditions under which every plan about a record's file refuses.
pub(crate) const ALWAYS: [&str; 4] = [
    "the file, its owner or its holder changed since it was seen",
    "the file is younger than 2 s or cannot be parsed",
    "the file is not a plain file of yours with one link",
    "another claimtop is at work on it",
];

/// The same for a file that is parked because it cannot be parsed.
pub(crate) const OF_BROKEN: [&str; 4] = [ALWAYS[0], "the file is younger than 2 s", ALWAYS[2], ALWAYS[3]];

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndResult {
    /// All of it was done.
    Done,
    /// The state had changed; everything is where it was.
    Changed,
    /// A step failed; everything is where it was.
    Failed,
    /// A step failed, and something could not be put back; the detail states what is where.
    Stuck,
    /// It is not known whether it was done; that is read when the database can be read.
    Unknown,
    /// Some of it was done and cannot be undone; the detail states what was not done.
    Partly,
}
