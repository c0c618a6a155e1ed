//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<minute>-<start of the session>.jsonl`. `projects.json` has the
//! project of each folder, and `logs.json` beside the chats the prompts of each session.
//!
//! Seen with 0.61.0.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{Beginning, FileMeta, SessionFile, Tie, Untrusted};
use crate::format::reading::{json, time};
use crate::source::os::open::folder::look_at;
use crate::source::os::open::plain::small;
use crate::source::sessions::look::{Look, SessionTarget, folders};

/// How many of a folder's sessions are taken, the newest first.
const NEWEST: usize = 8;
/// The most bytes of the list of projects.
const PROJECTS: usize = 1 << 20;
/// The most bytes of the prompts typed in a project.
const LOG: usize = 4 << 20;
/// What begins a new session in a window.
const CLEAR: &str = "/clear";
/// How long after `/clear` the next session has begun, at most.
const CLEARS: SignedDuration = SignedDuration::from_secs(2);

/// Prompts typed in projects, by their files, as they were last read.
#[derive(Default)]
pub(crate) struct Logs {
    read: HashMap<PathBuf, (FileMeta, Arc<[TypedPrompt]>)>,
}

/// A typed prompt.
#[derive(Deserialize)]
struct TypedPrompt {
    #[serde(rename = "sessionId")]
    session: String,
    #[serde(rename = "message")]
    text: String,
    timestamp: String,
}

impl Logs {
    fn of(&mut self, path: PathBuf) -> Arc<[TypedPrompt]> {
        let meta = look_at(&path);
        if let Some((_, log)) = self.read.get(&path).filter(|(known, _)| Some(*known) == meta) {
            return Arc::clone(log);
        }
        let text = small(&path, LOG).unwrap_or_default();
        // It is rewritten whole, so it may be empty for a moment.
        let mut log: Vec<TypedPrompt> = serde_json::from_slice(&text).unwrap_or_default();
        // Prompts are their user's secrets.
        log.iter_mut().filter(|typed| typed.text != CLEAR).for_each(|typed| typed.text = String::new());
        let log: Arc<[TypedPrompt]> = log.into();
        if let Some(meta) = meta {
            self.read.insert(path, (meta, Arc::clone(&log)));
        }
        log
    }
}

/// Finds the sessions of the folders in which these windows work.
pub(crate) fn read(look: &mut Look<'_>, home: &Path, wanted: &[&SessionTarget], logs: &mut Logs) {
    if wanted.is_empty() {
        return;
    }
    let list = small(&home.join(".gemini/projects.json"), PROJECTS).unwrap_or_default();
    let Ok(list) = json::parse(&list) else { return };
    for cwd in folders(wanted) {
        let project = list.object("projects").and_then(|projects| projects.str(cwd.raw()));
        let Some(project) = project.filter(|name| !name.contains('/') && *name != "..") else { continue };
        let project = home.join(".gemini/tmp").join(project);
        let chats = look.files(&project.join("chats"), |name| name.starts_with("session-"));
        let log = logs.of(project.join("logs.json"));
        for (path, meta) in chats.into_iter().take(NEWEST) {
            let Some(start) = start_of(&path) else { continue };
            let head = look.heads.fields(&path, meta.ino);
            // A second window deletes the chat of a window in which nothing was typed yet; that chat continues without
            // a first line.
            let typed = || log.iter().map(|typed| &typed.session).find(|id| id.starts_with(&start)).cloned();
            let session = head.session.filter(|id| id.starts_with(&start)).or_else(typed);
            let Some(session) = session.filter(|id| is_valid_id(id)) else { continue };
            let at = head.start.as_deref().and_then(time::rfc3339);
            let cleared = at.and_then(|at| cleared(&log, &session, at));
            let beginning = Beginning { at, is_fork: false, cleared };
            let tie = Tie::Folder(cwd.clone());
            let file = SessionFile::new("gemini", session.into(), tie, (path.into(), meta.modified_at));
            look.found.push(SessionFile { beginning, ..file });
        }
    }
}

/// Returns the working folder of each project of a home.
pub(crate) fn working_folders(home: &Path) -> HashMap<String, String> {
    /// The list of projects.
    #[derive(Default, Deserialize)]
    struct Projects {
        projects: HashMap<String, String>,
    }
    let list = small(&home.join(".gemini/projects.json"), PROJECTS).unwrap_or_default();
    let projects = serde_json::from_slice::<Projects>(&list).unwrap_or_default().projects;
    projects.into_iter().map(|(folder, project)| (project, folder)).collect()
}

/// Returns the beginning of the ID of the session of this chat, by its name.
pub(crate) fn start_of(chat: &Path) -> Option<String> {
    let start = chat.file_stem()?.to_str()?.rsplit('-').next()?;
    (start.len() == 8).then(|| start.to_owned())
}

/// Returns the session in which `/clear` was typed when another one began.
fn cleared(log: &[TypedPrompt], session: &str, began_at: Timestamp) -> Option<Untrusted> {
    let is_then = |typed: &&TypedPrompt| {
        let since = time::rfc3339(&typed.timestamp).map(|at| began_at.duration_since(at));
        typed.text == CLEAR && since.is_some_and(|since| !since.is_negative() && since < CLEARS)
    };
    let mut cleared =
        log.iter().filter(is_then).map(|typed| typed.session.as_str()).filter(|id| *id != session);
    let before = cleared.next().filter(|id| is_valid_id(id))?;
    // Two windows that were cleared at once cannot be distinguished.
    cleared.all(|other| other == before).then(|| before.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(entries: &[(&str, &str, u32)]) -> Vec<TypedPrompt> {
        let one = |(session, text, second): &(&str, &str, u32)| TypedPrompt {
            session: (*session).to_owned(),
            text: (*text).to_owned(),
            timestamp: format!("2026-11-28T22:32:{second:02}Z"),
        };
        entries.iter().map(one).collect()
    }

    #[test]
    fn a_session_follows_the_one_that_was_cleared_when_it_began() {
        let at = time::rfc3339("2026-11-28T22:32:10.5Z").unwrap();
        for (entries, expected) in [
            (vec![("a", "Fix it", 1), ("a", "/clear", 10)], Some("a")),
            (vec![("a", "/clear", 10), ("b", "/clear", 9)], None),
            (vec![("a", "Fix it", 10)], None),
            (vec![("a", "/clear", 8), ("a", "/clear", 11), ("s", "/clear", 10)], None),
        ] {
            let found = cleared(&log(&entries), "s", at);
            assert_eq!(found.as_ref().map(Untrusted::raw), expected, "{expected:?}");
        }
    }

    #[test]
    fn the_name_of_a_chat_ends_with_the_beginning_of_its_session() {
        let of = |name: &str| start_of(Path::new(name));
        assert_eq!(of("/x/session-2026-11-28T22-31-e7eb6a7e.jsonl"), Some("e7eb6a7e".to_owned()));
        assert_eq!(of("/x/session-2026-11-28T22-31.jsonl"), None);
    }
}
