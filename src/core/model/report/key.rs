//! Keys: short names that are stable for as long as the thing itself exists.

use std::fmt;

use lean_string::LeanStr;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};

use crate::core::model::text::Reader;
use crate::core::model::text::shared;

/// What a key names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A window: `w-…`.
    Window,
    /// A record: `r-…`.
    Record,
    /// A claim: `c-…`.
    Claim,
    /// A source: `s-…`.
    Source,
    /// A finding, in a list: `p-…`.
    Finding,
    /// Something that needs a person: `n-…`.
    Need,
    /// A left-over: `l-…`.
    LeftOver,
    /// A working tree that was left: `t-…`.
    LeftTree,
    /// A stash entry that was left: `g-…`.
    LeftStash,
    /// Another machine: `m-…`.
    Machine,
    /// An entry of the journal: `e-…`, with its number in hex digits.
    Entry,
}

impl KeyKind {
    const ALL: [Self; 11] = [
        Self::Window,
        Self::Record,
        Self::Claim,
        Self::Source,
        Self::Finding,
        Self::Need,
        Self::LeftOver,
        Self::LeftTree,
        Self::LeftStash,
        Self::Machine,
        Self::Entry,
    ];

    fn prefix(self) -> &'static str {
        match self {
            Self::Window => "w-",
            Self::Record => "r-",
            Self::Claim => "c-",
            Self::Source => "s-",
            Self::Finding => "p-",
            Self::Need => "n-",
            Self::LeftOver => "l-",
            Self::LeftTree => "t-",
            Self::LeftStash => "g-",
            Self::Machine => "m-",
            Self::Entry => "e-",
        }
    }
}

/// The stable key of a thing, such as `r-0f21ab3c`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Key(LeanStr);

impl Key {
    /// Derives a key from the kind and the identifying parts of a thing.
    pub(crate) fn derive(kind: KeyKind, parts: &[&str]) -> Self {
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        Self::of_bytes(kind, &parts)
    }

    /// Derives a key like [`Key::derive`], from parts that may not be text, such as a path: bytes that are not UTF-8
    /// differ from the text by which they are shown.
    pub(crate) fn of_bytes(kind: KeyKind, parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
            hash.update([0]);
        }
        let start = hash.finalize().first_chunk().copied().unwrap_or_default();
        Self::typed(&format!("{}{:08x}", kind.prefix(), u32::from_be_bytes(start)))
    }

    /// Returns the key of an entry of the journal.
    pub(crate) fn of_entry(number: u64) -> Self {
        Self::typed(&format!("{}{number:08x}", KeyKind::Entry.prefix()))
    }

    /// Returns the number of the journal entry that it names, on any machine.
    pub(crate) fn entry(&self) -> Option<u64> {
        let name = self.0.split_once('@').map_or(self.as_str(), |(name, _)| name);
        u64::from_str_radix(name.strip_prefix(KeyKind::Entry.prefix())?, 16).ok()
    }

    /// Creates a key from what a person typed.
    pub fn typed(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the key by which other machines refer to the same thing: `w-0f21ab3c@devbox`.
    pub(crate) fn on_machine(&self, machine: &str) -> Self {
        Self(shared::text(&format!("{}@{machine}", self.0)))
    }

    /// Returns the key by which its own machine refers to the thing.
    pub(crate) fn there(&self) -> Self {
        Self::typed(self.0.split_once('@').map_or(self.as_str(), |(key, _)| key))
    }

    /// Returns the machine that it is on, if not this one.
    pub fn machine(&self) -> Option<&str> {
        Some(self.0.split_once('@')?.1)
    }

    /// Returns what it names; `None` if claimtop has not derived it.
    pub fn kind(&self) -> Option<KeyKind> {
        KeyKind::ALL.into_iter().find(|kind| self.0.starts_with(kind.prefix()))
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader).map(Self)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
