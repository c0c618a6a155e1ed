//! The plan of ending processes: left-overs of a window, or a window itself.

use std::collections::BTreeSet;

use crate::core::judge::needs::uncommitted;
use crate::core::model::report::need::resume;
use crate::core::model::{
    Certainty, ClaimView, Confirmation, Key, LeftOver, Plan, Port, ProcessId, Report, Signal, Step, Strength,
    Untrusted, WindowView,
};
use crate::core::plan::holder::held_by;

/// Stated for every ending.
const FOR_GOOD: &str = "nothing: this cannot be undone, ended processes do not come back";

/// The conditions under which every ending is refused.
const REFUSES: [&str; 5] = [
    "the start, program or arguments of a process have changed since it was seen",
    "something else has been started below it, or may be an agent",
    "one of them is traced, waits in the kernel, or holds a lock of a git repository",
    "it belongs to another user, or is in another PID namespace",
    "another claimtop is at work",
];

/// The most characters of a name that a person is asked to type.
const TYPED_AT_MOST: usize = 40;

/// Plans to end a left-over or a window, as far as a report shows; the processes below it are read when the plan is
/// made, and again before it is carried out.
pub(crate) fn plan_stop(report: &Report, key: &Key, signal: Signal) -> Plan {
    let left = report.left_overs.iter().find(|one| one.key == *key);
    let window = report.window(key);
    match (left, window) {
        (Some(one), _) => of_left_over(one, signal),
        (None, Some(window)) => of_window(report, window, signal),
        (None, None) => Plan::refused(
            key,
            "this is not a window or a left-over",
            "claimtop leftovers lists what can be ended",
        ),
    }
}

/// Returns the topmost of the processes that would be ended.
pub(crate) fn topmost(report: &Report, key: &Key) -> Option<ProcessId> {
    let left = report.left_overs.iter().find(|one| one.key == *key);
    let left = left.map(|one| ProcessId { pid: one.pid, start_ticks: one.start_ticks });
    let window = || report.windows.iter().find(|window| window.key == *key);
    left.or_else(|| window().map(|one| ProcessId { pid: one.pid, start_ticks: one.start_ticks }))
}

fn of_left_over(one: &LeftOver, signal: Signal) -> Plan {
    if one.certainty == Certainty::Held {
        return refused(one, "its owner is alive", "end it from there");
    }
    if let Some(why) = &one.refused {
        return Plan::refused(&one.key, why, "end it by hand if you are sure");
    }
    let confirmation = match one.certainty {
        Certainty::Exact => Confirmation::Code,
        Certainty::Strong => Confirmation::FullName,
        Certainty::Guess => {
            return refused(one, "its owner can only be guessed", "end it by hand, if you know what it is");
        }
        Certainty::Unknown | Certainty::Held => {
            return refused(
                one,
                "it is not known whether it is still needed",
                "end it by hand if you are sure",
            );
        }
    };
    let agent = one.agent.as_ref().map_or_else(|| "a window".to_owned(), Untrusted::shown);
    let window = one.window_pid.map(|pid| format!(" (PID {pid})")).unwrap_or_default();
    let name = one.window_name.as_ref().filter(|name| !name.is_empty());
    let who = name.map_or_else(|| format!("{agent}{window}"), |name| format!("the window {name}"));
    let id = ProcessId { pid: one.pid, start_ticks: one.start_ticks };
    let facts = one.evidence.iter();
    let facts = facts.map(|fact| format!("{}: {} ({})", fact.fact, fact.value, fact.source));
    let doubt = Some(one.why.clone()).filter(|why| !why.is_empty());
    let called = one.name.as_ref().map_or_else(|| label(&one.command), |name| name.raw().to_owned());
    let name = full_name(&called, one.pid);
    let mut plan = Plan {
        what: format!("{} {name}, which {who} left running", verb(signal)),
        tree: one.tree.clone(),
        why: facts.chain(doubt).collect(),
        confirmation,
        ..ending(&one.key, id, &one.command, (name, signal))
    };
    heed_clients(&mut plan, None);
    plan
}

