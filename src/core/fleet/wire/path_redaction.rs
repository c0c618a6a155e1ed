//! Redacts where this machine's repositories and its home are, before anything is sent to others.

use std::borrow::Cow;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::core::model::text::hex;
use crate::core::model::{Report, Untrusted};

/// Shortens paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathRedactor {
    /// The beginnings of paths, as in JSON, and their replacements; the longest first.
    shortened: Vec<(String, String)>,
    /// The salt for hashes of paths, so that guessed names cannot be tested; `None` if paths are sent in full.
    salt: Option<String>,
}

/// How many bytes of a hash replace a path.
const HASH: usize = 8;

impl PathRedactor {
    /// Shortens the paths in a home, in other folders that are read, and those of a report: its repositories and
    /// sources, and the working folders of its windows and left-overs.
    pub(crate) fn new<'a>(
        home: &'a str,
        folders: impl Iterator<Item = &'a str>,
        report: &'a Report,
        salt: String,
    ) -> Self {
        let repos = report.windows.iter().filter_map(|window| window.repo.as_ref());
        let roots = repos.flat_map(|repo| [&repo.root, &repo.worktree]).map(Untrusted::raw);
        // For repositories without a window, the paths of the records in them.
        let records = report.records().map(|record| record.location.text().raw());
        let of_records = records.filter_map(|path| Some(path.split_once("/.git/")?.0));
        let sources = report.sources.iter().filter_map(|source| source.id.get(source.id.find(":/")? + 1..));
        // The URL of a server is not a path.
        let sources = sources.filter(|path| !path.starts_with("//"));
        let named = roots.chain(of_records).chain(folders).chain(sources).chain(places(report));
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
        Self { shortened, salt: Some(salt) }
    }

    /// Returns the ID of a part with a hash in place of the path in it.
    pub(crate) fn id<'a>(&self, id: &'a str) -> Cow<'a, str> {
        let Some(salt) = self.salt.as_ref().filter(|_| id.contains('/')) else { return Cow::Borrowed(id) };
        let (kind, _) = id.split_once(':').unwrap_or_default();
        let digest = Sha256::digest(format!("{salt} {id}"));
        Cow::Owned(format!("{kind}:{}", hex(digest.iter().take(HASH))))
    }

    /// Shortens every path in an answer to an order, except in what a person has to type.
    pub(crate) fn answer(&self, line: &str) -> String {
        let short = self.text(line);
        let (Ok(whole), Ok(mut redacted)) = (serde_json::from_str(line), serde_json::from_str(&short)) else {
            return short;
        };
        keep_wanted(&whole, &mut redacted);
        redacted.to_string()
    }

    /// Shortens every path in a JSON text.
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

/// Returns the working folders of windows and left-overs, without the system's own folders.
fn places(report: &Report) -> impl Iterator<Item = &str> {
    let windows = report.windows.iter().filter_map(|window| window.cwd.as_ref());
    let members = report.left_overs.iter().flat_map(|left| &left.tree).filter_map(|one| one.folder.as_ref());
    let left = report.left_overs.iter().filter_map(|left| left.folder.as_ref()).chain(members);
    let trees = report.left_trees.iter().flat_map(|tree| [&tree.path, &tree.repository]);
    let all = windows.chain(left).chain(trees).map(Untrusted::raw);
    all.filter(|path| path.matches('/').count() > 1)
}

/// Restores what a person has to type to confirm a plan.
fn keep_wanted(whole: &Value, redacted: &mut Value) {
    match (whole, redacted) {
        (Value::Object(whole), Value::Object(redacted)) => {
            for ((name, whole), (_, redacted)) in whole.iter().zip(redacted.iter_mut()) {
                if name == "wanted" {
                    redacted.clone_from(whole);
                } else {
                    keep_wanted(whole, redacted);
                }
            }
        }
        (Value::Array(whole), Value::Array(redacted)) => {
            whole.iter().zip(redacted.iter_mut()).for_each(|(whole, redacted)| keep_wanted(whole, redacted));
        }
        _ => {}
    }
}

/// Replaces a path that stands alone, not inside a longer path or name.
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
        let report = crate::core::testing::busy();
        let discreet = PathRedactor::new(
            "/home/dev",
            ["/srv/teams/db", "/tmp/x/tmp"].into_iter(),
            &report,
            String::new(),
        );
        let text = r#""/srv/teams/db/orchestrator.db /tmp/x/tmp/maia.json /home/dev/a""#;
        assert_eq!(discreet.text(text), r#""db/orchestrator.db tmp/maia.json ~/a""#);
    }

    #[test]
    fn no_source_and_no_place_tells_where_it_lies() {
        let mut report = crate::core::testing::busy();
        for id in ["repo:/srv/clients/secretproj", "obra:/srv/db/o.db", "leo:postgres://leo@db:5432/leo"] {
            let source = crate::core::model::SourceHealth { id: id.to_owned(), ..report.sources[0].clone() };
            report.sources.push(source);
        }
        report.windows[0] = crate::core::model::WindowFacts {
            cwd: Some("/opt/acme/job".into()),
            ..(*report.windows[0]).clone()
        }
        .into();
        let discreet = |salt: &str| PathRedactor::new("/home/dev", [].into_iter(), &report, salt.to_owned());
        let text = r#""repo:/srv/clients/secretproj obra:/srv/db/o.db postgres://leo@db /opt/acme/job/x""#;
        assert_eq!(discreet("").text(text), r#""repo:secretproj obra:o.db postgres://leo@db job/x""#);
        let id = |salt: &str, id: &str| discreet(salt).id(id).into_owned();
        let hash = id("m", "repo:/srv/clients/secretproj");
        assert!(hash.starts_with("repo:") && hash.len() == 21 && !hash.contains('/'), "{hash}");
        assert_eq!(hash, id("m", "repo:/srv/clients/secretproj"));
        assert_ne!(hash, id("n", "repo:/srv/clients/secretproj"), "of another machine");
        assert_eq!(id("m", "processes"), "processes");
        assert_eq!(PathRedactor::default().id("repo:/srv/x"), "repo:/srv/x");
    }

    #[test]
    fn an_answer_keeps_what_a_person_has_to_type() {
        let shortened = vec![("/srv/shop".to_owned(), "shop".to_owned())];
        let discreet = PathRedactor { shortened, salt: None };
        let line =
            r#"{"plans":{"is":[{"Ok":{"plan":{"what":"put /srv/shop/a aside"},"wanted":"/srv/shop/a"}}]}}"#;
        let told = r#"{"plans":{"is":[{"Ok":{"plan":{"what":"put shop/a aside"},"wanted":"/srv/shop/a"}}]}}"#;
        assert_eq!(discreet.answer(line), told);
    }

    #[test]
    fn a_path_is_shortened_where_it_begins_and_ends() {
        let shortened = vec![
            ("/home/dev/src/shop".to_owned(), "shop".to_owned()),
            ("/home/dev".to_owned(), "~".to_owned()),
        ];
        let discreet = PathRedactor { shortened, salt: None };
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
