//! The work of sessions, from their agents' own files: sessions of windows, and of windows that have ended.

mod agents;
pub(crate) mod committed;
mod document;
mod earlier;
pub(crate) mod find;
mod join;
mod lines;
mod named;
mod opencode;
mod ports;
mod tail;
pub(crate) mod talk;
mod wanted;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{
    Doing, FilePath, Format, Medium, Snapshot, SourceHealth, SourceState, Turn, TurnState, UnreadWork,
    Untrusted, WhyUnread, Work,
};
use crate::format::transcripts::Transcripts;
use crate::format::work::Adapter;
use crate::format::{self, Reading};
use crate::source::database::sqlite::copies::Copies;
use crate::source::interface::{Hints, Scope, Source};
use crate::source::os::fence::Fence;
use crate::source::os::open::medium::medium_at;
use crate::source::work::agents::Agents;
use crate::source::work::join::{HelperWork, join};
use crate::source::work::named::GivenName;
use crate::source::work::ports::Listeners;
use crate::source::work::tail::Tail;
use crate::source::work::wanted::{MOST, Session, WorkTarget, wanted};

/// How long a file that was not found anywhere is only looked for at its usual place.
const SOUGHT: SignedDuration = SignedDuration::from_secs(30);

/// Follows the files of sessions.
pub(crate) struct Reader {
    followed: HashMap<Session, FollowedSession>,
    /// When a file was looked for everywhere and not found.
    sought: HashMap<Session, Timestamp>,
    /// The files that were found and not read.
    refused: HashMap<Session, RefusedFile>,
    opencode: opencode::Store,
    documents: document::Store,
    /// The processes that listen on the ports that sessions could not get.
    listeners: Listeners,
    /// The cache for determining which edits git has.
    kept: committed::CommitCache,
    /// How many lines and rows of all sessions could not be understood.
    skipped: u64,
}

/// A file that was found and not read.
type RefusedFile = (PathBuf, WhyUnread);

/// A file that is followed.
struct FollowedSession {
    path: PathBuf,
    medium: Medium,
    adapter: Adapter,
    tail: Tail,
    /// Whether it is the file of the session whose work this one continues.
    is_origins: bool,
    agents: Option<Agents>,
    /// What a person has called it, where that lies in a file of its own.
    named: Option<GivenName>,
    /// When its window started, where that is known.
    started_at: Option<Timestamp>,
    /// Its work, until more is read.
    work: Option<Arc<Work>>,
}

