//! Paths in recordings: as text, so that one which is not UTF-8 is kept as it is shown.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::Untrusted;

/// Writes a path.
pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    Untrusted::from_path(path).serialize(serializer)
}

/// Reads a path.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    String::deserialize(deserializer).map(PathBuf::from)
}

/// A path of one word, whose copies share its text: many records name the same few folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedPath(Arc<PathBuf>);

impl Deref for SharedPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl<T: Into<PathBuf>> From<T> for SharedPath {
    fn from(path: T) -> Self {
        Self(Arc::new(path.into()))
    }
}

impl Serialize for SharedPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for SharedPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Self::from)
    }
}
