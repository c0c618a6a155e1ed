//! Takes one look after another at all places, and keeps what the next look can reuse.

pub(crate) mod found;
pub(crate) mod health;
pub(crate) mod here;
pub(crate) mod kept;
pub(crate) mod listing;
pub(crate) mod pass;
pub(crate) mod programs;
pub(crate) mod round;
pub(crate) mod seen;
pub(crate) mod windows;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

pub use self::kept::MAX_KEPT;
use crate::core::judge::agent::Signatures;
use crate::core::judge::tombstone::learn::Lesson;
use crate::core::model::own::Own;
use crate::core::model::process::ProcessTable;
use crate::core::model::snapshot::Snapshot;
use crate::format::leo::database::join;
use crate::format::{Base, Reading};
use crate::observe::collect::found::{Found, Roots};
use crate::observe::collect::here::Layout;
use crate::observe::collect::kept::Kept;
use crate::observe::collect::pass::Pass;
use crate::observe::collect::programs::OnPath;
use crate::observe::collect::round::{Read, Round};
use crate::observe::collect::seen::Seen;
use crate::source::homes::{Homes, MAX_FOLLOWED};
use crate::source::names::Names;
use crate::source::os::fence::Fence;
use crate::source::os::host::ClockWatch;
use crate::source::os::open::medium::Media;
use crate::source::os::opener::Openers;
use crate::source::os::processes::Scanner;
use crate::source::os::{clock, host};
use crate::source::places::Places;
use crate::source::sqlite::copies::Copies;
use crate::source::{bindings, leo, obra, repos, sessions, stores, tombstones};

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
    media: Media,
    seen: Seen,
    clock: ClockWatch,
    /// When all processes were read; `None` when they are to be.
    whole_at: Option<Timestamp>,
    obra: obra::Reader,
    bindings: bindings::Reader,
    tombstones: tombstones::Reader,
    sessions: sessions::Reader,
    stores: stores::Reader,
    openers: Openers,
    users: repos::UsersReader,
    layout: Arc<Layout>,
    leo: leo::Reader,
    /// Where the windows of the last look worked.
    working: BTreeSet<PathBuf>,
    /// The folders of homes that are read, with those that windows have for themselves.
    homes: Homes,
    /// The programs that they run.
    programs: BTreeSet<PathBuf>,
    on_path: OnPath,
    folders: BTreeSet<PathBuf>,
    names: Names,
}

impl Collector {
    /// Prepares to look; of the world only the links in the places' names are read.
    pub fn new(places: Places, signatures: Signatures) -> Self {
        let layout = Layout::new(&[]);
        let mut scanner = Scanner::new(&signatures);
        scanner.with_homes(layout.homes());
        let copies = Copies::below(&places.copies);
        Self {
            fence: places.fence(),
            homes: Homes::new(&places),
            scanner,
            places,
            signatures,
            reader: repos::Reader::default(),
            roots: Roots::default(),
            kept: Kept::default(),
            media: Media::default(),
            seen: Seen::default(),
            clock: ClockWatch::default(),
            whole_at: None,
            obra: obra::Reader::new(&copies),
            bindings: bindings::Reader::default(),
            tombstones: tombstones::Reader::default(),
            sessions: sessions::Reader::new(&copies),
            stores: stores::Reader::new(&copies),
            openers: Openers::default(),
            users: repos::UsersReader::default(),
            layout: Arc::new(layout),
            leo: leo::Reader::default(),
            working: BTreeSet::new(),
            programs: BTreeSet::new(),
            on_path: OnPath::default(),
            folders: BTreeSet::new(),
            names: Names::new(),
        }
    }

    /// Takes the stand-ins below this folder for the agents that they play.
    pub fn on_stage(&mut self, stage: PathBuf) {
        self.scanner.with_stage(stage);
    }

    /// Lets it read the formats that a person has described as well.
    pub fn with_own(mut self, own: &[Own]) -> Self {
        self.layout = Arc::new(Layout::new(own));
        self.scanner.with_homes(self.layout.homes());
        self
    }

    /// Takes one look: records first, processes second. When the processes show a repository
    /// that was not known before, its records are read and the processes once more.
    pub fn look(&mut self) -> Snapshot {
        self.whole_at = None;
        self.openers = Openers::default();
        self.users.renew();
        self.look_again()
    }

    /// Returns whether a possible agent has come, stopped or gone on since the last look: far
    /// cheaper than a look.
    pub fn has_news(&mut self) -> bool {
        self.scanner.has_news() || self.leo.has_news()
    }

