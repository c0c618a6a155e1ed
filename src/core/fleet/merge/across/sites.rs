//! Where windows, records and claims are, and how that affects their clocks and names.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};

use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::judge::rules::facts::{file_name, window_name};
use crate::core::judge::story::chain::Chain;
use crate::core::model::{ClaimView, Evidence, Finding, JudgedRecord, Key, Report, WindowView};

/// One connected machine, or this one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'a> {
    /// Its name; this machine has none.
    name: Option<&'a str>,
    boot: Option<&'a str>,
    pid_namespace: Option<u64>,
    /// How far its clock is ahead of the one here.
    ahead: SignedDuration,
}

/// All connected machines, with their content.
pub(super) struct Sites<'a> {
    report: &'a Report,
    sites: HashMap<Option<&'a str>, Site<'a>>,
    by_key: HashMap<&'a Key, &'a WindowView>,
    /// Built on demand: mostly nothing collides.
    records: OnceCell<HashMap<&'a Key, &'a JudgedRecord>>,
    holders: OnceCell<HashMap<&'a Key, &'a Key>>,
}

impl<'a> Sites<'a> {
    /// Collects this machine and every other that is connected now.
    pub(super) fn from_report(report: &'a Report, machines: &'a [FarMachine]) -> Self {
        let here = Site {
            name: None,
            boot: report.host.boot_id.as_deref(),
            pid_namespace: report.host.pid_namespace,
            ahead: SignedDuration::ZERO,
        };
        let live = machines.iter().filter(|machine| machine.view.state.is_heard());
        let there = live.map(|machine| Site {
            name: Some(&machine.view.name),
            boot: machine.hello.as_ref().and_then(|hello| hello.boot.as_deref()),
            pid_namespace: machine.hello.as_ref().and_then(|hello| hello.pid_namespace),
            ahead: SignedDuration::from_secs(machine.view.clock_ahead_seconds),
        });
        Self {
            report,
            sites: [here].into_iter().chain(there).map(|site| (site.name, site)).collect(),
            by_key: report.windows.iter().map(|window| (&window.key, window)).collect(),
            records: OnceCell::new(),
            holders: OnceCell::new(),
        }
    }

    /// Returns whether there is only one machine, so that nothing can be compared.
    pub(super) fn are_one(&self) -> bool {
        self.sites.len() < 2
    }

    /// Returns the machine of a thing; `None` if that is not connected.
    pub(super) fn of_key(&self, key: &Key) -> Option<Site<'a>> {
        self.sites.get(&key.machine()).copied()
    }

    /// Returns every window of a connected machine.
    pub(super) fn windows(&self) -> impl Iterator<Item = PlacedWindow<'a>> {
        self.report.windows.iter().filter_map(|window| self.placed(window))
    }

    /// Returns a window, if its machine is connected.
    pub(super) fn window(&self, key: &Key) -> Option<PlacedWindow<'a>> {
        self.by_key.get(key).and_then(|window| self.placed(window))
    }

    fn placed(&self, window: &'a WindowView) -> Option<PlacedWindow<'a>> {
        Some(PlacedWindow { window, site: self.of_key(&window.key)? })
    }

    /// Returns every claim of a connected machine.
    pub(super) fn claims(&self) -> impl Iterator<Item = (&'a ClaimView, Site<'a>)> {
        self.report.claims.iter().filter_map(|claim| Some((claim, self.of_key(&claim.key)?)))
    }

    /// Returns the window that holds a claim.
    pub(super) fn holder_of(&self, claim: &Key) -> Option<Key> {
        let of = |claim: &'a ClaimView| Some((&claim.key, claim.window.as_ref()?));
        let holders = self.holders.get_or_init(|| self.report.claims.iter().filter_map(of).collect());
        holders.get(claim).map(|window| (*window).clone())
    }

    pub(super) fn record(&self, key: &Key) -> Option<&'a JudgedRecord> {
        let of = |record: &'a JudgedRecord| (&record.key, record);
        self.records.get_or_init(|| self.report.records.iter().map(of).collect()).get(key).copied()
    }
}

impl<'a> Site<'a> {
    /// Returns the words for its place, to follow a name.
    pub(super) fn suffix(self) -> String {
        self.name.map_or_else(|| "here".to_owned(), |name| format!("on {name}"))
    }

    pub(super) fn is(self, other: Self) -> bool {
        self.name == other.name
    }

    /// Converts a moment of its clock to the clock here.
    pub(super) fn here(self, at: Timestamp) -> Timestamp {
        at.checked_sub(self.ahead).unwrap_or(at)
    }

    /// Returns the evidence of one of its records, with its machine.
    pub(super) fn evidence(self, judged: &JudgedRecord) -> Evidence {
        let own = &judged.evidence;
        let source = match self.name {
            Some(name) => format!("{} on {name}", own.source.raw()),
            None => own.source.raw().to_owned(),
        };
        Evidence::new(own.fact.clone(), own.value.clone(), source).dated(own.at.map(|at| self.here(at)))
    }

    /// Returns the name of a record's file with its machine.
    pub(super) fn file(self, judged: &JudgedRecord) -> String {
        format!("{} {}", file_name(judged), self.suffix())
    }
}

