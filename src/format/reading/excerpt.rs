//! The beginning of a text from outside.

use crate::core::model::Untrusted;
use crate::core::model::text::secret::hidden;

/// How many characters after the cut are examined: a secret that was cut in two would not be recognized.
const BEHIND: usize = 4_096;

/// Returns the first `most` characters of a text from outside, without text that looks like a secret.
pub(crate) fn excerpt(text: &str, most: usize) -> Untrusted {
    let shown = hidden(beginning(text, most.saturating_add(BEHIND)).unwrap_or(text));
    match beginning(&shown, most) {
        Some(start) => Untrusted::new(format!("{start}…")),
        None => Untrusted::from(&*shown),
    }
}

/// Returns the first `most` characters of a longer text.
fn beginning(text: &str, most: usize) -> Option<&str> {
    let (end, _) = text.char_indices().nth(most)?;
    text.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_before_it_is_cut_in_two() {
        assert_eq!(excerpt("postgres://leo:hush@db/leo", 19).raw(), "postgres://leo:***@…");
        assert_eq!(excerpt("postgres://leo:hush@db/leo", 16).raw(), "postgres://leo:*…");
        assert_eq!(excerpt("use --token hushhush now", 14).raw(), "use --token **…");
        assert_eq!(excerpt("use it", 6).raw(), "use it");
        assert_eq!(excerpt("éé", 1).raw(), "é…");
    }
}
