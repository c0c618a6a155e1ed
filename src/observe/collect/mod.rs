//! Takes one look after another at all places, and keeps what the next look can reuse.

pub(crate) mod found;
pub(crate) mod health;
pub(crate) mod here;
pub(crate) mod kept;
pub(crate) mod listing;
pub(crate) mod moment;
pub(crate) mod pass;
pub(crate) mod programs;
pub(crate) mod repositories;
pub(crate) mod seen;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

pub(crate) use self::kept::MAX_KEPT;
use crate::core::judge::clock as known_clock;
use crate::core::judge::tombstone::descent;
use crate::core::judge::tombstone::keeper::Lesson;
use crate::core::judge::window::agent::Signatures;
use crate::core::judge::window::local_start;
use crate::core::model::text::secret::hide;
use crate::core::model::{DescribedFormat, Host, Notes, ProcessTable, Repo, Snapshot, SourceHealth};
use crate::format::{Base, Reading};
use crate::observe::collect::found::Discoveries;
use crate::observe::collect::here::Layout;
use crate::observe::collect::kept::FileCache;
use crate::observe::collect::moment::Moment;
use crate::observe::collect::pass::Pass;
use crate::observe::collect::programs::OnPath;
use crate::observe::collect::repositories::{Repositories, RepositoryReadings};
use crate::observe::collect::seen::SeenAgents;
use crate::source::interface::{Hints, Scope, Source};
use crate::source::os::host::ClockWatch;
use crate::source::os::open::medium::Media;
use crate::source::os::opener::Openers;
use crate::source::os::processes::Scanner;
use crate::source::os::{clock, host};
use crate::source::own::{descents, tombstones};
use crate::source::places::Places;
use crate::source::places::homes::Homes;
use crate::source::places::names::Names;
use crate::source::provenance::descents::Descents;
use crate::source::provenance::shown::Visibility;
use crate::source::{registry, windows};

/// How often all processes are read, whatever the hints: 2 min.
const WHOLE_EVERY: SignedDuration = SignedDuration::from_mins(2);

/// Looks repeatedly.
pub struct Collector {
    scope: Scope,
    scanner: Scanner,
    repositories: Repositories,
    kept: FileCache,
    media: Media,
    seen: SeenAgents,
    clock: ClockWatch,
    /// When all processes were last read; `None` if they are due.
    whole_at: Option<Timestamp>,
    sources: Vec<Box<dyn Source>>,
    tombstones: tombstones::Reader,
    descents: descents::Reader,
    openers: Openers,
    layout: Arc<Layout>,
    /// The folders in which the windows of the last look worked.
    working: BTreeSet<PathBuf>,
    /// The programs that they run.
    programs: BTreeSet<PathBuf>,
    on_path: OnPath,
    hints: Hints,
    /// The machine that is used instead of reading this one.
    moment: Option<Moment>,
}

/// The partial results of one look.
struct Round<'a> {
    reading: Reading<'a>,
    /// The results of finding the folders that a person named.
    roots: Vec<SourceHealth>,
    found: Discoveries,
    pass: Pass<'a>,
    repos: RepositoryReadings,
    processes: ProcessTable,
}

impl Collector {
    /// Prepares to look; reads only the links in the places' names.
    pub fn new(places: Places, signatures: Signatures) -> Self {
        let layout = Layout::new(&[]);
        let mut scanner = Scanner::new(&signatures);
        scanner.with_homes(layout.homes());
        Self {
            scanner,
            sources: registry::all(&places),
            scope: Scope {
                fence: places.fence(),
                homes: Homes::new(&places),
                places,
                signatures,
                descents: Descents::default(),
                shown: Visibility::default(),
            },
            repositories: Repositories::default(),
            kept: FileCache::default(),
            media: Media::default(),
            seen: SeenAgents::default(),
            clock: ClockWatch::default(),
            whole_at: None,
            tombstones: tombstones::Reader::default(),
            descents: descents::Reader::default(),
            openers: Openers::default(),
            layout: Arc::new(layout),
            working: BTreeSet::new(),
            programs: BTreeSet::new(),
            on_path: OnPath::default(),
            hints: Hints::default(),
            moment: None,
        }
    }

    /// Takes one look at the present files, with a given machine: nothing of this machine counts.
    pub fn look_at(&mut self, moment: Moment) -> Snapshot {
        if self.moment.replace(moment).is_none() {
            self.sources = registry::of_files(&self.scope.places);
        }
        self.look()
    }

