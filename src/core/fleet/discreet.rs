//! What is left out of what others are told: where on this machine its repositories and its home lie.

use crate::core::model::{Report, Untrusted};

/// Shortens paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Discreet {
    /// What begins a path, as JSON has it, and what stands for it; the longest first.
    shortened: Vec<(String, String)>,
}

impl Discreet {
    /// Shortens the paths in a home, in other folders that are looked in, and in the repositories of a report.
    pub(crate) fn new<'a>(home: &'a str, folders: impl Iterator<Item = &'a str>, report: &'a Report) -> Self {
        let repos = report.windows.iter().filter_map(|window| window.repo.as_ref());
        let roots = repos.flat_map(|repo| [&repo.root, &repo.worktree]).map(Untrusted::raw);
        // Where no window works, the records in a repository tell where that lies.
        let records = report.records().map(|record| record.location.text().raw());
        let of_records = records.filter_map(|path| Some(path.split_once("/.git/")?.0));
        let named = roots.chain(of_records).chain(folders);
        let named = named.filter_map(|root| Some((root, root.rsplit('/').next()?)));
        let all = named.chain([(home, "~")]).filter(|(path, name)| path.len() > 1 && !name.is_empty());
        let escaped = |text: &str| {
            let quoted = serde_json::to_string(text).unwrap_or_default();
            quoted.trim_matches('"').to_owned()
        };
        let mut shortened: Vec<(String, String)> =
            all.map(|(path, name)| (escaped(path), escaped(name))).collect();
        shortened.sort_by(|one, other| other.0.len().cmp(&one.0.len()).then(one.cmp(other)));
        shortened.dedup();
        Self { shortened }
    }

    /// Shortens every path in a text of JSON.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (path, name) in &self.shortened {
            if text.contains(path.as_str()) {
                text = replaced(&text, path, name);
            }
        }
        text
    }
}

/// Replaces a path where it stands for itself, and is not the middle of a longer one or of a longer name.
fn replaced(text: &str, path: &str, name: &str) -> String {
    let is_of_name = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(path) {
        let (before, found) = rest.split_at(at);
        let after = found.get(path.len()..).unwrap_or_default();
        let is_whole = !before.chars().next_back().is_some_and(is_of_name)
            && !after.chars().next().is_some_and(is_of_name);
        out.push_str(before);
        out.push_str(if is_whole { name } else { path });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_are_looked_in_and_repositories_of_records_are_shortened_as_well() {
        let report = crate::app::testing::busy();
        let discreet = Discreet::new("/home/dev", ["/srv/teams/db", "/tmp/x/tmp"].into_iter(), &report);
        let text = r#""/srv/teams/db/orchestrator.db /tmp/x/tmp/maia.json /home/dev/a""#;
        assert_eq!(discreet.text(text), r#""db/orchestrator.db tmp/maia.json ~/a""#);
    }

    #[test]
    fn a_path_is_shortened_where_it_begins_and_ends() {
        let shortened = vec![
            ("/home/dev/src/shop".to_owned(), "shop".to_owned()),
            ("/home/dev".to_owned(), "~".to_owned()),
        ];
        let discreet = Discreet { shortened };
        for (text, expected) in [
            (r#"{"cwd":"/home/dev/src/shop"}"#, r#"{"cwd":"shop"}"#),
            (r#""/home/dev/src/shop/api/x.rs:7""#, r#""shop/api/x.rs:7""#),
            (r#""/home/dev/src/shop-old /home/dev/.claude""#, r#""~/src/shop-old ~/.claude""#),
            (r#""/home/developer /mnt/home/dev""#, r#""/home/developer /mnt/home/dev""#),
        ] {
            assert_eq!(discreet.text(text), expected);
        }
    }
}
