//! How long the dead keep holding what they claimed: one entry for each record of a dead holder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::core::model::text::path::exact;
use crate::core::model::{ClaimStatus, Format, Key, Location, RecordView, Report, ResourceKind};

/// How many are kept: the oldest ended ones leave first.
const MOST: usize = 2_048;

/// The longest shape of a terminal ID that is kept, in characters.
const LONGEST_SHAPE: usize = 40;

/// A record whose holder is dead and that still claims something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeadHold {
    pub(crate) record: Key,
    pub(crate) format: Format,
    /// The shape of its terminal ID, as of [`shape`]; empty if its system writes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) terminal: Option<String>,
    /// What it claims, each kind once.
    pub(crate) kinds: BTreeSet<ResourceKind>,
    /// Its last own sign of life.
    pub(crate) last_sign_at: Timestamp,
    /// When it was first seen dead.
    pub(crate) seen_at: Timestamp,
    /// When it was first seen to claim nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<Timestamp>,
    /// Its file.
    #[serde(with = "exact::option", default, skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    /// Its database, if it is a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    database: Option<String>,
}

impl DeadHold {
    fn begun(record: &RecordView, kinds: BTreeSet<ResourceKind>, now: Timestamp) -> Self {
        let (path, database) = match &record.location {
            Location::File(path) => (Some(path.to_path_buf()), None),
            Location::Row(row) => (None, Some(row.database.raw().to_owned())),
        };
        Self {
            record: record.key.clone(),
            format: record.format,
            terminal: record.terminal_id.as_ref().map(|id| shape(id.raw())),
            kinds,
            last_sign_at: record.heartbeat_at.unwrap_or(record.written_at).min(now),
            seen_at: now,
            ended_at: None,
            path,
            database,
        }
    }

    fn is_open(&self) -> bool {
        self.ended_at.is_none()
    }
}

/// Returns the shape of an ID: a UUID becomes that word, and each run of digits `N`, so that `win-cc-39623` and
/// `win-cc-40101` have one shape.
pub(crate) fn shape(id: &str) -> String {
    let is_uuid = id.len() == 36
        && id.char_indices().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            _ => c.is_ascii_hexdigit(),
        });
    if is_uuid {
        return "UUID".to_owned();
    }
    let mut shape = String::new();
    for c in id.chars().take(LONGEST_SHAPE) {
        match c {
            '0'..='9' if shape.ends_with('N') => {}
            '0'..='9' => shape.push('N'),
            c => shape.push(c),
        }
    }
    shape
}

/// Returns the records of dead holders that claim something, with the kinds of what they claim.
pub(crate) fn dead(report: &Report) -> BTreeMap<&Key, (&RecordView, BTreeSet<ResourceKind>)> {
    let mut dead: BTreeMap<&Key, (&RecordView, BTreeSet<ResourceKind>)> = BTreeMap::new();
    for claim in report.claims.iter().filter(|claim| claim.status == ClaimStatus::Dead) {
        let (_, kinds) = dead.entry(&claim.record.key).or_insert_with(|| (&claim.record, BTreeSet::new()));
        kinds.insert(claim.resource.kind);
    }
    dead
}

/// Updates the kept entries from a report. A record that is not in it has ended only if its file is gone, or another
/// row of its database was read: what was not looked at proves nothing.
pub(crate) fn settled(
    mut kept: Vec<DeadHold>,
    report: &Report,
    is_gone: impl Fn(&Path) -> bool,
) -> Vec<DeadHold> {
    let now = report.taken_at;
    let mut dead = dead(report);
    let present: BTreeSet<&Key> = report.records().map(|record| &record.key).collect();
    let databases = databases(report);
    for hold in kept.iter_mut().filter(|hold| hold.is_open()) {
        if let Some((_, kinds)) = dead.remove(&hold.record) {
            hold.kinds.extend(kinds);
            continue;
        }
        let is_read = hold.database.as_deref().is_some_and(|database| databases.contains(database));
        if present.contains(&hold.record) || hold.path.as_deref().is_some_and(&is_gone) || is_read {
            hold.ended_at = Some(now);
        }
    }
    kept.extend(dead.into_values().map(|(record, kinds)| DeadHold::begun(record, kinds, now)));
    let surplus = kept.len().saturating_sub(MOST);
    kept.sort_by_key(|hold| (hold.is_open(), hold.seen_at));
    kept.drain(..surplus);
    kept
}

