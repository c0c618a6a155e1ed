//! The beginnings of files: the first line of an agent's transcript names its session, and the file only grows.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::source::os::open::plain::open_plain;

/// How much of a file is read, in bytes.
const HEAD: u64 = 8 << 10;

/// The beginnings that were read.
#[derive(Default)]
pub(crate) struct Heads {
    known: HashMap<PathBuf, Head>,
}

struct Head {
    inode: u64,
    fields: Fields,
    is_used: bool,
}

/// The fields of the first line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) session: Option<String>,
    /// The folder that it works in.
    pub(crate) cwd: Option<String>,
    /// When it began.
    pub(crate) start: Option<String>,
    /// Whether it is a sub-agent's.
    pub(crate) is_sub_agents: bool,
    /// Whether it began as a copy of another one.
    pub(crate) is_fork: bool,
}

impl Heads {
    /// Returns the fields of the first line of a file; nothing if it cannot be read.
    pub(crate) fn fields(&mut self, path: &Path, inode: u64) -> Fields {
        match self.known.get_mut(path).filter(|head| head.inode == inode && head.fields != Fields::default())
        {
            Some(head) => {
                head.is_used = true;
                head.fields.clone()
            }
            None => {
                let fields = read(path).map(|text| fields(&text)).unwrap_or_default();
                self.known.insert(path.to_path_buf(), Head { inode, fields: fields.clone(), is_used: true });
                fields
            }
        }
    }

    /// Forgets files that the last look did not ask for.
    pub(crate) fn keep_used(&mut self) {
        self.known.retain(|_, head| std::mem::take(&mut head.is_used));
    }
}

/// Reads the beginning of a file once; its folder may stand in a later line.
pub(crate) fn beginning(path: &Path) -> Fields {
    let Some(text) = read(path) else { return Fields::default() };
    let mut found = fields(&text);
    found.cwd = found.cwd.or_else(|| text.lines().skip(1).find_map(|line| fields(line).cwd));
    found
}

fn read(path: &Path) -> Option<String> {
    let (fd, _) = open_plain(path).ok().filter(|(_, meta)| meta.links == 1)?;
    let mut bytes = Vec::new();
    File::from(fd).take(HEAD).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the two fields out of the first line, which may be cut: instructions of any length can
/// follow them. Inside a string a quote is escaped, so what is found is a key.
fn fields(text: &str) -> Fields {
    let line = text.lines().next().unwrap_or_default();
    let after = |key: &str| line.split_once(&format!("\"{key}\":")).map(|(_, rest)| rest);
    let string = |key| serde_json::Deserializer::from_str(after(key)?).into_iter::<String>().next()?.ok();
    let session = string("sessionId").or_else(|| string("id"));
    let is_sub_agents = string("thread_source").is_some_and(|source| source == "subagent");
    let is_fork = after("forked_from_id").is_some();
    Fields { session, cwd: string("cwd"), start: string("startTime"), is_sub_agents, is_fork }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, session: Option<&str>, cwd: Option<&str>) {
        let found = fields(text);
        assert_eq!((found.session.as_deref(), found.cwd.as_deref()), (session, cwd));
    }

    #[test]
    fn the_first_line_says_whose_it_is() {
        check(r#"{"sessionId":"c1d6","projectHash":"x","kind":"main"}"#, Some("c1d6"), None);
        check(
            r#"{"type":"session_meta","payload":{"session_id":"s","id":"01a1","cwd":"/home/\"x\"","base":{"text":"cut"#,
            Some("01a1"),
            Some("/home/\"x\""),
        );
        check(r#"{"text":"\"id\":\"fake\"","id":"real"}"#, Some("real"), None);
        check("{\"x\":1}\n{\"id\":\"second line\"}", None, None);
        check("", None, None);
        check(r#"{"id":"cut"#, None, None);
    }
}
