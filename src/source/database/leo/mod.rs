//! LEO's database: read through a thread of its own, so that a slow server never stalls a look.

pub(crate) mod basis;
pub(crate) mod changes;
pub(crate) mod filters;
pub(crate) mod link;
pub(crate) mod read;
pub(crate) mod schema;
pub(crate) mod stamp;

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use self::read::DatabaseReading;
use super::postgres::Target;
use crate::core::model::{
    Database, Format, Record, Snapshot, SourceHealth, SourceState, Untrusted, WorkItem,
};
use crate::format::Reading;
use crate::format::leo::database::{self, Source, join};
use crate::source::database::leo::link::Link;
use crate::source::database::leo::link::request::LinkState;
use crate::source::interface::{self as facts, Scope, Source as _};
use crate::source::os::fence::Fence;

/// How long a look that needs a fresh read waits for it: 10 s.
const FRESH_WITHIN: Duration = Duration::from_secs(10);

/// For how long a read speaks for the present after the server has last confirmed it: 60 s.
const GOOD_FOR: SignedDuration = SignedDuration::from_secs(60);

/// For how long records made of the same rows are reused: 5 s. Some of their content depends on the time.
const MADE_FOR: SignedDuration = SignedDuration::from_secs(5);

/// How looks get their rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// Each look reads, and waits for it.
    #[default]
    Fresh,
    /// Each look takes the last read; the thread follows changes by itself.
    Following,
}

/// Looks at the database again and again.
#[derive(Default)]
pub(crate) struct Reader {
    link: Option<Result<Link, String>>,
    mode: Mode,
    /// The version that the last look used.
    taken: u64,
    made: Option<VersionRecords>,
    /// The database of this look, if a person named one.
    seen: Option<DatabaseView>,
}

/// The records of one version.
struct VersionRecords {
    version: u64,
    at: Timestamp,
    records: Vec<Arc<Record>>,
    work: Arc<[WorkItem]>,
}

/// The database as one look found it.
struct DatabaseView {
    name: Untrusted,
    known: LinkState,
    is_complete: bool,
    records: Vec<Arc<Record>>,
    work: Arc<[WorkItem]>,
}

impl facts::Source for Reader {
    fn look(&mut self, scope: &Scope, reading: &Reading<'_>) {
        self.seen = self.read(scope.places.leo_database.as_ref(), reading, &scope.fence);
    }

    fn pids(&self) -> BTreeSet<u32> {
        let records = self.seen.iter().flat_map(|seen| &seen.records);
        records.filter_map(|record| record.pid()).collect()
    }

    fn add_to(&mut self, snapshot: &mut Snapshot, _scope: &Scope, _reading: &Reading<'_>) {
        let Some(seen) = &self.seen else { return };
        snapshot.records.extend(seen.records.iter().cloned());
        snapshot.databases.push(seen.database());
        if seen.is_complete {
            join(&mut snapshot.records);
        }
    }

    fn health(&self, now: Timestamp) -> Vec<SourceHealth> {
        self.seen.iter().map(|seen| seen.health(now)).collect()
    }

    fn keep_up(&mut self) {
        self.mode = Mode::Following;
        if let Some(Ok(link)) = &self.link {
            link.follow();
        }
    }

    fn has_news(&self) -> bool {
        match &self.link {
            Some(Ok(link)) => link.known().version != self.taken,
            Some(Err(_)) | None => false,
        }
    }
}

impl Reader {
    /// Takes the latest state of the database; `None` if no database was named.
    fn read(
        &mut self,
        target: Option<&Target>,
        reading: &Reading<'_>,
        fence: &Fence,
    ) -> Option<DatabaseView> {
        let target = target?;
        if self.link.is_none() {
            self.link = Some(Link::start(target.clone()).map_err(|error| error.to_string()));
            if self.mode == Mode::Following {
                self.keep_up();
            }
        }
        let known = match (&self.link, self.mode) {
            (Some(Ok(link)), Mode::Fresh) => link.read(FRESH_WITHIN),
            (Some(Ok(link)), Mode::Following) => link.known(),
            (Some(Err(why)), _) => LinkState { trouble: Some(why.clone()), ..LinkState::default() },
            (None, _) => LinkState::default(),
        };
        self.taken = known.version;
        Some(self.seen(target, known, reading, fence))
    }