    /// Returns the present moment.
    fn now(&self) -> Timestamp {
        self.moment.as_ref().map_or_else(clock::now, |moment| moment.now)
    }

    /// Reads all facts about the machine.
    fn host(&mut self, now: Timestamp) -> Host {
        if let Some(moment) = &self.moment {
            return moment.host.clone();
        }
        let mut host = host::host(now);
        self.clock.note(&mut host);
        host
    }

    /// Treats the stand-ins below this folder as the agents that they play.
    pub(crate) fn on_stage(&mut self, stage: PathBuf) {
        self.scanner.with_stage(stage);
    }

    /// Shares observations of processes with other observers of this machine.
    pub(crate) fn share(&mut self, descents: Descents) {
        self.scope.descents = descents;
    }

    /// Returns the observations of processes.
    pub(crate) fn descents(&self) -> Descents {
        self.scope.descents.clone()
    }

    /// Returns the switch that keeps the figures of left-overs fresh.
    pub(crate) fn shown(&self) -> Visibility {
        self.scope.shown.clone()
    }

    /// Also reads the formats that a person has described.
    pub fn with_own(mut self, own: &[DescribedFormat]) -> Self {
        self.layout = Arc::new(Layout::new(own));
        self.scanner.with_homes(self.layout.homes());
        self
    }

    /// Takes one look: records first, processes second. When the processes show a repository
    /// that was not known before, its records are read and the processes once more.
    pub fn look(&mut self) -> Snapshot {
        self.whole_at = None;
        self.openers = Openers::default();
        self.repositories.users.renew();
        self.repositories.inside.renew();
        self.look_again()
    }

    /// Returns whether a possible agent has started, stopped or continued since the last look: far cheaper than a
    /// look.
    pub(crate) fn has_news(&mut self) -> bool {
        self.scanner.has_news() || self.sources.iter().any(|source| source.has_news())
    }

    /// Returns whether a process that existed before has become a possible agent since.
    pub(crate) fn has_new_agent(&mut self) -> bool {
        self.scanner.has_new_agent()
    }

    /// Passes on to later looks what this one has learnt about the dead.
    pub(crate) fn learn(&mut self, lesson: &Lesson) {
        self.tombstones.learn(lesson);
    }

    /// Adds to the lesson of a look the processes that were seen below dead agents and live on.
    pub(crate) fn add_descents(&self, lesson: &mut Lesson, snapshot: &Snapshot) {
        let kept = self.descents.last();
        lesson.descents = self.scope.descents.read(|seen| descent::to_keep(seen, kept, snapshot));
        if !lesson.descents.is_empty() {
            lesson.ended = descent::ended(kept, snapshot);
        }
    }

    /// Notes that the lessons are in the file, which alone counts from then on.
    pub(crate) fn has_kept(&mut self, lesson: &Lesson) {
        self.tombstones.has_kept();
        self.descents.learn(&lesson.descents);
    }

    /// Makes later looks use the last read of a server, which is followed from now on, instead of waiting for its
    /// answer.
    pub fn follow_servers(&mut self) {
        self.sources.iter_mut().for_each(|source| source.keep_up());
    }

    /// Takes one look as [`Collector::look`] does, but reads old processes without signs of change only every two
    /// minutes. If a file has changed it reads all processes, so that the process that wrote it is known.
    pub(crate) fn look_again(&mut self) -> Snapshot {
        let now = self.now();
        self.scope.fence.forget_links();
        let host = self.host(now);
        let layout = Arc::clone(&self.layout);
        let mut round = self.begin(Reading { host: &host, now }, &layout);
        self.read_places(&mut round.pass);
        self.repositories.read(&mut round.found, &mut round.pass, &mut round.repos, &self.scope.fence);
        self.read_processes(&mut round);
        self.finish(round)
    }

    /// Begins a look with everything outside the places of a format.
    fn begin<'a>(&mut self, reading: Reading<'a>, layout: &'a Layout) -> Round<'a> {
        let Scope { places, fence, .. } = &self.scope;
        let mut found = Discoveries::default();
        let roots = self.repositories.roots.find(&places.roots, fence, reading.now, &mut found);
        found.add(self.working.iter().chain(&places.here).map(PathBuf::as_path), fence);
        for source in &mut self.sources {
            source.look(&self.scope, &reading);
            found.add(source.folders().iter().map(PathBuf::as_path), fence);
        }
        let known = (
            std::mem::take(&mut self.kept),
            std::mem::take(&mut self.media),
            std::mem::take(&mut self.openers),
        );
        let pass = Pass::new(reading, layout, known);
        Round {
            reading,
            roots,
            found,
            pass,
            repos: RepositoryReadings::new(),
            processes: ProcessTable::default(),
        }
    }

