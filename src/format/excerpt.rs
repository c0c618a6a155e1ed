//! The beginning of a text from outside.

use crate::core::model::Untrusted;

/// Returns the first `most` characters of a text from outside.
pub(super) fn excerpt(text: &str, most: usize) -> Untrusted {
    match text.char_indices().nth(most) {
        Some((end, _)) => Untrusted::new(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Untrusted::from(text),
    }
}
