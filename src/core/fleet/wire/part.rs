//! The things that a witness sends, each separately: one that cannot be parsed does not affect any other.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;

use crate::core::fleet::wire::line::PartKind;
use crate::core::fleet::wire::sanitize::sanitized;
use crate::core::model::{
    BrokenPath, ClaimStatus, ClaimView, Finding, Key, LeftOver, LeftTree, Need, NeedKind, RecordView,
    Releasable, Resource, SourceHealth, Surface, Tombstone, Untrusted, WindowFacts, WindowView,
};

/// One thing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Source(Box<SourceHealth>),
    Window(WindowView),
    Record(Arc<RecordView>),
    BehindClaim(Arc<RecordView>),
    Claim(Box<ClaimPart>),
    Finding(Arc<Finding>),
    Need(Box<Need>),
    LeftOver(Box<LeftOver>),
    LeftTree(Box<LeftTree>),
    Broken(Box<BrokenPath>),
    Tombstone(Box<Tombstone>),
}

/// A claim, whose record is sent separately.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct ClaimPart {
    pub(crate) key: Key,
    resource: Resource,
    pub(crate) record: Key,
    window: Option<Key>,
    since: Option<Timestamp>,
    status: ClaimStatus,
    surfaces: Arc<[Surface]>,
    releasable: Releasable,
    #[serde(default)]
    files: Arc<[Untrusted]>,
}

impl ClaimPart {
    pub(crate) fn view(&self, record: Arc<RecordView>) -> ClaimView {
        let Self { key, resource, record: _, window, since, status, surfaces, releasable, files } =
            self.clone();
        ClaimView { key, resource, record, window, since, status, surfaces, releasable, files }
    }
}

impl Part {
    /// Parses a thing, with the keys used from elsewhere.
    ///
    /// # Errors
    /// Fails if it is not of this kind, or its key is not a valid one.
    pub(crate) fn read(kind: PartKind, text: &str, machine: &str) -> serde_json::Result<Self> {
        let text = &*sanitized(text)?;
        let mut part = match kind {
            PartKind::Source => Self::Source(serde_json::from_str(text)?),
            PartKind::Window => Self::Window(serde_json::from_str(text)?),
            PartKind::Record => Self::Record(serde_json::from_str(text)?),
            PartKind::BehindClaim => Self::BehindClaim(serde_json::from_str(text)?),
            PartKind::Claim => Self::Claim(serde_json::from_str(text)?),
            PartKind::Finding => Self::Finding(serde_json::from_str(text)?),
            PartKind::Need => Self::Need(serde_json::from_str(text)?),
            PartKind::LeftOver => Self::LeftOver(serde_json::from_str(text)?),
            PartKind::LeftTree => Self::LeftTree(serde_json::from_str(text)?),
            PartKind::Broken => Self::Broken(serde_json::from_str(text)?),
            PartKind::Tombstone => Self::Tombstone(serde_json::from_str(text)?),
        };
        let keys = part.keys();
        if keys.iter().any(|key| !is_derived(key)) {
            return Err(serde::de::Error::custom("it has a key that claimtop never makes"));
        }
        keys.into_iter().for_each(|key| *key = key.on_machine(machine));
        if let Self::Window(window) = &mut part {
            let WindowFacts { processes, records, claims, .. } = &mut **window;
            processes.shrink_to_fit();
            records.shrink_to_fit();
            claims.shrink_to_fit();
        }
        Ok(part)
    }

    /// Returns every key in it.
    fn keys(&mut self) -> Vec<&mut Key> {
        match self {
            Self::Source(_) | Self::Tombstone(_) => Vec::new(),
            Self::Window(window) => {
                let WindowFacts { key, records, claims, .. } = &mut **window;
                [key].into_iter().chain(records).chain(claims).collect()
            }
            Self::Record(record) | Self::BehindClaim(record) => {
                let RecordView { key, window, .. } = Arc::make_mut(record);
                [key].into_iter().chain(window).collect()
            }
            Self::Claim(claim) => {
                let ClaimPart { key, record, window, .. } = &mut **claim;
                [key, record].into_iter().chain(window).collect()
            }
            Self::Finding(finding) => keys_of_finding(Arc::make_mut(finding)),
            Self::Need(need) => keys_of_need(need),
            Self::LeftOver(left) => vec![&mut left.key],
            Self::LeftTree(tree) => [&mut tree.key].into_iter().chain(&mut tree.releasable_lock).collect(),
            Self::Broken(broken) => vec![&mut broken.key],
        }
    }
}

/// Returns every key in a finding.
pub(crate) fn keys_of_finding(finding: &mut Finding) -> Vec<&mut Key> {
    let Finding { subjects, story, .. } = finding;
    let yields = story.iter_mut().flat_map(|story| &mut story.yields);
    subjects.iter_mut().chain(yields).collect()
}

/// Returns every key in a need.
pub(crate) fn keys_of_need(need: &mut Need) -> Vec<&mut Key> {
    let Need { key, subject, kind, .. } = need;
    let of_kind: Vec<&mut Key> = match kind {
        NeedKind::Waits { among, .. } => among.iter_mut().collect(),
        NeedKind::Failed { .. }
        | NeedKind::Stuck { .. }
        | NeedKind::Done { .. }
        | NeedKind::Unfinished { .. }
        | NeedKind::Alike { .. }
        | NeedKind::MoreDied { .. } => Vec::new(),
        NeedKind::Collision { subjects, windows, .. } => subjects.iter_mut().chain(windows).collect(),
        NeedKind::Died(left) => left
            .claims
            .iter_mut()
            .chain(&mut left.left_overs)
            .chain(&mut left.left_trees)
            .chain(&mut left.left_stashes)
            .collect(),
    };
    [key, subject].into_iter().chain(of_kind).collect()
}

/// Returns whether a key has the form that claimtop derives, as used on its own machine.
pub(crate) fn is_derived(key: &Key) -> bool {
    let digits = key.as_str().get(2..).unwrap_or_default();
    key.kind().is_some()
        && digits.len() == 8
        && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::text::is_forbidden;

    #[test]
    fn nothing_that_another_says_steers_a_terminal() {
        for text in [
            r#"{"id":"a","state":"ok","detail":"\u001b[2J"}"#,
            "{\"id\":\"a\",\"state\":\"ok\",\"detail\":\"\u{202e}\"}",
        ] {
            let Ok(Part::Source(source)) = Part::read(PartKind::Source, text, "m") else { panic!("{text}") };
            assert!(!source.detail.raw().chars().any(is_forbidden), "{source:?}");
        }
    }

    #[test]
    fn a_key_names_its_machine_and_no_other_can_be_named() {
        let broken = |key: &str| format!(r#"{{"key":"{key}","path":"/p"}}"#);
        let Ok(Part::Broken(told)) = Part::read(PartKind::Broken, &broken("r-0f21ab3c"), "devbox") else {
            panic!()
        };
        assert_eq!((told.key.as_str(), told.key.machine()), ("r-0f21ab3c@devbox", Some("devbox")));
        for key in
            ["r-0f21ab3c@other", "r-", "x-0f21ab3c", "r-0f21ab3", "r-0f21ab3cc", "r-..%2f..%2", "r-0F21AB3C"]
        {
            assert!(Part::read(PartKind::Broken, &broken(key), "devbox").is_err(), "{key}");
        }
    }
}
