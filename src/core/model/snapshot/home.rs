//! Homes: which folder is which, under any name. Names differ between containers, and two windows of one person can
//! have homes and configurations of their own.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::core::model::text::path::as_text as path_text;
use crate::core::model::{Details, FolderId, Untrusted};

pub(crate) const HOME_VARIABLE: &str = "HOME";
/// The variable that names Claude Code's configuration folder; without it that is `~/.claude`.
pub(crate) const CONFIG_VARIABLE: &str = "CLAUDE_CONFIG_DIR";
/// The variable that names the folder of caches; without it that is `~/.cache`.
pub(crate) const CACHE_VARIABLE: &str = "XDG_CACHE_HOME";

/// The role of a home folder for the systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HomePart {
    /// Some systems keep records in it.
    #[default]
    Store,
    /// It is the home itself, in which anything may lie.
    Whole,
}

/// A home folder in which records were read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HomeFolder {
    /// Where it is.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// Its identity.
    pub id: FolderId,
    /// Its role for the systems.
    #[serde(default)]
    pub part: HomePart,
}

/// Returns the deepest of these folders that contains a path.
pub(crate) fn folder_of<'a>(folders: &'a [HomeFolder], path: &Path) -> Option<&'a HomeFolder> {
    let stores = folders.iter().filter(|folder| folder.part == HomePart::Store);
    let above = stores.filter(|folder| path.starts_with(&folder.path));
    above.max_by_key(|folder| folder.path.as_os_str().len())
}

/// The home of a process according to its environment, by its own names for folders.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NamedHome {
    pub(crate) home: PathBuf,
    /// Claude Code's configuration folder.
    pub(crate) config: PathBuf,
    pub(crate) cache: PathBuf,
}

impl NamedHome {
    /// Reads it from a process's environment; `None` if the home or the configuration is not known beyond doubt.
    pub(crate) fn from_details(details: &Details) -> Option<Self> {
        let named = |name: &str| details.env.get(name);
        let absolute = |path: &Untrusted| Some(PathBuf::from(path.raw())).filter(|path| path.is_absolute());
        let home = absolute(named(HOME_VARIABLE)?)?;
        let config = match named(CONFIG_VARIABLE) {
            Some(given) => absolute(given)?,
            None => home.join(".claude"),
        };
        // A relative one means nothing (XDG Base Directory Specification).
        let cache = named(CACHE_VARIABLE).and_then(absolute).unwrap_or_else(|| home.join(".cache"));
        Some(Self { home, config, cache })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(env: &[(&str, &str)], expected: Option<[&str; 3]>) {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        let found = NamedHome::from_details(&Details { env, ..Details::default() });
        let expected = expected.map(|[home, config, cache]| NamedHome {
            home: home.into(),
            config: config.into(),
            cache: cache.into(),
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn a_home_is_known_only_where_its_environment_says_it_beyond_doubt() {
        check(&[("HOME", "/h")], Some(["/h", "/h/.claude", "/h/.cache"]));
        let other = [("HOME", "/h"), (CONFIG_VARIABLE, "/c"), (CACHE_VARIABLE, "/k")];
        check(&other, Some(["/h", "/c", "/k"]));
        check(&[("HOME", "/h"), (CACHE_VARIABLE, "k")], Some(["/h", "/h/.claude", "/h/.cache"]));
        check(&[(CONFIG_VARIABLE, "/c")], None);
        check(&[("HOME", "h")], None);
        check(&[("HOME", "/h"), (CONFIG_VARIABLE, "")], None);
    }

    #[test]
    fn the_deepest_folder_counts() {
        let folder = |path: &str, ino| HomeFolder {
            path: path.into(),
            id: FolderId { dev: 1, ino },
            part: HomePart::Store,
        };
        let whole = HomeFolder { part: HomePart::Whole, ..folder("/h/.maia", 9) };
        let all = [folder("/h", 1), folder("/h/.maia/sessions", 2), folder("/h/.maia/sess", 3), whole];
        let of = |path: &str| folder_of(&all, Path::new(path)).map(|folder| folder.id.ino);
        assert_eq!(of("/h/.maia/sessions/x.json"), Some(2));
        assert_eq!(of("/h/.maia/x.json"), Some(1));
        assert_eq!(of("/tmp/x"), None);
    }
}
