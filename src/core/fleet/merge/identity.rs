//! Which machine a witness reports for: clones, and two witnesses of one machine, are reported as findings and not
//! believed.

use std::collections::{BTreeMap, HashMap};

use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::fleet::wire::line::{Hello, Identity};
use crate::core::judge::rules::facts::listed;
use crate::core::model::{Code, Evidence, Finding, Key, Remedy, Report, ReportHost};

/// One connected claimtop, or the one here.
struct Speaker<'a> {
    key: Option<&'a Key>,
    name: &'a str,
    identity: &'a Identity,
    boot: Option<&'a str>,
    pid_namespace: Option<u64>,
}

impl<'a> Speaker<'a> {
    /// Returns a machine that is connected now.
    fn there(machine: &'a FarMachine) -> Option<Self> {
        Self::ever(machine).filter(|_| machine.view.state.is_heard())
    }

    /// Returns a machine that was connected once, and may be silent now.
    fn ever(machine: &'a FarMachine) -> Option<Self> {
        let hello = machine.hello.as_ref()?;
        let Hello { identity, boot, pid_namespace, .. } = hello;
        let (key, name) = (Some(&machine.view.key), machine.view.name.as_str());
        Some(Self { key, name, identity, boot: boot.as_deref(), pid_namespace: *pid_namespace })
    }

    fn here(own: &'a Identity, host: &'a ReportHost) -> Self {
        let boot = host.boot_id.as_deref();
        Self { key: None, name: "this machine", identity: own, boot, pid_namespace: host.pid_namespace }
    }

    /// Returns whether one was copied from the other: they share an ID that should be unique, and run separately.
    fn is_clone_of(&self, other: &Self) -> bool {
        let is_same = |one: &Option<String>, two: &Option<String>| one.is_some() && one == two;
        let (one, two) = (&self.identity.machine, &other.identity.machine);
        // Machines that share a home also share the state folder in it.
        let is_one = match (one, two) {
            (Some(_), Some(_)) => is_same(one, two),
            _ => is_same(&self.identity.store, &other.identity.store),
        };
        is_one && matches!((self.boot, other.boot), (Some(one), Some(two)) if one != two)
    }

    fn evidence(&self) -> Evidence {
        let boot = self.boot.and_then(|boot| boot.get(..8)).unwrap_or("unknown");
        let source = if self.key.is_some() { "its claimtop" } else { "this claimtop" };
        Evidence::new("machine", format!("{}, boot {boot}", self.name), source)
    }
}

/// Finds machines that cannot be distinguished: clones, and several claimtops that report for one machine. Whatever
/// their number, what they share is reported once.
pub(crate) fn doubts(local: &Report, own: Option<&Identity>, machines: &[FarMachine]) -> Vec<Finding> {
    let here = own.map(|own| Speaker::here(own, &local.host));
    let speakers: Vec<Speaker<'_>> =
        here.into_iter().chain(machines.iter().filter_map(Speaker::there)).collect();
    let mut copies = Copies::default();
    speakers.iter().for_each(|speaker| copies.take(speaker, ()));
    let mut clones: BTreeMap<Mark<'_>, Vec<&Speaker<'_>>> = BTreeMap::new();
    let mut namespaces: BTreeMap<(&str, u64), Vec<&Speaker<'_>>> = BTreeMap::new();
    for speaker in &speakers {
        for mark in copies.shared_by(speaker) {
            clones.entry(mark).or_default().push(speaker);
        }
        // A claimtop in the namespace of this one sees the same processes.
        if let Some(place) = speaker.boot.zip(speaker.pid_namespace).filter(|_| speaker.key.is_some()) {
            namespaces.entry(place).or_default().push(speaker);
        }
    }
    let clones = clones.values().map(|alike| doubt(alike, of_clones));
    let one = namespaces.values().filter(|alike| alike.len() > 1).map(|alike| doubt(alike, of_one));
    clones.chain(one).chain(machines.iter().filter_map(refused)).collect()
}

fn of_clones(names: &str, many: usize) -> String {
    let advice = match many {
        0..=2 => "one is a clone of the other, so a record that names the ID can mean either; give one",
        _ => "some are clones of others, so a record that names the ID can mean any of them; give each",
    };
    format!("{names} share one machine ID but run separately: {advice} its own ID (systemd-machine-id-setup)")
}

fn of_one(names: &str, many: usize) -> String {
    let (doubt, believed) = match many {
        0..=2 => ("it is watched under two names, or one of them reports a false identity", "neither"),
        _ => ("it is watched under several names, or some of them report a false identity", "none"),
    };
    format!("{names} report as one machine: {doubt}; {believed} is trusted about records here")
}

