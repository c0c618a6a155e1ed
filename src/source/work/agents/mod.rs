//! The sub-agents of Claude Code's and Qwen Code's sessions: each has a transcript of its own, and a note with its
//! task and whether it has finished. Those of a workflow lie in a folder of its own, where its journal shows which
//! have finished.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::core::model::{Doing, FileMeta, SubAgent, Untrusted, WhyUnread, Work};
use crate::format::agent::claude_code::work::finished_agents;
use crate::format::transcripts::{SubAgents, Transcripts};
use crate::format::work::{Adapter, SubAgentNote};
use crate::source::interface::Hints;
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::{Folder, look_at};
use crate::source::os::open::meta::is_sure;
use crate::source::os::open::plain::small;
use crate::source::work::join::{HelperWork, join};
use crate::source::work::tail::Tail;

/// The most sub-agents of a session that are followed, the newest.
const MOST: usize = 32;
/// The most names of their folder that are looked at.
const MOST_NAMES: usize = 2_000;
/// The largest note that is read, in bytes; about 400 were seen.
const MOST_NOTE: usize = 64 << 10;
/// The most workflows of a session that are followed, the newest.
const MOST_FLOWS: usize = 8;
/// The largest journal of a workflow that is read, in bytes; it has the results of all its agents.
const MOST_JOURNAL: usize = 8 << 20;
/// The name of a workflow's journal.
const JOURNAL: &str = "journal.jsonl";

/// Reads a note.
type ReadNote = fn(&[u8]) -> Option<SubAgentNote>;

/// The sub-agents of one session.
pub(crate) struct Agents {
    folder: PathBuf,
    /// The reader of their notes.
    note: ReadNote,
    /// Their folders when they were last listed, and when that was.
    listed: Option<(Vec<Option<FileMeta>>, Timestamp)>,
    /// The workflows of the session, by their folders.
    flows: BTreeMap<PathBuf, Flow>,
    /// By ID.
    agents: BTreeMap<Untrusted, Agent>,
}

/// The content of a workflow's journal.
#[derive(Default)]
struct Flow {
    /// The journal when it was last read.
    read: Option<FileMeta>,
    finished: BTreeSet<Untrusted>,
}

struct Agent {
    path: PathBuf,
    tail: Option<Tail>,
    /// Why its transcript was not read.
    unread: Option<WhyUnread>,
    /// The file of the note when it was last read.
    noted: Option<FileMeta>,
    note: Option<SubAgentNote>,
    /// Whether its workflow says that it has finished.
    is_finished: bool,
}

impl Agents {
    /// Prepares to follow those of the session with this transcript, if its agent writes down what they do:
    /// `<session>/subagents` beside it, or `subagents/<session>` beside its folder.
    pub(crate) fn for_session(transcripts: &Transcripts, transcript: &Path) -> Option<Self> {
        let SubAgents { folder, note } = transcripts.sub_agents?;
        let folder = folder(transcript)?;
        Some(Self { folder, note, listed: None, flows: BTreeMap::new(), agents: BTreeMap::new() })
    }

    /// Reads new content, and returns whether there was any.
    pub(crate) fn look(&mut self, adapter: Adapter, uid: u32, (fence, now): (&Fence, Timestamp)) -> bool {
        if look_at(&self.folder).is_none() || !fence.reaches(&self.folder) {
            let before = std::mem::take(&mut self.agents);
            (self.listed, self.flows) = (None, BTreeMap::new());
            return !before.is_empty();
        }
        let is_sure = |read_at, meta: &FileMeta| is_sure(read_at, meta.touched_at());
        let is_known = |(known, read_at): &(Vec<Option<FileMeta>>, Timestamp)| {
            *known == self.metas() && known.iter().flatten().all(|meta| is_sure(*read_at, meta))
        };
        let is_listed = self.listed.as_ref().is_some_and(is_known);
        if !is_listed {
            self.find_flows();
            let metas = self.metas();
            self.listed = self.list().map(|()| (metas, now));
        }
        let mut has_news = !is_listed;
        for (folder, flow) in &mut self.flows {
            has_news |= flow.look(folder, uid);
        }
        for (id, agent) in &mut self.agents {
            let flow = agent.path.parent().and_then(|folder| self.flows.get(folder));
            agent.is_finished = flow.is_some_and(|flow| flow.finished.contains(id));
            has_news |= agent.look((adapter, self.note), uid);
        }
        has_news
    }

    /// Returns the folder in which each workflow has its own.
    fn workflows(&self) -> PathBuf {
        self.folder.join("workflows")
    }

    /// Returns the present facts of the folders.
    fn metas(&self) -> Vec<Option<FileMeta>> {
        let more = self.flows.keys().map(|folder| look_at(folder));
        [look_at(&self.folder), look_at(&self.workflows())].into_iter().chain(more).collect()
    }

    /// Finds the newest workflows.
    fn find_flows(&mut self) {
        let mut before = std::mem::take(&mut self.flows);
        let seen = entries(&self.workflows(), |name| name.starts_with("wf_")).unwrap_or_default();
        let known = |path| {
            let flow = before.remove(&path).unwrap_or_default();
            (path, flow)
        };
        self.flows = newest(seen, MOST_FLOWS).map(known).collect();
    }

    /// Finds the newest; the known ones stay if that fails.
    fn list(&mut self) -> Option<()> {
        let transcripts = |folder: &Path| entries(folder, |name| id_of(name).is_some());
        let mut seen = transcripts(&self.folder)?;
        for folder in self.flows.keys() {
            seen.extend(transcripts(folder).unwrap_or_default());
        }
        let mut before = std::mem::take(&mut self.agents);
        let new =
            |path| Agent { path, tail: None, unread: None, noted: None, note: None, is_finished: false };
        let known = |path: PathBuf| {
            let id = path.file_name().and_then(OsStr::to_str).and_then(id_of)?;
            let agent = before.remove(&id).unwrap_or_else(|| new(path));
            Some((id, agent))
        };
        self.agents = newest(seen, MOST).filter_map(known).collect();
        Some(())
    }

