//! The rows of a fleet's database, as a viewer reads them.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as NoSuchKind;

use crate::core::fleet::wire::line::{Hello, Identity, PartId, PartKind, SCHEMA};

/// The name of the transport of a host of the database.
pub(crate) const POSTGRES: &str = "postgres";

/// One host, as in `claimtop.hosts`; times are by the database's clock, in milliseconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct HostRow {
    pub(crate) host: String,
    pub(crate) epoch: i64,
    pub(crate) sequence: i64,
    pub(crate) changed: i64,
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) accepts: String,
    pub(crate) is_claimed: bool,
    pub(crate) lost_by: Option<String>,
    pub(crate) beat_at: i64,
    pub(crate) name: String,
    pub(crate) release: Option<String>,
    pub(crate) machine: Option<String>,
    pub(crate) store: Option<String>,
    pub(crate) boot: Option<String>,
    pub(crate) pid_namespace: Option<u64>,
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
    /// Returns its name; `None` if its kind is not known here.
    pub(crate) fn id(&self) -> Option<PartId> {
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
    /// When the database started, by its clock.
    pub(crate) started: i64,
    /// Whether this login may send requests to hosts.
    pub(crate) may_ask: bool,
}

/// Creates the hello that a host would send.
pub(crate) fn hello(row: &HostRow) -> Hello {
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