/// How many of the indistinguishable machines are listed in the evidence.
const EVIDENCE: usize = 8;

fn doubt(alike: &[&Speaker<'_>], says: fn(&str, usize) -> String) -> Finding {
    let names: Vec<String> = alike.iter().map(|speaker| speaker.name.to_owned()).collect();
    let message = says(&listed(&names), names.len());
    let keys = alike.iter().filter_map(|speaker| speaker.key).cloned();
    let evidence: Vec<Evidence> = alike.iter().take(EVIDENCE).map(|speaker| speaker.evidence()).collect();
    Finding::new(Code::ClonedMachine, keys, message, evidence, Remedy::None)
}

/// A machine that was refused because it is shown under another name.
fn refused(machine: &FarMachine) -> Option<Finding> {
    let other = machine.view.same_as.as_ref()?;
    let name = &machine.view.name;
    let message = format!(
        "{name} answers as the machine shown as {other}: it has two names, or a copy of it was resumed; only \
         {other} is shown"
    );
    let evidence = [Evidence::new("machine", name.as_str(), machine.view.transport.as_str())];
    Some(Finding::new(Code::ClonedMachine, [machine.view.key.clone()], message, evidence, Remedy::None))
}

/// How many claimtops report for each PID namespace of each boot.
pub(crate) struct Namespaces<'a> {
    counted: HashMap<(&'a str, u64), usize>,
    clones: Clones<'a>,
}

impl<'a> Namespaces<'a> {
    /// Counts this claimtop and those of other machines.
    pub(crate) fn from_host(host: &'a ReportHost, machines: &'a [FarMachine]) -> Self {
        let here = host.boot_id.as_deref().zip(host.pid_namespace);
        let mut counted = HashMap::new();
        for place in here.into_iter().chain(machines.iter().filter_map(place)) {
            *counted.entry(place).or_default() += 1;
        }
        Self { counted, clones: Clones::from_machines(machines) }
    }

    /// Returns whether a witness has introduced itself, is the only one for its namespace, and has a unique machine
    /// ID.
    pub(crate) fn speaks_alone(&self, machine: &FarMachine) -> bool {
        machine.hello.is_some()
            && place(machine).is_none_or(|place| self.counted.get(&place) == Some(&1))
            && self.clones.of_machine(machine).is_none()
    }
}

fn place(machine: &FarMachine) -> Option<(&str, u64)> {
    let hello = machine.hello.as_ref()?;
    hello.boot.as_deref().zip(hello.pid_namespace)
}

/// What should be unique to one machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Mark<'a> {
    /// Its machine ID.
    Machine(&'a str),
    /// The ID of its state folder, counting every machine that has it.
    Store(&'a str),
    /// The same, counting only those without a machine ID: machines that share a home share that folder too.
    StoreAlone(&'a str),
}

/// The first two boots in which each mark was seen, with the machine: any third one runs separately from one of them.
struct Copies<'a, T>(HashMap<Mark<'a>, Vec<(&'a str, T)>>);

impl<T> Default for Copies<'_, T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<'a, T: Copy> Copies<'a, T> {
    fn take(&mut self, speaker: &Speaker<'a>, who: T) {
        let (machine, store) = (speaker.identity.machine.as_deref(), speaker.identity.store.as_deref());
        let alone = store.filter(|_| machine.is_none()).map(Mark::StoreAlone);
        let marks = [machine.map(Mark::Machine), store.map(Mark::Store), alone];
        let Some(boot) = speaker.boot else { return };
        for mark in marks.into_iter().flatten() {
            let boots = self.0.entry(mark).or_default();
            if boots.len() < 2 && boots.iter().all(|(known, _)| *known != boot) {
                boots.push((boot, who));
            }
        }
    }

    /// Returns the marks that a speaker shares with another one that runs separately, together with that one.
    fn apart(&self, speaker: &Speaker<'a>) -> impl Iterator<Item = (Mark<'a>, T)> {
        let Identity { machine, store } = speaker.identity;
        let (machine, store) = (machine.as_deref(), store.as_deref());
        let store = store.map(if machine.is_some() { Mark::StoreAlone } else { Mark::Store });
        let boot = speaker.boot;
        [machine.map(Mark::Machine), store].into_iter().flatten().filter_map(move |mark| {
            let mut others = self.0.get(&mark)?.iter();
            let (_, who) = others.find(|(other, _)| boot.is_some_and(|boot| boot != *other))?;
            Some((mark, *who))
        })
    }

    /// Returns the IDs that a speaker shares with clones.
    fn shared_by(&self, speaker: &Speaker<'a>) -> impl Iterator<Item = Mark<'a>> {
        self.apart(speaker).map(|(mark, _)| match mark {
            Mark::StoreAlone(store) => Mark::Store(store),
            Mark::Machine(_) | Mark::Store(_) => mark,
        })
    }
}

/// Machines that share an ID.
pub(crate) struct Clones<'a>(Copies<'a, &'a FarMachine>);

impl<'a> Clones<'a> {
    /// Collects all machines that have introduced themselves.
    pub(crate) fn from_machines(machines: &'a [FarMachine]) -> Self {
        let mut copies = Copies::default();
        for machine in machines.iter().filter(|machine| machine.view.same_as.is_none()) {
            Speaker::ever(machine).into_iter().for_each(|speaker| copies.take(&speaker, machine));
        }
        Self(copies)
    }

    /// Returns a machine that has the ID of this one and runs separately: what names a machine by its ID can mean
    /// either.
    pub(crate) fn of_machine(&self, machine: &'a FarMachine) -> Option<&'a FarMachine> {
        let (_, other) = self.0.apart(&Speaker::ever(machine)?).next()?;
        Some(other)
    }
}

/// Returns a machine that has the ID of this one and runs separately.
pub fn clone_of<'a>(machine: &'a FarMachine, machines: &'a [FarMachine]) -> Option<&'a FarMachine> {
    Clones::from_machines(machines).of_machine(machine)
}

/// Returns a machine that has the ID of the machine here and runs separately.
pub(crate) fn clone_of_own<'a>(
    own: &Identity,
    host: &ReportHost,
    machines: &'a [FarMachine],
) -> Option<&'a FarMachine> {
    let here = Speaker::here(own, host);
    machines.iter().find(|machine| Speaker::ever(machine).is_some_and(|machine| here.is_clone_of(&machine)))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::core::fleet::wire::line::SCHEMA;
    use crate::core::model::{MachineState, MachineView};

    /// Creates a connected machine from a machine ID, a state folder's ID and a boot.
    fn machine(number: usize, (machine, store, boot): (Option<&str>, &str, &str)) -> FarMachine {
        let name = format!("m{number}");
        let hello = Hello {
            schema: SCHEMA.to_owned(),
            version: String::new(),
            identity: Identity { machine: machine.map(str::to_owned), store: Some(store.to_owned()) },
            host: name.clone(),
            boot: Some(boot.to_owned()),
            pid_namespace: Some(u64::try_from(number).unwrap()),
            now: Timestamp::UNIX_EPOCH,
            takes_orders: false,
            no_orders: None,
        };
        let view = MachineView { state: MachineState::Live, ..MachineView::new(&name, String::new()) };
        FarMachine { view, hello: Some(hello), report: None, tombstones: [].into() }
    }

    fn problems(machines: &[FarMachine]) -> Vec<String> {
        let host = ReportHost { name: String::new(), boot_id: None, pid_namespace: None };
        let local = Report::empty(Timestamp::UNIX_EPOCH, host);
        let told = doubts(&local, None, machines).iter().map(|finding| finding.message.to_string()).collect();
        let clones = Clones::from_machines(machines);
        let cloned = machines.iter().filter(|told| clones.of_machine(told).is_some()).count();
        [told, vec![format!("{cloned} cloned")]].concat()
    }

    #[test]
    fn what_many_machines_share_is_told_once() {
        let boots: Vec<String> = (0..300).map(|number| format!("boot-{number}")).collect();
        let of = |id: fn(usize) -> (Option<&'static str>, &'static str)| -> Vec<FarMachine> {
            let all = boots.iter().enumerate();
            all.map(|(number, boot)| machine(number, (id(number).0, id(number).1, boot))).collect()
        };
        let image = problems(&of(|_| (Some("image"), "store")));
        let [clones, cloned] = image.as_slice() else { panic!("{image:?}") };
        let starts =
            "m0, m1, m2, m3, m4, m5 and 294 more share one machine ID but run separately: some are clones";
        assert!(clones.starts_with(starts) && cloned == "300 cloned", "{image:?}");
        // A home shared by machines has one state folder for all of them.
        assert_eq!(
            problems(&of(|number| (Some(if number == 0 { "a" } else { "b" }), "home")))[1..],
            ["299 cloned"]
        );
        // A machine without a machine ID cannot be identified.
        let one = problems(&of(|number| (["a", "b", "c"].get(number).copied(), "home"))[..4]);
        let starts = "m0, m1, m2 and m3 share one machine ID";
        assert!(one[0].starts_with(starts) && one[1] == "4 cloned", "{one:?}");
        // Containers of one machine run in one boot.
        let containers: Vec<FarMachine> =
            (0..300).map(|number| machine(number, (Some("host"), &boots[number], "boot"))).collect();
        assert_eq!(problems(&containers), ["0 cloned"]);
    }
}
