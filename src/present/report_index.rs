//! Finds things in a report by their key, and the findings about them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use crate::core::model::record::location::Location;
use crate::core::model::report::claim::ClaimView;
use crate::core::model::report::death::Death;
use crate::core::model::report::finding::Finding;
use crate::core::model::report::judged::RecordView;
use crate::core::model::report::key::{Key, KeyKind};
use crate::core::model::report::left_over::{LeftOver, Member};
use crate::core::model::report::machine::MachineView;
use crate::core::model::report::need::{Need, NeedKind};
use crate::core::model::report::window::WindowView;
use crate::core::model::report::{BrokenPath, Report};
use crate::core::model::snapshot::process::ProcessId;
use crate::core::model::{LeftStash, LeftTree};
use crate::present::left_over;
use crate::present::summary::Summary;
use crate::present::text::tone::{Mark, Tone, of_window};
use crate::present::text::{outside, safe};
use crate::present::words;

/// A report with ways in, made once for each look.
#[derive(Debug)]
pub(crate) struct Index {
    /// The report itself.
    pub(crate) report: Arc<Report>,
    /// What that comes to.
    pub(crate) summary: Summary,
    windows: SortedPlaces<u32>,
    /// Where in the report the windows of each machine are, by its name, this one's by none: made on first use.
    windows_on: OnceLock<HashMap<String, Vec<usize>>>,
    records: SortedPlaces<u32>,
    claims: SortedPlaces<u32>,
    claims_of_record: SortedPlaces<u32>,
    broken: SortedPlaces<u32>,
    left_overs: SortedPlaces<u32>,
    left_trees: SortedPlaces<u32>,
    left_stashes: SortedPlaces<u32>,
    keys_of_findings: Box<[Key]>,
    findings: SortedPlaces<u32>,
    /// By each of their subjects.
    findings_about: SortedPlaces<(u32, u32)>,
    /// Where in the report another machine is, by its name.
    machines: HashMap<String, usize>,
    /// The windows whose processes have exited since the look, by their PIDs.
    pub(crate) exited: BTreeSet<u32>,
    /// What needs a person, with the deaths that were seen.
    pub(crate) needs: Vec<Need>,
    /// The deaths that were seen, the newest first.
    pub(crate) deaths: Vec<Death>,
    /// The processes of a window, made on first use.
    pub(crate) members: Option<(Key, Vec<Member>)>,
    /// What a printed command must end with to meet the same hosts.
    pub(crate) given: String,
}

impl Index {
    /// Reads a report once.
    pub(crate) fn new(report: Arc<Report>) -> Self {
        let keys = keys_of_findings(&report);
        Self::with_keys(report, keys)
    }

    /// Reads a report once, with the keys of its findings.
    pub(crate) fn with_keys(report: Arc<Report>, keys: Box<[Key]>) -> Self {
        let mut subjects = Vec::with_capacity(report.findings.iter().map(|one| one.subjects.len()).sum());
        subjects.extend((0..).zip(&report.findings).flat_map(|(finding, about)| {
            (0..).zip(&about.subjects).map(move |(subject, _)| (finding, subject))
        }));
        Self {
            summary: Summary::from_report(&report),
            windows: SortedPlaces::of(&report.windows, |window| &window.key),
            windows_on: OnceLock::new(),
            records: SortedPlaces::of(&report.records, |record| &record.key),
            claims: SortedPlaces::of(&report.claims, |claim| &claim.key),
            claims_of_record: SortedPlaces::of(&report.claims, |claim| &claim.record.key),
            broken: SortedPlaces::of(&report.broken, |broken| &broken.key),
            left_overs: SortedPlaces::of(&report.left_overs, |one| &one.key),
            left_trees: SortedPlaces::of(&report.left_trees, |one| &one.key),
            left_stashes: SortedPlaces::of(&report.left_stashes, |one| &one.key),
            findings: SortedPlaces::of(&keys, |key| key),
            findings_about: SortedPlaces::new(subjects.into(), |at| subject(&report, at)),
            machines: (0..).zip(&report.machines).map(|(at, machine)| (machine.name.clone(), at)).collect(),
            keys_of_findings: keys,
            exited: BTreeSet::new(),
            needs: report.needs.clone(),
            deaths: Vec::new(),
            members: None,
            given: String::new(),
            report,
        }
    }

