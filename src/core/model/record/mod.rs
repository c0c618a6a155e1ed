//! Session records: what a system wrote about a window, in its format's own meaning.

pub(crate) mod claim;
pub(crate) mod detail;
pub(crate) mod domain;
pub(crate) mod format;
pub(crate) mod holder;
pub(crate) mod kind;
pub(crate) mod lease;
pub(crate) mod let_go;
pub(crate) mod location;
pub(crate) mod medium;
pub(crate) mod ownership;

use std::sync::Arc;

use jiff::Timestamp;
use lean_string::LeanStr;
use serde::{Deserialize, Serialize};

use crate::core::model::text::fixed;
use crate::core::model::text::fixed::NamedTexts;
use crate::core::model::text::secret::{has_secret, hidden, hide};
use crate::core::model::{
    Code, Deletion, Evidence, Expiry, FilePath, Format, Generation, Holder, Key, KeyKind, Location, Medium,
    Ownership, RecordDetail, RecordKind, Sign, StatedClaim, Texts, Untrusted, Word,
};

/// One session record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The system that wrote it.
    pub format: Format,
    /// Its purpose.
    pub kind: RecordKind,
    /// Whether its form is the present one.
    pub generation: Generation,
    /// For people: which generation or sort of file, such as `G2 context_{PPID}`.
    #[serde(deserialize_with = "fixed::word")]
    pub variant: Word,
    /// The session ID, if it has one.
    pub session_id: Option<Untrusted>,
    /// The ID by which the system ties the record to a window.
    pub context_id: Option<Untrusted>,
    /// A short name for people.
    pub title: Untrusted,
    /// Where it was read.
    pub location: Location,
    /// What it states about its process.
    pub holder: Option<Holder>,
    /// When the session began, if stored.
    pub started_at: Option<Timestamp>,
    /// The newest sign of life that is stored.
    pub heartbeat_at: Option<Timestamp>,
    /// When the file was last written.
    pub written_at: Timestamp,
    /// When the file's inode last changed, if that is well after its last write: a copy can keep the time of the last
    /// write, and the process that made it then is younger than that (inode(7)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<Timestamp>,
    /// When its file was made, if that is known and its inode changed later: a file that was not made after its last
    /// write is not a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_at: Option<Timestamp>,
    /// Other signs that keep it alive, each for a time.
    #[serde(default)]
    pub signs: Vec<Sign>,
    /// The PID that holds a kernel lock on its file, which is then never touched; 0 if the holder is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked_by: Option<u32>,
    /// When its own system considers it stale.
    pub expiry: Option<Expiry>,
    /// When a clean-up will delete it.
    pub deletion: Option<Deletion>,
    /// The claims that it states.
    pub claims: Vec<StatedClaim>,
    /// The terminal ID, if the format has one.
    pub terminal_id: Option<Box<Untrusted>>,
    /// The working directory or worktree that it names.
    pub cwd: Option<FilePath>,
    /// The files that it claims to touch, relative to `cwd`'s repository.
    pub files: Vec<Untrusted>,
    /// Whether the session has recorded its end.
    pub has_ended: bool,
    /// Whether it contains something that only this record has and that a clean-up would lose.
    pub has_unsaved_work: bool,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// What only its system's records state and a rule depends on.
    #[serde(default, skip_serializing_if = "RecordDetail::is_none")]
    pub detail: RecordDetail,
    /// Further facts for the evidence view, name and value, which no rule reads.
    #[serde(deserialize_with = "fixed::facts")]
    pub facts: NamedTexts,
    /// The owner and the permission bits of the file, and the kind of file system it is on.
    pub ownership: Ownership,
}

