//! Writes what a person set on the screen into the configuration file, and leaves all else in it as it is.

use std::path::Path;

use rustix::io::Errno;
use toml_edit::{DocumentMut, value};

use super::bind::put_text;
use crate::act::error::ActionError;
use crate::act::fs::system::System;
use crate::config::preference::{Preference, Preferences};
use crate::core::model::text::shown;
use crate::source::os::open::plain::small;

/// The largest configuration file, in bytes.
const MOST: usize = 256 << 10;

/// Writes one value into the file, which is made if it is not there.
///
/// # Errors
/// The file is a link, which may lead into a folder that is shared, or no TOML; it cannot be read or written.
pub(crate) fn keep(path: &Path, which: Preference, preferences: &Preferences) -> Result<(), ActionError> {
    let by_hand = |why: &str| {
        let line = format!("{} = {}", which.key(), literal(which, preferences));
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
    let changed = changed(&text, which, preferences).ok_or_else(|| by_hand("is no TOML"))?;
    put_text(&System, (folder, name.to_owned()), &changed)
}

/// Returns the text of a configuration file with one value changed; `None` if it is no TOML.
fn changed(text: &str, which: Preference, preferences: &Preferences) -> Option<String> {
    let mut file: DocumentMut = text.parse().ok()?;
    let name = preferences.value(which);
    let mut new = match which {
        Preference::Mouse | Preference::Title | Preference::Bell => value(name == "true"),
        Preference::Theme | Preference::Notify => value(name),
    };
    // A comment behind the value stays.
    if let (Some(new), Some(old)) = (new.as_value_mut(), file.get(which.key()).and_then(|old| old.as_value()))
    {
        *new.decor_mut() = old.decor().clone();
    }
    file.insert(which.key(), new);
    Some(file.to_string())
}

/// Returns a value as the file has it.
fn literal(which: Preference, preferences: &Preferences) -> String {
    let name = preferences.value(which);
    match which {
        Preference::Mouse | Preference::Title | Preference::Bell => name.to_owned(),
        Preference::Theme | Preference::Notify => format!("\"{name}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Switch, Theme};

    #[test]
    fn one_value_changes_and_comments_stay() {
        let preferences = Preferences { theme: Theme::Nord, mouse: Switch::On, ..Preferences::default() };
        let check = |text: &str, which, expected: Option<&str>| {
            assert_eq!(changed(text, which, &preferences).as_deref(), expected, "{text}");
        };
        check("", Preference::Theme, Some("theme = \"nord\"\n"));
        let file = "# mine\nroots = [\"~/src\"]\ntheme = 'dark'  # for now\n\n[guard]\nbrief = false\n";
        let expected = "# mine\nroots = [\"~/src\"]\ntheme = \"nord\"  # for now\n\n[guard]\nbrief = false\n";
        check(file, Preference::Theme, Some(expected));
        let expected = "# mine\nroots = [\"~/src\"]\ntheme = 'dark'  # for now\nmouse = true\n\n[guard]\nbrief = false\n";
        check(file, Preference::Mouse, Some(expected));
        check("theme = ", Preference::Theme, None);
    }
}
