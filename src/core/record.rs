//! Session records: what some system wrote about a window, with its format's own meaning.

mod claim;
mod domain;
mod format;
mod holder;
mod lease;
mod location;
mod medium;
mod problem;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::claim::{Resource, ResourceKind, StatedClaim, Surface, SurfaceState};
pub use self::domain::Domain;
pub use self::format::{DAEMON, EDITOR, Format, LetGo, TASK, TEAM};
pub use self::holder::{Binding, Holder, HolderNames, Role, StatedPid};
pub use self::lease::{Deletion, Expiry, Sign, Spares};
pub use self::location::{Location, Row};
pub use self::medium::Medium;
pub use self::problem::Problem;
use super::fixed::{self, Word};
use super::list::{List, Rare};
use super::path_text::SharedPath;
use super::secret::{has_secret, hidden, hide};
use super::text::Untrusted;

/// Whether a record has its system's present form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// As the newest code of that system writes it.
    Current,
    /// In a place or form that only older code wrote.
    Legacy,
}

/// What a record is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordKind {
    /// It describes a session of one window.
    Session,
    /// It ties a session ID to a process (a marker, a live registry).
    Marker,
    /// It points at a session ID without naming a process.
    Pointer,
    /// A liveness daemon's record.
    Tick,
    /// A lock.
    Lock,
    /// It belongs to a session record and has no life of its own.
    Companion,
    /// Names, colours and other facts about a session or a worktree.
    Metadata,
    /// What an interrupted write left.
    Temporary,
}

/// One session record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The system that wrote it.
    pub format: Format,
    /// What it is for.
    pub kind: RecordKind,
    /// Whether its form is the present one.
    pub generation: Generation,
    /// For people: which generation or sort of file, such as `G2 context_{PPID}`.
    #[serde(deserialize_with = "fixed::word")]
    pub variant: Word,
    /// The session ID, if it has one.
    pub session_id: Option<Untrusted>,
    /// What the system ties the record to a window with.
    pub context_id: Option<Untrusted>,
    /// A short name for people.
    pub title: Untrusted,
    /// Where it was read.
    pub location: Location,
    /// What it says about its process.
    pub holder: Option<Holder>,
    /// When the session began, if stored.
    pub started_at: Option<Timestamp>,
    /// The newest sign of life that is stored.
    pub heartbeat_at: Option<Timestamp>,
    /// When the file was last written.
    pub written_at: Timestamp,
    /// What else keeps it alive, each for a time.
    #[serde(default)]
    pub signs: Rare<Sign>,
    /// When its own system calls it stale.
    pub expiry: Option<Expiry>,
    /// When some clean-up will delete it.
    pub deletion: Option<Deletion>,
    /// The claims that it states.
    pub claims: Box<[StatedClaim]>,
    /// The terminal ID, if the format has one.
    pub terminal_id: Option<Box<Untrusted>>,
    /// The working directory or worktree that it names.
    pub cwd: Option<SharedPath>,
    /// The files that it says it touches, relative to `cwd`'s repository.
    pub files: Rare<Untrusted>,
    /// Whether the session says that it has ended.
    pub has_ended: bool,
    /// Whether it says something that only this record holds and a clean-up would lose.
    pub has_unsaved_work: bool,
    /// What is wrong with it.
    pub problems: List<Problem>,
    /// Further facts for the evidence view: name and value.
    #[serde(deserialize_with = "fixed::facts")]
    pub facts: List<(&'static str, Untrusted)>,
    /// Who owns the file, with which permission bits, and on what kind of file system it lies.
    pub ownership: Ownership,
}

impl Record {
    /// Makes one of the present form that says nothing but where it was read.
    pub fn blank(
        (format, kind): (Format, RecordKind),
        location: Location,
        ownership: Ownership,
        written_at: Timestamp,
    ) -> Self {
        Self {
            format,
            kind,
            generation: Generation::Current,
            variant: "",
            session_id: None,
            context_id: None,
            title: Untrusted::default(),
            location,
            holder: None,
            started_at: None,
            heartbeat_at: None,
            written_at,
            signs: Rare::default(),
            expiry: None,
            deletion: None,
            claims: Box::default(),
            terminal_id: None,
            cwd: None,
            files: Rare::default(),
            has_ended: false,
            has_unsaved_work: false,
            problems: List::default(),
            facts: List::default(),
            ownership,
        }
    }

    /// Returns on what kind of file system it lies.
    pub fn medium(&self) -> Medium {
        self.ownership.medium
    }

    /// Takes what looks like a secret out of what is only for people: title, facts and problems.
    pub fn without_secrets(mut self) -> Self {
        hide(&mut self.title);
        if self.facts.iter().any(|(_, value)| has_secret(value.raw())) {
            self.facts.iter_mut().for_each(|(_, value)| hide(value));
        }
        if self.problems.iter().any(|problem| has_secret(&problem.message)) {
            self.problems.iter_mut().for_each(|problem| problem.message = (*hidden(&problem.message)).into());
        }
        self
    }

    /// Returns the PID that it states, if that can be one.
    pub fn pid(&self) -> Option<u32> {
        self.holder.as_ref()?.pid.as_ref()?.valid()
    }
}

/// Owner and permission bits of a file, and what they are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ownership {
    /// The owner.
    pub uid: u32,
    /// The permission bits (07777).
    pub mode: u16,
    /// What kind of file system the file lies on.
    #[serde(default, skip_serializing_if = "Medium::is_local")]
    pub medium: Medium,
}

impl Ownership {
    /// Returns that of a file on a disk of this machine.
    pub fn new(uid: u32, mode: u16) -> Self {
        Self { uid, mode, medium: Medium::Local }
    }
}
