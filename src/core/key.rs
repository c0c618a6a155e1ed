//! Keys: short names that stay the same for as long as the thing itself does.

use std::fmt;

use serde::Serialize;
use sha2::{Digest, Sha256};

/// The stable key of a window (`w-…`), a record (`r-…`) or a claim (`c-…`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    /// Derives a key from what names the thing: a one-letter sort and its identifying parts.
    pub fn derive(sort: char, parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let digest = hash.finalize();
        let hex: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        Self(format!("{sort}-{hex}"))
    }

    /// Takes a key as a person typed it.
    pub fn typed(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
