//! Paths in recordings: as text, so that one which is not UTF-8 is kept as it is shown.

use std::path::{Path, PathBuf};

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

/// The same where there may be none.
pub(super) mod maybe {
    use super::{Deserialize, Deserializer, Path, PathBuf, Serialize, Serializer, Untrusted};

    /// Writes a path, or nothing.
    #[expect(clippy::ref_option, reason = "serde passes the field itself")]
    pub(in crate::core) fn serialize<S: Serializer>(
        path: &Option<Box<Path>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_deref().map(Untrusted::from_path).serialize(serializer)
    }

    /// Reads a path, or nothing.
    pub(in crate::core) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Box<Path>>, D::Error> {
        Option::<String>::deserialize(deserializer).map(|path| path.map(|path| PathBuf::from(path).into()))
    }
}
