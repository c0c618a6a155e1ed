//! Who may use what a dead holder has left. Advice and actions both ask here: if there is a possible successor, no
//! finding advises a release, and no plan takes a plain yes.

use std::collections::HashMap;

use crate::core::model::{
    Binding, FarSession, JudgedRecord, Reason, RecordKind, RecordView, Untrusted, VerdictState, WindowView,
};

/// Who may use what a dead holder has left.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Successor<'a> {
    /// The window of this PID is certain to run the session already.
    Session(u32),
    /// Another machine runs the session, or did when it was last seen.
    Elsewhere(&'a FarSession),
    /// A living window has the PID now, and only times distinguish the two; by a copy of its own system the record
    /// may even be its own.
    Pid(&'a WindowView),
    /// Another record of the session proves that it lives.
    Record(&'a RecordView),
}

impl Successor<'_> {
    /// Returns why more than a plain yes is needed.
    pub(crate) fn reason(self) -> String {
        match self {
            Self::Session(pid) => format!("the session runs in PID {pid}"),
            Self::Elsewhere(session) => session.place_text(),
            Self::Pid(window) => format!("{} now has this PID and may use the record", window.agent),
            Self::Record(other) => {
                format!("another record shows that the session is alive: {}", other.location.text())
            }
        }
    }
}

/// The windows and sessions that live.
pub(crate) struct Successors<'a> {
    windows: HashMap<u32, &'a WindowView>,
    /// The sessions of which some record's holder lives, with that record.
    living: HashMap<&'a Untrusted, &'a RecordView>,
}

impl<'a> Successors<'a> {
    /// Looks through windows and records once.
    pub(crate) fn new(windows: &'a [WindowView], records: &'a [JudgedRecord]) -> Self {
        // A held lock means that its own CLI is at work, and a companion proves nothing by itself.
        let alive = records.iter().map(|record| &**record).filter(|record| {
            record.verdict.state == VerdictState::Alive
                && !matches!(record.kind, RecordKind::Lock | RecordKind::Companion)
        });
        Self {
            windows: windows.iter().map(|window| (window.pid, window)).collect(),
            living: alive.filter_map(|record| Some((record.session_id.as_ref()?, record))).collect(),
        }
    }

    /// Returns who may use what a record's dead holder has left.
    pub(crate) fn successor(&self, record: &'a RecordView) -> Option<Successor<'a>> {
        if record.verdict.state != VerdictState::Dead {
            return None;
        }
        if let Some(pid) = record.lives_in {
            return Some(Successor::Session(pid));
        }
        if let Some(session) = &record.lives_on {
            return Some(Successor::Elsewhere(session));
        }
        let is_by_time = matches!(record.verdict.reason, Reason::BornLater | Reason::OtherBoot);
        let pid = record.pid().filter(|_| is_by_time);
        if let Some(window) = pid.and_then(|pid| self.windows.get(&pid)) {
            return Some(Successor::Pid(window));
        }
        // A registry has one file for each process, and is not used by another one.
        let is_registry = record.holder.as_ref().is_some_and(|holder| holder.binding == Binding::Registry);
        let session = record.session_id.as_ref().filter(|_| !is_registry)?;
        self.living.get(session).map(|other| Successor::Record(other))
    }
}
