//! Everything about a process that a window has left running.

use std::collections::HashMap;

use crate::core::model::report::left_over::{Certainty, LeftOver, LeftSort, Member, memory};
use crate::core::model::{LeftStash, LeftTree, Untrusted};
use crate::present::left_over::{self, Way};
use crate::present::report_index::Index;
use crate::present::text::age;
use crate::present::text::page::{Medium, Page};
use crate::present::text::tone::Tone;
use crate::present::text::{brief, count, megabytes, outside, safe};

/// The most processes of a tree that are named one by one.
const MOST: usize = 24;

pub(crate) fn write(page: &mut Page, index: &Index, one: &LeftOver) {
    super::finding::write_advice_near(page, index, &one.key);
    facts(page, index, one);
    tree(page, &processes(index, one), one.folder.as_ref());
    super::finding::write_near(page, index, &one.key);
}

/// Returns its processes as they were measured since its evidence was opened, else as the look has them.
fn processes(index: &Index, one: &LeftOver) -> Vec<Member> {
    let named = |now: &Member| match one.tree.iter().find(|member| member.id == now.id) {
        Some(known) => Member { command: known.command.clone(), folder: known.folder.clone(), ..now.clone() },
        None => now.clone(),
    };
    match index.members(&one.key) {
        [] => one.tree.clone(),
        measured => measured.iter().map(named).collect(),
    }
}

/// Writes how sure it is, how it is ended, what it is and whose it was.
pub(crate) fn facts(page: &mut Page, index: &Index, one: &LeftOver) {
    page.sign("Sure", left_over::sign(one.certainty), &left_over::means(one));
    let (way, tone) = way(page, index, one);
    page.field("End it", &way, tone);
    page.field("Runs", &left_over::what(one), Tone::Strong);
    page.field("Left by", &left_over::left_by(one, page.now()), Tone::Plain);
    page.moments.extend(one.window_ended_at);
    page.field("Session ID", &outside(one.session.as_ref()), Tone::Plain);
    page.moment("Started", one.started_at);
    let memory = memory(&processes(index, one));
    page.field("Memory", &memory.map(megabytes).unwrap_or_default(), Tone::Plain);
    page.field("Folder", &outside(one.folder.as_ref()), Tone::Plain);
    for evidence in &one.evidence {
        page.evidence(evidence);
    }
    page.field("Key", one.key.as_str(), Tone::Dim);
}

/// Says how it is ended, or why it is not.
fn way(page: &Page, index: &Index, one: &LeftOver) -> (String, Tone) {
    let key = match page.medium() {
        Medium::Screen => "x".to_owned(),
        Medium::Text if one.key.machine().is_some() => format!("claimtop stop {}{}", one.key, index.given),
        Medium::Text => format!("claimtop stop {}", one.key),
    };
    match left_over::way(&index.report, one) {
        (Way::Code, _) => {
            (format!("{key}, then the code that the plan shows; it cannot be undone"), Tone::Key)
        }
        (Way::Name, _) => (format!("{key}, then its full name; it cannot be undone"), Tone::Key),
        (Way::Never, why) => {
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            (format!("not from here{why}{}", instead(one)), Tone::Notice)
        }
    }
}

/// Says how its own window ends it.
fn instead(one: &LeftOver) -> &'static str {
    let is_claudes = one.agent.as_ref().is_some_and(|agent| agent.raw() == "claude-code");
    match (one.certainty, one.sort) {
        (Certainty::Held, LeftSort::McpServer) if is_claudes => "; its window can, with /mcp",
        (Certainty::Held, _) if is_claudes => "; its window can, with /tasks",
        _ => "",
    }
}

/// Writes each process of a tree, those below another further in, with its folder where that is another.
pub(crate) fn tree(page: &mut Page, tree: &[Member], usual: Option<&Untrusted>) {
    page.heading("Processes");
    let mut depths: HashMap<u32, usize> = HashMap::new();
    for member in tree.iter().take(MOST) {
        let depth = depths.get(&member.parent).map_or(0, |above| above + 1);
        depths.insert(member.id.pid, depth);
        let folder = member.folder.as_ref().filter(|folder| Some(*folder) != usual);
        let folder = folder.map(|folder| format!("in {}", outside(Some(folder))));
        let label = format!("{}{}", " ".repeat(depth.min(6)), member.id.pid);
        page.field(
            &label,
            &[line(page, member)].into_iter().chain(folder).collect::<Vec<_>>().join(" · "),
            Tone::Plain,
        );
    }
    let more = tree.len().saturating_sub(MOST);
    if more > 0 {
        page.field("", &format!("and {more} more"), Tone::Dim);
    }
}

/// Says what a process runs, since when, and what it takes.
fn line(page: &Page, member: &Member) -> String {
    let age = member.started_at.map(|at| age::label_between(page.now(), at));
    let cpu = member.cpu_time.filter(|ms| *ms >= 1_000).map(|ms| format!("{} s CPU", ms / 1_000));
    let parts = [
        Some(brief(&member.command)),
        age,
        member.memory.map(megabytes),
        cpu,
        left_over::listens(&member.ports),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Writes everything about a working tree that a window has left.
pub(crate) fn tree_page(page: &mut Page, index: &Index, one: &LeftTree) {
    super::finding::write_advice_near(page, index, &one.key);
    page.sign("Sure", left_over::sign(one.certainty), &one.why);
    page.field("Tree", &outside(Some(&one.path)), Tone::Strong);
    page.field("Branch", &outside(one.branch.as_ref()), Tone::Plain);
    page.field("Repository", &outside(Some(&one.repository)), Tone::Plain);
    page.field("Known", &one.known().join(", "), Tone::Plain);
    page.field("Left by", &left_over::tree_of(one), Tone::Plain);
    page.moment("Ended", one.window_ended_at);
    page.field("Session ID", &outside(one.session.as_ref()), Tone::Plain);
    let way = "not from here: use git worktree remove; it also deletes ignored files, such as .env";
    page.field("Remove it", way, Tone::Dim);
    for evidence in &one.evidence {
        page.evidence(evidence);
    }
    page.field("Key", one.key.as_str(), Tone::Dim);
    super::finding::write_near(page, index, &one.key);
}

/// Writes everything about a stash entry that has the edits of a dead window.
pub(crate) fn stash_page(page: &mut Page, one: &LeftStash) {
    let why = "its files are as this window left them, and in no other place";
    page.sign("Sure", left_over::sign(Certainty::Strong), why);
    stash_line(page, one);
    page.field("Left by", &outside(Some(&one.window_name)), Tone::Plain);
    page.field("Session ID", &outside(Some(&one.session)), Tone::Plain);
    page.field("Commit", &outside(Some(&one.commit)), Tone::Plain);
    page.moment("Since", one.since);
    page.field("Take it", &safe(&one.apply()), Tone::Key);
    page.field("Key", one.key.as_str(), Tone::Dim);
}

/// Writes how much of a dead window's work a stash entry has, and since when.
pub(crate) fn stash_line(page: &mut Page, one: &LeftStash) {
    let since = one.since.map(|at| format!(", {} ago", age::label_between(page.now(), at)));
    let what = format!(
        "{}{}: git stash apply {}",
        count(one.files, "file"),
        since.unwrap_or_default(),
        safe(&one.short())
    );
    page.field("Stashed", &what, Tone::Warning);
}