impl Source for Reader {
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>) {
        let (wanted, uid) = (wanted(snapshot, &scope.signatures), snapshot.host.uid);
        self.opencode.look(&wanted, scope, reading.now);
        self.documents.look(&wanted, scope, uid);
        let mut before = std::mem::take(&mut self.followed);
        let mut sought = std::mem::take(&mut self.sought);
        let mut refused = std::mem::take(&mut self.refused);
        let run: BTreeSet<Session> =
            wanted.iter().filter(|one| one.is_run).map(|one| one.session.clone()).collect();
        let mut earlier: BTreeMap<Session, BTreeSet<Untrusted>> = BTreeMap::new();
        let mut helpers: BTreeMap<Session, Vec<Untrusted>> = BTreeMap::new();
        // A sub-session that was resumed is a window's own.
        let is_helper = |format, id: &Untrusted| {
            is_valid_id(id.raw()) && !run.contains(&Session { format, id: id.clone() })
        };
        let mut fresh: Vec<Arc<Work>> = Vec::new();
        let mut wanted = VecDeque::from(wanted);
        while let Some(one) = wanted.pop_front() {
            if self.followed.contains_key(&one.session) {
                continue;
            }
            let Some(transcripts) = format::spec(one.session.format).and_then(|spec| spec.transcripts) else {
                continue;
            };
            let known = before.remove(&one.session).filter(|known| !known.is_left(&one, scope));
            let known = known.and_then(|known| known.look(uid));
            let since = sought.remove(&one.session);
            let is_sought = since.filter(|since| reading.now.duration_since(*since) < SOUGHT);
            let odd = refused.remove(&one.session).map(|(path, _)| path);
            let find = || FollowedSession::find(&one, &transcripts, scope, (odd, is_sought.is_none()), uid);
            match known.map_or_else(find, Ok) {
                Ok(mut followed) => {
                    followed.look_further(&one, uid, (&scope.fence, reading.now));
                    let first = followed.tail.draft().doing.first_session.clone();
                    let before = one.from.clone().or(first).filter(|before| is_valid_id(before.raw()));
                    let all: BTreeSet<Untrusted> = one.earlier.iter().cloned().chain(before).collect();
                    wanted.extend(all.iter().map(|before| one.earlier_session(before)));
                    earlier.insert(one.session.clone(), all);
                    let filed = followed.tail.draft().helpers.filed();
                    let filed: Vec<Untrusted> =
                        filed.filter(|id| is_helper(one.session.format, id)).cloned().collect();
                    wanted.extend(filed.iter().map(|helper| one.earlier_session(helper)));
                    helpers.insert(one.session.clone(), filed);
                    self.followed.insert(one.session, followed);
                }
                Err(Some(odd)) => drop(self.refused.insert(one.session, odd)),
                Err(None) => {
                    self.sought.insert(one.session.clone(), is_sought.unwrap_or(reading.now));
                    // `/clear` has led here, and there was no prompt since.
                    if let Some(begun) = one.begun.as_ref().filter(|_| !one.earlier.is_empty()) {
                        fresh.push(Arc::new(nothing_yet(&one.session, begun)));
                        wanted.extend(one.earlier.iter().map(|before| one.earlier_session(before)));
                        earlier.insert(one.session, one.earlier.into_iter().collect());
                    }
                }
            }
        }
        // A window that has ended leaves its work.
        let mut gone: Vec<_> = before.into_iter().collect();
        gone.sort_by_key(|(_, followed)| Reverse(followed.tail.written_at()));
        gone.truncate(MOST.saturating_sub(self.followed.len()));
        self.followed.extend(gone);
        self.catch_up();
        let files = self.followed.iter_mut().map(|(session, one)| one.work(session));
        let mut work: Vec<&mut Arc<Work>> =
            files.chain(self.opencode.works()).chain(self.documents.works()).collect();
        self.kept.home = Some(scope.places.home.clone());
        committed::marker::mark(&mut work, snapshot, &mut self.kept);
        self.listeners.mark(&mut work, &snapshot.processes, reading.now);
        let mut work: Vec<Arc<Work>> = work.into_iter().map(|work| Arc::clone(work)).chain(fresh).collect();
        work.sort_by(|one, other| (one.path.text(), &one.session).cmp(&(other.path.text(), &other.session)));
        earlier::settle(&mut work, &earlier, &run);
        join_helpers(&mut work, &helpers);
        self.skipped = work.iter().map(|work| work.skipped).sum();
        snapshot.work = work;
        snapshot.unread_work = self.unread();
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        let refused = self.unread();
        let mut notes: Vec<String> = Vec::new();
        if let Some(first) = refused.first() {
            let more = match refused.len() {
                1 => String::new(),
                many => format!(", nor were {} more", many - 1),
            };
            notes.push(format!("{} {}, so it was not read{more}", first.path.text(), first.why.label()));
        }
        if self.skipped > 0 {
            let lines = if self.skipped == 1 { "line" } else { "lines" };
            notes.push(format!("session files hold {} {lines} that could not be understood", self.skipped));
        }
        // No verdict rests on lines: the rest of the files is reported nevertheless. A file that another user's window
        // writes is expected to be that user's.
        let is_odd = |file: &UnreadWork| file.why != WhyUnread::ForeignOwner;
        let state = if refused.iter().any(is_odd) { SourceState::Partial } else { SourceState::Ok };
        let health = |notes: String| SourceHealth { id: "work".to_owned(), state, detail: notes.into() };
        (!notes.is_empty()).then(|| health(notes.join("; "))).into_iter().collect()
    }

    fn hints(&self, _scope: &Scope, hints: &mut Hints) {
        self.opencode.hints(hints);
        self.documents.hints(hints);
        for followed in self.followed.values() {
            if let Some(agents) = &followed.agents {
                agents.hints(hints);
            }
        }
        let refused = self.refused.values().map(|(path, _)| path);
        let named = self.followed.values().filter_map(|one| Some(&one.named.as_ref()?.path));
        for path in self.followed.values().map(|followed| &followed.path).chain(refused).chain(named) {
            let Some((folder, name)) = path.parent().zip(path.file_name()) else { continue };
            hints.folders.insert(folder.to_owned());
            if let Some(name) = name.to_str() {
                hints.names.entry(folder.to_owned()).or_default().insert(name.to_owned());
            }
        }
    }
}

