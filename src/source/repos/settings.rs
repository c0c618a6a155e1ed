//! Git's settings (git-config(1)), without the rarer ways of writing them: values of several lines, and files that include
//! others.

use std::path::{Path, PathBuf};

use crate::core::model::Untrusted;
use crate::source::os::open::plain::small;

/// Returns the settings of a file in their order: names with section and subsection, in lower case but for the
/// subsection. A name alone is true.
pub(crate) fn settings(text: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            let Some((head, _)) = head.split_once(']') else { continue };
            section = match head.split_once('"') {
                Some((name, of)) => {
                    format!("{}.{}", name.trim().to_ascii_lowercase(), of.trim_end_matches('"'))
                }
                None => head.trim().to_ascii_lowercase(),
            };
        } else if !line.is_empty() && !line.starts_with(['#', ';']) && !section.is_empty() {
            let (name, value) = line.split_once('=').unwrap_or((line, "true"));
            let name = format!("{section}.{}", name.trim().to_ascii_lowercase());
            found.push((name, plain(value)));
        }
    }
    found
}

/// Returns a value without its quotes and the comment after it.
fn plain(value: &str) -> String {
    let value = value.trim();
    match value.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
        Some((quoted, _)) => quoted.to_owned(),
        None => value.split(['#', ';']).next().unwrap_or_default().trim().to_owned(),
    }
}

/// Returns whether a value switches something on; every other one is a number or a mode, which does too unless it is 0.
pub(crate) fn is_on(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0" | "")
}

/// The most bytes of a file of settings, and of a hook.
const MOST: usize = 256 << 10;

/// What programs that git runs before a commit have in them if they stash what is not staged: git's own command, and
/// those of `pre-commit`, `lint-staged` and the hooks that call them.
const STASHING: [&[u8]; 4] = [b"git stash", b"lint-staged", b"pre-commit.com", b"pre_commit"];

/// Git's settings for one call.
pub(crate) struct GitSettings {
    home: PathBuf,
    common_dir: PathBuf,
    /// The last one of a name counts.
    all: Vec<(String, String)>,
}

impl GitSettings {
    /// Reads them: the system's are left out, as are files that others include.
    pub(crate) fn read(common_dir: &Path, home: &Path, of_call: &[(String, String)]) -> Self {
        let own = [home.join(".config/git/config"), home.join(".gitconfig")];
        let files = own.into_iter().chain([common_dir.join("config")]);
        let read =
            |file: PathBuf| settings(&String::from_utf8_lossy(&small(&file, MOST).unwrap_or_default()));
        let mut all: Vec<(String, String)> = files.flat_map(read).collect();
        all.extend_from_slice(of_call);
        Self { home: home.to_path_buf(), common_dir: common_dir.to_path_buf(), all }
    }

    /// Returns the value of a setting by its name, in lower case but for the subsection.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.all.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether a setting, its name in lower case, is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.value(name).is_some_and(is_on)
    }

    /// Returns whether `git pull` rebases on a branch.
    pub(crate) fn pulls_by_rebase(&self, branch: Option<&Untrusted>) -> bool {
        let of_branch = branch.and_then(|branch| self.value(&format!("branch.{}.rebase", branch.raw())));
        of_branch.or_else(|| self.value("pull.rebase")).is_some_and(is_on)
    }

    /// Returns whether a hook that runs before a commit stashes what is not staged.
    pub(crate) fn has_stashing_hook(&self, top: &Path) -> bool {
        let folder = match self.value("core.hookspath") {
            Some(path) => match path.strip_prefix("~/") {
                Some(inside) => self.home.join(inside),
                None => top.join(path),
            },
            None => self.common_dir.join("hooks"),
        };
        // Husky's own hooks call the one with this name beside their folder.
        let places = [folder.join("pre-commit"), folder.join("../pre-commit")];
        let has =
            |text: &[u8]| STASHING.iter().any(|word| text.windows(word.len()).any(|part| part == *word));
        places.iter().any(|file| small(file, MOST).is_ok_and(|text| has(&text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_has_its_section() {
        let text = "[Rebase]\n\tautoStash = true ; yes\n[branch \"Main/x\"]\n\trebase\n# [a]\n[core]\n hooksPath = \"a b\"\n";
        let found = settings(text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            found,
            [("rebase.autostash", "true"), ("branch.Main/x.rebase", "true"), ("core.hookspath", "a b")]
        );
        assert!(is_on("true") && is_on("merges") && !is_on("False") && !is_on("0"));
    }
}
