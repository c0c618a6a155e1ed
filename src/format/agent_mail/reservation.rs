//! A reservation, wherever it was read.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{Code, Expiry, Problem, Record, RecordDetail, ResourceKind, StatedClaim, Untrusted};
use crate::format::reading::draft;

/// For how long a reservation is shown after it has expired; they are never removed.
const SHOWN_FOR: SignedDuration = SignedDuration::from_hours(24);

/// The fields of a reservation in one place.
pub(super) struct Reservation {
    /// The files, as a glob below the project.
    pub(super) pattern: Untrusted,
    /// The name of the agent that reserved them.
    pub(super) agent: Option<Untrusted>,
    /// The working tree.
    pub(super) tree: Option<String>,
    /// The project: an absolute path, or a name.
    pub(super) project: Option<String>,
    /// Whether no other agent may touch them.
    pub(super) is_exclusive: bool,
    /// Its reason.
    pub(super) reason: Option<String>,
    pub(super) branch: Option<Untrusted>,
    /// Since when.
    pub(super) created_at: Option<Timestamp>,
    /// Until when.
    pub(super) ends_at: Option<Timestamp>,
    /// The place where this is written.
    pub(super) surface: &'static str,
}

/// Returns whether a reservation has expired so long ago that it is not shown.
pub(super) fn is_over(ends_at: Option<Timestamp>, now: Timestamp) -> bool {
    ends_at.is_some_and(|at| now.duration_since(at) > SHOWN_FOR)
}

impl Reservation {
    /// Writes it into the draft of its record.
    pub(super) fn fill(self, record: &mut Record) {
        let agent = self.agent.clone().unwrap_or_else(|| "(nobody)".into());
        let project = self.project.as_ref().filter(|path| path.starts_with('/'));
        record.variant = "file reservation";
        record.title = format!(
            "{}: {}",
            agent.raw(),
            crate::format::reading::excerpt::excerpt(self.pattern.raw(), 60).raw()
        )
        .into();
        record.cwd = self.tree.as_ref().or(project).map(Into::into);
        record.started_at = self.created_at;
        record.expiry = self.ends_at.map(|at| Expiry { at, rule: "past its own expires_ts" });
        record.claims = self.claim(record).into_iter().collect();
        let reason = self.reason.as_deref().filter(|text| !text.is_empty());
        record.detail = RecordDetail::Taken { owner: Some(agent.clone()), is_shared: !self.is_exclusive };
        record.facts = draft::known([
            ("owner", Some(agent)),
            ("mode", Some(if self.is_exclusive { "exclusive" } else { "shared" }.into())),
            ("reason", reason.map(|text| crate::format::reading::excerpt::excerpt(text, 200))),
            ("ends", self.ends_at.map(|at| at.to_string().into())),
            ("branch", self.branch),
        ]);
        record.files = [self.pattern].into_iter().collect();
        if self.ends_at.is_none() {
            let why = "states no usable end (expires_ts)";
            record.problems.push(Problem::new(Code::BadTimestamp, why));
        }
    }

    fn claim(&self, record: &Record) -> Option<StatedClaim> {
        let tree = record.cwd.as_deref().map(Untrusted::from_path).unwrap_or_default();
        let id = match tree.raw() {
            "" => self.pattern.clone(),
            tree => format!("{tree}/{}", self.pattern.raw()).into(),
        };
        let is_stated = !self.pattern.raw().is_empty();
        is_stated.then(|| StatedClaim::new(ResourceKind::Files, id, self.surface, self.created_at))
    }
}

/// Returns the project and the number that an archived reservation has in its path.
pub(crate) fn archived_as(path: &Path) -> Option<(&str, Option<i64>)> {
    let number = path.file_stem()?.to_str()?.strip_prefix("id-").and_then(|id| id.parse().ok());
    Some((path.parent()?.parent()?.file_name()?.to_str()?, number))
}
