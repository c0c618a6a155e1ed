//! Takes one look after another at all places, and keeps what the next look can reuse.

mod found;
mod health;
mod here;
mod kept;
mod listing;
mod pass;
mod places;
mod seen;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use self::found::{Found, Roots};
use self::kept::Kept;
pub use self::kept::MAX_KEPT;
use self::pass::Pass;
pub use self::places::Places;
use self::seen::Seen;
use super::bindings;
use super::fence::Fence;
use super::host::ClockWatch;
use super::processes::Scanner;
use super::watch::Names;
use super::{clock, host, leo, obra, repos, sessions, stores};
use crate::core::agent::{Role, Signatures};
use crate::core::bound::Notes;
use crate::core::own::Own;
use crate::core::process::{Process, ProcessTable};
use crate::core::record::{Binding, Record};
use crate::core::snapshot::{Host, Repo, Snapshot, SourceHealth};
use crate::format::leo::database::join;
use crate::format::{Base, Reading};

/// How often all processes are read, whatever seems to happen: 2 min.
const WHOLE_EVERY: SignedDuration = SignedDuration::from_mins(2);

/// Looks again and again.
pub struct Collector {
    places: Places,
    signatures: Signatures,
    fence: Fence,
    scanner: Scanner,
    reader: repos::Reader,
    roots: Roots,
    kept: Kept,
    seen: Seen,
    clock: ClockWatch,
    /// When all processes were read; `None` when they are to be.
    whole_at: Option<Timestamp>,
    obra: obra::Reader,
    bindings: bindings::Reader,
    sessions: sessions::Reader,
    stores: stores::Reader,
    /// The formats that a person has described.
    own: Vec<Own>,
    leo: leo::Reader,
    /// Where the windows of the last look worked.
    working: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    names: Names,
}

/// The repositories of one look, by common directory, as they were read.
type Read = BTreeMap<PathBuf, (Repo, SourceHealth)>;

impl Collector {
    /// Prepares to look; of the world only the links in the places' names are read.
    pub fn new(places: Places, signatures: Signatures) -> Self {
        Self {
            fence: places.fence(),
            scanner: Scanner::new(&signatures),
            places,
            signatures,
            reader: repos::Reader::default(),
            roots: Roots::default(),
            kept: Kept::default(),
            seen: Seen::default(),
            clock: ClockWatch::default(),
            whole_at: None,
            obra: obra::Reader::default(),
            bindings: bindings::Reader::default(),
            sessions: sessions::Reader::default(),
            stores: stores::Reader::default(),
            own: Vec::new(),
            leo: leo::Reader::default(),
            working: BTreeSet::new(),
            folders: BTreeSet::new(),
            names: Names::new(),
        }
    }

    /// Lets it read the formats that a person has described as well.
    pub fn with_own(mut self, own: &[Own]) -> Self {
        self.own = own.to_vec();
        self
    }

    /// Takes one look: records first, processes second. When the processes show a repository
    /// that was not known before, its records are read and the processes once more.
    pub fn look(&mut self) -> Snapshot {
        self.whole_at = None;
        self.look_again()
    }

    /// Returns whether a possible agent has come, stopped or gone on since the last look: far
    /// cheaper than a look.
    pub fn has_news(&mut self) -> bool {
        self.scanner.has_news() || self.leo.has_news()
    }

    /// Lets later looks take what was last read of a server, which is followed from now on,
    /// instead of waiting for its answer.
    pub fn follow_servers(&mut self) {
        self.leo.follow();
    }

