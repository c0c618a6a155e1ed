//! The sessions whose files are read.

use jiff::Timestamp;

use crate::core::judge::session::session_of;
use crate::core::judge::window::agent::Signatures;
use crate::core::judge::world::World;
use crate::core::model::report::context::is_valid_id;
use crate::core::model::{
    BackgroundSession, ClaudeCode, FilePath, Format, RecordDetail, RecordKind, SessionFile, Snapshot, Tie,
    Untrusted,
};

/// The most sessions that are followed: those of windows first, then the newest of the others.
pub(crate) const MOST: usize = 64;

/// How many earlier sessions of a window are followed.
const MOST_CLEARED: usize = 8;

/// A session of an agent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Session {
    pub(crate) format: Format,
    pub(crate) id: Untrusted,
}

/// A session whose file is read.
pub(crate) struct WorkTarget {
    pub(crate) session: Session,
    /// Whether a window runs it.
    pub(crate) is_run: bool,
    pub(crate) cwd: Option<Untrusted>,
    /// The folder in which it works now, by its agent's registry.
    pub(crate) moved_to: Option<Untrusted>,
    /// The session whose work it continues: until it has a file of its own, that session's file shows its work.
    pub(crate) from: Option<Untrusted>,
    /// The sessions that its window has run before it.
    pub(crate) earlier: Vec<Untrusted>,
    /// The file that shows since when its window runs it, if there is one.
    pub(crate) begun: Option<(FilePath, Timestamp)>,
    /// Its file, if known.
    pub(crate) path: Option<FilePath>,
    /// When its window started, if known.
    pub(crate) started_at: Option<Timestamp>,
}

impl WorkTarget {
    /// Targets a session of which no more is known.
    fn of(session: Session, cwd: Option<Untrusted>) -> Self {
        let (moved_to, from, earlier, begun, path, started_at) = (None, None, Vec::new(), None, None, None);
        Self { session, is_run: false, cwd, moved_to, from, earlier, begun, path, started_at }
    }

    /// Returns the target of the session that its window ran before.
    pub(crate) fn earlier_session(&self, session: &Untrusted) -> Self {
        let session = Session { format: self.session.format, id: session.clone() };
        let cwd = self.cwd.clone();
        Self::of(session, cwd)
    }
}

/// Returns the sessions of windows, those of Claude Code's registry whose processes have exited, and those that are
/// known to wait.
pub(crate) fn wanted(snapshot: &Snapshot, signatures: &Signatures) -> Vec<WorkTarget> {
    let world = World::new(snapshot, signatures);
    let background = background_sessions(snapshot);
    let of_windows = world.windows.iter().filter_map(|window| {
        let format = Format::of_agent(window.agent)?;
        let id = session_of(window, &world)?.id;
        let file =
            snapshot.session_files.iter().find(|file| file.agent == window.agent && file.session == id);
        let cwd = window.process.details.as_ref().and_then(|details| details.cwd.clone());
        let mut stated = world.registered(window.process.id.pid).iter();
        let stated = stated.find(|entry| entry.session_id.as_ref() == Some(&id));
        let moved_to = stated.and_then(|entry| entry.cwd.as_ref()).map(|folder| folder.text().clone());
        let goes_on = background.iter().find(|one| one.id.as_ref() == Some(&id));
        let from =
            goes_on.and_then(|one| one.from.clone()).filter(|from| *from != id && is_valid_id(from.raw()));
        let noted = |file: &&SessionFile| {
            let is_named = file.tie == Tie::Named(window.process.id.pid);
            is_named && file.agent == window.agent && !world.is_born_after(window.process, file.written_at)
        };
        // Copilot's files name the last process that used a session, which may be long ago.
        let noted = snapshot.session_files.iter().filter(|_| format == Format::Qwen).filter(noted);
        let (own, others): (Vec<_>, Vec<_>) = noted.partition(|file| file.session == id);
        let others = others.into_iter().map(|file| file.session.clone());
        Some(WorkTarget {
            earlier: others.chain(cleared(snapshot, window.agent, &id)).collect(),
            begun: own.first().map(|file| (file.path.clone(), file.written_at)),
            session: Session { format, id },
            is_run: true,
            cwd,
            moved_to,
            from,
            path: file.map(|file| file.path.clone()),
            started_at: world.started_at(window.process),
        })
    });
    let is_entry = |format, kind| format == Format::ClaudeCode && kind == RecordKind::Session;
    let entries = snapshot.records.iter().filter(|record| is_entry(record.format, record.kind));
    let of_entries = entries.filter_map(|record| {
        let session = Session { format: Format::ClaudeCode, id: record.session_id.clone()? };
        let cwd = record.cwd.as_ref().map(|cwd| cwd.text().clone());
        Some(WorkTarget::of(session, cwd))
    });
    // A daemon of several windows has noted it: the session's own file shows when that is over.
    let of_waits = world.bindings.all_waits().filter_map(|(session, waits)| {
        let by = &waits.first()?.0.by;
        Some(WorkTarget::of(
            Session { format: Format::of_agent(by.agent.raw())?, id: session.clone() },
            by.cwd.clone(),
        ))
    });
    let mut wanted: Vec<WorkTarget> = Vec::new();
    for one in of_windows.chain(of_entries).chain(of_waits).filter(|one| is_valid_id(one.session.id.raw())) {
        if wanted.len() < MOST && !wanted.iter().any(|other| other.session == one.session) {
            wanted.push(one);
        }
    }
    wanted
}

/// Returns the sessions from which `/clear` has led to one, the last one first.
fn cleared<'a>(
    snapshot: &'a Snapshot,
    agent: &'a str,
    session: &'a Untrusted,
) -> impl Iterator<Item = Untrusted> + use<'a> {
    let before = move |session: &&'a Untrusted| {
        let is_it = |file: &&SessionFile| file.agent == agent && file.session == **session;
        snapshot.session_files.iter().find(is_it)?.beginning.cleared.as_ref()
    };
    // This ends even if files name each other in a circle.
    std::iter::successors(before(&session), before).take(MOST_CLEARED).cloned()
}

/// Returns the sessions in the daemons' rosters, each of which may continue the work of another one.
fn background_sessions(snapshot: &Snapshot) -> Vec<&BackgroundSession> {
    let rosters = snapshot.records.iter().filter_map(|record| {
        let RecordDetail::ClaudeCode(ClaudeCode::Roster { sessions, .. }) = &record.detail else {
            return None;
        };
        Some(sessions)
    });
    rosters.flatten().collect()
}
