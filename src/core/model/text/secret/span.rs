//! Parts of a text that are secrets.

/// Begin and end of a part of a text, in bytes.
pub(super) type Span = (usize, usize);

/// The placeholder for a secret.
pub(super) const HIDDEN: &str = "***";

/// The possible quotes of a text, and the character that escapes one inside another text.
pub(super) const QUOTES: [char; 4] = ['"', '\'', '`', '\\'];

/// Returns whether a value may be a secret, and not the name of a variable, a placeholder or a list.
pub(super) fn may_begin(value: &str) -> bool {
    !value.is_empty() && !value.starts_with(['$', '<', '{', '[', '('])
}

/// Returns the beginning of a text, at most `most` bytes.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// Returns a text without these parts, which may be in any order and overlap.
pub(super) fn without(text: &str, mut spans: Vec<Span>) -> Option<String> {
    spans.retain(|(start, end)| start < end && text.get(*start..*end).is_some_and(|part| part != HIDDEN));
    spans.sort_unstable();
    spans.first()?;
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in spans {
        // A part that overlaps another one is hidden with it.
        if start >= from {
            out.push_str(text.get(from..start)?);
            out.push_str(HIDDEN);
        }
        from = from.max(end);
    }
    out.push_str(text.get(from..)?);
    Some(out)
}
