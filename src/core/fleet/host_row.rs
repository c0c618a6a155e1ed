//! The rows of a fleet's database, as a viewer reads them.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as NoSuchKind;

use crate::core::fleet::line::{Hello, Identity, PartId, PartKind, SCHEMA};

/// By what a host of the database is reached.
pub(crate) const POSTGRES: &str = "postgres";

/// One host, as `claimtop.hosts` has it; moments are the database's, in milliseconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct HostRow {
    pub(crate) host: String,
    pub(super) epoch: i64,
    pub(super) sequence: i64,
    pub(super) changed: i64,
    pub(super) state: String,
    #[serde(default)]
    pub(super) accepts: String,
    pub(super) is_claimed: bool,
    pub(super) lost_by: Option<String>,
    pub(super) beat_at: i64,
    pub(super) name: String,
    pub(super) release: Option<String>,
    pub(super) machine: Option<String>,
    pub(super) store: Option<String>,
    pub(super) boot: Option<String>,
    pub(super) pid_namespace: Option<u64>,
}

/// One row of `claimtop.parts`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartRow<'a> {
    pub(crate) host: &'a str,
    pub(crate) is_whole: bool,
    pub(crate) kind: &'a str,
    pub(crate) id: &'a str,
    pub(crate) sequence: i64,
    pub(crate) payload: Option<&'a str>,
}

impl PartRow<'_> {
    /// Returns its name; `None` where its kind is not known here.
    pub(super) fn id(&self) -> Option<PartId> {
        let kind: Result<PartKind, NoSuchKind> = PartKind::deserialize(self.kind.into_deserializer());
        Some(PartId { kind: kind.ok()?, id: self.id.into() })
    }
}

/// When hosts were read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAt {
    /// By the viewer's steady clock.
    pub(crate) steady: Duration,
    /// By the database's clock, in milliseconds.
    pub(crate) server: i64,
    /// When the database has started, by its clock.
    pub(crate) started: i64,
    /// Whether this login may ask hosts for something.
    pub(crate) may_ask: bool,
}

/// Makes the hello that a host would say.
pub(super) fn hello(row: &HostRow) -> Hello {
    Hello {
        schema: SCHEMA.to_owned(),
        version: row.release.clone().unwrap_or_default(),
        identity: Identity { machine: row.machine.clone(), store: row.store.clone() },
        host: row.name.clone(),
        boot: row.boot.clone(),
        pid_namespace: row.pid_namespace,
        now: Timestamp::from_millisecond(row.beat_at).unwrap_or(Timestamp::UNIX_EPOCH),
        takes_orders: row.accepts != "never",
        no_orders: None,
    }
}
