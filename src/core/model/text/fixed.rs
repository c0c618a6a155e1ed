//! Our own words, read back from a recording or from another machine: each is kept once and for good.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::core::model::Untrusted;

/// A word of our own; a name for the type, so that reading one is never taken for borrowing.
pub(crate) type Word = &'static str;

/// Names and values for people. Records that state the same hold them once.
pub type NamedTexts = Arc<[(&'static str, Untrusted)]>;

/// In how many bytes one machine may bring words that were not known here before, over all its life. All formats
/// together have a few hundred, of 20 bytes each.
pub(crate) const ALLOWANCE: usize = 64 << 10;

/// In how many bytes a thread may read them from elsewhere, such as from recordings.
const OF_A_THREAD: usize = 1 << 20;

/// How many bytes a word takes beside its own.
const BESIDE: usize = 32;

/// How long a word can be, in bytes.
const LONGEST: usize = 512;

static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

thread_local! {
    /// In how many bytes what is being read on this thread may still bring words.
    static LEFT: Cell<usize> = const { Cell::new(OF_A_THREAD) };
}

/// Reads something whose words may take no more than what is `left`, which becomes less by those that are new: what
/// one machine brings is never at the expense of another.
pub(crate) fn read_bounded<T>(left: &mut usize, read: impl FnOnce() -> T) -> T {
    let outer = LEFT.replace(*left);
    let done = read();
    *left = LEFT.replace(outer);
    done
}

/// Reads a word of our own.
///
/// # Errors
/// It is longer than any, or there are more than any claimtop has.
pub(crate) fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let text = String::deserialize(deserializer)?;
    keep(&text).ok_or_else(|| D::Error::custom("these are not the words of claimtop"))
}

/// Reads words of our own.
///
/// # Errors
/// As [`word`].
pub(crate) fn read_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Word>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let all: Option<Vec<Word>> = texts.iter().map(|text| keep(text)).collect();
    all.ok_or_else(|| D::Error::custom("these are not the words of claimtop"))
}

/// Reads named facts, whose names are our own.
///
/// # Errors
/// As [`word`].
pub(crate) fn facts<'de, D>(deserializer: D) -> Result<NamedTexts, D::Error>
where
    D: Deserializer<'de>,
{
    let facts = Vec::<(String, Untrusted)>::deserialize(deserializer)?;
    let named = facts.into_iter().map(|(name, value)| Some((keep(&name)?, value)));
    let all: Option<NamedTexts> = named.collect();
    all.ok_or_else(|| D::Error::custom("these are not the words of claimtop"))
}

fn keep(text: &str) -> Option<&'static str> {
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(word) = words.get(text) {
        return Some(word);
    }
    let left = LEFT.get().checked_sub(text.len() + BESIDE).filter(|_| text.len() <= LONGEST)?;
    LEFT.set(left);
    let word: &'static str = Box::leak(text.into());
    words.insert(word);
    Some(word)
}
