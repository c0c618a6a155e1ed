//! Which machine a witness speaks for: clones, and two that speak for one, are told and not believed.

use std::collections::{BTreeSet, HashMap};

use crate::core::fleet::far::FarMachine;
use crate::core::fleet::line::{Hello, Identity};
use crate::core::model::{Code, Evidence, Finding, Key, MachineState, Remedy, Report, ReportHost};

/// One claimtop that is heard, or the one here.
struct Speaker<'a> {
    key: Option<&'a Key>,
    name: &'a str,
    identity: &'a Identity,
    boot: Option<&'a str>,
    pid_namespace: Option<u64>,
}

impl<'a> Speaker<'a> {
    /// Returns a machine that is heard now.
    fn there(told: &'a FarMachine) -> Option<Self> {
        Self::ever(told).filter(|_| told.view.state == MachineState::Live)
    }

    /// Returns a machine that was heard, and may be silent by now.
    fn ever(told: &'a FarMachine) -> Option<Self> {
        let hello = told.hello.as_ref()?;
        let Hello { identity, boot, pid_namespace, .. } = hello;
        let (key, name) = (Some(&told.view.key), told.view.name.as_str());
        Some(Self { key, name, identity, boot: boot.as_deref(), pid_namespace: *pid_namespace })
    }

    fn here(own: &'a Identity, host: &'a ReportHost) -> Self {
        let boot = host.boot_id.as_deref();
        Self { key: None, name: "this machine", identity: own, boot, pid_namespace: host.pid_namespace }
    }

    /// Returns whether one was copied from the other: they share an ID that no two machines should, and run apart.
    fn is_clone_of(&self, other: &Self) -> bool {
        let is_same = |one: &Option<String>, two: &Option<String>| one.is_some() && one == two;
        let (one, two) = (&self.identity.machine, &other.identity.machine);
        // Machines that share a home share the state folder in it as well.
        let is_one = match (one, two) {
            (Some(_), Some(_)) => is_same(one, two),
            _ => is_same(&self.identity.store, &other.identity.store),
        };
        is_one && matches!((self.boot, other.boot), (Some(one), Some(two)) if one != two)
    }

    fn counts_with(&self, other: &Self) -> bool {
        counts_alike((self.boot, self.pid_namespace), (other.boot, other.pid_namespace))
    }

    fn evidence(&self) -> Evidence {
        let boot = self.boot.and_then(|boot| boot.get(..8)).unwrap_or("unknown");
        let source = if self.key.is_some() { "its claimtop" } else { "this claimtop" };
        Evidence::new("machine", format!("{}, boot {boot}", self.name), source)
    }
}

/// Returns whether the PIDs of two claimtops are numbers of one namespace.
fn counts_alike(one: (Option<&str>, Option<u64>), two: (Option<&str>, Option<u64>)) -> bool {
    one.0.is_some() && one.1.is_some() && one == two
}

/// Finds machines that cannot be told apart: clones, and several claimtops that speak for one.
pub(crate) fn doubts(local: &Report, own: Option<&Identity>, machines: &[FarMachine]) -> Vec<Finding> {
    let here = own.map(|own| Speaker::here(own, &local.host));
    let speakers: Vec<Speaker<'_>> =
        here.into_iter().chain(machines.iter().filter_map(Speaker::there)).collect();
    let pairs = alike(&speakers);
    let pairs = pairs.iter().filter_map(|(one, other)| speakers.get(*one).zip(speakers.get(*other)));
    let told = pairs.filter_map(|(one, other)| {
        let names = format!("{} and {}", one.name, other.name);
        let message = if one.is_clone_of(other) {
            format!(
                "{names} have one machine ID and run apart: one is a clone of the other, and what names a machine by \
                 its ID can mean either; give one an ID of its own (systemd-machine-id-setup)"
            )
        } else if one.key.is_some() && one.counts_with(other) {
            format!(
                "{names} speak for one machine: it is watched under two names, or one of them is not what it says; \
                 neither is believed about records here"
            )
        } else {
            return None;
        };
        let keys = [one.key, other.key].into_iter().flatten().cloned();
        Some(Finding::new(Code::ClonedMachine, keys, message, [one.evidence(), other.evidence()], Remedy::None))
    });
    told.chain(machines.iter().filter_map(refused)).collect()
}

