//! Writes what a person set on the screen into the configuration file, and leaves all else in it as it is.

use std::path::Path;

use rustix::io::Errno;
use toml_edit::{DocumentMut, Value};

use super::bind::put_text;
use crate::act::error::ActionError;
use crate::act::fs::system::System;
use crate::core::model::text::shown;
use crate::source::os::open::plain::small;

/// The largest configuration file, in bytes.
const MOST: usize = 256 << 10;

/// Writes one value, as TOML has it, into the file, which is made if it is not there.
///
/// # Errors
/// The file is a link, which may lead into a folder that is shared, or no TOML; it cannot be read or written.
pub(crate) fn keep(path: &Path, key: &str, literal: &str) -> Result<(), ActionError> {
    let by_hand = |why: &str| {
        let line = format!("{key} = {literal}");
        ActionError::Never(format!("{} {why}: write {line} into it yourself", shown(&path.to_string_lossy())))
    };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(by_hand("is no file"));
    };
    let bytes = match small(path, MOST) {
        Ok(bytes) => bytes,
        Err(Errno::NOENT) => Vec::new(),
        Err(Errno::LOOP) => return Err(by_hand("is a link")),
        Err(errno) => return Err(ActionError::failed_at("read", path)(errno)),
    };
    let text = String::from_utf8(bytes).map_err(|_| by_hand("is not UTF-8"))?;
    let changed = changed(&text, key, literal).ok_or_else(|| by_hand("is no TOML"))?;
    put_text(&System, (folder, name.to_owned()), &changed)
}

/// Returns the text of a configuration file with one value changed; `None` if it is no TOML.
fn changed(text: &str, key: &str, literal: &str) -> Option<String> {
    let mut file: DocumentMut = text.parse().ok()?;
    let mut new: Value = literal.parse().ok()?;
    // A comment behind the value stays.
    if let Some(old) = file.get(key).and_then(|old| old.as_value()) {
        *new.decor_mut() = old.decor().clone();
    }
    file.insert(key, toml_edit::value(new));
    Some(file.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_changes_and_comments_stay() {
        let check = |text: &str, (key, literal): (&str, &str), expected: Option<&str>| {
            assert_eq!(changed(text, key, literal).as_deref(), expected, "{text}");
        };
        let (theme, mouse) = (("theme", "\"nord\""), ("mouse", "true"));
        check("", theme, Some("theme = \"nord\"\n"));
        let file = "# mine\nroots = [\"~/src\"]\ntheme = 'dark'  # for now\n\n[guard]\nbrief = false\n";
        let expected = "# mine\nroots = [\"~/src\"]\ntheme = \"nord\"  # for now\n\n[guard]\nbrief = false\n";
        check(file, theme, Some(expected));
        let expected = "# mine\nroots = [\"~/src\"]\ntheme = 'dark'  # for now\nmouse = true\n\n[guard]\nbrief = false\n";
        check(file, mouse, Some(expected));
        check("theme = ", theme, None);
    }
}
