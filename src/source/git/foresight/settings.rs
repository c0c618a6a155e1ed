//! The settings of a repository that decide what a merge results in, without those that run a program.

use std::collections::BTreeSet;

use crate::source::git::run::Git;

/// The settings that are passed on: none of them names a program.
const HARMLESS: [&str; 20] = [
    "core.attributesfile", "core.autocrlf", "core.bigfilethreshold", "core.checkroundtripencoding",
    "core.checkstat", "core.eol", "core.excludesfile", "core.filemode", "core.ignorecase",
    "core.precomposeunicode", "core.sparsecheckout", "core.sparsecheckoutcone", "core.symlinks",
    "core.trustctime", "diff.algorithm", "diff.renamelimit", "diff.renames", "merge.directoryrenames",
    "merge.renamelimit", "merge.renames",
];

/// What claimtop sets itself.
const OWN: [(&str, &str); 12] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("core.safecrlf", "false"),
    ("core.fsync", "none"),
    ("core.looseCompression", "0"),
    ("core.multiPackIndex", "true"),
    ("index.sparse", "false"),
    ("pack.compression", "0"),
    ("pack.threads", "1"),
    ("gc.auto", "0"),
];

/// The settings of one working tree.
#[derive(Default)]
pub(super) struct Settings {
    values: Vec<(String, Vec<u8>)>,
    is_sha256: bool,
    /// Whether line ends are made alike before a merge.
    pub(super) has_renormalize: bool,
    /// The filters that run a program.
    pub(super) filters: BTreeSet<Vec<u8>>,
    /// The merge drivers that run a program.
    pub(super) drivers: BTreeSet<Vec<u8>>,
    /// The driver for files without one.
    pub(super) usual_driver: Option<Vec<u8>>,
}

impl Settings {
    /// Reads them; listing settings runs nothing.
    pub(super) fn read(git: &Git) -> Result<Self, String> {
        let answer = git.ask(&["config", "-z", "--list"]).filter(|answer| answer.code == 0 && !answer.is_cut);
        let answer = answer.ok_or("git did not list its settings in time")?;
        Ok(Self::parse(&answer.out))
    }

    fn parse(list: &[u8]) -> Self {
        let mut settings = Self::default();
        for entry in list.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let (key, value) = match entry.iter().position(|byte| *byte == b'\n') {
                Some(end) => (entry.get(..end), entry.get(end + 1..)),
                // A key without a value is true.
                None => (Some(entry), Some(&b"true"[..])),
            };
            settings.take(key.unwrap_or_default(), value.unwrap_or_default());
        }
        settings
    }

    fn take(&mut self, key: &[u8], value: &[u8]) {
        let between = |start: &str, ends: &[&str]| {
            let rest = key.strip_prefix(start.as_bytes())?;
            ends.iter().find_map(|end| rest.strip_suffix(end.as_bytes())).map(<[u8]>::to_vec)
        };
        let is_set = !value.is_empty();
        self.filters.extend(between("filter.", &[".clean", ".process"]).filter(|_| is_set));
        self.drivers.extend(between("merge.", &[".driver"]).filter(|_| is_set));
        match key {
            b"merge.default" => self.usual_driver = Some(value.to_vec()),
            b"merge.renormalize" => {
                self.has_renormalize = value != b"false";
                self.values.push(("merge.renormalize".to_owned(), value.to_vec()));
            }
            b"extensions.objectformat" => self.is_sha256 = value.eq_ignore_ascii_case(b"sha256"),
            _ => {
                let known = HARMLESS.into_iter().find(|known| known.as_bytes() == key);
                self.values.extend(known.map(|known| (known.to_owned(), value.to_vec())));
            }
        }
    }

    /// Returns the settings for git, its own last: the last one counts.
    pub(super) fn harmless(&self) -> Vec<(String, Vec<u8>)> {
        let own = OWN.into_iter().map(|(key, value)| (key.to_owned(), value.as_bytes().to_vec()));
        self.values.iter().cloned().chain(own).collect()
    }

    /// Returns the configuration file of a git folder for it.
    pub(super) fn file(&self) -> String {
        match self.is_sha256 {
            true => {
                "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n".to_owned()
            }
            false => "[core]\n\trepositoryformatversion = 0\n".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_runs_nothing_is_passed_on() {
        let list = b"core.autocrlf\ntrue\0core.fsmonitor\n/evil\0core.sshcommand\n/evil\0filter.a.b.clean\nx\0\
                     filter.none.clean\n\0merge.ours.driver\ntrue\0merge.renormalize\0extensions.objectformat\nsha256\0";
        let settings = Settings::parse(list);
        let names: Vec<&str> = settings.values.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(names, ["core.autocrlf", "merge.renormalize"]);
        assert_eq!(settings.filters, BTreeSet::from([b"a.b".to_vec()]));
        assert_eq!(settings.drivers, BTreeSet::from([b"ours".to_vec()]));
        assert!(settings.file().contains("sha256"));
    }
}
