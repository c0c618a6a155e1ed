//! The last known state of other machines, for a status bar that must not wait for any of them.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::{Key, MachineState, MachineView, Report, Severity, WindowState};

/// Every machine that was ever reached and is still configured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastKnown {
    pub(crate) machines: Vec<KnownMachine>,
}

/// The last report of one machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownMachine {
    pub(crate) name: String,
    /// The URL, without a password, of the database it was met in; `None` if it is reached by a program.
    pub(crate) database: Option<String>,
    /// Its connection state at the last look.
    pub(crate) state: MachineState,
    /// When something was last received from it.
    pub(crate) at: Timestamp,
    #[serde(flatten)]
    pub(crate) counts: Counts,
}

/// The counts for a status bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Windows whose process lives.
    pub(crate) windows: usize,
    /// Windows that wait for a person.
    pub(crate) waiting: usize,
    /// Collisions; one between two of these machines counts for one of them.
    pub(crate) collisions: usize,
    /// Claims whose holder is proven dead.
    pub(crate) dead_claims: usize,
}

/// The configured machines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// The names of the machines that are reached by a program.
    pub(crate) machines: Vec<String>,
    /// The URL, without a password, of the database of the fleet.
    pub(crate) database: Option<String>,
    /// Whether a look reads all hosts of that database.
    pub(crate) is_whole: bool,
}

impl Sources {
    pub(crate) fn is_empty(&self) -> bool {
        self.machines.is_empty() && self.database.is_none()
    }

    fn database_of(&self, view: &MachineView) -> Option<&String> {
        self.database.as_ref().filter(|_| !self.machines.contains(&view.name))
    }

    /// Returns whether a machine represents the database itself, which was not read.
    fn is_database(&self, view: &MachineView) -> bool {
        self.database_of(view) == Some(&view.transport)
    }

    fn has(&self, known: &KnownMachine) -> bool {
        match &known.database {
            Some(_) => known.database == self.database,
            None => self.machines.contains(&known.name),
        }
    }
}

impl LastKnown {
    /// Applies the results of a look at these sources. A machine that was not queried, or could not be reached, keeps
    /// its last known state.
    pub(crate) fn learn(&mut self, report: &Report, sources: &Sources) {
        self.machines.retain(|known| sources.has(known));
        let database = report.machines.iter().find(|view| sources.is_database(view));
        let names: HashSet<&str> = report.machines.iter().map(|view| view.name.as_str()).collect();
        if database.is_none() && sources.is_whole {
            self.machines.retain(|known| known.database.is_none() || names.contains(known.name.as_str()));
        }
        if database.is_some_and(|view| view.state == MachineState::Unreached) {
            let hosts = self.machines.iter_mut().filter(|known| known.database.is_some());
            hosts.for_each(|known| known.state = MachineState::Unreached);
        }
        let counts = counts(report);
        for view in report.machines.iter().filter(|view| !sources.is_database(view)) {
            let database = sources.database_of(view).cloned();
            let counts = counts.get(view.name.as_str()).copied().unwrap_or_default();
            let name = view.name.clone();
            let now = |at| KnownMachine { name, database, state: view.state, at, counts };
            let before = self.machines.iter_mut().find(|known| known.name == view.name);
            match (view.state, before) {
                // Nothing new is known of it.
                (MachineState::Connecting, _) | (MachineState::Unreached, None) => {}
                (MachineState::Unreached, Some(known)) => known.state = MachineState::Unreached,
                (MachineState::Live | MachineState::Late | MachineState::Silent, before) => {
                    let now = view.seen_at.map(now);
                    match (before, now) {
                        (Some(known), Some(now)) => *known = now,
                        (None, now) => self.machines.extend(now),
                        (Some(_), None) => {}
                    }
                }
            }
        }
    }

    /// Returns the machines that belong to these sources.
    pub(crate) fn of_sources<'a>(&'a self, sources: &'a Sources) -> impl Iterator<Item = &'a KnownMachine> {
        self.machines.iter().filter(|known| sources.has(known))
    }

    /// Returns whether two are equal, except for when they were received.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        let timeless = |known: &KnownMachine| KnownMachine { at: Timestamp::UNIX_EPOCH, ..known.clone() };
        self.machines.iter().map(timeless).eq(other.machines.iter().map(timeless))
    }
}