    /// Adds their work to their session's. A sub-agent that last wrote before its window started, at `since`, no
    /// longer runs.
    pub(crate) fn join(&self, work: &mut Work, since: Option<Timestamp>) {
        join(work, self.followed().map(|(id, agent, tail)| agent.helped(id, tail, since)));
    }

    fn followed(&self) -> impl Iterator<Item = (&Untrusted, &Agent, &Tail)> {
        self.agents.iter().filter_map(|(id, agent)| Some((id, agent, agent.tail.as_ref()?)))
    }

    /// Returns whether the last line of any transcript is only half written.
    pub(crate) fn is_torn(&self) -> bool {
        self.followed().any(|(_, _, tail)| tail.is_torn())
    }

    /// Returns their transcripts.
    pub(crate) fn tails(&mut self) -> impl Iterator<Item = (&Path, &mut Tail)> {
        self.agents.values_mut().filter_map(|agent| Some((agent.path.as_path(), agent.tail.as_mut()?)))
    }

    /// Returns the transcripts that were found and not read.
    pub(crate) fn unread(&self) -> impl Iterator<Item = (&Path, WhyUnread)> {
        self.agents.values().filter_map(|agent| Some((agent.path.as_path(), agent.unread?)))
    }

    /// Adds the files and folders whose change means another look.
    pub(crate) fn hints(&self, hints: &mut Hints) {
        let mut hint = |folder: PathBuf, names: &[&str]| {
            hints.folders.insert(folder.clone());
            hints.names.entry(folder).or_default().extend(names.iter().map(|name| (*name).to_owned()));
        };
        hint(self.folder.clone(), &["agent-*.jsonl", "agent-*.meta.json", "workflows"]);
        if self.flows.is_empty() {
            return;
        }
        hint(self.workflows(), &["wf_*"]);
        self.flows
            .keys()
            .for_each(|flow| hint(flow.clone(), &["agent-*.jsonl", "agent-*.meta.json", JOURNAL]));
    }
}

/// Returns the paths in a folder whose names fit, and when each was last written.
fn entries(folder: &Path, fits: fn(&str) -> bool) -> Option<Vec<(Timestamp, PathBuf)>> {
    let folder = Folder::open(folder).ok()?;
    let names = folder.entries(|name| name.to_str().is_some_and(fits)).ok()?;
    let seen = names.iter().take(MOST_NAMES).filter_map(|entry| {
        let (_, meta) = folder.look_at(&entry.name)?;
        Some((meta.modified_at, folder.path().join(&entry.name)))
    });
    Some(seen.collect())
}

/// Returns the paths that were last written, the newest first.
fn newest(mut all: Vec<(Timestamp, PathBuf)>, most: usize) -> impl Iterator<Item = PathBuf> {
    all.sort_by_key(|(modified_at, _)| Reverse(*modified_at));
    all.into_iter().take(most).map(|(_, path)| path)
}

impl Flow {
    /// Reads the journal if it has changed, and returns whether it has.
    fn look(&mut self, folder: &Path, uid: u32) -> bool {
        let path = folder.join(JOURNAL);
        let seen = look_at(&path).filter(|meta| meta.ownership.uid == uid);
        let has_changed = seen != self.read;
        if has_changed {
            let text = seen.and_then(|_| small(&path, MOST_JOURNAL).ok()).unwrap_or_default();
            (self.read, self.finished) = (seen, finished_agents(&text));
        }
        has_changed
    }
}

impl Agent {
    /// Reads new content, and returns whether there was any.
    fn look(&mut self, (adapter, read_note): (Adapter, ReadNote), uid: u32) -> bool {
        let seen = |agent: &Self| (agent.noted, agent.tail.as_ref().map(Tail::meta), agent.unread);
        let before = seen(self);
        // The note first: a sub-agent that it calls finished writes nothing more.
        let path = self.path.with_extension("meta.json");
        let noted = look_at(&path).filter(|meta| meta.ownership.uid == uid);
        if noted != self.noted {
            self.note = noted.and_then(|_| read_note(&small(&path, MOST_NOTE).ok()?));
            self.noted = noted;
        }
        (self.tail, self.unread) = match Tail::read(&self.path, adapter, uid, self.tail.take()) {
            Ok(tail) => (Some(tail), None),
            Err(why) => (None, why),
        };
        seen(self) != before
    }

    /// Returns what it has done.
    fn helped(&self, id: &Untrusted, tail: &Tail, since: Option<Timestamp>) -> HelperWork {
        let doing = Doing { edits_since: tail.edits_since(), ..tail.draft().doing() };
        let runs = self.runs() && since.is_none_or(|since| tail.written_at() >= since);
        let running = runs.then(|| SubAgent {
            id: id.clone(),
            task: self.note.as_ref().and_then(|note| note.task.clone()),
            call: doing.calls.last().cloned(),
            since: tail.began_at(),
        });
        HelperWork { id: id.clone(), running, doing, skipped: tail.draft().skipped }
    }

    /// Returns whether it has not finished, as far as is known.
    fn runs(&self) -> bool {
        !self.is_finished && self.note.as_ref().is_some_and(|note| !note.is_finished)
    }
}

/// Returns the ID in the name of a sub-agent's transcript.
fn id_of(name: &str) -> Option<Untrusted> {
    name.strip_prefix("agent-")?.strip_suffix(".jsonl").filter(|id| !id.is_empty()).map(Into::into)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests;
