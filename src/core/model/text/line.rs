//! Errors in a text that a person wrote, with their lines.

use crate::core::model::text::shown;

/// An error in a file, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}: {message}", key.as_ref().map(|key| format!(", key `{key}`")).unwrap_or_default())]
pub struct LineError {
    /// The line, counted from 1.
    pub(crate) line: usize,
    pub(crate) key: Option<String>,
    /// What is wrong, safe to show.
    pub(crate) message: String,
}

/// Creates an error at an offset of a TOML text.
pub(crate) fn error_at(text: &str, offset: usize, message: &str) -> LineError {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count();
    let key = text.lines().nth(line).and_then(key_of);
    LineError { line: line + 1, key, message: shown(message.trim()) }
}

/// Returns the key before the `=` of a line.
fn key_of(line: &str) -> Option<String> {
    let (key, _) = line.split_once('=')?;
    let key = key.trim();
    (!key.is_empty() && !key.starts_with('#')).then(|| shown(key))
}