/// A machine that was refused because it is shown under another name.
fn refused(told: &FarMachine) -> Option<Finding> {
    let other = told.view.same_as.as_ref()?;
    let name = &told.view.name;
    let message = format!(
        "{name} answers as the machine that is shown as {other}: it has two names, or a copy of it was resumed; only \
         {other} is shown"
    );
    let evidence = [Evidence::new("machine", name.as_str(), told.view.transport.as_str())];
    Some(Finding::new(Code::ClonedMachine, [told.view.key.clone()], message, evidence, Remedy::None))
}

/// Returns every two speakers, by their numbers, that share anything which tells machines apart.
fn alike(speakers: &[Speaker<'_>]) -> BTreeSet<(usize, usize)> {
    let mut by: HashMap<(u8, &str, Option<u64>), Vec<usize>> = HashMap::new();
    for (at, one) in speakers.iter().enumerate() {
        let ids = marks(one.identity).map(|(sort, mark)| (sort, mark, None));
        let boot = one.boot.map(|boot| (2, boot, one.pid_namespace));
        ids.chain(boot).for_each(|mark| by.entry(mark).or_default().push(at));
    }
    let pairs = by.values().flat_map(|alike| {
        alike
            .iter()
            .enumerate()
            .flat_map(|(at, one)| alike.iter().skip(at + 1).map(move |other| (*one, *other)))
    });
    pairs.collect()
}

/// How many claimtops speak for each PID namespace of each boot.
pub(crate) struct Namespaces<'a> {
    counted: HashMap<(&'a str, u64), usize>,
    clones: Clones<'a>,
}

impl<'a> Namespaces<'a> {
    /// Counts this claimtop and those of other machines.
    pub(crate) fn of(host: &'a ReportHost, machines: &'a [FarMachine]) -> Self {
        let here = host.boot_id.as_deref().zip(host.pid_namespace);
        let mut counted = HashMap::new();
        for place in here.into_iter().chain(machines.iter().filter_map(place)) {
            *counted.entry(place).or_default() += 1;
        }
        Self { counted, clones: Clones::of(machines) }
    }

    /// Returns whether a witness has said who it is, nobody else speaks for its namespace, and its machine ID is its
    /// own.
    pub(crate) fn speaks_alone(&self, told: &FarMachine) -> bool {
        told.hello.is_some()
            && place(told).is_none_or(|place| self.counted.get(&place) == Some(&1))
            && self.clones.of_machine(told).is_none()
    }
}

fn place(told: &FarMachine) -> Option<(&str, u64)> {
    let hello = told.hello.as_ref()?;
    hello.boot.as_deref().zip(hello.pid_namespace)
}

/// Machines by what should be one's own: their machine IDs, and the IDs of their state folders.
pub(crate) struct Clones<'a>(HashMap<(u8, &'a str), Vec<&'a FarMachine>>);

impl<'a> Clones<'a> {
    /// Takes down all that have said who they are.
    pub(crate) fn of(machines: &'a [FarMachine]) -> Self {
        let mut by: HashMap<_, Vec<_>> = HashMap::new();
        for told in machines.iter().filter(|told| told.view.same_as.is_none()) {
            let marks = told.hello.as_ref().into_iter().flat_map(|hello| marks(&hello.identity));
            marks.for_each(|mark| by.entry(mark).or_default().push(told));
        }
        Self(by)
    }

    /// Returns a machine that has the ID of this one and runs apart from it: what names a machine by its ID can mean
    /// either.
    pub(crate) fn of_machine(&self, told: &FarMachine) -> Option<&'a FarMachine> {
        let its = Speaker::ever(told)?;
        let all = marks(its.identity).filter_map(|mark| self.0.get(&mark)).flatten().copied();
        let mut others = all.filter(|other| other.view.name != told.view.name);
        others.find(|other| Speaker::ever(other).is_some_and(|other| its.is_clone_of(&other)))
    }
}

fn marks(identity: &Identity) -> impl Iterator<Item = (u8, &str)> {
    let marks = [(0, identity.machine.as_deref()), (1, identity.store.as_deref())];
    marks.into_iter().filter_map(|(sort, mark)| Some((sort, mark?)))
}

/// Returns a machine that has the ID of this one and runs apart from it.
pub fn clone_of<'a>(told: &FarMachine, machines: &'a [FarMachine]) -> Option<&'a FarMachine> {
    Clones::of(machines).of_machine(told)
}

/// Returns a machine that has the ID of the machine here and runs apart from it.
pub(crate) fn clone_of_own<'a>(
    own: &Identity,
    host: &ReportHost,
    machines: &'a [FarMachine],
) -> Option<&'a FarMachine> {
    let here = Speaker::here(own, host);
    machines.iter().find(|told| Speaker::ever(told).is_some_and(|told| here.is_clone_of(&told)))
}