/// Requires the full name, with the reason, if a client would lose a port, or may because the ports of a PID could
/// not be read.
pub(crate) fn heed_clients(plan: &mut Plan, unread: Option<u32>) {
    let mut clients: BTreeSet<String> =
        plan.tree.iter().flat_map(|member| &member.ports).filter_map(clients).collect();
    clients.extend(unread.map(|pid| format!("could not read which ports PID {pid} listens on")));
    if !clients.is_empty() && plan.confirmation == Confirmation::Code {
        plan.confirmation = Confirmation::FullName;
    }
    let new: Vec<String> = clients.into_iter().filter(|client| !plan.why.contains(client)).collect();
    plan.why.splice(0..0, new);
}

/// Describes the clients that would lose a port.
fn clients(port: &Port) -> Option<String> {
    match port.clients {
        Some(0) => None,
        Some(1) => Some(format!("port {} has 1 client, which would lose it", port.number)),
        Some(more) => Some(format!("port {} has {more} clients, which would lose it", port.number)),
        None => Some(format!("could not read whether port {} has clients", port.number)),
    }
}

fn refused(one: &LeftOver, why: &str, instead: &str) -> Plan {
    let why = if one.why.is_empty() { why.to_owned() } else { format!("{why}: {}", one.why) };
    Plan::refused(&one.key, &why, instead)
}

fn of_window(report: &Report, window: &WindowView, signal: Signal) -> Plan {
    let id = ProcessId { pid: window.pid, start_ticks: window.start_ticks };
    let name = full_name(&window.title(), window.pid);
    let command = window.processes.first().map_or_else(|| window.agent.clone(), |own| own.name.clone());
    let claims = report.claims.iter().filter(|claim| window.claims.contains(&claim.key));
    let held = claims.map(|claim: &ClaimView| format!("it holds {}", claim.thing()));
    let edits = match uncommitted(window.work.as_deref()) {
        0 => None,
        1 => Some("it has edited 1 file that is not committed".to_owned()),
        more => Some(format!("it has edited {more} files that are not committed")),
    };
    let why = std::iter::once(format!("it is alive: {}", held_by(window)));
    let session = window.session.as_ref().filter(|session| session.strength > Strength::Guess);
    let session = window.session_id.as_ref().or_else(|| Some(&session?.id));
    Plan {
        what: format!("{} the window {name}, with all that runs below it", verb(signal)),
        why: why.chain(held).chain(edits).collect(),
        resume: session.and_then(|session| resume(window.agent.raw(), session, window.cwd.as_ref())),
        confirmation: Confirmation::FullName,
        ..ending(&window.key, id, &command, (name, signal))
    }
}

fn ending(key: &Key, id: ProcessId, command: &Untrusted, (name, signal): (String, Signal)) -> Plan {
    // Confirming a kill takes another text than the one that asked the process to end.
    let name = if signal == Signal::Kill { format!("kill {name}") } else { name };
    Plan {
        name,
        steps: vec![Step::Stop { id, command: command.clone(), signal, is_topmost: true }],
        inverse: FOR_GOOD.to_owned(),
        refuses_when: REFUSES.to_vec(),
        ..Plan::empty(key)
    }
}

fn verb(signal: Signal) -> &'static str {
    match signal {
        Signal::Term => "end",
        Signal::Kill => "kill",
    }
}

/// Returns what a person must type: its name, and its PID, which no other living process has.
fn full_name(called: &str, pid: u32) -> String {
    let is_typed = |c: char| c.is_ascii_graphic() || c == ' ';
    match !called.is_empty() && called.len() <= TYPED_AT_MOST && called.chars().all(is_typed) {
        true => format!("{called} {pid}"),
        false => format!("PID {pid}"),
    }
}