/// Returns the databases from which a row was read.
pub(crate) fn databases(report: &Report) -> BTreeSet<&str> {
    report.records().filter_map(database).collect()
}

fn database(record: &RecordView) -> Option<&str> {
    match &record.location {
        Location::Row(row) => Some(row.database.raw()),
        Location::File(_) => None,
    }
}

/// The holds of one system's dead records, for one shape of terminal ID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldByDead {
    /// How many there were.
    pub(crate) holders: usize,
    /// How many of them still hold.
    pub(crate) open: usize,
    /// How long each held, at least: since it was first seen dead. Shortest first.
    at_least: Vec<SignedDuration>,
    /// How long each held, at most: since its last sign of life. Shortest first.
    at_most: Vec<SignedDuration>,
}

impl HeldByDead {
    fn add(&mut self, hold: &DeadHold, now: Timestamp) {
        let until = hold.ended_at.unwrap_or(now);
        self.holders += 1;
        self.open += usize::from(hold.is_open());
        self.at_least.push(until.duration_since(hold.seen_at));
        self.at_most.push(until.duration_since(hold.last_sign_at));
    }

    fn sorted(mut self) -> Self {
        self.at_least.sort_unstable();
        self.at_most.sort_unstable();
        self
    }

    /// Returns how long half of them held, at least and at most.
    pub(crate) fn median(&self) -> (SignedDuration, SignedDuration) {
        (middle(&self.at_least), middle(&self.at_most))
    }

    /// Returns how long the longest held, at least and at most.
    pub(crate) fn longest(&self) -> (SignedDuration, SignedDuration) {
        let last = |sorted: &[SignedDuration]| sorted.last().copied().unwrap_or_default();
        (last(&self.at_least), last(&self.at_most))
    }
}

fn middle(sorted: &[SignedDuration]) -> SignedDuration {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Counts those that were first seen dead since a moment, by system and shape.
pub(crate) fn by_system<'a>(
    holds: impl Iterator<Item = &'a DeadHold>,
    now: Timestamp,
) -> BTreeMap<(Format, Option<&'a str>), HeldByDead> {
    let mut all: BTreeMap<(Format, Option<&str>), HeldByDead> = BTreeMap::new();
    for hold in holds {
        all.entry((hold.format, hold.terminal.as_deref())).or_default().add(hold, now);
    }
    all.into_iter().map(|(of, held)| (of, held.sorted())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_kind_have_one_shape() {
        let check = |id: &str, expected: &str| assert_eq!(shape(id), expected);
        check("win-cc-39623", "win-cc-N");
        check("win-cc-39623-4301", "win-cc-N-N");
        check("/dev/pts/12", "/dev/pts/N");
        check("487c6af6-a8cc-45f2-9dfb-6c45eed8934e", "UUID");
        check("487c6af6-a8cc-45f2-9dfb-6c45eed8934", "NcNafN-aNcc-NfN-Ndfb-NcNeedN");
        check("", "");
        check(&"é1".repeat(30), &"éN".repeat(20));
    }

    fn hold(seconds: (i64, i64, Option<i64>)) -> DeadHold {
        let at = |second| Timestamp::from_second(second).unwrap();
        DeadHold {
            record: Key::typed("r-1"),
            format: Format::Leo,
            terminal: None,
            kinds: BTreeSet::new(),
            last_sign_at: at(seconds.0),
            seen_at: at(seconds.1),
            ended_at: seconds.2.map(at),
            path: None,
            database: None,
        }
    }

    #[test]
    fn a_time_is_at_least_since_it_was_seen_and_at_most_since_the_last_sign() {
        let holds = [hold((0, 10, Some(20))), hold((0, 10, Some(40))), hold((0, 30, None))];
        let all = by_system(holds.iter(), Timestamp::from_second(130).unwrap());
        let [(_, held)] = &all.into_iter().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!((held.holders, held.open), (3, 1));
        let seconds = SignedDuration::from_secs;
        assert_eq!(held.median(), (seconds(30), seconds(40)));
        assert_eq!(held.longest(), (seconds(100), seconds(130)));
    }
}
