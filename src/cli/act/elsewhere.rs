//! What is here and may be held by a window of another machine, which a command does not judge by this machine alone.

use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::model::{ErrorKind, Host, Obstacle, Reason, RecordView, Report, Request, VerdictState};

/// How many of the machines that cannot be heard are named.
const NAMED: usize = 3;

/// Returns the machines that cannot say who lives on them, each of the first ones with the reason. Where this one is
/// among them, as a host of a fleet, what is seen here says it.
pub(super) fn unheard(machines: &[FarMachine], here: &Host) -> Vec<String> {
    let is_here = |one: &FarMachine| {
        let hello = one.hello.as_ref().filter(|hello| hello.boot.is_some());
        hello.is_some_and(|hello| hello.boot == here.boot_id && hello.pid_namespace == here.pid_namespace)
    };
    let is_silent = |one: &&FarMachine| !one.view.state.is_heard() && !is_here(one);
    let silent: Vec<&FarMachine> = machines.iter().filter(is_silent).collect();
    let name = |one: &&FarMachine| format!("{} does not answer ({})", one.view.name, one.view.detail.shown());
    let more = silent.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{more} more machines do not answer"));
    silent.iter().take(NAMED).map(name).chain(more).collect()
}

/// Says why a request is not carried out while these machines are unheard; nothing where what is seen here decides.
pub(super) fn obstacle(report: &Report, request: &Request, unheard: &[String]) -> Option<Obstacle> {
    if let Request::Several { keys, action } = request {
        let each = keys.iter().map(|key| Request::Act { key: key.clone(), action: *action });
        return each.into_iter().find_map(|one| obstacle(report, &one, unheard));
    }
    let record = record_of(report, request).filter(|record| may_be_held_elsewhere(record))?;
    let why = unheard.join("; ");
    let name = record.path().shown();
    let text = format!(
        "{name} may be held on another machine, and {why}: reach it, or use --on to name the machines to ask"
    );
    (!unheard.is_empty()).then_some(Obstacle { kind: ErrorKind::Failed, text })
}

/// Returns the record that a request is about.
fn record_of<'a>(report: &'a Report, request: &Request) -> Option<&'a RecordView> {
    let key = match request {
        Request::Act { key, .. } => key,
        Request::Left { of } => of,
        // A process is of this machine, and what was done or kept here is undone or brought back here.
        Request::Several { .. }
        | Request::Stop { .. }
        | Request::Undo { .. }
        | Request::Setup { .. }
        | Request::Rescue { .. } => {
            return None;
        }
    };
    let claimed = report.claims.iter().find(|claim| claim.key == *key).map(|claim| &*claim.record);
    claimed.or_else(|| report.records().find(|record| record.key == *key))
}

/// Returns whether a window of another machine may hold a record, as far as can be seen here: the record names another
/// machine or namespace, or lies where several machines can write and any of them may have resumed its session.
fn may_be_held_elsewhere(record: &RecordView) -> bool {
    let is_of_another =
        matches!(record.verdict.reason, Reason::OtherHost | Reason::OtherNamespace | Reason::NotSeen);
    let is_shared = record.session_id.is_some() && !record.medium().is_this_machines();
    (record.verdict.state == VerdictState::Unknown && is_of_another) || is_shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::fleet::wire::line::{Hello, Identity, SCHEMA};
    use crate::core::model::{MachineState, MachineView, Untrusted};
    use crate::source::os::{clock, host};

    fn silent(name: &str, boot: Option<&str>, here: &Host) -> FarMachine {
        let detail = Untrusted::new("not seen for 2 min");
        let hello = Hello {
            schema: SCHEMA.to_owned(),
            version: "0.1.0".to_owned(),
            identity: Identity::default(),
            host: name.to_owned(),
            boot: boot.map(str::to_owned),
            pid_namespace: here.pid_namespace,
            now: clock::now(),
            takes_orders: false,
            no_orders: None,
        };
        let view =
            MachineView { state: MachineState::Silent, detail, ..MachineView::new(name, "fleet".to_owned()) };
        FarMachine { view, hello: Some(hello), report: None, tombstones: [].into() }
    }

    #[test]
    fn a_few_of_many_are_named_and_this_machine_is_none_of_them() {
        let here = host::host(clock::now());
        let own = silent("own", here.boot_id.as_deref(), &here);
        let other = |number: u32| silent(&format!("far-{number}"), Some("another"), &here);
        assert_eq!(unheard(&[own.clone(), other(1)], &here), ["far-1 does not answer (not seen for 2 min)"]);
        let many: Vec<FarMachine> = [own].into_iter().chain((0..9).map(other)).collect();
        let told = unheard(&many, &here);
        assert_eq!((told.len(), told[NAMED].as_str()), (NAMED + 1, "6 more machines do not answer"));
    }
}
