//! Paths as an agent writes them: resolved as text only, as they may not exist yet.

/// Returns the absolute path that a path names in some folder; `None` if only a shell knows it.
pub(crate) fn joined(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('~') || path.is_empty() || !(folder.starts_with('/') || path.starts_with('/')) {
        return None;
    }
    // No path is longer (limits.h, `PATH_MAX`).
    if folder.len() + path.len() > 4_096 {
        return None;
    }
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}
