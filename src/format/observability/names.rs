//! The meaning of the names of the observability system's files.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// `claude_session_{project}`: a project's one session slot.
    Slot,
    /// `claude_session_{type}_last.txt`: when a session of that type started last. A project with such a name has its
    /// slot here, so the content decides.
    RateLimit,
    /// `claude_correlation_{project}_{tool}`: ties a tool's end to its start.
    Correlation,
    /// A slot or a correlation being written.
    Temp,
    /// `claude_spawn_markers/{time}_{child}.json`: which session started which.
    SpawnMarker,
}

pub(crate) const SLOT: &str = "claude_session_";

pub(crate) const CORRELATION: &str = "claude_correlation_";

pub(crate) const RATE_LIMIT_END: &str = "_last.txt";

/// Recognises a file of the temporary folder. A project's name is a folder's, so it may contain anything but a slash;
/// an editor's backup of a slot is recognized by its last character.
pub(crate) fn in_tmp(name: &str) -> Option<Kind> {
    if name.ends_with('~') {
        return None;
    }
    if let Some(project) = name.strip_prefix(SLOT) {
        return Some(if is_random_temp(project) {
            Kind::Temp
        } else if project.ends_with(RATE_LIMIT_END) {
            Kind::RateLimit
        } else {
            Kind::Slot
        });
    }
    let scope = name.strip_prefix(CORRELATION).filter(|scope| scope.contains('_'))?;
    Some(if scope.ends_with(".tmp") { Kind::Temp } else { Kind::Correlation })
}

/// Returns whether a name ends as Python's `tempfile` makes it here: `_`, eight characters of
/// `a-z 0-9 _`, `.tmp`.
pub(crate) fn is_random_temp(project: &str) -> bool {
    let Some((rest, random)) =
        project.strip_suffix(".tmp").and_then(|stem| stem.split_at_checked(stem.len().checked_sub(8)?))
    else {
        return false;
    };
    rest.ends_with('_') && random.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

pub(crate) fn in_markers(name: &str) -> Option<Kind> {
    (name.ends_with(".json") && !name.starts_with('.')).then_some(Kind::SpawnMarker)
}
