//! The subject of a change, with everything needed to report it.

use serde::Serialize;

use crate::core::model::{
    ClaimStatus, ClaimView, Code, Finding, Format, Key, Location, Reason, RecordView, Resource, Sentence,
    Severity, Untrusted, VerdictState, Waiting, WindowDoing, WindowState, WindowView,
};

/// The subject of an event, with everything needed to report it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Subject {
    Window {
        key: Key,
        pid: u32,
        agent: Untrusted,
        /// The state of its process.
        state: WindowState,
        /// Its activity.
        doing: Option<WindowDoing>,
        /// Its working directory.
        cwd: Option<Untrusted>,
        /// Its name for people.
        name: String,
        /// What it waits for.
        #[serde(skip_serializing_if = "Option::is_none")]
        waiting: Option<Waiting>,
        #[serde(skip)]
        turn: WindowTurn,
    },
    Record {
        key: Key,
        /// The system that wrote it.
        format: Format,
        session_id: Option<Untrusted>,
        /// Its short name.
        title: Untrusted,
        /// Whether its holder lives.
        verdict: VerdictState,
        /// The deciding rule.
        reason: Reason,
        #[serde(serialize_with = "crate::core::model::report::judged::location")]
        location: Location,
        /// The earlier state of its holder, if that has changed.
        #[serde(skip)]
        was: Option<VerdictState>,
    },
    Claim {
        key: Key,
        /// The resource.
        resource: Resource,
        /// Its status; `None` when it is gone.
        status: Option<ClaimStatus>,
        /// Its earlier status; `None` when it is new.
        was: Option<ClaimStatus>,
        /// The record that states it.
        record: Key,
        /// The resource, in words.
        thing: String,
        /// Its holder: the window, or the name of the record.
        holder: String,
    },
    /// A problem.
    Finding {
        code: Code,
        /// The severity.
        severity: Severity,
        subjects: Vec<Key>,
        /// The message.
        message: Sentence,
    },
}

impl Subject {
    /// Returns the keys of its subjects, its own first.
    pub(crate) fn keys(&self) -> Vec<Key> {
        match self {
            Self::Window { key, .. } | Self::Record { key, .. } => vec![key.clone()],
            Self::Claim { key, record, .. } => vec![key.clone(), record.clone()],
            Self::Finding { subjects, .. } => subjects.to_vec(),
        }
    }

    /// Returns the severity of a finding.
    pub(crate) fn severity(&self) -> Option<Severity> {
        match self {
            Self::Window { .. } | Self::Record { .. } | Self::Claim { .. } => None,
            Self::Finding { severity, .. } => Some(*severity),
        }
    }
}

/// A reported change of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WindowTurn {
    /// It is there.
    #[default]
    Runs,
    /// Its process was stopped.
    Stopped,
    /// Its process continues.
    Continued,
    /// It runs another session.
    Session,
    /// It works in another folder, or has another context.
    Moved,
    /// It no longer waits.
    Answered,
    /// Its process is proven to have ended.
    Died,
    /// It is no longer visible, and nothing proves that it has ended.
    Unseen,
}

pub(crate) fn of_window(window: &WindowView, turn: WindowTurn) -> Subject {
    Subject::Window {
        key: window.key.clone(),
        pid: window.pid,
        agent: window.agent.clone(),
        state: window.state,
        doing: window.doing,
        cwd: window.cwd.clone(),
        name: window.title(),
        waiting: window.waiting.as_deref().cloned(),
        turn,
    }
}

pub(crate) fn of_record(record: &RecordView, was: Option<VerdictState>) -> Subject {
    Subject::Record {
        key: record.key.clone(),
        format: record.format,
        session_id: record.session_id.clone(),
        title: record.title.clone(),
        verdict: record.verdict.state,
        reason: record.verdict.reason,
        location: record.location.clone(),
        was,
    }
}

pub(crate) fn of_claim(
    claim: &ClaimView,
    windows: &[WindowView],
    (status, was): (Option<ClaimStatus>, Option<ClaimStatus>),
) -> Subject {
    let window = windows.iter().find(|window| Some(&window.key) == claim.window.as_ref());
    Subject::Claim {
        key: claim.key.clone(),
        resource: claim.resource.clone(),
        status,
        was,
        record: claim.record.key.clone(),
        thing: claim.thing(),
        holder: window.map_or_else(|| claim.holder(), |window| window.title()),
    }
}

pub(crate) fn of_finding(finding: &Finding) -> Subject {
    Subject::Finding {
        code: finding.code,
        severity: finding.severity,
        subjects: finding.subjects.to_vec(),
        message: finding.message.clone(),
    }
}