    /// Reads the processes. If they show a new repository or database, reads its records, and the processes once more.
    fn read_processes(&mut self, round: &mut Round<'_>) {
        round.processes = self.scan(round);
        self.working = windows::working(&round.processes, &self.scope.signatures);
        self.programs = windows::programs(&round.processes, &self.scope.signatures);
        // If the reads below show no new record, processes read a moment ago need not be read again.
        round.pass.has_news = self.follow_homes(round);
        let mut has_more = round.pass.has_news;
        for source in &mut self.sources {
            has_more |= source.follow(&self.working, &round.processes);
        }
        let fence = &self.scope.fence;
        if round.found.add(self.working.iter().map(PathBuf::as_path), fence) || has_more {
            for source in &mut self.sources {
                round.pass.has_news |= source.look_further(&self.scope, &round.reading);
                round.found.add(source.folders().iter().map(PathBuf::as_path), fence);
            }
            self.repositories.read(&mut round.found, &mut round.pass, &mut round.repos, fence);
            round.processes = self.scan(round);
        }
    }

    /// Reads the homes that windows have for themselves and that were not read yet; returns whether there are any.
    fn follow_homes(&mut self, round: &mut Round<'_>) -> bool {
        let Scope { places, homes, fence, signatures, .. } = &mut self.scope;
        let windows = windows::details(&round.processes, signatures);
        let new = homes.follow(places, windows, round.reading.host.uid);
        for one in &new {
            round.pass.read_base(one.base, &one.path, fence);
        }
        !new.is_empty()
    }

    /// Combines the results, and reads what only the whole shows where to find.
    fn finish(&mut self, mut round: Round<'_>) -> Snapshot {
        let listed_at = self.now();
        self.measure(&mut round.processes, listed_at);
        for (repo, _) in round.repos.values_mut() {
            self.repositories.users.fill(repo, &round.pass.records, &round.processes, listed_at);
            self.repositories.inside.fill(repo, &round.processes, listed_at);
        }
        let Round { reading, mut roots, found, mut pass, repos, processes } = round;
        let (homes, tallies) = (pass.homes(), std::mem::take(&mut pass.tallies));
        let (mut records, broken, known) = pass.finish(&mut self.hints);
        if self.moment.is_some() {
            records.iter_mut().for_each(moment::forget_placing);
        }
        (self.kept, self.media, self.openers) = known;
        let (repos, badges): (Vec<Repo>, Vec<SourceHealth>) = repos.into_values().unzip();
        let Scope { places, fence, .. } = &self.scope;
        let mut snapshot = Snapshot {
            taken_at: listed_at,
            host: reading.host.clone(),
            databases: Vec::new(),
            processes,
            records,
            broken,
            repos,
            sources: Vec::new(),
            seen_agents: Vec::new(),
            bound: Notes::default(),
            homes,
            session_files: Vec::new(),
            work: Vec::new(),
            tombstones: self.tombstones.read(places.tombstones().as_deref(), fence, reading.host),
            unread_work: Vec::new(),
            plain_folders: found.plain(&self.working),
            traces: Vec::new(),
            unfinished: Vec::new(),
            git_commands: Vec::new(),
            call_waits: Vec::new(),
            forecasts: Vec::new(),
        };
        let kept = self.descents.read(places.descents().as_deref(), fence, reading.host);
        self.scope.descents.recall(&kept, reading.host, &snapshot.processes);
        for source in &mut self.sources {
            source.add_to(&mut snapshot, &self.scope, &reading);
            source.hints(&self.scope, &mut self.hints);
        }
        self.repositories.follow(&snapshot.repos, &mut self.hints);
        local_start::settle(&mut snapshot);
        snapshot.seen_agents =
            self.seen.update((&snapshot.processes, &snapshot.records), &self.scope.signatures, listed_at);
        // Once more, with processes that were seen before.
        local_start::settle(&mut snapshot);
        let container = if self.moment.is_none() { host::container_stamp() } else { None };
        known_clock::settle(&mut snapshot, container);
        let mut others: Vec<_> = self.sources.iter().flat_map(|source| source.health(listed_at)).collect();
        let sources = &mut snapshot.sources;
        sources.append(&mut tallies.health(&others));
        sources.append(&mut roots);
        sources.push(health::processes(&snapshot.processes));
        sources.extend(found.overflow());
        sources.append(&mut others);
        sources.extend(badges);
        sources.extend(self.scope.homes.has_more().then(health::more_homes));
        let outside = self.working.iter().filter(|folder| !self.scope.fence.reaches(folder));
        sources.extend(health::outside(outside.count()));
        // A system's message can quote its query.
        sources.iter_mut().for_each(|source| hide(&mut source.detail));
        // Sources find out which processes have exited since all were listed: no death is dated before that.
        snapshot.taken_at = self.now();
        if self.moment.is_none() {
            snapshot.host.clock_doubt = self.clock.doubt_at(snapshot.taken_at);
        }
        snapshot
    }

