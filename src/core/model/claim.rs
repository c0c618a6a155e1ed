//! A judged claim, and how it stands.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::core::model::judged::RecordView;
use crate::core::model::key::Key;
use crate::core::model::record::claim::{Resource, ResourceKind, StatedClaim, Surface, SurfaceState};
use crate::core::model::text::Untrusted;

/// How a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimStatus {
    /// Two live holders.
    Contested,
    /// The holder is gone.
    Dead,
    /// Only a mirror still says so.
    Ghost,
    /// Past its own lease, and nobody proves to live.
    Expired,
    /// It cannot be told.
    Unproven,
    /// The holder lives and is silent.
    Quiet,
    /// The holder lives.
    Held,
}

impl ClaimStatus {
    /// Returns the name that JSON has.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contested => "contested",
            Self::Dead => "dead",
            Self::Ghost => "ghost",
            Self::Expired => "expired",
            Self::Unproven => "unproven",
            Self::Quiet => "quiet",
            Self::Held => "held",
        }
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

/// One judged claim. What is held and where that is written stands in its record.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimView {
    /// Stable for as long as the record and the resource are.
    pub key: Key,
    /// The record that states it.
    pub record: Arc<RecordView>,
    /// Which of that record's claims it is.
    at: u32,
    /// The window that holds it, if one is known.
    pub window: Option<Key>,
    /// How it stands.
    pub status: ClaimStatus,
    /// Whether it can be released.
    pub releasable: Releasable,
}

impl ClaimView {
    /// Views every claim of a record, each as its function says: who holds it and how it stands.
    pub fn of(
        record: &Arc<RecordView>,
        mut judge: impl FnMut(&StatedClaim) -> (Option<Key>, ClaimStatus),
    ) -> impl Iterator<Item = Self> {
        let all = (0..).zip(&record.claims);
        all.map(move |(at, stated)| {
            let (window, status) = judge(stated);
            let key = key_of(record, stated);
            // Its plan says whether it can be released, once there is a report to plan on.
            Self { key, record: Arc::clone(record), at, window, status, releasable: Releasable::No }
        })
    }

    /// Returns what its record states.
    fn stated(&self) -> Option<&StatedClaim> {
        self.record.claims.get(usize::try_from(self.at).ok()?)
    }

    /// Returns what is held.
    pub fn resource(&self) -> &Resource {
        static NOTHING: Resource = Resource { kind: ResourceKind::Lock, id: Untrusted::fixed("") };
        self.stated().map_or(&NOTHING, |stated| &stated.resource)
    }

    /// Returns since when it is held, if that is known.
    pub fn since(&self) -> Option<Timestamp> {
        self.stated().and_then(|stated| stated.since).or(self.record.started_at)
    }

    /// Returns the places where it is written.
    pub fn surfaces(&self) -> &[Surface] {
        self.stated().map_or(&[], |stated| &stated.surfaces)
    }

    /// Returns whether any place that was read says that it is held.
    pub fn is_known(&self) -> bool {
        self.surfaces().iter().any(|surface| surface.state == SurfaceState::Agrees)
    }
}

impl Serialize for ClaimView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            key: &'a Key,
            resource: &'a Resource,
            record: &'a Key,
            window: Option<&'a Key>,
            since: Option<Timestamp>,
            status: ClaimStatus,
            surfaces: &'a [Surface],
            releasable: Releasable,
        }
        Shape {
            key: &self.key,
            resource: self.resource(),
            record: &self.record.key,
            window: self.window.as_ref(),
            since: self.since(),
            status: self.status,
            surfaces: self.surfaces(),
            releasable: self.releasable,
        }
        .serialize(serializer)
    }
}

/// Returns the key of a claim: its record and its resource.
fn key_of(record: &RecordView, claim: &StatedClaim) -> Key {
    Key::derive('c', &[record.key.as_str(), claim.resource.kind.name(), claim.resource.id.raw()])
}