impl Record {
    /// Creates a record of the present form that states only where it was read.
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
            changed_at: None,
            made_at: None,
            locked_by: None,
            signs: Vec::new(),
            expiry: None,
            deletion: None,
            claims: Vec::new(),
            terminal_id: None,
            cwd: None,
            files: Vec::new(),
            has_ended: false,
            has_unsaved_work: false,
            problems: Vec::new(),
            detail: RecordDetail::None,
            facts: Arc::default(),
            ownership,
        }
    }

    /// Returns its key, which is stable for as long as its file or row keeps its name.
    pub fn key(&self) -> Key {
        Key::of_bytes(KeyKind::Record, &[self.format.name().as_bytes(), self.location.bytes()])
    }

    /// Returns the last moment at which a process may have written it: no process started later did.
    pub(crate) fn touched_at(&self) -> Timestamp {
        self.changed_at.map_or(self.written_at, |changed_at| changed_at.max(self.written_at))
    }

    /// Returns the times that it states itself: when its session began, and its newest signs of life.
    pub(crate) fn stated_times(&self) -> impl Iterator<Item = Timestamp> {
        let updated_at = self.detail.claude_status().and_then(|status| status.updated_at);
        [self.started_at, self.heartbeat_at, updated_at].into_iter().flatten()
    }

    /// Returns the kind of file system it is on.
    pub fn medium(&self) -> Medium {
        self.ownership.medium
    }

    /// Adds one more fact for people.
    pub(crate) fn add_fact(&mut self, name: Word, value: impl Into<Untrusted>) {
        self.facts = self.facts.iter().cloned().chain([(name, value.into())]).collect();
    }

    /// Shares equal content with another record: thousands of neighbours have some in common.
    pub(crate) fn share_with(&mut self, other: &Self) {
        if self.facts == other.facts {
            self.facts.clone_from(&other.facts);
        } else {
            share_values(&mut self.facts, &other.facts);
        }
        for (problem, known) in self.problems.iter_mut().zip(&other.problems) {
            if problem == known {
                problem.clone_from(known);
            }
        }
        for (claim, known) in self.claims.iter_mut().zip(&other.claims) {
            if claim.surfaces == known.surfaces {
                claim.surfaces.clone_from(&known.surfaces);
            }
        }
    }

    /// Removes what looks like a secret from the displayed texts: title, detail, facts and problems.
    pub(crate) fn hide_secrets(&mut self) {
        hide(&mut self.title);
        let Texts { words, names } = self.detail.texts_mut();
        words.into_iter().chain(names).for_each(hide);
        if self.facts.iter().any(|(_, value)| has_secret(value.raw())) {
            Arc::make_mut(&mut self.facts).iter_mut().for_each(|(_, value)| hide(value));
        }
        if self.problems.iter().any(|problem| has_secret(&problem.message)) {
            self.problems.iter_mut().for_each(|problem| problem.message = (*hidden(&problem.message)).into());
        }
    }

    /// Returns what and where it is, as evidence.
    pub fn evidence(&self) -> Evidence {
        let what = format!("{} {}", self.format.name(), self.variant);
        Evidence::new(what, self.title.clone(), self.location.text().clone()).dated(self.written_at)
    }

    /// Returns its PID, if that can be one.
    pub fn pid(&self) -> Option<u32> {
        self.holder.as_ref()?.pid.as_ref()?.valid()
    }
}

/// Shares the values that are equal in the facts of another record.
fn share_values(facts: &mut NamedTexts, known: &NamedTexts) {
    for (fact, known) in Arc::make_mut(facts).iter_mut().zip(known.iter()).filter(|(one, other)| one == other)
    {
        fact.1.clone_from(&known.1);
    }
}

/// One problem of a file or record, found while it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The finding that it raises.
    pub code: Code,
    /// What is wrong, in words, naming the value.
    pub message: LeanStr,
}

impl Problem {
    pub(crate) fn new(code: Code, message: impl Into<LeanStr>) -> Self {
        Self { code, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::{Code, ResourceKind};

    fn record(mode: u16) -> Record {
        let location = Location::File("/f/session.json".into());
        let kind = (Format::Maia, RecordKind::Session);
        let problem = Problem::new(Code::WideMode, format!("mode {mode:04o}, wider than its system means"));
        Record {
            problems: vec![problem],
            claims: vec![StatedClaim::new(ResourceKind::AgentRole, "a", "file", None)],
            facts: [("mode", mode.to_string().into()), ("query", "what neighbours are asked".into())].into(),
            ..Record::blank(kind, location, Ownership::new(1000, mode), Timestamp::UNIX_EPOCH)
        }
    }

    #[test]
    fn neighbours_share_what_they_say_alike_and_nothing_else() {
        let text = |record: &Record| record.problems[0].message.as_ptr();
        let (first, alone) = (record(0o644), record(0o755));
        for mode in [0o644, 0o755] {
            let mut second = record(mode);
            second.share_with(&first);
            assert_eq!(second, record(mode));
            assert_eq!(text(&second) == text(&first), mode == 0o644);
            assert_eq!(Arc::ptr_eq(&second.facts, &first.facts), mode == 0o644);
            assert_eq!(second.facts[1].1.raw().as_ptr(), first.facts[1].1.raw().as_ptr());
            assert_eq!(second.claims[0].surfaces.as_ptr(), first.claims[0].surfaces.as_ptr());
        }
        assert_ne!(text(&alone), text(&first));
    }
}