    /// Takes note that a process has exited since the look; returns whether it is that of a window.
    pub(crate) fn exit(&mut self, id: ProcessId) -> bool {
        let is_its = |window: &WindowView| {
            window.pid == id.pid && window.start_ticks == id.start_ticks && window.key.machine().is_none()
        };
        self.report.windows.iter().any(is_its) && self.exited.insert(id.pid)
    }

    /// Returns how a window's process looks, and what it does.
    pub(crate) fn standing(&self, window: &WindowView) -> (Mark, Tone, &'static str) {
        if self.death(&window.key).is_some() {
            return (Mark::Dead, Tone::Warning, "died");
        }
        if self.has_exited(window) {
            return (Mark::Dead, Tone::Warning, "exited");
        }
        of_window(window)
    }

    /// Returns the processes of a window, where they were measured.
    pub(crate) fn members(&self, window: &Key) -> &[Member] {
        let members = self.members.as_ref().filter(|(key, _)| key == window);
        members.map_or(&[], |(_, members)| members)
    }

    pub(crate) fn window(&self, key: &Key) -> Option<&WindowView> {
        self.living(key).or_else(|| self.death(key).map(|death| &*death.window))
    }

    /// Returns a window that the report shows.
    pub(crate) fn living(&self, key: &Key) -> Option<&WindowView> {
        self.windows.first(&self.report.windows, key, |window| &window.key)
    }

