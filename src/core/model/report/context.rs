//! Context IDs: which are valid, and the variables that name them.

use crate::core::model::text::is_forbidden;

/// The variable by which a person or a system names the context.
pub(crate) const CONTEXT_VARIABLE: &str = "CLAUDE_SESSION_ID";

/// Claude Code's own session ID: it changes on `/clear` and leaks to every descendant, so it
/// proves descent and not identity.
pub(crate) const SESSION_VARIABLE: &str = "CLAUDE_CODE_SESSION_ID";

/// The rule of [`is_context_id`] in words.
pub(crate) const CONTEXT_ID_RULE: &str = "one file name of at most 128 bytes, without a dot in front";

/// Decides whether a session ID may be used: 1 to 128 of `A-Z a-z 0-9 _ -` (LEO's own rule, the strictest of its
/// readers), and not mistakable for a command's option. It ends up in file names and in commands.
pub(crate) fn is_valid_id(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Decides whether a given context ID may be used as it is, as Maia uses it: one file name of at
/// most 128 bytes that is not hidden and that can be printed.
pub(crate) fn is_context_id(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && !text.starts_with('.')
        && !text.chars().any(|c| c == '/' || is_forbidden(c))
}
