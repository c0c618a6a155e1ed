//! The sub-agents of Claude Code's sessions: each has a transcript of its own, and a note that says
//! what it was asked to do and whether it has finished.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::core::model::{Doing, FileMeta, SubAgent, Untrusted, WhyUnread, Work};
use crate::format::claude_code::work::{SubAgentNote, sub_agent};
use crate::format::work::Adapter;
use crate::source::interface::Hints;
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::{Folder, look_at};
use crate::source::os::open::meta::is_sure;
use crate::source::os::open::plain::small;
use crate::source::work::join::{Helped, join};
use crate::source::work::tail::Tail;

/// The most sub-agents of a session that are followed, the newest.
const MOST: usize = 32;
/// The most names of their folder that are looked at.
const MOST_NAMES: usize = 2_000;
/// The largest note that is read, in bytes; about 400 were seen.
const MOST_NOTE: usize = 64 << 10;

/// The sub-agents of one session.
pub(crate) struct Agents {
    folder: PathBuf,
    /// The folder when it was last listed, and when that was.
    listed: Option<(FileMeta, Timestamp)>,
    /// By ID.
    agents: BTreeMap<Untrusted, Agent>,
}

struct Agent {
    path: PathBuf,
    tail: Option<Tail>,
    /// Why its transcript was not read.
    unread: Option<WhyUnread>,
    /// The file of the note when it was last read.
    noted: Option<FileMeta>,
    note: Option<SubAgentNote>,
}

impl Agents {
    /// Prepares to follow those of the session with this transcript.
    pub(crate) fn of(transcript: &Path) -> Self {
        let folder = transcript.with_extension("").join("subagents");
        Self { folder, listed: None, agents: BTreeMap::new() }
    }

    /// Reads what is new, and returns whether there was anything.
    pub(crate) fn look(&mut self, adapter: Adapter, uid: u32, (fence, now): (&Fence, Timestamp)) -> bool {
        let found = look_at(&self.folder).filter(|_| fence.reaches(&self.folder));
        let Some(meta) = found else {
            let before = std::mem::take(&mut self.agents);
            self.listed = None;
            return !before.is_empty();
        };
        let is_known = |(known, read_at)| known == meta && is_sure(read_at, meta.touched_at());
        let is_listed = self.listed.is_some_and(is_known);
        if !is_listed {
            self.listed = self.list().map(|()| (meta, now));
        }
        let news = self.agents.values_mut().filter_map(|agent| agent.look(adapter, uid).then_some(()));
        news.count() > 0 || !is_listed
    }

    /// Finds the newest; those that were known stay where that fails.
    fn list(&mut self) -> Option<()> {
        let fits = |name: &OsStr| name.to_str().and_then(id_of).is_some();
        let folder = Folder::open(&self.folder).ok()?;
        let names = folder.entries(fits).ok()?;
        let seen = names.iter().take(MOST_NAMES).filter_map(|entry| {
            let (_, meta) = folder.look_at(&entry.name)?;
            let id = entry.name.to_str().and_then(id_of)?;
            Some((meta.modified_at, id, folder.path().join(&entry.name)))
        });
        let mut seen: Vec<_> = seen.collect();
        seen.sort_by_key(|(modified_at, ..)| Reverse(*modified_at));
        seen.truncate(MOST);
        let mut before = std::mem::take(&mut self.agents);
        let new = |path| Agent { path, tail: None, unread: None, noted: None, note: None };
        let known = |(_, id, path)| {
            let agent = before.remove(&id).unwrap_or_else(|| new(path));
            (id, agent)
        };
        self.agents = seen.into_iter().map(known).collect();
        Some(())
    }

    /// Adds what they do to what their session does. One that was last heard of before its window
    /// started, at `since`, runs no more.
    pub(crate) fn join(&self, work: &mut Work, since: Option<Timestamp>) {
        join(work, self.followed().map(|(id, agent, tail)| agent.helped(id, tail, since)));
    }

    fn followed(&self) -> impl Iterator<Item = (&Untrusted, &Agent, &Tail)> {
        self.agents.iter().filter_map(|(id, agent)| Some((id, agent, agent.tail.as_ref()?)))
    }

    /// Returns their transcripts.
    pub(crate) fn tails(&mut self) -> impl Iterator<Item = (&Path, &mut Tail)> {
        self.agents.values_mut().filter_map(|agent| Some((agent.path.as_path(), agent.tail.as_mut()?)))
    }

    /// Returns the transcripts that were found and not read.
    pub(crate) fn unread(&self) -> impl Iterator<Item = (&Path, WhyUnread)> {
        self.agents.values().filter_map(|agent| Some((agent.path.as_path(), agent.unread?)))
    }

    /// Adds what means another look when it changes.
    pub(crate) fn hints(&self, hints: &mut Hints) {
        hints.folders.insert(self.folder.clone());
        let names = ["agent-*.jsonl", "agent-*.meta.json"].map(str::to_owned);
        hints.names.entry(self.folder.clone()).or_default().extend(names);
    }
}

impl Agent {
    /// Reads what is new, and returns whether there was anything.
    fn look(&mut self, adapter: Adapter, uid: u32) -> bool {
        let seen = |agent: &Self| (agent.noted, agent.tail.as_ref().map(Tail::meta), agent.unread);
        let before = seen(self);
        // The note first: what it calls finished has written all that it will.
        let path = self.path.with_extension("meta.json");
        let noted = look_at(&path).filter(|meta| meta.ownership.uid == uid);
        if noted != self.noted {
            self.note = noted.and_then(|_| sub_agent(&small(&path, MOST_NOTE).ok()?));
            self.noted = noted;
        }
        (self.tail, self.unread) = match Tail::read(&self.path, adapter, uid, self.tail.take()) {
            Ok(tail) => (Some(tail), None),
            Err(why) => (None, why),
        };
        seen(self) != before
    }

    /// Returns what it has done.
    fn helped(&self, id: &Untrusted, tail: &Tail, since: Option<Timestamp>) -> Helped {
        let doing = Doing { edits_since: tail.edits_since(), ..tail.draft().doing() };
        let runs = self.runs() && since.is_none_or(|since| tail.written_at() >= since);
        let running = runs.then(|| SubAgent {
            id: id.clone(),
            task: self.note.as_ref().and_then(|note| note.task.clone()),
            call: doing.calls.last().cloned(),
            since: tail.began_at(),
        });
        Helped { id: id.clone(), running, doing, skipped: tail.draft().skipped }
    }

    /// Returns whether it has not finished, as far as is known.
    fn runs(&self) -> bool {
        self.note.as_ref().is_some_and(|note| !note.is_finished)
    }
}

/// Returns the ID in the name of a sub-agent's transcript.
fn id_of(name: &str) -> Option<Untrusted> {
    name.strip_prefix("agent-")?.strip_suffix(".jsonl").filter(|id| !id.is_empty()).map(Into::into)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests;
