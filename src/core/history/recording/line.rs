//! The lines of a recording.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::core::judge::window::agent::Signatures;

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The version of the form, counted from 1.
    pub recording: u32,
    /// The version of claimtop that wrote it.
    pub claimtop: String,
    /// When it was begun.
    pub began_at: Timestamp,
    /// Whether paths, prompts and names were replaced.
    #[serde(default)]
    pub redacted: bool,
    /// How agents look, so that every machine finds the same windows.
    #[serde(default)]
    pub signatures: Signatures,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Line<'a> {
    pub(crate) at: Timestamp,
    /// Whether it is complete without the looks before.
    #[serde(default)]
    pub(crate) full: bool,
    /// Whether it shows a change that people care about.
    #[serde(default)]
    pub(crate) event: bool,
    /// New or different parts, by name.
    #[serde(borrow, default)]
    pub(crate) parts: BTreeMap<String, &'a RawValue>,
    /// The parts that are gone.
    #[serde(default)]
    pub(crate) gone: Vec<String>,
    /// The order of records and broken files, if it has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) order: Option<Vec<String>>,
}