    fn seen(
        &mut self,
        target: &Target,
        known: LinkState,
        reading: &Reading<'_>,
        fence: &Fence,
    ) -> DatabaseView {
        let Some(last) = known.last.clone() else {
            return DatabaseView {
                name: target.name.clone(),
                known,
                is_complete: false,
                records: Vec::new(),
                work: <_>::default(),
            };
        };
        let is_made = |made: &VersionRecords| {
            made.version == known.version && reading.now.duration_since(made.at).abs() < MADE_FOR
        };
        if !self.made.as_ref().is_some_and(is_made) {
            self.made = Some(made(target, &last, known.version, reading, fence));
        }
        let (records, work) =
            self.made.as_ref().map(|made| (made.records.clone(), made.work.clone())).unwrap_or_default();
        let is_complete =
            known.trouble.is_none() && last.lacks.is_none() && is_good(&known, &last, reading.now);
        DatabaseView { name: target.name.clone(), known, is_complete, records, work }
    }
}

fn is_good(known: &LinkState, last: &DatabaseReading, now: Timestamp) -> bool {
    let confirmed_at = known.confirmed_at.map_or(last.read_at, |at| at.max(last.read_at));
    now.duration_since(confirmed_at) <= GOOD_FOR
}

fn made(
    target: &Target,
    last: &DatabaseReading,
    version: u64,
    reading: &Reading<'_>,
    fence: &Fence,
) -> VersionRecords {
    let source = Source { database: target.name.clone(), ahead: last.ahead, uid: reading.host.uid };
    let mut rows = database::read(&source, &last.tables, reading);
    database::tell_gone_trees(&mut rows.records, |tree| is_gone(tree, fence));
    VersionRecords { version, at: reading.now, records: rows.records, work: rows.work }
}

/// Returns whether a folder that may be looked for is certainly absent.
fn is_gone(tree: &Path, fence: &Fence) -> bool {
    tree.is_absolute()
        && fence.reaches(tree)
        && tree.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

impl DatabaseView {
    /// Returns the badge: whether it is connected, since when, how late it is, and anything special.
    fn health(&self, now: Timestamp) -> SourceHealth {
        let (state, detail) = match (&self.known.trouble, &self.known.last) {
            (Some(why), None) => (SourceState::Failed, why.clone()),
            (Some(why), Some(last)) => {
                let age = now.duration_since(last.read_at).as_secs();
                (SourceState::Failed, format!("lost: {why}; its rows are {age} s old and prove nothing"))
            }
            (None, None) => (SourceState::Absent, "connecting".to_owned()),
            (None, Some(last)) => self.connected(last, now),
        };
        SourceHealth { id: format!("leo:{}", self.name.raw()), state, detail: detail.into() }
    }

    fn connected(&self, last: &DatabaseReading, now: Timestamp) -> (SourceState, String) {
        let mut parts = vec![format!("{} rows", self.records.len())];
        if let Some(since) = self.known.since {
            parts.push(format!("connected since {}", since.strftime("%H:%M:%SZ")));
        }
        let confirmed_at = self.known.confirmed_at.map_or(last.read_at, |at| at.max(last.read_at));
        parts.push(format!("{} s behind", now.duration_since(confirmed_at).as_secs().max(0)));
        parts.extend(last.is_read_only.then(|| "read-only".to_owned()));
        parts.extend((last.ahead.abs() > SignedDuration::from_secs(2)).then(|| skew(last.ahead)));
        parts.extend(last.hands_out_others.then(|| "a clashing session is handed the other's ID".to_owned()));
        parts.extend(last.lacks.clone());
        let state = if self.is_complete { SourceState::Ok } else { SourceState::Partial };
        (state, parts.join(", "))
    }

    /// Returns the database for the snapshot.
    fn database(&self) -> Database {
        Database {
            format: Format::Leo,
            name: self.name.clone(),
            is_complete: self.is_complete,
            opened_by: None,
            file: None,
            work: self.work.clone(),
        }
    }
}

fn skew(ahead: SignedDuration) -> String {
    let seconds = ahead.abs().as_secs();
    if ahead.is_negative() {
        format!("its clock is {seconds} s ahead of this machine's")
    } else {
        format!("its clock is {seconds} s behind this machine's")
    }
}