/// Returns the name of the program that a command line runs.
fn label(command: &Untrusted) -> String {
    // A shell's line may begin with its own signs.
    let line = command.raw().trim_start_matches(['(', '{', '!', '"', '\'', ' ']);
    let program = line.split(' ').next().unwrap_or_default();
    program.rsplit('/').next().unwrap_or_default().trim_start_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::core::model::{LeftSort, Member};

    #[track_caller]
    fn check(command: &str, expected: &str) {
        assert_eq!(full_name(&label(&command.into()), 4711), expected);
    }

    /// Plans to end a server of a window that has died, after something about it was changed.
    fn plan(change: impl FnOnce(&mut LeftOver)) -> Plan {
        let mut one = one();
        change(&mut one);
        of_left_over(&one, Signal::Term)
    }

    fn one() -> LeftOver {
        let id = ProcessId { pid: 4711, start_ticks: 9 };
        let port = Port { number: 3000, address: Ipv4Addr::LOCALHOST.into(), clients: Some(0) };
        let member = Member {
            id,
            parent: 1,
            started_at: None,
            command: "node server.js".into(),
            folder: None,
            memory: None,
            cpu_time: None,
            ports: vec![port],
        };
        LeftOver {
            key: Key::typed("l-1"),
            pid: id.pid,
            start_ticks: id.start_ticks,
            started_at: None,
            command: member.command.clone(),
            tree: vec![member],
            sort: LeftSort::Server,
            name: None,
            folder: None,
            agent: None,
            window_pid: None,
            window_name: None,
            window_ended_at: None,
            session: None,
            certainty: Certainty::Exact,
            why: String::new(),
            refused: None,
            evidence: Vec::new(),
        }
    }

    #[test]
    fn the_less_sure_it_is_the_more_must_be_typed_until_it_is_refused() {
        let of = |certainty| plan(|one| one.certainty = certainty).confirmation;
        assert_eq!(of(Certainty::Exact), Confirmation::Code);
        assert_eq!(of(Certainty::Strong), Confirmation::FullName);
        for certainty in [Certainty::Guess, Certainty::Unknown, Certainty::Held] {
            assert_eq!(of(certainty), Confirmation::Refused);
        }
        let refused =
            plan(|one| one.refused = Some("it is the main process of a unit of systemd".to_owned()));
        assert_eq!(refused.confirmation, Confirmation::Refused);
        assert!(refused.refusal.is_some() && refused.steps.is_empty());
    }

    #[test]
    fn a_port_that_has_clients_or_may_have_some_asks_for_the_full_name() {
        let of = |clients| plan(|one| one.tree[0].ports[0].clients = clients);
        for clients in [Some(1), Some(2), None] {
            let plan = of(clients);
            assert_eq!((plan.confirmation, plan.name.as_str()), (Confirmation::FullName, "node 4711"));
            assert!(plan.why.iter().any(|why| why.contains("port 3000")), "{:?}", plan.why);
        }
        assert_eq!(of(Some(0)).confirmation, Confirmation::Code);
        // A client that comes after the plan was shown changes the plan.
        assert!(!of(Some(0)).is_same_as(&of(Some(1))));
    }

    #[test]
    fn ports_that_could_not_be_read_ask_for_the_full_name() {
        let mut plan = plan(|one| one.tree[0].ports.clear());
        heed_clients(&mut plan, None);
        assert_eq!(plan.confirmation, Confirmation::Code);
        heed_clients(&mut plan, Some(4711));
        assert_eq!(plan.confirmation, Confirmation::FullName);
        assert!(plan.why.iter().any(|why| why == "could not read which ports PID 4711 listens on"));
    }

    #[test]
    fn killing_asks_for_another_text_than_ending() {
        assert_eq!(plan(|_| ()).name, "node 4711");
        assert_eq!(of_left_over(&one(), Signal::Kill).name, "kill node 4711");
    }

    #[test]
    fn what_is_recorded_of_a_name_is_what_must_be_typed() {
        let named = plan(|one| one.name = Some("postgres-mcp".into()));
        assert_eq!(named.name, "postgres-mcp 4711");
    }

    #[test]
    fn a_full_name_is_what_it_is_called_and_its_pid() {
        check("/usr/bin/python3 -m http.server 8000", "python3 4711");
        check("-bash", "bash 4711");
        check("(python3 -m http.server 8000 &)", "python3 4711");
        check("{ node server.js; }", "node 4711");
        check("node", "node 4711");
        check("", "PID 4711");
        check("/tmp/\u{202e}x", "PID 4711");
        check("/tmp/\u{1b}[2J", "PID 4711");
        check(&"x".repeat(41), "PID 4711");
    }
}
