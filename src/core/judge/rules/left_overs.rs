//! Findings about left-overs: processes and working trees that stay after the window that made them.

use crate::core::judge::rules::facts::{Facts, count, listed};
use crate::core::judge::rules::found::Found;
use crate::core::model::{Code, Finding, LeftOver, LeftTree, Remedy, Sentence};

/// Tells of each that is its window's beyond reasonable doubt.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Found<'_>) {
    let left = facts.left_overs.iter().filter(|one| one.is_left());
    left.for_each(|one| found.push(tell(one)));
    let trees = facts.left_trees.iter().filter(|tree| tree.is_left());
    trees.for_each(|tree| found.push(tell_tree(tree)));
}

fn tell(one: &LeftOver) -> Finding {
    let more = match one.below().len() {
        0 => String::new(),
        more => format!(" and {} below it", count(more, "process")),
    };
    let (code, keeps) = match ports(one) {
        Some(ports) => (Code::LeftOverPort, format!(" listens on {ports} and")),
        None => (Code::LeftOverProcess, String::new()),
    };
    let agent = one.agent.as_ref().map_or("a window", |agent| agent.raw());
    let window = one.window_pid.map(|pid| format!(" (PID {pid})")).unwrap_or_default();
    let doubt = if one.why.is_empty() { String::new() } else { format!("; {}", one.why) };
    let says = format!("PID {}{more}{keeps} runs on after {agent}{window} that started it{doubt}", one.pid);
    // A command line that begins with a path is none.
    let message = Sentence::from(format!("{}: {says}", one.command));
    let remedy = if one.refused.is_some() { Remedy::None } else { Remedy::Stop };
    Finding::new(code, [one.key.clone()], message, one.evidence.clone(), remedy)
}

/// Names the ports that its processes listen on.
fn ports(one: &LeftOver) -> Option<String> {
    let numbers: Vec<String> = one.ports().iter().map(|port| port.number.to_string()).collect();
    let word = if numbers.len() == 1 { "port" } else { "ports" };
    (!numbers.is_empty()).then(|| format!("{word} {}", listed(&numbers)))
}

fn tell_tree(tree: &LeftTree) -> Finding {
    let agent = tree.agent.as_ref().map_or("a window", |agent| agent.raw());
    let name = tree.window_name.as_ref().map(|name| format!(" {}", name.raw())).unwrap_or_default();
    let pid = tree.window_pid.map(|pid| format!(" (PID {pid})")).unwrap_or_default();
    let known = tree.known().join(", ");
    let known = if known.is_empty() { known } else { format!("; {known}") };
    let doubt = if tree.why.is_empty() { String::new() } else { format!("; {}", tree.why) };
    let says = format!("{agent}{name}{pid} made this working tree and has ended{known}{doubt}");
    let message = Sentence::about(&tree.path, says);
    Finding::new(Code::LeftOverWorktree, [tree.key.clone()], message, tree.evidence.clone(), Remedy::None)
}
