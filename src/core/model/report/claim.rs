//! A judged claim and its status.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

use crate::core::model::text::named::named;
use crate::core::model::text::{is_uuid, shown};
use crate::core::model::{
    Key, KeyKind, RecordView, Resource, ResourceKind, StatedClaim, Surface, SurfaceState, Untrusted,
};

named! {
    /// The status of a claim.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum ClaimStatus {
        /// Two live holders.
        Contested = "contested",
        /// The holder is gone.
        Dead = "dead",
        /// Only a mirror still names it.
        Ghost = "ghost",
        /// Past its own lease, without a live owner.
        Expired = "expired",
        /// It is not known.
        Unproven = "unproven",
        /// The holder lives but is silent.
        Quiet = "quiet",
        /// The holder lives.
        Held = "held",
    }
}

/// Whether and how a claim can be released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Releasable {
    /// With one key and `y`.
    Yes,
    /// With a typed confirmation.
    Confirm,
    /// Not by claimtop.
    No,
}

/// One judged claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimView {
    /// Stable for as long as the record and the resource exist.
    pub key: Key,
    /// What is held.
    pub resource: Resource,
    /// The record that states it.
    #[serde(serialize_with = "key_only")]
    pub record: Arc<RecordView>,
    /// The window that holds it, if one is known.
    pub window: Option<Key>,
    /// Since when it is held, if that is known.
    pub since: Option<Timestamp>,
    /// Its status.
    pub status: ClaimStatus,
    /// The places where it is written.
    pub surfaces: Arc<[Surface]>,
    /// Whether it can be released.
    pub releasable: Releasable,
    /// The files, the last edited first, if its window's transcript states it.
    #[serde(skip_serializing_if = "is_empty")]
    pub files: Arc<[Untrusted]>,
}

impl ClaimView {
    /// Creates the view of a record's claim; whether it can be released is known once there is a report to plan on.
    pub(crate) fn new(
        record: &Arc<RecordView>,
        stated: &StatedClaim,
        (window, status): (Option<Key>, ClaimStatus),
    ) -> Self {
        let StatedClaim { resource, since, surfaces } = stated.clone();
        let parts = [record.key.as_str(), resource.kind.name(), resource.id.raw()];
        Self {
            key: Key::derive(KeyKind::Claim, &parts),
            resource,
            record: Arc::clone(record),
            window,
            since: since.or(record.started_at),
            status,
            surfaces,
            releasable: Releasable::No,
            files: Arc::default(),
        }
    }

    /// Returns whether only a transcript states it, which only its agent ever changes.
    pub(crate) fn is_of_transcript(&self) -> bool {
        !self.files.is_empty()
    }

    /// Returns whether a dead holder keeps others from it until it is released.
    pub(crate) fn is_dead(&self) -> bool {
        self.status == ClaimStatus::Dead && !self.is_of_transcript()
    }

    /// Returns what is held, in words and safe to show: a task by its subject, a file by its path relative to the
    /// holder's folder, and what has only a UUID by its record.
    pub fn thing(&self) -> String {
        let (id, record) = (self.resource.id.raw(), &self.record);
        let below = || Path::new(id).strip_prefix(record.cwd.as_ref()?.text().raw()).ok()?.to_str();
        let is_uuid = id.get(..36).is_some_and(is_uuid);
        let name = |path: &Untrusted| shown(path.raw().rsplit('/').next().unwrap_or_default());
        match &*self.files {
            [] => {}
            [only] => return name(only),
            [last, rest @ ..] => return format!("{} and {} more", name(last), rest.len()),
        }
        if self.resource.kind == ResourceKind::Files {
            return shown(below().filter(|below| !below.is_empty()).unwrap_or(id));
        }
        match (is_uuid, is_uuid_only(record.title.raw())) {
            (true, false) => record.title.shown(),
            (true, true) => shown(id.get(..8).unwrap_or(id)),
            (false, _) => shown(id),
        }
    }

    /// Returns its holder according to its record, safe to show: a name, a folder or a PID.
    pub fn holder(&self) -> String {
        let record = &self.record;
        let folder =
            record.cwd.as_ref().and_then(|cwd| cwd.text().raw().rsplit('/').find(|part| !part.is_empty()));
        let title = Some(record.title.shown()).filter(|title| *title != self.thing());
        let name = title.filter(|_| !is_uuid_only(record.title.raw()));
        match (name, folder, record.pid()) {
            (Some(name), Some(folder), _) if name != folder => format!("{name} in {}", shown(folder)),
            (Some(name), None, Some(pid)) => format!("{name} (PID {pid})"),
            (Some(name), _, _) => name,
            (None, Some(folder), _) => format!("{} in {}", record.format.name(), shown(folder)),
            (None, None, Some(pid)) => format!("PID {pid}"),
            (None, None, None) => record.format.name().to_owned(),
        }
    }

    /// Returns whether any surface that was read says that it is held.
    pub(crate) fn is_known(&self) -> bool {
        self.surfaces.iter().any(|surface| surface.state == SurfaceState::Agrees)
    }
}

fn is_empty(files: &Arc<[Untrusted]>) -> bool {
    files.is_empty()
}

/// Returns whether a name consists only of a UUID, which means nothing to people.
pub(crate) fn is_uuid_only(name: &str) -> bool {
    name.is_empty() || name.get(..36).is_some_and(is_uuid)
}

fn key_only<S: Serializer>(record: &RecordView, serializer: S) -> Result<S::Ok, S::Error> {
    record.key.serialize(serializer)
}