    /// Takes one look as [`Collector::look`] does, but reads old processes to whom nothing seems
    /// to happen only every two minutes. Where a file has changed it reads all of them, so that
    /// whoever wrote it is known.
    pub fn look_again(&mut self) -> Snapshot {
        let now = clock::now();
        self.fence.forget_links();
        let mut host = host::host(now);
        self.clock.note(&mut host);
        let (bound, bound_health) = self.bindings.read(&self.places.bindings, &self.fence);
        let mut databases = self.obra.read(&self.places, &self.fence, &Reading { host: &host, now });
        let leo =
            self.leo.read(self.places.leo_database.as_ref(), &Reading { host: &host, now }, &self.fence);
        let mut also = leo.as_ref().map(leo::Seen::pids).unwrap_or_default();
        also.extend(bound.notes.iter().map(|note| note.pid));
        let own = self.own.clone();
        let mut pass = Pass::new(Reading { host: &host, now }, &own, std::mem::take(&mut self.kept));
        let mut found = Found::default();
        let mut sources = self.roots.find(&self.places.roots, &self.fence, now, &mut found);
        found.add(self.working.iter().map(PathBuf::as_path), &self.fence);
        let mut stores = self.stores.begin(&self.places, &self.fence, &Reading { host: &host, now });
        found.add(stores.cwds(), &self.fence);
        let mut read = Read::new();
        self.read_places(&mut pass);
        self.read_repos(&mut found, &mut pass, &mut read);
        let mut processes = self.scan(&pass, &also, now);
        self.working = working(&processes, &self.signatures);
        let has_more = self.obra.follow(&self.working, &processes);
        if found.add(self.working.iter().map(PathBuf::as_path), &self.fence) || has_more {
            databases = self.obra.read(&self.places, &self.fence, &Reading { host: &host, now });
            self.read_repos(&mut found, &mut pass, &mut read);
            processes = self.scan(&pass, &also, now);
        }
        let taken_at = clock::now();
        self.measure(&mut processes, taken_at);
        let trees = read.values().flat_map(|(repo, _)| &repo.worktrees).filter(|tree| tree.exists);
        let trees = trees.map(|tree| tree.path.as_path());
        self.stores.finish(trees, &self.fence, &Reading { host: &host, now }, &mut stores);
        let mut of_databases: Vec<_> = databases.iter().map(obra::Seen::health).collect();
        of_databases.append(&mut stores.sources);
        sources.splice(0..0, pass.tallies.health(&of_databases));
        sources.push(health::processes(&processes));
        sources.push(bound_health);
        sources.extend(found.overflow());
        let (mut records, broken, kept) = pass.finish(&mut self.folders, &mut self.names);
        self.kept = kept;
        stores.join(&mut records);
        for (folder, names) in std::mem::take(&mut stores.names) {
            self.folders.insert(folder.clone());
            self.names.entry(folder).or_default().extend(names);
        }
        sources.extend(of_databases);
        self.folders.extend(databases.iter().filter_map(obra::Seen::folder));
        records.extend(databases.iter().flat_map(|database| database.records.clone()));
        self.folders.insert(self.places.bindings.clone());
        let mut all = self.obra.databases(&databases, &processes);
        if let Some(leo) = &leo {
            sources.push(leo.health(taken_at));
            records.extend(leo.records.iter().cloned());
            all.push(leo.database());
            if leo.is_complete() {
                join(&mut records);
            }
        }
        let (repos, repo_sources) = self.finish_repos(read);
        sources.extend(repo_sources);
        let mut wanted = wanted(&processes, &self.signatures, &host);
        wanted.retain(|window| !is_registered(window.id.pid, &records, &bound));
        let session_files = self.sessions.read(&self.places, &self.fence, &wanted, now);
        let seen_agents = self.seen.update(&processes, &self.signatures, taken_at);
        Snapshot {
            taken_at,
            host,
            databases: all,
            processes,
            records,
            broken,
            repos,
            sources,
            seen_agents,
            bound,
            session_files,
        }
    }

