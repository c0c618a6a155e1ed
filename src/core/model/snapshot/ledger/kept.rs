//! Versions of files that guarded windows keep: what each held, and whose it was.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::Untrusted;

/// The schema name of a list of kept versions.
const SCHEMA: &str = "claimtop.kept.v1";

/// The name of the list of versions that outlast the list of their day, as nothing else has them.
pub(crate) const LOST: &str = "lost.jsonl";

/// One version of a file: a line of a day's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptVersion {
    /// Its path, absolute and without links.
    pub(crate) path: Untrusted,
    /// When it was found to be so.
    pub(crate) at: Timestamp,
    /// The session that edited the file last.
    pub(crate) session: Untrusted,
    pub(crate) agent: Untrusted,
    /// Git's whole name for its content; `None` if there was no such file, or its content was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blob: Option<Untrusted>,
    /// In bytes.
    #[serde(default)]
    pub(crate) size: u64,
    /// Its permission bits.
    #[serde(default)]
    pub(crate) mode: u32,
    pub(crate) why: KeptReason,
    /// The agent's name for the call, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<Untrusted>,
    /// The top of the working tree, or the folder that lies in none.
    pub(crate) top: Untrusted,
    /// Why its content was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left_out: Option<LeftOut>,
}

/// Why a version was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeptReason {
    /// The session has just written it.
    Edit,
    /// The session was about to write over it.
    Before,
    /// Another session was about to run a shell line.
    Other,
    /// It was rebuilt from the session's transcript.
    Transcript,
}

/// Why the content of a file is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LeftOut {
    /// It is too large.
    Large,
    /// Git ignores the file.
    Ignored,
    /// Its name is one of those that hold secrets.
    Secret,
}

/// The first line of a list.
#[derive(Serialize)]
struct Header<'a> {
    schema: &'a str,
    tree: &'a str,
}

/// Returns what the first line of a list holds.
pub(crate) fn header(tree: &str) -> impl Serialize {
    Header { schema: SCHEMA, tree }
}

/// Parses a line of a list; `None` if it is its first one, torn, or has another form.
pub(crate) fn parse(line: impl AsRef<[u8]>) -> Option<KeptVersion> {
    serde_json::from_slice(line.as_ref()).ok()
}

/// Returns the name of the list of versions kept on the day of a moment, in UTC.
pub(crate) fn list_name(at: Timestamp) -> String {
    format!("{}.jsonl", at.strftime("%Y-%m-%d"))
}

/// Returns whether a file of this name is a list of a day.
pub(crate) fn is_list(name: &str) -> bool {
    name.strip_suffix(".jsonl").is_some_and(|day| day.parse::<jiff::civil::Date>().is_ok() && day.len() == 10)
}

/// Names of files that hold secrets.
const SECRET_NAMES: [&str; 17] = [
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc",
    ".htpasswd", ".git-credentials", "credentials", "credentials.json", "secrets.json", "secrets.yaml",
    "secrets.yml", "secrets.toml",
];

/// The ends of such names.
const SECRET_ENDS: [&str; 11] =
    [".pem", ".key", ".p12", ".pfx", ".p8", ".ppk", ".kdbx", ".jks", ".keystore", ".tfvars", ".ovpn"];

/// The ends of names that only show which secrets there are.
const SAMPLE_ENDS: [&str; 4] = [".example", ".sample", ".template", ".dist"];

/// Returns whether a file is likely to hold secrets, by its name.
pub(crate) fn is_secret_name(path: &str) -> bool {
    let name = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path);
    let name = name.to_ascii_lowercase();
    let has_end = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    !has_end(&SAMPLE_ENDS)
        && (name.starts_with(".env") || SECRET_NAMES.contains(&name.as_str()) || has_end(&SECRET_ENDS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::text::json;

    #[test]
    fn a_line_says_what_it_has() {
        let version = KeptVersion {
            path: "/w/a".into(),
            at: Timestamp::UNIX_EPOCH,
            session: "s-1".into(),
            agent: "codex".into(),
            blob: None,
            size: 0,
            mode: 0,
            why: KeptReason::Other,
            call: None,
            top: "/w".into(),
            left_out: Some(LeftOut::Secret),
        };
        let line = json::to_line(&version).unwrap();
        assert!(line.contains(r#""why":"other""#) && line.contains(r#""left_out":"secret""#), "{line}");
        assert_eq!(parse(&line), Some(version));
        assert_eq!(parse(json::to_line(&header("/w")).unwrap()), None);
        assert_eq!(parse(&line[..line.len() - 1]), None);
    }

    #[test]
    fn a_list_has_the_name_of_its_day() {
        let name = list_name("2026-11-29T23:59:59Z".parse().unwrap());
        assert_eq!(name, "2026-11-29.jsonl");
        assert!(is_list(&name) && !is_list(LOST) && !is_list("2026-13-01.jsonl") && !is_list("objects"));
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [".env", ".env.local", ".envrc", "tls/server.pem", "ID_RSA", "a.key", "prod.tfvars"] {
            assert!(is_secret_name(&format!("/w/{name}")), "{name}");
        }
        for name in [".env.example", "src/key.rs", "environment.ts", "keys", "id_rsa.pub", "pem.md"] {
            assert!(!is_secret_name(&format!("/w/{name}")), "{name}");
        }
    }
}