    /// Returns the windows on the machine of a window.
    pub(crate) fn neighbours(&self, window: &WindowView) -> impl Iterator<Item = &WindowView> {
        let on = self.windows_on.get_or_init(|| {
            let mut on: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, window) in self.report.windows.iter().enumerate() {
                let machine = window.key.machine().unwrap_or_default();
                match on.get_mut(machine) {
                    Some(windows) => windows.push(at),
                    None => drop(on.insert(machine.to_owned(), vec![at])),
                }
            }
            on
        });
        let machine = window.key.machine().unwrap_or_default();
        on.get(machine).into_iter().flatten().filter_map(|at| self.report.windows.get(*at))
    }

    /// Returns another machine.
    pub(crate) fn machine(&self, key: &Key) -> Option<&MachineView> {
        self.report.machines.iter().find(|machine| machine.key == *key)
    }

    /// Returns the other machine that a thing is on.
    pub(crate) fn machine_of(&self, key: &Key) -> Option<&MachineView> {
        self.report.machines.get(*self.machines.get(key.machine()?)?)
    }

    /// Returns the machine that a thing is on, or is itself, where nothing is heard of that machine.
    pub(crate) fn unheard(&self, key: &Key) -> Option<&MachineView> {
        let machine = self.machine_of(key).or_else(|| self.machine(key))?;
        (!machine.state.is_heard()).then_some(machine)
    }

    /// Returns whether a window of this machine has exited since the look.
    fn has_exited(&self, window: &WindowView) -> bool {
        self.exited.contains(&window.pid) && window.key.machine().is_none()
    }

    /// Returns the death of a window that was seen, by any of its rows.
    pub(crate) fn death(&self, key: &Key) -> Option<&Death> {
        self.deaths.iter().find(|death| death.has_row(key))
    }

    /// Returns whether a window's process has ended.
    pub(crate) fn has_ended(&self, window: &WindowView) -> bool {
        self.has_exited(window) || self.death(&window.key).is_some()
    }

    /// Returns the windows that have gone and are still shown, the newest first.
    pub(crate) fn gone(&self) -> impl Iterator<Item = &WindowView> {
        let is_gone = |window: &&WindowView| {
            self.windows.first(&self.report.windows, &window.key, |window| &window.key).is_none()
        };
        self.deaths.iter().map(|death| &*death.window).filter(is_gone)
    }

    pub(crate) fn record(&self, key: &Key) -> Option<&RecordView> {
        self.records.first(&self.report.records, key, |record| &record.key).map(Arc::as_ref)
    }

    pub(crate) fn claim(&self, key: &Key) -> Option<&ClaimView> {
        self.claims.first(&self.report.claims, key, |claim| &claim.key)
    }

    /// Returns a file that could not be read as a record.
    pub(crate) fn broken(&self, key: &Key) -> Option<&BrokenPath> {
        self.broken.first(&self.report.broken, key, |broken| &broken.key)
    }

    /// Returns what a window has left running.
    pub(crate) fn left_over(&self, key: &Key) -> Option<&LeftOver> {
        self.left_overs.first(&self.report.left_overs, key, |one| &one.key)
    }

    /// Returns a working tree that a window has left.
    pub(crate) fn left_tree(&self, key: &Key) -> Option<&LeftTree> {
        self.left_trees.first(&self.report.left_trees, key, |one| &one.key)
    }

    /// Returns a stash entry that has the edits of a dead window.
    pub(crate) fn left_stash(&self, key: &Key) -> Option<&LeftStash> {
        self.left_stashes.first(&self.report.left_stashes, key, |one| &one.key)
    }

    /// Returns something that needs a person.
    pub(crate) fn need(&self, key: &Key) -> Option<&Need> {
        self.needs.iter().find(|need| need.key == *key)
    }

    /// Returns what keys act on where this is selected: what a need is about, or the thing itself.
    pub(crate) fn target<'k>(&'k self, key: &'k Key) -> &'k Key {
        let Some(need) = self.need(key) else { return key };
        match &need.kind {
            NeedKind::Collision { code, subjects, .. } => {
                let is_its = |finding: &Finding| finding.code == *code && *finding.subjects == **subjects;
                let at = self.report.findings.iter().position(|finding| is_its(finding));
                at.and_then(|at| self.keys_of_findings.get(at)).unwrap_or(&need.subject)
            }
            NeedKind::Died(_) => self.death(key).map_or(&need.subject, |death| &death.window.key),
            NeedKind::Waits { .. }
            | NeedKind::Failed { .. }
            | NeedKind::Stuck { .. }
            | NeedKind::Done { .. }
            | NeedKind::Unfinished { .. } => &need.subject,
            NeedKind::Alike { .. } | NeedKind::MoreDied { .. } => key,
        }
    }

    pub(crate) fn finding(&self, key: &Key) -> Option<&Finding> {
        let at = self.findings.all(key, |at| get(&self.keys_of_findings, at)).first()?;
        get(&self.report.findings, *at).map(Arc::as_ref)
    }

    pub(crate) fn nth_finding(&self, at: usize) -> Option<(&Key, &Finding)> {
        Some((self.keys_of_findings.get(at)?, self.report.findings.get(at)?))
    }

    /// Returns whether there is a thing or a finding of this key.
    pub(crate) fn has(&self, key: &Key) -> bool {
        self.window(key).is_some()
            || self.record(key).is_some()
            || self.claim(key).is_some()
            || self.left_over(key).is_some()
            || self.left_tree(key).is_some()
            || self.left_stash(key).is_some()
            || self.finding(key).is_some()
            || self.need(key).is_some()
    }

    /// Returns the claims that a record states.
    pub(crate) fn claims_of(&self, record: &Key) -> impl Iterator<Item = &ClaimView> {
        let record_at = |at| get(&self.report.claims, at).map(|claim| &claim.record.key);
        self.claims_of_record.all(record, record_at).iter().filter_map(|at| get(&self.report.claims, *at))
    }

    /// Returns a finding by its own key, or the findings near a thing, worst first.
    pub(crate) fn findings_at(&self, key: &Key) -> Vec<&Finding> {
        self.finding(key).map_or_else(|| self.findings_near(key), |finding| vec![finding])
    }

    /// Returns the findings about a thing and what belongs to it, worst first: a window's
    /// records and claims, a record's claims, a claim's record.
    pub(crate) fn findings_near(&self, key: &Key) -> Vec<&Finding> {
        let about = |key| self.findings_about.all(key, |at| subject(&self.report, at));
        let found: BTreeSet<u32> =
            self.near(key).into_iter().flat_map(about).map(|(finding, _)| *finding).collect();
        let mut findings: Vec<&Finding> =
            found.into_iter().filter_map(|at| get(&self.report.findings, at)).map(Arc::as_ref).collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }

    /// Returns the findings near a thing that are problems, worst first.
    pub(crate) fn problems_near(&self, key: &Key) -> Vec<&Finding> {
        let mut findings = self.findings_near(key);
        findings.retain(|finding| finding.is_problem());
        findings
    }

    fn near<'k>(&'k self, key: &'k Key) -> Vec<&'k Key> {
        let mut near = vec![key];
        if let Some(window) = self.window(key) {
            near.extend(window.records.iter().chain(&window.claims));
        } else if let Some(claim) = self.claim(key) {
            near.push(&claim.record.key);
        } else {
            near.extend(self.claims_of(key).map(|claim| &claim.key));
        }
        near
    }

    /// Returns the window that a thing is, or belongs to; of a finding the first that it is about.
    pub(crate) fn window_of(&self, key: &Key) -> Option<&WindowView> {
        let of_subjects = || self.finding(key)?.subjects.iter().find_map(|key| self.window_of_thing(key));
        self.window_of_thing(key).or_else(of_subjects)
    }

    fn window_of_thing(&self, key: &Key) -> Option<&WindowView> {
        let record = |key: &Key| self.record(key).and_then(|record| self.window(record.window.as_ref()?));
        self.window(key).or_else(|| record(key)).or_else(|| {
            let claim = self.claim(key)?;
            claim.window.as_ref().and_then(|key| self.window(key)).or_else(|| record(&claim.record.key))
        })
    }

    /// Returns a name for people, or the key itself when the thing is not in the report.
    pub(crate) fn name(&self, key: &Key) -> String {
        if let Some(window) = self.window(key) {
            return window_and_pid(window);
        }
        if let Some(record) = self.record(key) {
            return format!("{} {}", record.format.name(), outside(Some(&record.title)));
        }
        match self.claim(key) {
            Some(claim) => {
                format!("{} {}", claim.resource.kind.name(), words::holds(claim))
            }
            None if key.entry().is_some() => {
                format!("entry {}", key.entry().unwrap_or_default())
            }
            None if self.left_tree(key).is_some() => {
                self.left_tree(key).map(left_over::tree).unwrap_or_default()
            }
            None if self.left_over(key).is_some() => {
                self.left_over(key).map(left_over::what).unwrap_or_default()
            }
            None if self.left_stash(key).is_some() => {
                self.left_stash(key).map(left_over::stash).unwrap_or_default()
            }
            None => {
                let broken = self.broken(key);
                broken.map_or_else(|| key.to_string(), |broken| outside(Some(broken.path.text())))
            }
        }
    }
}