    /// Returns the folders whose change means another look, as of the last one: also those that
    /// do not exist yet. A last part `*` stands for every folder there.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.folders.iter().cloned().collect()
    }

    /// Returns the names in some of these folders that mean another look, beside those that the
    /// formats know.
    pub fn names(&self) -> &Names {
        &self.names
    }

    fn read_places(&self, pass: &mut Pass<'_>) {
        for base in [Base::Tmp, Base::Home, Base::ClaudeConfig, Base::Cache] {
            if let Some(folder) = self.places.folder(base) {
                pass.read_base(base, folder, &self.fence);
            }
        }
    }

    /// Reads the repositories that were found and not read yet; and once more those that their
    /// records name.
    fn read_repos(&mut self, found: &mut Found, pass: &mut Pass<'_>, read: &mut Read) {
        for _ in 0..2 {
            found.add(pass.new_cwds(), &self.fence);
            for located in found.unread() {
                let one = self.reader.read(&located, &self.fence);
                pass.read_base(Base::GitCommon, &located.common_dir, &self.fence);
                for tree in one.repo.worktrees.iter().filter(|tree| tree.exists) {
                    pass.read_base(Base::Worktree, &tree.path, &self.fence);
                }
                let badge = health::repo(&one.repo, &one.problems);
                read.insert(located.common_dir, (one.repo, badge));
            }
        }
    }

    fn finish_repos(&mut self, read: Read) -> (Vec<Repo>, Vec<SourceHealth>) {
        let (repos, sources): (Vec<Repo>, Vec<SourceHealth>) = read.into_values().unzip();
        let common_dirs: Vec<_> = repos.iter().map(|repo| repo.common_dir.as_path()).collect();
        self.reader.keep(&common_dirs);
        for common in common_dirs {
            self.folders.extend([common.to_path_buf(), common.join("worktrees")]);
        }
        (repos, sources)
    }

    /// Reads the processes; `also` are PIDs that something beside the files names.
    fn scan(&mut self, pass: &Pass<'_>, also: &BTreeSet<u32>, now: Timestamp) -> ProcessTable {
        let named: BTreeSet<u32> = named(&pass.records).union(also).copied().collect();
        let is_fresh = |at: Timestamp| now.duration_since(at).abs() < WHOLE_EVERY;
        if !pass.has_news && self.whole_at.is_some_and(is_fresh) {
            return self.scanner.rescan(&named);
        }
        self.whole_at = Some(now);
        self.scanner.scan(&named)
    }

    fn measure(&mut self, processes: &mut ProcessTable, now: Timestamp) {
        let sessions = sessions_of(processes, &self.signatures);
        let living = sessions.filter(|process| process.has_exited != Some(true));
        let living = living.map(|process| process.id.pid).collect();
        self.scanner.usage(processes, &living, now);
    }
}

/// Returns the processes that are windows, or may be.
fn sessions_of<'a>(table: &'a ProcessTable, signatures: &'a Signatures) -> impl Iterator<Item = &'a Process> {
    table.by_pid.values().filter(|process| {
        signatures.classify(process).is_some_and(|(_, role)| matches!(role, Role::Agent | Role::Spare))
    })
}

/// Returns the windows whose own session files are looked for.
fn wanted(table: &ProcessTable, signatures: &Signatures, host: &Host) -> Vec<sessions::Wanted> {
    let wanted = |process: &Process| {
        let (agent, _) = signatures.classify(process)?;
        Some(sessions::Wanted {
            agent: agent.name.clone(),
            id: process.id,
            cwd: process.details.as_ref()?.cwd.clone(),
            started_at: host.wall_clock(process.id.start_ticks),
        })
    };
    sessions_of(table, signatures).filter_map(wanted).collect()
}

/// Returns whether a note or an agent's own registry names a process: then what files say beside
/// it is not asked.
fn is_registered(pid: u32, records: &[Arc<Record>], bound: &Notes) -> bool {
    let names = |record: &Arc<Record>| {
        let holder = record.holder.as_ref().filter(|holder| holder.binding == Binding::Registry);
        holder.and_then(|holder| holder.pid.as_ref()?.valid()) == Some(pid)
    };
    bound.notes.iter().any(|note| note.pid == pid) || records.iter().any(names)
}

/// Returns where the windows work.
fn working(table: &ProcessTable, signatures: &Signatures) -> BTreeSet<PathBuf> {
    sessions_of(table, signatures)
        .filter_map(|process| process.details.as_ref()?.cwd.as_ref())
        .map(|cwd| PathBuf::from(cwd.raw()))
        .collect()
}

/// Returns the PIDs that records name.
fn named(records: &[Arc<Record>]) -> BTreeSet<u32> {
    records.iter().filter_map(|record| record.pid()).collect()
}
