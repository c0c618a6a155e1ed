//! A judged record, and how the interface states it.

use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

use crate::core::model::{
    Evidence, Format, Generation, Key, Location, Reason, Record, RecordKind, Role, Untrusted, Verdict,
    VerdictState,
};

/// A record's holder, for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HolderView<'a> {
    /// The PID, if it can be one.
    pub pid: Option<u32>,
    /// Which process the PID is.
    pub role: Role,
    /// The recorded start in ticks.
    pub start_ticks: Option<u64>,
    /// The recorded boot.
    pub boot_id: Option<&'a Untrusted>,
    /// The recorded host.
    pub host: Option<&'a Untrusted>,
}

/// Whether a record is stale by its own system's rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StaleView {
    /// Whether it is.
    pub is: bool,
    /// The age in seconds of what the rule looks at; negative if it is in the future.
    pub age_seconds: i64,
    /// The rule in words.
    pub rule: &'static str,
}

/// One judged record: the record as it was read, which it gives access to, and what judging adds. Consecutive reports
/// share the views that are unchanged, so none contains the time of judging.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordView {
    /// Stable for as long as the file or row has its name.
    pub key: Key,
    /// What was read.
    pub record: Arc<Record>,
    /// Which process its PID is, if the living process shows more than the record.
    pub role: Role,
    /// What and where it is, as evidence; all findings about it share this.
    pub evidence: Evidence,
    /// Whether that process lives.
    pub verdict: Verdict,
    /// Whether it is stale by its own rule.
    pub is_stale: bool,
    /// The window that it belongs to.
    pub window: Option<Key>,
    /// That window's PID.
    pub window_pid: Option<u32>,
    /// The PID that certainly runs its session now, if its own holder is dead.
    pub lives_in: Option<u32>,
    /// Where another machine runs its session, if its own holder is dead, which is rare. A machine does not report
    /// this about another one.
    #[serde(skip)]
    pub lives_on: Option<Box<FarSession>>,
}

/// Where another machine runs the session of a dead holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarSession {
    /// The window there.
    pub window: Key,
    /// What a person has to type to take something from it: its name and its machine.
    pub label: String,
    /// The window in words, with its machine.
    pub who: String,
    /// Whether its machine is connected; otherwise this is its last report.
    pub is_heard: bool,
}

impl FarSession {
    /// Returns where the session is, in words.
    pub fn place_text(&self) -> String {
        match self.is_heard {
            true => format!("the session runs in {}", self.who),
            false => format!("the session ran in {} when its machine was last seen", self.who),
        }
    }
}

impl Deref for RecordView {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.record
    }
}

impl RecordView {
    /// Returns the record's location.
    pub fn path(&self) -> &Untrusted {
        self.record.location.text()
    }

    /// Shares equal evidence with another record: thousands of neighbours have most of it in common.
    pub(crate) fn share_with(&mut self, other: &Self) {
        let verdicts = self.verdict.evidence.iter_mut().zip(&other.verdict.evidence);
        verdicts
            .chain([(&mut self.evidence, &other.evidence)])
            .for_each(|(one, known)| one.share_with(known));
    }

    /// Replaces the verdict because of a fact that outweighs all earlier ones.
    pub(crate) fn overrule(&mut self, state: VerdictState, reason: Reason, fact: Evidence) {
        let known = self.verdict.evidence.iter().cloned();
        let evidence = [fact].into_iter().chain(known).collect();
        self.verdict = Verdict { state, reason, in_other_namespace: false, evidence };
    }

    /// Returns what and where it is, as evidence.
    pub fn evidence(&self) -> Evidence {
        self.evidence.clone()
    }

    /// Returns the evidence for its verdict, and the record's location.
    pub fn all_evidence(&self) -> Vec<Evidence> {
        self.verdict.evidence.iter().cloned().chain([self.evidence()]).collect()
    }

    /// Returns where another machine runs its session now.
    pub fn runs_elsewhere(&self) -> Option<&FarSession> {
        self.lives_on.as_deref().filter(|session| session.is_heard)
    }

    /// Returns the statement of another machine's witness about its holder, if the verdict rests on it.
    pub fn witness(&self) -> Option<&Evidence> {
        self.verdict.evidence.first().filter(|_| self.verdict.reason == Reason::Witnessed)
    }

    /// Returns whether it is stale by its own rule, with that rule.
    pub fn stale(&self, now: Timestamp) -> StaleView {
        let own = self.record.expiry.as_ref().map(|expiry| expiry.rule);
        let rule = own.unwrap_or("its system has no time limit for it");
        let last = self.record.heartbeat_at.unwrap_or(self.record.written_at);
        StaleView { is: self.is_stale, age_seconds: now.duration_since(last).as_secs(), rule }
    }

    /// Returns its holder for display.
    pub fn holder_view(&self) -> Option<HolderView<'_>> {
        self.record.holder.as_ref().map(|holder| HolderView {
            pid: self.record.pid(),
            role: self.role,
            start_ticks: holder.start_ticks,
            boot_id: holder.boot_id(),
            host: holder.host(),
        })
    }

    /// Returns its form in the interface at a moment.
    pub fn shape(&self, now: Timestamp) -> RecordShape<'_> {
        RecordShape {
            key: &self.key,
            format: self.format,
            kind: self.kind,
            generation: self.generation,
            variant: self.variant,
            session_id: self.session_id.as_ref(),
            context_id: self.context_id.as_ref(),
            title: &self.title,
            location: &self.location,
            holder: self.holder_view(),
            verdict: &self.verdict,
            heartbeat_at: self.heartbeat_at,
            stale: self.stale(now),
            ended: self.has_ended,
            window: self.window.as_ref(),
            written_at: self.written_at,
            facts: &self.facts,
        }
    }
}

/// A judged record's form in the interface at a moment.
#[derive(Serialize)]
pub struct RecordShape<'a> {
    key: &'a Key,
    format: Format,
    kind: RecordKind,
    generation: Generation,
    variant: &'static str,
    session_id: Option<&'a Untrusted>,
    context_id: Option<&'a Untrusted>,
    title: &'a Untrusted,
    #[serde(serialize_with = "location")]
    location: &'a Location,
    holder: Option<HolderView<'a>>,
    verdict: &'a Verdict,
    heartbeat_at: Option<Timestamp>,
    stale: StaleView,
    ended: bool,
    window: Option<&'a Key>,
    written_at: Timestamp,
    facts: &'a [(&'static str, Untrusted)],
}

/// Serializes the location of a record for the interface.
pub(crate) fn location<S: Serializer>(location: &Location, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Shape<'a> {
        File { path: &'a Untrusted },
        Row { database: &'a Untrusted, table: &'static str, id: &'a Untrusted },
    }
    match location {
        Location::File(path) => Shape::File { path: path.text() },
        Location::Row(row) => Shape::Row { database: &row.database, table: row.table, id: &row.id },
    }
    .serialize(serializer)
}

/// A record with everything that judging adds.
pub type JudgedRecord = Arc<RecordView>;