impl Reader {
    /// Creates a reader that keeps its database copies with `copies`.
    pub(crate) fn new(copies: &Copies) -> Self {
        Self {
            followed: HashMap::new(),
            sought: HashMap::new(),
            refused: HashMap::new(),
            opencode: opencode::Store::new(copies),
            documents: document::Store::default(),
            listeners: Listeners::default(),
            kept: committed::CommitCache::default(),
            skipped: 0,
        }
    }

    /// Returns the files that were found and not read, one's own problems first.
    fn unread(&self) -> Vec<UnreadWork> {
        let unread = |(session, (path, why)): (&Session, &RefusedFile)| UnreadWork {
            format: session.format,
            session: session.id.clone(),
            path: path.clone().into(),
            why: *why,
        };
        let of_agents = self.followed.iter().flat_map(|(session, followed)| {
            let all = followed.agents.iter().flat_map(Agents::unread);
            all.map(move |(path, why)| unread((session, &(path.to_path_buf(), why))))
        });
        let mut all: Vec<UnreadWork> = self.refused.iter().map(unread).collect();
        all.extend(of_agents.chain(self.opencode.unread()).chain(self.documents.unread()));
        let rank = |file: &UnreadWork| (file.why == WhyUnread::ForeignOwner, file.path.text().clone());
        all.sort_by_cached_key(rank);
        all
    }

    /// Reads one more piece of the file with the least left to read from its beginning.
    fn catch_up(&mut self) {
        let behind = self.followed.values_mut().filter_map(|one| Some((one.behind()?, one)));
        if let Some((_, followed)) = behind.min_by_key(|(left, one)| (*left, one.path.clone())) {
            followed.catch_up();
        }
    }
}

/// Returns the name or the title of a session, by the end of its transcript if it is not known.
pub(crate) fn title_of(work: &Work, uid: u32) -> Option<Untrusted> {
    let named = |doing: &Doing| doing.name.clone().or_else(|| doing.title.clone());
    let read = || {
        let adapter = format::spec(work.format)?.transcripts?.adapter;
        let mut doing = Tail::read(&work.path, adapter, uid, None).ok()?.draft().doing();
        doing.hide_secrets();
        named(&doing)
    };
    named(&work.doing).or_else(read)
}

/// Adds to each session the work of its sub-agents whose files are sessions of their own and belong to no other
/// session.
fn join_helpers(all: &mut Vec<Arc<Work>>, helpers: &BTreeMap<Session, Vec<Untrusted>>) {
    for (session, ids) in helpers.iter().filter(|(_, ids)| !ids.is_empty()) {
        let is_its = |work: &mut Arc<Work>| work.format == session.format && ids.contains(&work.session);
        let own: Vec<Arc<Work>> = all.extract_if(.., is_its).collect();
        let is_it = |work: &&mut Arc<Work>| work.format == session.format && work.session == session.id;
        let Some(work) = all.iter_mut().find(is_it).map(Arc::make_mut) else { continue };
        let helped = own.into_iter().map(|own| {
            if let Some(agent) = work.agents.iter_mut().find(|agent| agent.id == own.session) {
                agent.call = own.doing.calls.last().cloned();
            }
            let (id, doing, skipped) = (own.session.clone(), own.doing.clone(), own.skipped);
            HelperWork { id, running: None, doing, skipped }
        });
        let helped: Vec<HelperWork> = helped.collect();
        join(work, helped);
    }
}

/// Returns the known facts of a session that its agent has begun but not yet written anything about.
fn nothing_yet(session: &Session, (path, begun_at): &(FilePath, Timestamp)) -> Work {
    Work {
        format: session.format,
        session: session.id.clone(),
        path: path.clone(),
        medium: medium_at(path),
        written_at: *begun_at,
        doing: Doing {
            turn: Turn { state: TurnState::Finished, since: Some(*begun_at) },
            ..Doing::default()
        },
        agents: Vec::new(),
        warnings: Vec::new(),
        skipped: 0,
    }
}

