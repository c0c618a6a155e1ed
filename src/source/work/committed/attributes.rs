//! Whether git may keep a file in another form, by its attributes and configuration.

use std::path::Path;

use rustix::io::Errno;

use crate::source::os::open::plain::small;

/// The largest file of attributes that is read, in bytes.
const MOST_ATTRIBUTES: usize = 64 << 10;
/// The attributes by which git's content differs from the file's.
const FILTERS: [&str; 4] = ["filter", "ident", "working-tree-encoding", "[attr]"];

/// Returns a file's text, which is empty if there is no file; `None` if it cannot be read.
pub(super) fn text_of(file: &Path) -> Option<String> {
    match small(file, MOST_ATTRIBUTES) {
        Ok(text) => Some(String::from_utf8_lossy(&text).into_owned()),
        Err(Errno::NOENT | Errno::NOTDIR) => Some(String::new()),
        Err(_) => None,
    }
}

/// Returns whether a line of git's configuration names more attributes, or another file that may.
pub(super) fn names_more(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    line.starts_with("attributesfile")
        || line.starts_with("[include")
        || line.starts_with("[core") && line.contains("attributesfile")
}

/// Returns whether a line of attributes may filter a file. Of its patterns only `*.end` is understood.
pub(super) fn names_filter(line: &str, path: &Path) -> bool {
    let is_filter = FILTERS.iter().any(|filter| line.contains(filter)) && !line.trim().starts_with('#');
    let end = line.split_whitespace().next().and_then(|pattern| pattern.strip_prefix("*."));
    let end = end.filter(|end| end.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    // To git `.env` has an end, too.
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let fits = |end: &str| name.ends_with(&format!(".{}", end.to_ascii_lowercase()));
    is_filter && end.is_none_or(fits)
}
