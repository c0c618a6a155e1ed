//! Plans and their outcomes: what would be done, step by step, and how it ended.

use std::net::SocketAddr;

use jiff::Timestamp;

use crate::core::history::journal::Entry;
use crate::core::model::{EndResult, Member, OrderSide, Plan, Port, Step};
use crate::present::text::age;
use crate::present::text::page::Page;
use crate::present::text::tone::{Mark, Tone};
use crate::present::text::{brief, megabytes, safe};

/// Writes a plan, and last what confirms it.
pub(crate) fn write(page: &mut Page, plan: &Plan, confirms: (&str, Tone)) {
    write_what(page, plan);
    write_rest(page, plan, confirms);
}

/// Writes what would be done.
pub(crate) fn write_what(page: &mut Page, plan: &Plan) {
    page.field("What", &plan.what, Tone::Strong);
}

/// Writes whose it is, why and how, and last what confirms it.
pub(crate) fn write_rest(page: &mut Page, plan: &Plan, (confirms, tone): (&str, Tone)) {
    let held_by = page.localized(plan.held_by.as_deref().unwrap_or_default());
    page.field("Held by", &held_by, Tone::Strong);
    let now = page.now();
    page.list("Ends", plan.tree.iter().map(|member| process(member, now)), Tone::Strong);
    let why: Vec<String> = plan.why.iter().map(|why| page.localized(why)).collect();
    page.list("Why", why.iter(), Tone::Plain);
    let steps = plan.steps.iter().enumerate().map(|(at, one)| format!("{}. {}", at + 1, step(one)));
    page.list("Steps", steps, Tone::Plain);
    write_diff(page, &plan.diff);
    page.list("Then", plan.follows.iter().flat_map(|plan| &plan.steps).map(step), Tone::Plain);
    let undo = if plan.ends_processes() { Tone::Warning } else { Tone::Good };
    page.field("Undo", &plan.inverse, undo);
    page.field("Resume", plan.resume.as_deref().unwrap_or_default(), Tone::Key);
    page.list("Refused if", plan.refuses_when.iter().copied(), Tone::Dim);
    page.field("Confirm", confirms, tone);
}

/// Writes a unified diff, each line by itself.
pub(crate) fn write_diff(page: &mut Page, diff: &[String]) {
    for line in diff {
        let tone = match line.as_bytes() {
            [b'-', b'-', b'-', b' ', ..] | [b'+', b'+', b'+', b' ', ..] => Tone::Strong,
            [b'+', ..] => Tone::Good,
            [b'-', ..] => Tone::Bad,
            [b'@', ..] => Tone::Accent,
            _ => Tone::Dim,
        };
        page.verbatim(line, tone);
    }
}

/// Describes a process that would be ended.
fn process(member: &Member, now: Timestamp) -> String {
    let age = member.started_at.map(|at| format!(", {} old", age::label_between(now, at)));
    let memory = member.memory.map(|bytes| format!(", {}", megabytes(bytes)));
    let ports: Vec<String> = member.ports.iter().map(port).collect();
    let ports = Some(format!(", listens on {}", ports.join(" and "))).filter(|_| !ports.is_empty());
    let folder = member.folder.as_ref().map(|folder| format!(", in {folder}"));
    let parts = [age, memory, ports, folder].into_iter().flatten().collect::<String>();
    format!("PID {} {}{parts}", member.id.pid, brief(&member.command))
}

fn port(port: &Port) -> String {
    let clients = match port.clients {
        None => " (clients unknown)".to_owned(),
        Some(0) => String::new(),
        Some(1) => " (1 client)".to_owned(),
        Some(more) => format!(" ({more} clients)"),
    };
    format!("{}{clients}", SocketAddr::new(port.address, port.number))
}