/// Places in a report, in the order of the keys that stand there: a key itself takes four times the
/// room.
#[derive(Debug)]
struct SortedPlaces<At>(Box<[At]>);

impl<At: Copy + Ord> SortedPlaces<At> {
    /// Sorts places by the keys that stand there.
    fn new<'k>(mut places: Box<[At]>, key_at: impl Fn(At) -> Option<&'k Key>) -> Self {
        places.sort_unstable_by_key(|at| (key_at(*at), *at));
        Self(places)
    }

    /// Returns every place of a key, in their order.
    fn all<'k>(&self, key: &Key, key_at: impl Fn(At) -> Option<&'k Key>) -> &[At] {
        let from = self.0.partition_point(|at| key_at(*at) < Some(key));
        let rest = self.0.get(from..).unwrap_or_default();
        rest.get(..rest.partition_point(|at| key_at(*at) == Some(key))).unwrap_or_default()
    }
}

impl SortedPlaces<u32> {
    /// Sorts the places of a list.
    fn of<T>(list: &[T], key: impl Fn(&T) -> &Key) -> Self {
        let places = (0..).zip(list).map(|(at, _)| at).collect();
        Self::new(places, |at| get(list, at).map(&key))
    }

    /// Returns what stands in the list at the first place of a key.
    fn first<'a, T>(&self, list: &'a [T], wanted: &Key, key: impl Fn(&T) -> &Key) -> Option<&'a T> {
        get(list, *self.all(wanted, |at| get(list, at).map(&key)).first()?)
    }
}

