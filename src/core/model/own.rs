//! Formats that a person describes: where records are, how to read them, what they mean.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex, PoisonError};

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use crate::core::model::record::claim::ResourceKind;
use crate::core::model::record::holder::Role;
use crate::core::model::record::let_go::LetGo;

/// A described format, by its place among all of them: thousands of records say whose they are.
/// Whoever names the same format means the same one, and it stays for as long as the program runs.
#[derive(Clone, Copy)]
pub struct Own(u16);

/// Every description.
static KNOWN: Mutex<Vec<&'static Definition>> = Mutex::new(Vec::new());

/// What is known of a format beyond those that can be counted: nothing.
static UNKNOWN: LazyLock<Definition> = LazyLock::new(|| Definition::bare(""));

/// Formats of which hardly more than the name is known.
static NAMED: Mutex<BTreeMap<String, Own>> = Mutex::new(BTreeMap::new());

/// What a description says.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name, as `format` of each record.
    pub name: String,
    /// What its records are called.
    pub title: String,
    /// Where its files are.
    pub places: Vec<OwnPlace>,
    /// How each file is read.
    pub reading: Syntax,
    /// Where each fact stands in a file.
    pub fields: BTreeMap<Field, String>,
    /// Which process the PID is.
    pub role: Role,
    /// The zone of times without one; `None` for the machine's.
    pub zone: Option<TimeZone>,
    /// For how long a record is trusted, and the rule in words.
    pub ttl: Option<(SignedDuration, String)>,
    /// What each record holds.
    pub claim: Option<ResourceKind>,
    /// Whether claimtop may park it.
    pub let_go: LetGo,
}

/// Where files of a described format are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPlace {
    /// What the folder is below.
    pub root: Root,
    /// The folder; a part may be `*`.
    pub folder: String,
    /// The file's name; each `*` stands for anything.
    pub name: String,
}

/// What a folder is below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// The home.
    Home,
    /// The temporary folder.
    Tmp,
    /// Every working tree.
    Repository,
}

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// One JSON object; fields are JSON pointers (RFC 6901).
    Json,
    /// `key = value` or `key: value` in each line; fields are keys.
    KeyValue,
    /// A fact in each line; fields are line numbers from 1.
    Lines,
}

/// A fact that a file can state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The PID.
    Pid,
    /// The start of that process in clock ticks since boot.
    StartTicks,
    /// The boot ID.
    BootId,
    /// The host name.
    Host,
    /// The session ID.
    Session,
    /// The context ID.
    Context,
    /// A name for people.
    Title,
    /// When the session or the hold began.
    StartedAt,
    /// The newest sign of life.
    HeartbeatAt,
    /// The working directory.
    Cwd,
    /// What is held.
    Claim,
}

impl Own {
    /// Makes a format of a description. The description is never given back: there are as many as
    /// a person has files.
    pub fn new(definition: Definition) -> Self {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let place = u16::try_from(known.len()).unwrap_or(u16::MAX);
        if place < u16::MAX {
            known.push(Box::leak(Box::new(definition)));
        }
        Self(place)
    }

    /// Returns the format of a name of which no more is known, as an old entry of the journal may
    /// have it.
    pub fn named(name: &str) -> Self {
        let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        *named.entry(name.to_owned()).or_insert_with(|| Self::new(Definition::bare(name)))
    }

    /// Learns by what rule records of a name are let go, as a recording has it.
    pub fn learn(name: &str, let_go: LetGo) {
        if Self::named(name).definition().let_go != let_go {
            let known = Self::new(Definition { let_go, ..Definition::bare(name) });
            NAMED.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), known);
        }
    }

    /// Returns what its description says.
    pub fn definition(self) -> &'static Definition {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(usize::from(self.0)).copied().unwrap_or(&UNKNOWN)
    }
}

impl Definition {
    /// Describes a format of which only the name is known.
    pub fn bare(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: name.to_owned(),
            places: Vec::new(),
            reading: Syntax::Lines,
            fields: BTreeMap::new(),
            role: Role::Unknown,
            zone: None,
            ttl: None,
            claim: None,
            let_go: LetGo::Never,
        }
    }
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Own").field(&self.definition().name).finish()
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        self.definition().name == other.definition().name
    }
}

impl Eq for Own {}

impl PartialOrd for Own {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Own {
    fn cmp(&self, other: &Self) -> Ordering {
        self.definition().name.cmp(&other.definition().name)
    }
}

impl Hash for Own {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.definition().name.hash(state);
    }
}

impl OwnPlace {
    /// Returns whether a file's name fits.
    pub fn fits(&self, name: &str) -> bool {
        fits(&self.name, name)
    }
}

/// Returns whether a name fits a pattern, of which each `*` stands for anything.
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::record::format::Format;

    #[track_caller]
    fn check(pattern: &str, name: &str, expected: bool) {
        let place = OwnPlace { root: Root::Tmp, folder: String::new(), name: pattern.to_owned() };
        assert_eq!(place.fits(name), expected, "{pattern} {name}");
    }

    #[test]
    fn a_star_stands_for_anything() {
        check("a.lock", "a.lock", true);
        check("a.lock", "b.lock", false);
        check("*.lock", ".lock", true);
        check("a*.lock", "ab.lock", true);
        check("a*b*c", "aXbYc", true);
        check("a*b*c", "aXcYb", false);
        check("ab*ba", "aba", false);
        check("*", "anything", true);
    }

    #[test]
    fn every_format_is_written_by_its_name_and_read_back() {
        let own = Format::Own(Own::named("night-watch"));
        for format in Format::ALL.into_iter().chain([own]) {
            let text = serde_json::to_string(&format).unwrap_or_default();
            assert_eq!(text, format!("{:?}", format.name()));
            assert_eq!(serde_json::from_str::<Format>(&text).ok(), Some(format));
        }
    }

    #[test]
    fn a_format_takes_little_room_in_its_records() {
        assert_eq!(size_of::<Format>(), 4);
    }

    #[test]
    fn a_name_means_one_format() {
        assert_eq!(Own::named("watch"), Own::named("watch"));
        assert_ne!(Own::named("watch"), Own::named("other"));
    }
}
