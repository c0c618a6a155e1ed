//! The archive of reservations.

use std::path::Path;

/// Returns the project and the number that an archived reservation has in its path.
pub(crate) fn archived_as(path: &Path) -> Option<(&str, Option<i64>)> {
    let number = path.file_stem()?.to_str()?.strip_prefix("id-").and_then(|id| id.parse().ok());
    Some((path.parent()?.parent()?.file_name()?.to_str()?, number))
}
