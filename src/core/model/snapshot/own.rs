//! Formats described by a person: where records are, how to read them, what they mean.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use crate::core::model::{LetGo, ResourceKind, Role};

/// A format described by a person. Two are equal if their names and let-go rules are.
#[derive(Clone, Copy)]
pub struct DescribedFormat(&'static Definition);

/// The most format names to keep for which no description was read.
const MOST_NAMED: usize = 4_096;

/// The formats of which recordings and journals contain hardly more than the name.
static NAMED: Mutex<BTreeMap<(String, LetGo), DescribedFormat>> = Mutex::new(BTreeMap::new());

/// The content of a description.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name, as `format` of each record.
    pub(crate) name: String,
    /// What its records are called.
    pub(crate) title: String,
    /// Where its files are.
    pub places: Vec<OwnPlace>,
    /// How each file is read.
    pub(crate) reading: Syntax,
    /// Where each fact is in a file.
    pub(crate) fields: BTreeMap<Field, String>,
    /// Which process the PID is.
    pub(crate) role: Role,
    /// The zone of times without one; `None` for the machine's.
    pub(crate) zone: Option<TimeZone>,
    /// For how long a record is trusted, and the rule in words.
    pub(crate) ttl: Option<(SignedDuration, String)>,
    /// What each record holds.
    pub(crate) claim: Option<ResourceKind>,
    /// Whether claimtop may park it.
    pub(crate) let_go: LetGo,
}

/// Where files of a described format are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPlace {
    /// The root of the folder.
    pub root: Root,
    /// The folder; a part may be `*`.
    pub folder: String,
    /// The file's name; each `*` stands for anything.
    pub(crate) name: String,
}

/// The root of a folder.
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

impl DescribedFormat {
    /// Keeps a description for as long as the program runs; there are as many as a person has files.
    pub fn new(definition: Definition) -> Self {
        Self(Box::leak(Box::new(definition)))
    }

    /// Returns the format for a name from a recording or journal, which otherwise contains only how its records are
    /// let go.
    pub(crate) fn named(name: &str, let_go: LetGo) -> Self {
        let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = if named.len() < MOST_NAMED { (name.to_owned(), let_go) } else { Default::default() };
        let definition = || Definition { let_go: key.1, ..Definition::bare(&key.0) };
        *named.entry(key.clone()).or_insert_with(|| Self::new(definition()))
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// Returns its description.
    pub fn definition(self) -> &'static Definition {
        self.0
    }

    /// Returns what distinguishes it from others.
    fn identity(&self) -> (&'static str, LetGo) {
        (&self.0.name, self.0.let_go)
    }
}

impl Deref for DescribedFormat {
    type Target = Definition;

    fn deref(&self) -> &Definition {
        self.0
    }
}

impl Definition {
    /// Creates a format of which only the name is known.
    pub(crate) fn bare(name: &str) -> Self {
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

impl fmt::Debug for DescribedFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Described").field(&self.0.name).finish()
    }
}

impl PartialEq for DescribedFormat {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for DescribedFormat {}

impl PartialOrd for DescribedFormat {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DescribedFormat {
    fn cmp(&self, other: &Self) -> Ordering {
        self.identity().cmp(&other.identity())
    }
}

impl Hash for DescribedFormat {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl OwnPlace {
    /// Returns whether a file's name matches.
    pub fn fits(&self, name: &str) -> bool {
        fits(&self.name, name)
    }
}

/// Returns whether a name matches a pattern, in which each `*` stands for anything.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
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
    use crate::core::model::Format;

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
        let described = Format::Described(DescribedFormat::named("night-watch", LetGo::Never));
        for format in Format::ALL.into_iter().chain([described]) {
            let text = serde_json::to_string(&format).unwrap_or_default();
            assert_eq!(text, format!("{:?}", format.name()));
            assert_eq!(serde_json::from_str::<Format>(&text).ok(), Some(format));
        }
    }

    #[test]
    fn a_format_is_its_name_and_what_may_be_let_go() {
        let watch = || DescribedFormat::named("watch", LetGo::Never);
        assert_eq!(watch(), watch());
        assert_eq!(DescribedFormat::new(Definition::bare("watch")), watch());
        assert_ne!(watch(), DescribedFormat::named("other", LetGo::Never));
        assert_ne!(watch(), DescribedFormat::named("watch", LetGo::OnlyDead));
    }
}