fn step(step: &Step) -> String {
    match step {
        Step::Park { path } => format!("park {}, unchanged", path.text()),
        Step::Move { path, to } => format!("move {} to {}, if nothing is there", path.text(), to.text()),
        Step::Restore { parked, to } => format!("restore {parked} to {}, if nothing is there", to.text()),
        Step::BringBack { path, size, replaces: true } => {
            format!(
                "put {size} bytes in the place of {}, which is as the last commit has it and is parked",
                path.text()
            )
        }
        Step::BringBack { path, size, replaces: false } => {
            format!("put {size} bytes at {}, if nothing is there", path.text())
        }
        Step::Merge { path, size, conflicts } => {
            let conflicts = match conflicts {
                0 => "no conflict".to_owned(),
                1 => "1 conflict".to_owned(),
                many => format!("{many} conflicts"),
            };
            format!(
                "put the merge ({size} bytes, {conflicts}) in the place of {}, which is parked",
                path.text()
            )
        }
        Step::Settings { path, change, replaces: true } => {
            format!("in {}: {change}; the present file is parked", path.text())
        }
        Step::Settings { path, change, replaces: false } => {
            format!("write {}: {change}, if nothing is there", path.text())
        }
        Step::EndEntireSession { path, change } => format!("in {}: {change}", path.text()),
        Step::Row { database, table, id, change, .. } => format!("in {database}, {table} {id}: {change}"),
        Step::Stop { id, signal, .. } => format!("send {} to PID {}", signal.name(), id.pid),
    }
}

/// Says what an entry of the journal was about, and which other machine had to do with it.
pub(crate) fn title(entry: &Entry) -> String {
    let title = &entry.intent.title;
    let Some(order) = &entry.intent.order else { return title.clone() };
    match (order.side, entry.there()) {
        (OrderSide::AskedBy, _) => format!("requested by {}: {title}", order.machine),
        (OrderSide::AskedOf, Some(there)) => format!("on {}, entry {there} there: {title}", order.machine),
        (OrderSide::AskedOf, None) => format!("on {}: {title}", order.machine),
    }
}

/// Returns how an entry of the journal has ended. An order of which nothing was heard is not open here, and one that was
/// not begun over there was refused.
pub(crate) fn ended_of(entry: &Entry) -> (Mark, Tone, &'static str) {
    let is_order = entry.intent.asked_of().is_some();
    match &entry.outcome {
        None if is_order => ended(Some(EndResult::Unknown)),
        Some(outcome) if is_order && outcome.there.is_none() => (Mark::Dead, Tone::Warning, "refused"),
        outcome => ended(outcome.as_ref().map(|outcome| outcome.ended)),
    }
}

/// Says after its title how an entry has ended that was not simply done, and why.
pub(crate) fn unless_done(entry: &Entry) -> String {
    if entry.is_done() {
        return String::new();
    }
    let (_, _, word) = ended_of(entry);
    let detail = entry.outcome.as_ref().map_or("", |outcome| outcome.detail.as_str());
    match (entry.intent.asked_of(), entry.outcome.is_some()) {
        (Some(order), false) => format!(" ({word} until {} is seen)", order.machine),
        _ if detail.is_empty() => format!(" ({word})"),
        _ => format!(" ({word}: {})", safe(detail)),
    }
}

/// Returns how something that was begun has ended; `None` when its end is not known yet.
pub(crate) fn ended(ended: Option<EndResult>) -> (Mark, Tone, &'static str) {
    match ended {
        Some(EndResult::Done) => (Mark::Alive, Tone::Good, "done"),
        Some(EndResult::Changed) => (Mark::Quiet, Tone::Notice, "changed"),
        Some(EndResult::Failed) => (Mark::Dead, Tone::Warning, "failed"),
        Some(EndResult::Stuck) => (Mark::Dead, Tone::Bad, "stuck"),
        Some(EndResult::Partly) => (Mark::Warning, Tone::Warning, "partly"),
        Some(EndResult::Unknown) => (Mark::Unknown, Tone::Notice, "unknown"),
        None => (Mark::Unknown, Tone::Notice, "open"),
    }
}