fn get<T>(list: &[T], at: u32) -> Option<&T> {
    list.get(usize::try_from(at).ok()?)
}

fn subject(report: &Report, (finding, subject): (u32, u32)) -> Option<&Key> {
    get(&get(&report.findings, finding)?.subjects, subject)
}

/// Names every finding for as long as it is about the same things: findings have no key of
/// their own, and their words may hold an age.
pub(crate) fn keys_of_findings(report: &Report) -> Box<[Key]> {
    let key = |finding: &Finding| {
        let mut parts = vec![finding.code.name()];
        parts.extend(finding.subjects.iter().map(Key::as_str));
        Key::derive(KeyKind::Finding, &parts)
    };
    let mut keys: Box<[Key]> = report.findings().map(key).collect();
    let order = SortedPlaces::of(&keys, |key| key);
    let mut numbered = Vec::new();
    for same in order.0.chunk_by(|one, other| get(&keys, *one) == get(&keys, *other)) {
        numbered.extend((0..).zip(same).skip(1).map(|(number, at)| (number, *at)));
    }
    for (number, at) in numbered {
        if let Some(key) = usize::try_from(at).ok().and_then(|at| keys.get_mut(at)) {
            *key = Key::typed(&format!("{key}-{number}"));
        }
    }
    keys
}

/// Returns a window's given name, or its folder's with its agent.
pub(crate) fn window_name(window: &WindowView) -> String {
    safe(&window.title())
}

/// Returns a window's name, with its machine where that is another one.
pub(crate) fn window_and_machine(window: &WindowView) -> String {
    format!("{}{}", window_name(window), at_machine(window))
}

/// Returns a window's name with its PID, and its machine if that is another one. No other window has that name.
pub(crate) fn window_and_pid(window: &WindowView) -> String {
    format!("{} {}{}", window_name(window), window.pid, at_machine(window))
}

fn at_machine(window: &WindowView) -> String {
    window.key.machine().map(|name| format!("@{name}")).unwrap_or_default()
}

/// Names the dead window that has left a claim, with its folder, where it is reported what that window left.
pub(crate) fn left_by(report: &Report, claim: &ClaimView) -> Option<String> {
    let left = |need: &'_ Need| match &need.kind {
        NeedKind::Died(left) if left.claims.contains(&claim.key) => Some(left.clone()),
        NeedKind::Died(_)
        | NeedKind::Waits { .. }
        | NeedKind::Failed { .. }
        | NeedKind::Stuck { .. }
        | NeedKind::Done { .. }
        | NeedKind::Unfinished { .. }
        | NeedKind::Collision { .. }
        | NeedKind::Alike { .. }
        | NeedKind::MoreDied { .. } => None,
    };
    let left = report.needs.iter().find_map(left)?;
    let folder = left.folder();
    let name = outside(Some(&left.name));
    Some(match folder.filter(|folder| *folder != left.name.raw()) {
        Some(folder) => format!("{name} in {}", safe(folder)),
        None => name,
    })
}

/// Returns where a window works: its working tree with the branch, else its folder.
pub(crate) fn workplace(window: &WindowView) -> String {
    let Some(repo) = &window.repo else {
        let removed = if window.is_folder_gone { " (removed)" } else { "" };
        return outside(window.cwd.as_ref()) + removed;
    };
    let branch = repo.branch.as_ref().map_or_else(String::new, |branch| format!(" ({branch})"));
    safe(&format!("{}{branch}", repo.worktree))
}

/// Returns where a record was read: a path, or a database, table and row.
pub(crate) fn place_of(record: &RecordView) -> String {
    match &record.location {
        Location::File(path) => outside(Some(path.text())),
        Location::Row(row) => {
            format!("{} {} {}", outside(Some(&row.database)), row.table, outside(Some(&row.id)))
        }
    }
}