    /// Returns the places where it looks.
    pub(crate) fn places(&self) -> &Places {
        &self.scope.places
    }

    /// Returns the folders whose change means another look, by the last look: also those that do not exist yet. A last
    /// part `*` stands for every folder there.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.hints.folders.iter().cloned().collect()
    }

    /// Returns the names in some of these folders that mean another look, beside those that the
    /// formats know.
    pub fn names(&self) -> &Names {
        &self.hints.names
    }

    /// Returns the known programs of agents: a process that starts one opens it. Some of them may not exist.
    pub(crate) fn programs(&mut self) -> Vec<PathBuf> {
        let commands = self.scope.signatures.commands();
        let called = self.on_path.find(&self.scope.places.programs, &commands, clock::now());
        called.iter().chain(&self.programs).cloned().collect()
    }

    fn read_places(&self, pass: &mut Pass<'_>) {
        let Scope { places, homes, fence, .. } = &self.scope;
        for base in [Base::Tmp, Base::Home, Base::ClaudeConfig, Base::Cache] {
            if let Some(folder) = places.folder(base) {
                pass.read_base(base, folder, fence);
            }
        }
        for one in homes.followed() {
            pass.read_base(one.base, &one.path, fence);
        }
    }

    /// Reads the processes; closely those that matter and those that records or notes name.
    fn scan(&mut self, round: &Round<'_>) -> ProcessTable {
        if let Some(moment) = &self.moment {
            return moment.processes.clone();
        }
        let mut named: BTreeSet<u32> = self.sources.iter().flat_map(|source| source.pids()).collect();
        named.extend(round.pass.records.iter().filter_map(|record| record.pid()));
        let now = round.reading.now;
        let is_fresh = |at: Timestamp| now.duration_since(at).abs() < WHOLE_EVERY;
        if !round.pass.has_news && self.whole_at.is_some_and(is_fresh) {
            return self.scanner.rescan(&named);
        }
        self.whole_at = Some(now);
        self.scanner.scan(&named)
    }

    fn measure(&mut self, processes: &mut ProcessTable, now: Timestamp) {
        if self.moment.is_some() {
            return;
        }
        let sessions = windows::sessions_of(processes, &self.scope.signatures);
        let living = sessions.filter(|process| process.has_exited != Some(true));
        let living = living.map(|process| process.id.pid).collect();
        self.scanner.usage(processes, &living, now);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A source that finds out, while it is read, that a process has exited since all were listed.
    struct Finder(Arc<Mutex<Option<Timestamp>>>);

    impl Source for Finder {
        fn add_to(&mut self, _snapshot: &mut Snapshot, _scope: &Scope, _reading: &Reading<'_>) {
            *self.0.lock().unwrap() = Some(clock::now());
        }

        fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
            Vec::new()
        }
    }

    #[test]
    fn a_look_is_dated_after_everything_that_it_has_found_out() {
        let mut collector = Collector::new(Places::default(), Signatures::built_in().unwrap());
        let found_at = Arc::new(Mutex::new(None));
        collector.sources = vec![Box::new(Finder(Arc::clone(&found_at)))];
        let taken_at = collector.look().taken_at;
        let found_at = found_at.lock().unwrap().unwrap();
        assert!(found_at <= taken_at, "found out at {found_at}, and dated {taken_at}");
    }
}
