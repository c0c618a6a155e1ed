//! What windows have left running, in words.

use jiff::Timestamp;

use crate::core::model::report::left_over::{Certainty, LeftOver, LeftSort, Port};
use crate::core::model::{Confirmation, LeftStash, LeftTree, Report, Signal};
use crate::core::plan::stop::plan_stop;
use crate::present::text::age;
use crate::present::text::tone::{Mark, Tone};
use crate::present::text::{brief, count, file_name, megabytes, outside, safe};

/// Returns the sign of how sure it is, with its word.
pub(crate) fn sign(certainty: Certainty) -> (Mark, Tone, &'static str) {
    let (mark, tone) = match certainty {
        Certainty::Exact | Certainty::Strong => (Mark::Dead, Tone::Warning),
        Certainty::Guess | Certainty::Unknown => (Mark::Unknown, Tone::Notice),
        Certainty::Held => (Mark::Alive, Tone::Dim),
    };
    (mark, tone, certainty.name())
}

/// Explains how sure it is.
pub(crate) fn means(one: &LeftOver) -> String {
    let says = match one.certainty {
        Certainty::Exact => "its window is dead, and two facts show that it started this",
        Certainty::Strong => "its window's own process is dead",
        Certainty::Guess => "it may be your own",
        Certainty::Unknown => "nothing shows whose it is",
        Certainty::Held => "it is in use",
    };
    let then = if one.certainty == Certainty::Strong { ", but" } else { ":" };
    if one.why.is_empty() { says.to_owned() } else { format!("{says}{then} {}", safe(&one.why)) }
}

/// How it can be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the code that its plan shows.
    Code,
    /// By its full name.
    Name,
    /// Not from here.
    Never,
}

/// Returns how it can be ended, and why not where it cannot: as its plan says.
pub(crate) fn way(report: &Report, one: &LeftOver) -> (Way, Option<String>) {
    let plan = plan_stop(report, &one.key, Signal::Term);
    match plan.confirmation {
        Confirmation::Yes | Confirmation::Code => (Way::Code, None),
        Confirmation::FullName => (Way::Name, None),
        Confirmation::Refused => (Way::Never, plan.refusal.map(|refusal| refusal.why)),
    }
}

/// Says what it is.
pub(crate) fn what(one: &LeftOver) -> String {
    let command = brief(&one.command);
    match one.sort {
        LeftSort::McpServer => {
            format!("MCP server {}", one.name.as_ref().map_or(command, |name| outside(Some(name))))
        }
        LeftSort::Server => format!("server {command}"),
        LeftSort::Shell | LeftSort::Process => command,
    }
}

/// Says what several are, those of one sort at once, each sort with the ports and the memory that it takes:
/// `a server on :3000, 2 MCP servers (41 MB)`.
pub(crate) fn several(mut all: Vec<&LeftOver>) -> Vec<String> {
    all.sort_by_key(|one| order(one.sort));
    all.chunk_by(|one, other| one.sort == other.sort).map(of_sort).collect()
}

fn of_sort(all: &[&LeftOver]) -> String {
    let noun = match all.first().map(|one| one.sort) {
        Some(LeftSort::Server) => "server",
        Some(LeftSort::McpServer) => "MCP server",
        Some(LeftSort::Shell) => "shell",
        Some(LeftSort::Process) | None => "process",
    };
    let number = match all.len() {
        1 if noun == "MCP server" => "an MCP server".to_owned(),
        1 => format!("a {noun}"),
        many if noun == "process" => format!("{many} processes"),
        many => count(many, noun),
    };
    let ports: Vec<String> = all.iter().filter_map(|one| ports(one)).collect();
    let ports = if ports.is_empty() { String::new() } else { format!(" on {}", ports.join(", ")) };
    let memory: u64 = all.iter().filter_map(|one| one.memory()).sum();
    let memory = if memory > 0 { format!(" ({})", megabytes(memory)) } else { String::new() };
    format!("{number}{ports}{memory}")
}

