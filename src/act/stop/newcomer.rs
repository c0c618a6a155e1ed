//! Processes that are never ended along with another one.

use crate::act::stop::processes::{Agent, Processes};
use crate::core::judge::left_over::protected::{in_use, kept};
use crate::core::judge::window::agent::Role;
use crate::core::model::{ProcessPrint, Report, WindowView};

/// Returns why a process that runs below an ended one is not ended with it.
pub(super) fn refusal(machine: &dyn Processes, print: &ProcessPrint) -> Option<String> {
    let is_none = || machine.agent(print.id) == Agent::No;
    let agent = || format!("PID {} ({}) is an agent, or may be one", print.id.pid, print.name);
    let kept = kept(print.name.raw()).map(|why| format!("PID {} ({}) {why}", print.id.pid, print.name));
    let in_use = || in_use(machine.interaction(print.id));
    let in_use = || in_use().map(|why| format!("PID {} ({}) {why}", print.id.pid, print.name));
    kept.or_else(|| (!is_none()).then(agent)).or_else(in_use)
}

/// Returns the same for a process below a window, where parts of its own agent are ended.
pub(super) fn refusal_below(
    machine: &dyn Processes,
    report: &Report,
    window: &WindowView,
    print: &ProcessPrint,
) -> Option<String> {
    let because = |why: &str| Some(format!("PID {} ({}) below it {why}", print.id.pid, print.name));
    if report.windows.iter().any(|other| other.pid == print.id.pid) {
        return because("is a window of its own: end that first");
    }
    match machine.agent(print.id) {
        Agent::Is(_, Role::Daemon) => because("serves other windows too"),
        Agent::Is(name, _) if name != window.agent.raw() => because("is another agent: end that first"),
        Agent::No | Agent::Maybe | Agent::Is(..) => keeper(print),
    }
}

/// Returns a refusal if a process keeps terminals for other programs, which would end with it.
fn keeper(print: &ProcessPrint) -> Option<String> {
    const KEEPERS: [&str; 7] = ["screen", "SCREEN", "zellij", "sshd", "mosh-server", "dtach", "abduco"];
    let name = print.name.raw();
    let is_keeper = name.starts_with("tmux") || KEEPERS.contains(&name);
    is_keeper.then(|| format!("PID {} ({name}) hosts terminals for other programs", print.id.pid))
}
