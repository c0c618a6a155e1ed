//! Agents that keep their sessions by working folder: Claude Code, Qwen Code.

use std::path::Path;

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{FileMeta, SessionFile, Tie, Untrusted};
use crate::source::sessions::look::{Look, SessionTarget, folders};

/// How many of a folder's sessions are taken, the newest first.
const NEWEST: usize = 8;
/// Claude Code: `projects/<folder>/<session>.jsonl` of its configuration folder.
pub(crate) fn claude(look: &mut Look<'_>, config: &Path, wanted: &[&SessionTarget]) {
    for cwd in folders(wanted) {
        let at = config.join("projects").join(slug(cwd.raw()));
        named_by_session(look, "claude-code", &at, &cwd);
    }
}

/// Qwen Code: `~/.qwen/projects/<folder>/chats/<session>.jsonl`.
pub(crate) fn qwen(look: &mut Look<'_>, home: &Path, wanted: &[&SessionTarget]) {
    for cwd in folders(wanted) {
        let at = home.join(".qwen/projects").join(slug(cwd.raw())).join("chats");
        named_by_session(look, "qwen", &at, &cwd);
    }
}

fn named_by_session(look: &mut Look<'_>, agent: &'static str, at: &Path, cwd: &Untrusted) {
    let is_session = |name: &str| name.strip_suffix(".jsonl").is_some_and(is_valid_id);
    for (path, meta) in look.files(at, is_session).into_iter().take(NEWEST) {
        // Two folders may have one project name: `/a/b-c` and `/a-b/c`.
        if look.heads.fields(&path, meta.ino).cwd.is_some_and(|own| own != cwd.raw()) {
            continue;
        }
        if let Some(session) = path.file_stem().and_then(|name| name.to_str()).map(Untrusted::from) {
            add(look, agent, session, cwd, (path, meta));
        }
    }
}

fn add(
    look: &mut Look<'_>,
    agent: &'static str,
    session: Untrusted,
    cwd: &Untrusted,
    (path, meta): (std::path::PathBuf, FileMeta),
) {
    let tie = Tie::Folder(cwd.clone());
    look.found.push(SessionFile::new(agent, session, tie, (path.into(), meta.modified_at)));
}

/// Returns the name of a folder's project: everything but letters and digits becomes `-`. Very
/// long ones are cut by the agents and given a hash; those are not found.
pub(crate) fn slug(cwd: &str) -> String {
    cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
