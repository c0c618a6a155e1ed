//! What a change is about, with what is needed to tell it.

use serde::Serialize;

use crate::core::model::text::shown;
use crate::core::model::{
    ClaimStatus, ClaimView, Code, Finding, Format, Key, Location, Reason, RecordView, Resource, Sentence,
    Severity, Untrusted, VerdictState, WindowState, WindowView,
};

/// What an event is about, with what is needed to tell it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Subject {
    Window {
        key: Key,
        pid: u32,
        agent: String,
        /// What its process does.
        state: WindowState,
        /// Its working directory.
        cwd: Option<Untrusted>,
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
        /// The rule that decided.
        reason: Reason,
        #[serde(serialize_with = "crate::core::model::judged::location")]
        location: Location,
    },
    Claim {
        key: Key,
        /// What is held.
        resource: Resource,
        /// How it stands; nothing when it is gone.
        status: Option<ClaimStatus>,
        /// How it stood; nothing when it is new.
        was: Option<ClaimStatus>,
        /// The record that states it.
        record: Key,
    },
    /// A problem.
    Finding {
        code: Code,
        /// How bad it is.
        severity: Severity,
        subjects: Vec<Key>,
        /// What is wrong.
        message: Sentence,
    },
}

impl Subject {
    /// Returns the keys of what it is about, its own first.
    pub(crate) fn keys(&self) -> Vec<Key> {
        match self {
            Self::Window { key, .. } | Self::Record { key, .. } => vec![key.clone()],
            Self::Claim { key, record, .. } => vec![key.clone(), record.clone()],
            Self::Finding { subjects, .. } => subjects.to_vec(),
        }
    }

    /// Returns how bad a finding is.
    pub(crate) fn severity(&self) -> Option<Severity> {
        match self {
            Self::Window { .. } | Self::Record { .. } | Self::Claim { .. } => None,
            Self::Finding { severity, .. } => Some(*severity),
        }
    }

    /// Tells it in one line, safe to show; its key comes last.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Window { key, pid, agent, cwd, .. } => {
                let folder = cwd.as_ref().map_or_else(String::new, |cwd| format!(" in {cwd}"));
                format!("{} {pid}{folder} ({key})", shown(agent))
            }
            Self::Record { key, format, title, verdict, reason, location, .. } => {
                let (word, why) = (verdict.name(), reason.name());
                format!("{} {title}: {word} ({why}) {location} ({key})", format.name())
            }
            Self::Claim { key, resource, status, was, .. } => {
                let now = status.map_or("gone", ClaimStatus::name);
                let was = was.map_or_else(String::new, |was| format!(", was {}", was.name()));
                format!("{} {}: {now}{was} ({key})", resource.kind.name(), resource.id)
            }
            Self::Finding { code, severity, message, .. } => {
                format!("{} {}: {}", severity.name(), code.name(), shown(&message.to_string()))
            }
        }
    }
}

pub(crate) fn of_window(window: &WindowView) -> Subject {
    Subject::Window {
        key: window.key.clone(),
        pid: window.pid,
        agent: window.agent.clone(),
        state: window.state,
        cwd: window.cwd.clone(),
    }
}

pub(crate) fn of_record(record: &RecordView) -> Subject {
    Subject::Record {
        key: record.key.clone(),
        format: record.format,
        session_id: record.session_id.clone(),
        title: record.title.clone(),
        verdict: record.verdict.state,
        reason: record.verdict.reason,
        location: record.location.clone(),
    }
}

pub(crate) fn of_claim(claim: &ClaimView, status: Option<ClaimStatus>, was: Option<ClaimStatus>) -> Subject {
    Subject::Claim {
        key: claim.key.clone(),
        resource: claim.resource.clone(),
        status,
        was,
        record: claim.record.key.clone(),
    }
}

pub(crate) fn of_finding(finding: &Finding) -> Subject {
    Subject::Finding {
        code: finding.code,
        severity: finding.severity,
        subjects: finding.subjects.clone(),
        message: finding.message.clone(),
    }
}
