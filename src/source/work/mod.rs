//! What sessions do, from their agents' own files: those of windows, and of windows that have gone.

mod find;
mod tail;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::core::judge::agent::Signatures;
use crate::core::judge::session::session_of;
use crate::core::judge::world::World;
use crate::core::model::context::is_valid_id;
use crate::core::model::{Doing, FilePath, Format, RecordKind, Snapshot, SourceHealth, Untrusted, Work};
use crate::format::work::Adapter;
use crate::format::{self, Reading};
use crate::source::interface::{Hints, Scope, Source};
use crate::source::os::open::medium::medium_at;
use crate::source::work::tail::Tail;

/// The most sessions that are followed: those of windows first, then the newest of the others.
const MOST: usize = 64;

/// Follows the files of sessions.
#[derive(Default)]
pub(crate) struct Reader {
    followed: HashMap<Session, Followed>,
}

/// A session of an agent.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Session {
    format: Format,
    id: Untrusted,
}

/// A file that is followed.
struct Followed {
    path: PathBuf,
    tail: Tail,
}

/// A session whose file is asked for.
struct Wanted {
    session: Session,
    cwd: Option<Untrusted>,
    /// Where it is, where that is known.
    path: Option<FilePath>,
}

impl Source for Reader {
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, _reading: &Reading<'_>) {
        let wanted = wanted(snapshot, &scope.signatures);
        let mut before = std::mem::take(&mut self.followed);
        for one in wanted {
            let Some(adapter) = format::spec(one.session.format).and_then(|spec| spec.sessions) else {
                continue;
            };
            let known = before.remove(&one.session);
            if let Some(followed) = follow(&one, adapter, known, scope, snapshot.host.uid) {
                self.followed.insert(one.session, followed);
            }
        }
        // A window that has gone leaves what it did.
        let mut gone: Vec<_> = before.into_iter().collect();
        gone.sort_by_key(|(_, followed)| std::cmp::Reverse(followed.tail.written_at()));
        gone.truncate(MOST.saturating_sub(self.followed.len()));
        self.followed.extend(gone);
        let mut work: Vec<Work> = self.followed.iter().map(|(session, one)| view(session, one)).collect();
        work.sort_by(|one, other| one.path.text().cmp(other.path.text()));
        snapshot.work = work;
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        Vec::new()
    }

    fn hints(&self, _scope: &Scope, hints: &mut Hints) {
        for followed in self.followed.values() {
            let Some((folder, name)) = followed.path.parent().zip(followed.path.file_name()) else {
                continue;
            };
            hints.folders.insert(folder.to_owned());
            if let Some(name) = name.to_str() {
                hints.names.entry(folder.to_owned()).or_default().insert(name.to_owned());
            }
        }
    }
}

fn view(session: &Session, followed: &Followed) -> Work {
    let draft = followed.tail.draft();
    Work {
        format: session.format,
        session: session.id.clone(),
        path: followed.path.clone().into(),
        medium: medium_at(&followed.path),
        written_at: followed.tail.written_at(),
        doing: Doing { edits_since: followed.tail.edits_since(), ..draft.doing() },
        agents: Vec::new(),
        skipped: draft.skipped,
    }
}

fn follow(
    one: &Wanted,
    adapter: Adapter,
    known: Option<Followed>,
    scope: &Scope,
    uid: u32,
) -> Option<Followed> {
    let read = |path: PathBuf, before| {
        let tail = Tail::read(&path, adapter, uid, before)?;
        Some(Followed { path, tail })
    };
    if let Some(Followed { path, tail }) = known
        && let Some(followed) = read(path, Some(tail))
    {
        return Some(followed);
    }
    let stated = one.path.as_ref().map(|path| Path::to_path_buf(path));
    let path = stated
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .or_else(|| find::file_of(one.session.format, &one.session.id, one.cwd.as_ref(), scope))?;
    read(path, None)
}

/// Returns the sessions of windows, and those of Claude Code's registry whose processes have gone.
fn wanted(snapshot: &Snapshot, signatures: &Signatures) -> Vec<Wanted> {
    let world = World::new(snapshot, signatures);
    let of_windows = world.windows.iter().filter_map(|window| {
        let format = format_of(window.agent)?;
        let id = session_of(window, &world)?.id;
        let file =
            snapshot.session_files.iter().find(|file| file.agent == window.agent && file.session == id);
        let cwd = window.process.details.as_ref().and_then(|details| details.cwd.clone());
        Some(Wanted { session: Session { format, id }, cwd, path: file.map(|file| file.path.clone()) })
    });
    let is_entry = |format, kind| format == Format::ClaudeCode && kind == RecordKind::Session;
    let entries = snapshot.records.iter().filter(|record| is_entry(record.format, record.kind));
    let of_entries = entries.filter_map(|record| {
        let session = Session { format: Format::ClaudeCode, id: record.session_id.clone()? };
        let cwd = record.cwd.as_ref().map(|cwd| cwd.text().clone());
        Some(Wanted { session, cwd, path: None })
    });
    let mut wanted: Vec<Wanted> = Vec::new();
    for one in of_windows.chain(of_entries).filter(|one| is_valid_id(one.session.id.raw())) {
        if wanted.len() < MOST && !wanted.iter().any(|other| other.session == one.session) {
            wanted.push(one);
        }
    }
    wanted
}

/// Returns the format of an agent's own files.
fn format_of(agent: &str) -> Option<Format> {
    let is_own = |format: &Format| format.name() == agent;
    let own = Format::ALL.into_iter().find(is_own);
    own.or_else(|| agent.contains("claude").then_some(Format::ClaudeCode))
}
