//! Texts that are never shown and never logged.

use std::fmt;

use serde::Deserialize;

/// A text that is never shown and never logged, such as a password.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret")
    }
}