    /// Returns whether a process that was there before has become a possible agent since.
    pub fn has_new_agent(&mut self) -> bool {
        self.scanner.has_new_agent()
    }

    /// Lets later looks know what this one has taught about the dead.
    pub fn learn(&mut self, lesson: &Lesson) {
        self.tombstones.learn(lesson);
    }

    /// Notes that all that was taught so far is in the file, which alone counts from then on.
    pub fn has_kept(&mut self) {
        self.tombstones.has_kept();
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
        let layout = Arc::clone(&self.layout);
        let mut round = self.begin(Reading { host: &host, now }, &layout);
        self.read_places(&mut round.pass);
        self.read_repos(&mut round);
        self.read_processes(&mut round);
        self.finish(round)
    }

    /// Begins a look with what does not lie in the places of a format.
    fn begin<'a>(&mut self, reading: Reading<'a>, layout: &'a Layout) -> Round<'a> {
        let bound = self.bindings.read(&self.places.bindings, &self.fence);
        let databases = self.obra.read((&self.places, &self.homes), &self.fence, &reading);
        let leo = self.leo.read(self.places.leo_database.as_ref(), &reading, &self.fence);
        let mut found = Found::default();
        let roots = self.roots.find(&self.places.roots, &self.fence, reading.now, &mut found);
        found.add(self.working.iter().map(PathBuf::as_path), &self.fence);
        let stores = self.stores.begin(&self.homes, &self.fence, &reading);
        found.add(stores.cwds(), &self.fence);
        let known = (
            std::mem::take(&mut self.kept),
            std::mem::take(&mut self.media),
            std::mem::take(&mut self.openers),
        );
        let pass = Pass::new(reading, layout, known);
        Round {
            reading,
            bound,
            databases,
            leo,
            stores,
            roots,
            found,
            pass,
            repos: Read::new(),
            processes: ProcessTable::default(),
        }
    }

    /// Reads the processes; and where they show a repository or a database that was not known,
    /// what lies there and the processes once more.
    fn read_processes(&mut self, round: &mut Round<'_>) {
        round.processes = self.scan(round);
        self.working = windows::working(&round.processes, &self.signatures);
        self.programs = windows::programs(&round.processes, &self.signatures);
        let has_more = self.obra.follow(&self.working, &round.processes) | self.follow_homes(round);
        if round.found.add(self.working.iter().map(PathBuf::as_path), &self.fence) || has_more {
            round.databases = self.obra.read((&self.places, &self.homes), &self.fence, &round.reading);
            round.stores = self.stores.begin(&self.homes, &self.fence, &round.reading);
            round.found.add(round.stores.cwds(), &self.fence);
            self.read_repos(round);
            round.processes = self.scan(round);
        }
    }

    /// Reads what lies in the homes that windows have for themselves and that were not read yet;
    /// returns whether there are any.
    fn follow_homes(&mut self, round: &mut Round<'_>) -> bool {
        let windows = windows::details(&round.processes, &self.signatures);
        let new = self.homes.follow(&self.places, windows, round.reading.host.uid);
        for one in &new {
            round.pass.read_base(one.base, &one.path, &self.fence);
        }
        !new.is_empty()
    }