/// A window, and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedWindow<'a> {
    pub(super) window: &'a WindowView,
    pub(super) site: Site<'a>,
}

impl<'a> PlacedWindow<'a> {
    /// Returns its name for a sentence.
    pub(super) fn name(&self) -> String {
        format!("{} {}", window_name(self.window), self.site.suffix())
    }

    pub(super) fn process(&self) -> String {
        format!("PID {} {}", self.window.pid, self.site.suffix())
    }

    /// Returns when it started, by the clock here.
    pub(super) fn started_at(&self) -> Option<Timestamp> {
        self.window.started_at.map(|at| self.site.here(at))
    }

    pub(super) fn evidence(&self) -> Evidence {
        let source = match self.site.name {
            Some(name) => format!("/proc/{}/stat on {name}", self.window.pid),
            None => format!("/proc/{}/stat", self.window.pid),
        };
        Evidence::new("window", window_name(self.window), source).dated(self.started_at())
    }

    pub(super) fn tell_start(&self, chain: &mut Chain) {
        chain.saw(self.started_at(), format!("{} started", self.name()), [self.evidence()]);
    }

    /// Returns whether two windows are certainly two processes: on machines with one kernel, such as a container and
    /// its host, two windows started in the same tick can be one process that both see.
    pub(super) fn is_apart(&self, other: &PlacedWindow<'_>) -> bool {
        let has_other_kernel =
            matches!((self.site.boot, other.site.boot), (Some(one), Some(two)) if one != two);
        let is_elsewhere = !self.site.is(other.site);
        let has_other_start = self.window.start_ticks != other.window.start_ticks;
        is_elsewhere && (has_other_kernel || has_other_start || self.has_other_number(other))
    }

    /// Returns whether two windows of one kernel have different PIDs in the innermost of their PID namespaces, where a
    /// process has only one, or have one PID each in two of these namespaces.
    fn has_other_number(&self, other: &PlacedWindow<'_>) -> bool {
        let (Some(one), Some(two)) = (self.innermost(), other.innermost()) else { return false };
        let are_namespaces_two = matches!((self.site.pid_namespace, other.site.pid_namespace), (Some(one), Some(two)) if one != two);
        let are_both_own = self.window.place.has_own_pid && other.window.place.has_own_pid;
        one != two || (are_both_own && are_namespaces_two)
    }

    /// Returns whether two windows of one machine are indistinguishable for windows of another.
    pub(super) fn counts_as(&self, other: &PlacedWindow<'_>) -> bool {
        self.window.start_ticks == other.window.start_ticks
            && self.innermost() == other.innermost()
            && self.window.place.has_own_pid == other.window.place.has_own_pid
    }

    /// Returns its PID in its own PID namespace, if known.
    fn innermost(&self) -> Option<u32> {
        let place = &self.window.place;
        place.inner_pid.or_else(|| place.has_own_pid.then_some(self.window.pid))
    }

    /// Returns the record with the strongest tie to its session.
    pub(super) fn record(&self, sites: &Sites<'a>) -> Option<&'a JudgedRecord> {
        let records = self.window.records.iter().filter_map(|key| sites.record(key));
        let of_session = records.filter(|judged| judged.session_id == self.window.session_id);
        of_session.max_by_key(|judged| judged.holder.as_ref().map(|holder| holder.binding))
    }
}

/// How many of the colliding windows are in the evidence; all of them are subjects.
pub(super) const EVIDENCE: usize = 32;

/// How many different windows of each machine are compared with those of others: a window that could be any of so many
/// is too little known to be distinguished.
const COMPARED: usize = 16;

/// Returns some things of each machine's windows, no two of them alike: there may be tens of thousands, which need not
/// be compared pairwise.
pub(super) fn some_of_each<'a, T: Copy>(
    all: &[T],
    placed: impl Fn(&T) -> PlacedWindow<'a>,
    is_alike: impl Fn(&T, &T) -> bool,
) -> Vec<T> {
    let mut sites: BTreeMap<Option<&str>, Vec<T>> = BTreeMap::new();
    for one in all {
        let some = sites.entry(placed(one).site.name).or_default();
        if some.len() < COMPARED && !some.iter().any(|other| is_alike(one, other)) {
            some.push(*one);
        }
    }
    sites.into_values().flatten().collect()
}

/// Returns the windows that are certainly two processes on two machines, the oldest first.
pub(super) fn apart<'a>(windows: &[PlacedWindow<'a>]) -> Vec<PlacedWindow<'a>> {
    let some = some_of_each(windows, |placed| *placed, PlacedWindow::counts_as);
    let is_apart = |one: &&PlacedWindow<'a>| some.iter().any(|other| one.is_apart(other));
    let mut apart: Vec<PlacedWindow<'a>> = windows.iter().filter(is_apart).copied().collect();
    apart.sort_by_key(|placed| {
        (placed.started_at().is_none(), placed.started_at(), placed.window.key.clone())
    });
    apart
}

/// The collected findings.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) findings: Vec<Finding>,
    /// The claims that a window of another machine holds as well.
    pub(crate) contested: HashSet<Key>,
}
