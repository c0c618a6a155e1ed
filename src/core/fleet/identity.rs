//! Which machine a witness speaks for: clones, and two that speak for one, are told and not believed.

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
    fn there(told: &'a FarMachine) -> Option<Self> {
        let hello = told.hello.as_ref().filter(|_| told.view.state == MachineState::Live)?;
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
    let pairs = speakers
        .iter()
        .enumerate()
        .flat_map(|(at, one)| speakers.iter().skip(at + 1).map(move |other| (one, other)));
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

/// Returns whether nobody else speaks for the namespace of a witness: neither this claimtop nor that of another machine.
pub(crate) fn speaks_alone(told: &FarMachine, host: &ReportHost, machines: &[FarMachine]) -> bool {
    let Some(hello) = &told.hello else { return false };
    let its = (hello.boot.as_deref(), hello.pid_namespace);
    let others = machines.iter().filter(|other| other.view.name != told.view.name);
    let others = others.filter_map(|other| other.hello.as_ref());
    let mut all = others.map(|other| (other.boot.as_deref(), other.pid_namespace));
    !counts_alike(its, (host.boot_id.as_deref(), host.pid_namespace))
        && !all.any(|one| counts_alike(its, one))
}