    /// Puts together what was read, and reads what only the whole tells where to find.
    fn finish(&mut self, mut round: Round<'_>) -> Snapshot {
        let taken_at = clock::now();
        self.measure(&mut round.processes, taken_at);
        let trees = round.repos.values().flat_map(|(repo, _)| &repo.worktrees).filter(|tree| tree.exists);
        let trees = trees.map(|tree| tree.path.as_path());
        self.stores.finish(trees, &self.fence, &round.reading, &mut round.stores);
        let mut sources = round.health(taken_at);
        sources.extend(self.homes.has_more().then(|| {
            let why = format!(
                "windows have more than {MAX_FOLLOWED} folders of their own; the others were not read"
            );
            health::partial("homes", why)
        }));
        for (repo, _) in round.repos.values_mut() {
            self.users.fill(repo, &round.pass.records, &round.processes, taken_at);
        }
        let plain_folders = round.found.plain(&self.working);
        let homes = round.pass.homes();
        let Round { reading, databases, leo, stores, pass, repos, processes, bound: (bound, _), .. } = round;
        let (mut records, broken, known) = pass.finish(&mut self.folders, &mut self.names);
        (self.kept, self.media, self.openers) = known;
        self.follow_also(&databases, &stores, &repos);
        stores.join(&mut records);
        records.extend(databases.iter().flat_map(|database| database.records.clone()));
        let mut all = self.obra.databases(&databases, &processes);
        if let Some(leo) = &leo {
            records.extend(leo.records.iter().cloned());
            all.push(leo.database());
            if leo.is_complete() {
                join(&mut records);
            }
        }
        let mut wanted = windows::wanted(&processes, &self.signatures, reading.host);
        wanted.retain(|window| !windows::is_registered(window.id.pid, &records, &bound));
        let session_files = self.sessions.read(&self.homes, &self.fence, &wanted, reading.now);
        let seen_agents = self.seen.update((&processes, &records), &self.signatures, taken_at);
        Snapshot {
            taken_at,
            host: reading.host.clone(),
            databases: all,
            processes,
            records,
            broken,
            repos: repos.into_values().map(|(repo, _)| repo).collect(),
            sources,
            seen_agents,
            bound,
            homes,
            session_files,
            tombstones: self.tombstones.read(self.places.tombstones().as_deref(), &self.fence, reading.host),
            plain_folders,
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

    /// Returns the programs of agents, as far as they are known: whoever starts one opens it. Some
    /// of them may not be there.
    pub fn programs(&mut self) -> Vec<PathBuf> {
        let commands = self.signatures.commands();
        let called = self.on_path.find(&self.places.programs, &commands, clock::now());
        called.iter().chain(&self.programs).cloned().collect()
    }

    fn read_places(&self, pass: &mut Pass<'_>) {
        for base in [Base::Tmp, Base::Home, Base::ClaudeConfig, Base::Cache] {
            if let Some(folder) = self.places.folder(base) {
                pass.read_base(base, folder, &self.fence);
            }
        }
        for one in self.homes.followed() {
            pass.read_base(one.base, &one.path, &self.fence);
        }
    }

    /// Reads the repositories that were found and not read yet; and once more those that their
    /// records name.
    fn read_repos(&mut self, round: &mut Round<'_>) {
        for _ in 0..2 {
            round.found.add(round.pass.new_cwds(), &self.fence);
            for located in round.found.unread() {
                let one = self.reader.read(&located, &self.fence);
                // A linked tree that was named alone has its repository outside the fence.
                if !located.common_dir.is_file() {
                    round.pass.read_base(Base::GitCommon, &located.common_dir, &self.fence);
                }
                let trees = one.repo.worktrees.iter().filter(|tree| tree.exists);
                let (inside, outside): (Vec<_>, Vec<_>) =
                    trees.partition(|tree| self.fence.reaches(&tree.path));
                for tree in inside {
                    round.pass.read_base(Base::Worktree, &tree.path, &self.fence);
                }
                let badge = health::repo(&one.repo, outside.len(), &one.problems);
                round.repos.insert(located.common_dir, (one.repo, badge));
            }
        }
    }

    /// Adds the folders of databases, repositories and notes to those whose change means another
    /// look, and forgets the repositories that have gone.
    fn follow_also(
        &mut self,
        databases: &[obra::Seen],
        stores: &crate::source::stores::found::Found,
        repos: &Read,
    ) {
        self.folders.extend(databases.iter().filter_map(obra::Seen::folder));
        self.folders.insert(self.places.bindings.clone());
        for (folder, names) in &stores.names {
            self.folders.insert(folder.clone());
            self.names.entry(folder.clone()).or_default().extend(names.iter().cloned());
        }
        let common_dirs: Vec<_> = repos.values().map(|(repo, _)| repo.common_dir.as_path()).collect();
        self.reader.keep(&common_dirs);
        for common in common_dirs {
            self.folders.extend([common.to_path_buf(), common.join("worktrees")]);
        }
    }

    /// Reads the processes: those that matter closely.
    fn scan(&mut self, round: &Round<'_>) -> ProcessTable {
        let named = round.named();
        let now = round.reading.now;
        let is_fresh = |at: Timestamp| now.duration_since(at).abs() < WHOLE_EVERY;
        if !round.pass.has_news && self.whole_at.is_some_and(is_fresh) {
            return self.scanner.rescan(&named);
        }
        self.whole_at = Some(now);
        self.scanner.scan(&named)
    }

    fn measure(&mut self, processes: &mut ProcessTable, now: Timestamp) {
        let sessions = windows::sessions_of(processes, &self.signatures);
        let living = sessions.filter(|process| process.has_exited != Some(true));
        let living = living.map(|process| process.id.pid).collect();
        self.scanner.usage(processes, &living, now);
    }
}
