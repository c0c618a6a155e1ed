//! Keys: short names that stay the same for as long as the thing itself does.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

/// The stable key of a window (`w-…`), a record (`r-…`) or a claim (`c-…`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// Derives a key from what names the thing: a one-letter sort and its identifying parts.
    pub fn derive(sort: char, parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let digest = hash.finalize();
        let start = digest.first_chunk().copied().unwrap_or_default();
        Self(format!("{sort}-{:08x}", u32::from_be_bytes(start)).into())
    }

    /// Takes a key as a person typed it.
    pub fn typed(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
