//! Our own words, read back from a recording or from another machine: each is kept once and forever.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::core::model::Untrusted;

/// A word of our own; an alias, so that serde never takes it for borrowed data.
pub(crate) type Word = &'static str;

/// Names and values for people. Records with equal ones hold them once.
pub type NamedTexts = Arc<[(&'static str, Untrusted)]>;

/// How many bytes of words unknown here one machine may add in total. All formats together have a few hundred words,
/// of 20 bytes each.
pub(crate) const ALLOWANCE: usize = 64 << 10;

/// How many bytes of them a thread may read from other sources, such as recordings.
const OF_A_THREAD: usize = 1 << 20;

/// The overhead of a word in bytes.
const BESIDE: usize = 32;

/// How long a word can be, in bytes.
const LONGEST: usize = 512;

static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

thread_local! {
    /// How many more bytes of words may be added by what is being read on this thread.
    static LEFT: Cell<usize> = const { Cell::new(OF_A_THREAD) };
}

/// Runs `read` with at most `left` bytes for new words, and reduces `left` by those added: the words of one machine
/// never use up the allowance of another.
pub(crate) fn read_bounded<T>(left: &mut usize, read: impl FnOnce() -> T) -> T {
    let outer = LEFT.replace(*left);
    let done = read();
    *left = LEFT.replace(outer);
    done
}

/// Reads a word of our own.
///
/// # Errors
/// Fails if it is longer than any of them, or there are more than any claimtop has.
pub(crate) fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let text = String::deserialize(deserializer)?;
    keep(&text).ok_or_else(|| D::Error::custom("this text is not from claimtop"))
}

/// Reads words of our own.
///
/// # Errors
/// As [`word`].
pub(crate) fn read_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Word>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let all: Option<Vec<Word>> = texts.iter().map(|text| keep(text)).collect();
    all.ok_or_else(|| D::Error::custom("this text is not from claimtop"))
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
    all.ok_or_else(|| D::Error::custom("this text is not from claimtop"))
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
