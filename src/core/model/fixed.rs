//! Our own words, read back from a recording: each is kept once and for good.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::core::model::Untrusted;

/// A word of our own; a name for the type, so that reading one is never taken for borrowing.
pub(crate) type Word = &'static str;

/// Names and values for people. Records that state the same hold them once.
pub type NamedTexts = Arc<[(&'static str, Untrusted)]>;

/// How many different words there can be. The formats have a few hundred.
const MOST: usize = 4_096;

/// How long a word can be, in bytes.
const LONGEST: usize = 512;

static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Reads a word of our own.
///
/// # Errors
/// There are more words than any claimtop has, or it is longer than any.
pub(crate) fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let text = String::deserialize(deserializer)?;
    keep(&text).ok_or_else(|| D::Error::custom("these are not the words of claimtop"))
}

/// Reads words of our own.
///
/// # Errors
/// As [`word`].
pub(crate) fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Word>, D::Error> {
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

/// Returns how many words are kept.
pub(crate) fn count() -> usize {
    WORDS.lock().unwrap_or_else(PoisonError::into_inner).len()
}

fn keep(text: &str) -> Option<&'static str> {
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(word) = words.get(text) {
        return Some(word);
    }
    if words.len() >= MOST || text.len() > LONGEST {
        return None;
    }
    let word: &'static str = Box::leak(text.into());
    words.insert(word);
    Some(word)
}