impl FollowedSession {
    /// Reads the file of a session for the first time; `odd` is one that was found and could not be read.
    ///
    /// # Errors
    /// The file that was found and not read; `None` if nothing was found.
    fn find(
        one: &WorkTarget,
        transcripts: &Transcripts,
        scope: &Scope,
        (odd, everywhere): (Option<PathBuf>, bool),
        uid: u32,
    ) -> Result<Self, Option<RefusedFile>> {
        let stated = one.path.as_ref().map(|path| Path::to_path_buf(path));
        let own = stated
            .filter(|path| path.extension().is_some_and(|end| end == "jsonl") && scope.fence.reaches(path))
            .or(odd)
            .or_else(|| find::file_of(&one.session, one.cwd.as_ref(), scope, everywhere));
        let own = find::moved_file(&one.session, one.moved_to.as_ref(), scope, own.as_deref()).or(own);
        let is_origins = own.is_none();
        let origins = || {
            let session = Session { format: one.session.format, id: one.from.clone()? };
            find::file_of(&session, one.cwd.as_ref(), scope, everywhere)
        };
        let path = own.or_else(origins).ok_or(None)?;
        let adapter = transcripts.adapter;
        let tail = match Tail::read(&path, adapter, uid, None) {
            Ok(tail) => tail,
            Err(why) => return Err(why.map(|why| (path, why))),
        };
        let agents = Agents::for_session(transcripts, &path);
        let named = GivenName::for_session(transcripts, &path);
        let medium = medium_at(&path);
        Ok(Self { path, medium, adapter, tail, is_origins, agents, named, started_at: None, work: None })
    }

    /// Returns whether its session continues in another file.
    fn is_left(&self, one: &WorkTarget, scope: &Scope) -> bool {
        let own = || find::file_of(&one.session, one.cwd.as_ref(), scope, false);
        self.is_origins && own().is_some()
            || find::moved_file(&one.session, one.moved_to.as_ref(), scope, Some(&self.path)).is_some()
    }

    /// Reads new content.
    fn look(self, uid: u32) -> Option<Self> {
        let before = self.tail.meta();
        let tail = Tail::read(&self.path, self.adapter, uid, Some(self.tail)).ok()?;
        let work = self.work.filter(|_| tail.meta() == before);
        Some(Self { tail, work, ..self })
    }

    /// Reads new content of its sub-agents.
    fn look_further(&mut self, wanted: &WorkTarget, uid: u32, (fence, now): (&Fence, Timestamp)) {
        let agents = self.agents.as_mut();
        let has_news = agents.is_some_and(|agents| agents.look(self.adapter, uid, (fence, now)));
        let is_renamed = self.named.as_mut().is_some_and(|named| named.look(uid));
        if has_news || is_renamed || self.started_at != wanted.started_at {
            (self.started_at, self.work) = (wanted.started_at, None);
        }
    }

    /// Returns how much is left to read of the transcript that needs the least, in bytes.
    fn behind(&mut self) -> Option<u64> {
        self.tails().filter_map(|(_, tail)| tail.behind()).min()
    }

    /// Reads one more piece of that.
    fn catch_up(&mut self) {
        let adapter = self.adapter;
        let behind = self.tails().filter_map(|(path, tail)| Some((tail.behind()?, path, tail)));
        if let Some((_, path, tail)) = behind.min_by_key(|(left, path, _)| (*left, path.to_path_buf())) {
            tail.catch_up(path, adapter);
            self.work = None;
        }
    }

    /// Returns its own transcript and those of its sub-agents.
    fn tails(&mut self) -> impl Iterator<Item = (&Path, &mut Tail)> {
        let own = std::iter::once((self.path.as_path(), &mut self.tail));
        own.chain(self.agents.iter_mut().flat_map(Agents::tails))
    }

    /// Returns its work, made anew only if more was read.
    fn work(&mut self, session: &Session) -> &mut Arc<Work> {
        let work = self.work.take().unwrap_or_else(|| Arc::new(self.read_work(session)));
        self.work.insert(work)
    }

    fn read_work(&self, session: &Session) -> Work {
        let draft = self.tail.draft();
        let mut work = Work {
            format: session.format,
            session: session.id.clone(),
            path: self.path.clone().into(),
            medium: self.medium,
            written_at: self.tail.written_at(),
            doing: Doing {
                edits_since: self.tail.edits_since(),
                is_torn: self.tail.is_torn() || self.agents.as_ref().is_some_and(Agents::is_torn),
                ..draft.doing()
            },
            agents: draft.helpers.running(),
            warnings: Vec::new(),
            skipped: draft.skipped,
        };
        if let Some(agents) = &self.agents {
            agents.join(&mut work, self.started_at);
        }
        if let Some(named) = &self.named {
            work.doing.name.clone_from(&named.given);
        }
        // Claude Code reports itself that it is busy as long as they work.
        if session.format == Format::Qwen && work.doing.turn.state == TurnState::Finished {
            let since = work.agents.iter().filter_map(|agent| agent.since).min();
            if !work.agents.is_empty() {
                work.doing.turn = Turn { state: TurnState::Working, since };
            }
        }
        work
    }
}