/// Returns the counts for each other machine. On a silent one no window is known to live.
fn counts(report: &Report) -> HashMap<&str, Counts> {
    let mut all: HashMap<&str, Counts> = HashMap::new();
    let heard = report.machines.iter().filter(|view| view.state.is_heard()).map(|view| view.name.as_str());
    let heard: HashSet<&str> = heard.collect();
    for window in report.windows.iter().filter(|window| window.state != WindowState::Zombie) {
        let Some(name) = window.key.machine().filter(|name| heard.contains(name)) else { continue };
        let counts = all.entry(name).or_default();
        counts.windows += 1;
        counts.waiting += usize::from(window.waiting.is_some());
    }
    for name in report.claims.iter().filter(|claim| claim.is_dead()).filter_map(|claim| claim.key.machine()) {
        all.entry(name).or_default().dead_claims += 1;
    }
    let collisions = report.findings().filter(|finding| finding.severity == Severity::Collision);
    for name in collisions.filter_map(|finding| finding.subjects.iter().find_map(Key::machine)) {
        all.entry(name).or_default().collisions += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::WindowView;
    use crate::core::testing;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn sources() -> Sources {
        let database = Some("postgres://db/work".to_owned());
        Sources { machines: vec!["devbox".to_owned()], database, is_whole: true }
    }

    /// Returns a look that finds these machines, each with the dead claim and the windows of a busy one.
    fn look(views: Vec<MachineView>) -> Report {
        let mut report = testing::quiet();
        for view in &views {
            let there = testing::busy();
            report.windows.extend(there.windows.into_iter().map(|mut window| {
                window.key = window.key.on_machine(&view.name);
                window
            }));
            report.claims.extend(there.claims.into_iter().map(|mut claim| {
                claim.key = claim.key.on_machine(&view.name);
                claim
            }));
        }
        Report { machines: views, ..report }
    }

    fn view(name: &str, transport: &str, state: MachineState, seen_at: Option<i64>) -> MachineView {
        MachineView { state, seen_at: seen_at.map(at), ..MachineView::new(name, transport.to_owned()) }
    }

    fn state(known: &LastKnown) -> Vec<(&str, MachineState, i64, usize, usize)> {
        let machines = known.machines.iter();
        machines
            .map(|known| {
                let Counts { windows, dead_claims, .. } = known.counts;
                (known.name.as_str(), known.state, known.at.as_second(), windows, dead_claims)
            })
            .collect()
    }

    #[test]
    fn what_was_known_stays_until_it_is_known_anew() {
        use MachineState::{Live, Silent, Unreached};
        let lives = |window: &&WindowView| window.state != WindowState::Zombie;
        let windows = testing::busy().windows.iter().filter(lives).count();
        let mut known = LastKnown::default();
        known.learn(
            &look(vec![
                view("devbox", "ssh devbox", Live, Some(10)),
                view("ci", "postgres", Live, Some(11)),
                view("gone", "postgres", Live, Some(11)),
            ]),
            &sources(),
        );
        let all = [("devbox", Live, 10, windows, 1), ("ci", Live, 11, windows, 1)];
        assert_eq!(state(&known), [&all[..], &[("gone", Live, 11, windows, 1)]].concat());
        // A host that is no longer listed has left; a silent one has no windows known to live.
        let silent = view("ci", "postgres", Silent, Some(11));
        known.learn(&look(vec![silent, view("devbox", "ssh devbox", Unreached, None)]), &sources());
        assert_eq!(state(&known), [("devbox", Unreached, 10, windows, 1), ("ci", Silent, 11, 0, 1)]);
        // The database does not answer.
        known.learn(&look(vec![view("fleet", "postgres://db/work", Unreached, None)]), &sources());
        assert_eq!(state(&known)[1], ("ci", Unreached, 11, 0, 1));
        // Only one machine was queried.
        let named = Sources { is_whole: false, ..sources() };
        known.learn(&look(vec![view("devbox", "ssh devbox", Live, Some(20))]), &named);
        assert_eq!(state(&known)[0], ("devbox", Live, 20, windows, 1));
        assert_eq!(known.machines.len(), 2);
        // It is no longer configured.
        let other = Sources { machines: Vec::new(), ..sources() };
        assert_eq!(known.of_sources(&other).count(), 1);
        known.learn(&look(Vec::new()), &other);
        assert_eq!(known.machines.len(), 0);
    }

    #[test]
    fn only_what_is_said_makes_a_difference() {
        let learnt = |seen_at| {
            let mut known = LastKnown::default();
            let devbox = view("devbox", "ssh devbox", MachineState::Live, Some(seen_at));
            known.learn(&look(vec![devbox]), &sources());
            known
        };
        assert!(learnt(10).is_same_as(&learnt(11)) && learnt(10) != learnt(11));
        assert!(!learnt(10).is_same_as(&LastKnown::default()));
    }
}
