//! A judged claim, and how it stands.

use jiff::Timestamp;
use serde::Serialize;

use crate::core::key::Key;
use crate::core::record::{Resource, Surface, SurfaceState};
use crate::core::shared::Shared;

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

/// One judged claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimView {
    /// Stable for as long as the record and the resource are.
    pub key: Key,
    /// What is held.
    pub resource: Resource,
    /// The record that states it.
    pub record: Key,
    /// The window that holds it, if one is known.
    pub window: Option<Key>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// How it stands.
    pub status: ClaimStatus,
    /// The places where it is written.
    pub surfaces: Shared<Surface>,
    /// Whether it can be released.
    pub releasable: Releasable,
}

impl ClaimView {
    /// Returns whether any place that was read says that it is held.
    pub fn is_known(&self) -> bool {
        self.surfaces.iter().any(|surface| surface.state == SurfaceState::Agrees)
    }
}