/// Servers come first: they keep others from a port.
fn order(sort: LeftSort) -> u8 {
    match sort {
        LeftSort::Server => 0,
        LeftSort::McpServer => 1,
        LeftSort::Shell => 2,
        LeftSort::Process => 3,
    }
}

/// The most ports that are named.
const MOST_PORTS: usize = 2;

/// Names the ports that it listens on.
pub(crate) fn ports(one: &LeftOver) -> Option<String> {
    let ports = one.ports();
    let named: Vec<String> = ports.iter().take(MOST_PORTS).map(|port| format!(":{}", port.number)).collect();
    let more = ports.len().saturating_sub(MOST_PORTS);
    let more = if more > 0 { format!(" +{more}") } else { String::new() };
    (!named.is_empty()).then(|| named.join(" ") + &more)
}

/// Says which ports a process listens on, where, and who is connected.
pub(crate) fn listens(ports: &[Port]) -> Option<String> {
    let port = |port: &Port| {
        let clients = match port.clients {
            Some(0) => "no client".to_owned(),
            Some(some) => count(usize::try_from(some).unwrap_or(usize::MAX), "client"),
            None => "clients unknown".to_owned(),
        };
        let place = if port.address.is_unspecified() { String::new() } else { port.address.to_string() };
        format!("listens on {place}:{} ({clients})", port.number)
    };
    (!ports.is_empty()).then(|| ports.iter().map(port).collect::<Vec<_>>().join(", "))
}

/// Names the window that it came from: as that was called, else by its agent and PID.
pub(crate) fn whose(one: &LeftOver) -> String {
    match (&one.window_name, one.window_pid) {
        (Some(name), _) => safe(&name.shown()),
        (None, Some(pid)) => format!("{} {pid}", agent(one)),
        (None, None) => agent(one),
    }
}

fn agent(one: &LeftOver) -> String {
    one.agent.as_ref().map_or_else(|| "a window".to_owned(), |agent| outside(Some(agent)))
}

/// Says which window it came from, and what became of that.
pub(crate) fn left_by(one: &LeftOver, now: Timestamp) -> String {
    let name = one.window_name.as_ref().map(|name| format!("{}, ", outside(Some(name)))).unwrap_or_default();
    let pid = one.window_pid.map(|pid| format!(" PID {pid}")).unwrap_or_default();
    let ended = one.window_ended_at.map(|at| format!(", last seen {} ago", age::label_between(now, at)));
    let lives = (one.certainty == Certainty::Held).then(|| ", in use".to_owned());
    format!("{name}{}{pid}{}", agent(one), ended.or(lives).unwrap_or_default())
}

/// Returns what the filter finds it by beside what its row shows.
pub(crate) fn sought(one: &LeftOver) -> Vec<String> {
    let pids = one.tree.iter().map(|member| member.id.pid.to_string());
    let texts = [one.folder.as_ref(), one.session.as_ref(), one.agent.as_ref()].into_iter().flatten();
    pids.chain(texts.map(|text| outside(Some(text)))).chain([safe(&one.why)]).collect()
}

/// Says which working tree it is.
pub(crate) fn tree(one: &LeftTree) -> String {
    let path = outside(Some(&one.path));
    let branch = one.branch.as_ref().map(|branch| format!(" on {}", outside(Some(branch))));
    format!("tree {}{}", file_name(&path), branch.unwrap_or_default())
}

/// Names a stash entry with what a dead window has in it.
pub(crate) fn stash(one: &LeftStash) -> String {
    format!("stash {} with {}", safe(&one.short()), count(one.files, "file"))
}

/// Names the window that made a working tree.
pub(crate) fn tree_of(one: &LeftTree) -> String {
    let agent = || one.agent.as_ref().map(|agent| outside(Some(agent))).unwrap_or_default();
    one.window_name.as_ref().map_or_else(agent, |name| outside(Some(name)))
}
