//! A judged claim, and how it stands.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::core::model::named::named;
use crate::core::model::{Key, KeyKind, RecordView, Resource, StatedClaim, Surface, SurfaceState, Untrusted};

named! {
    /// How a claim stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum ClaimStatus {
        /// Two live holders.
        Contested = "contested",
        /// The holder is gone.
        Dead = "dead",
        /// Only a mirror still says so.
        Ghost = "ghost",
        /// Past its own lease, and no live owner was found.
        Expired = "expired",
        /// It cannot be told.
        Unproven = "unproven",
        /// The holder lives and is silent.
        Quiet = "quiet",
        /// The holder lives.
        Held = "held",
    }
}

/// Whether and how a claim can be released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
    /// Stable for as long as the record and the resource are.
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
    /// How it stands.
    pub status: ClaimStatus,
    /// The places where it is written.
    pub surfaces: Arc<[Surface]>,
    /// Whether it can be released.
    pub releasable: Releasable,
    /// The files, the last edited first, where it is its window's transcript that states it.
    #[serde(skip_serializing_if = "is_empty")]
    pub files: Arc<[Untrusted]>,
}

impl ClaimView {
    /// Views a claim of a record; whether it can be released is known once there is a report to plan on.
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

    /// Returns whether a transcript alone states it, which nobody but its agent ever changes.
    pub(crate) fn is_of_transcript(&self) -> bool {
        !self.files.is_empty()
    }

    /// Returns whether a dead holder keeps others from it until it is released.
    pub(crate) fn is_dead(&self) -> bool {
        self.status == ClaimStatus::Dead && !self.is_of_transcript()
    }

    /// Returns whether any place that was read says that it is held.
    pub(crate) fn is_known(&self) -> bool {
        self.surfaces.iter().any(|surface| surface.state == SurfaceState::Agrees)
    }
}

fn is_empty(files: &Arc<[Untrusted]>) -> bool {
    files.is_empty()
}

fn key_only<S: Serializer>(record: &RecordView, serializer: S) -> Result<S::Ok, S::Error> {
    record.key.serialize(serializer)
}
