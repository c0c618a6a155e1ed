//! Keys: short names that stay the same for as long as the thing itself does.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// The most bytes of a key; derived ones have 10, and some are numbered. No key begins with what is
/// left of a longer text that a person types.
const MOST: usize = 15;

/// The stable key of a window (`w-…`), a record (`r-…`) or a claim (`c-…`).
///
/// Every record has several and every finding names some, so it holds its text itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    text: [u8; MOST],
    length: u8,
}

impl Key {
    /// Derives a key from what names the thing: a one-letter sort and its identifying parts.
    pub fn derive(sort: char, parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let start = hash.finalize().first_chunk().copied().unwrap_or_default();
        Self::typed(&format!("{sort}-{:08x}", u32::from_be_bytes(start)))
    }

    /// Takes a key as a person typed it, cut where it is longer than any key.
    pub fn typed(text: &str) -> Self {
        let mut key = Self { text: [0; MOST], length: 0 };
        for c in text.chars() {
            let from = usize::from(key.length);
            let Some(room) = key.text.get_mut(from..from + c.len_utf8()) else { break };
            c.encode_utf8(room);
            key.length += u8::try_from(room.len()).unwrap_or_default();
        }
        key
    }

    /// Returns the key's text.
    pub fn as_str(&self) -> &str {
        let text = self.text.get(..usize::from(self.length)).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Key").field(&self.as_str()).finish()
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::typed(&text))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
