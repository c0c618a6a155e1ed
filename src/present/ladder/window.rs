//! Everything about a window.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;

use crate::core::judge::rules::facts::listed;
use crate::core::model::Untrusted;
use crate::core::model::report::death::Death;
use crate::core::model::report::left_over::{Certainty, LeftOver, Member};
use crate::core::model::report::need::NeedKind;
use crate::core::model::report::verdict::Reason;
use crate::core::model::report::window::WindowView;
use crate::core::model::snapshot::session::Strength;
use crate::core::model::snapshot::work::{Edit, EditState, TurnState, Work};
use crate::present::ladder::left_over;
use crate::present::machine::unseen_for;
use crate::present::need::doing;
use crate::present::need::doing::Prompts;
use crate::present::need::left_words;
use crate::present::need::stuck;
use crate::present::report_index::{Index, window_name};
use crate::present::text::age;
use crate::present::text::page::{Medium, Page};
use crate::present::text::tone::{Mark, Tone, of_verdict};
use crate::present::text::{count, megabytes, outside, safe};
use crate::present::words;

pub(crate) fn write(page: &mut Page, index: &Index, window: &WindowView) {
    if let Some(death) = index.death(&window.key) {
        died(page, index, death);
    }
    // What it waits for comes first: that is why it stands where it does.
    let (waits, works) = match &window.waiting {
        Some(_) => (window.work.as_ref(), None),
        None => (None, window.work.as_ref()),
    };
    if let Some(work) = waits {
        doing(page, index, (window, work));
        page.gap();
    }
    // On the screen what to do, and what it does, come before what says so.
    super::finding::write_advice_near(page, index, &window.key);
    if page.medium() == Medium::Text {
        super::finding::write_near(page, index, &window.key);
    }
    page.gap();
    if let Some(work) = works {
        doing(page, index, (window, work));
    }
    if let Some(file) = &window.unread {
        let why = format!("{} {}", outside(Some(file.path.text())), file.why.label());
        let (label, why) = match &window.work {
            Some(_) => ("Not read", why),
            None => ("Doing", format!("not known: {why}")),
        };
        page.sign(label, (Mark::Warning, Tone::Warning, ""), &why);
    }
    match index.members(&window.key) {
        [] => processes(page, window),
        members => page.field("Uses", &format!("{}{}", takes(members), idle(page, window)), Tone::Plain),
    }
    page.gap();
    if page.medium() == Medium::Screen {
        super::finding::write_near(page, index, &window.key);
        page.gap();
    }
    facts(page, index, window);
    if let members @ [_, ..] = index.members(&window.key) {
        left_over::tree(page, members, window.cwd.as_ref());
    }
    beside(page, index, window);
    claims(page, index, window);
    records(page, index, window);
}

/// Writes when it died, how as far as that is known, and what it has left.
fn died(page: &mut Page, index: &Index, death: &Death) {
    let how = match death.reason == Reason::Exited {
        true => "its process exited; whether on its own is not known",
        false => "its process is gone; how it ended is not known",
    };
    page.sign("Died", (Mark::Dead, Tone::Warning, ""), how);
    page.moment("Found dead", Some(death.found_at));
    page.moment("Seen alive", Some(death.seen_at));
    let Some(NeedKind::Died(left)) = index.need(&death.need()).map(|need| &need.kind) else { return };
    page.field("Left", &left_words(&index.report, left), Tone::Plain);
    for claim in left.claims.iter().filter_map(|key| index.claim(key)) {
        super::line::claim(page, claim);
    }
    super::line::left_overs(page, index, left);
    let stashes = left.left_stashes.iter().filter_map(|key| index.left_stash(key));
    stashes.for_each(|one| super::left_over::stash_line(page, one));
    page.field("Resume", &left.resume().unwrap_or_default(), Tone::Key);
}

/// Writes what it has started and runs beside it, below no window.
fn beside(page: &mut Page, index: &Index, window: &WindowView) {
    let is_its = |one: &&LeftOver| one.certainty == Certainty::Held && one.window_pid == Some(window.pid);
    for (at, one) in index.report.left_overs.iter().filter(is_its).enumerate() {
        if at == 0 {
            page.heading("Runs beside it");
        }
        super::line::left_over(page, one);
    }
}

/// How many edited files are reported one by one, the newest first.
const MOST_FILES: usize = 12;

/// Writes what its session does, as its agent's own file says.
fn doing(page: &mut Page, index: &Index, (window, work): (&WindowView, &Work)) {
    let doing = &work.doing;
    if let Some(waiting) = &window.waiting {
        page.sign(
            "Waits",
            (Mark::Waiting, Tone::Notice, ""),
            &doing::question(waiting, doing::folder(window)),
        );
        page.moment("Since", waiting.since);
    }
    if let Some(stuck) = &window.stuck {
        let words = stuck::describe(stuck);
        page.sign("Stuck", (Mark::Warning, Tone::Warning, ""), &words.what);
        page.field("Do", &words.way, Tone::Key);
        page.moment("Since", Some(stuck.since));
    }
    page.field("Doing", &doing::of_work(window, work, Prompts::Hidden), Tone::Plain);
    if let Some(prompt) = &doing.prompt {
        page.field("Prompt", &safe(prompt.text.raw()), Tone::Plain);
        page.moment("Given", prompt.at);
    }
    for agent in &work.agents {
        let call = agent.call.as_ref().map(|call| format!(": {}", doing::call(call, doing::folder(window))));
        let task = outside(agent.task.as_ref());
        page.field("Sub-agent", &format!("{task}{}", call.unwrap_or_default()), Tone::Plain);
    }
    if let Some(todo) = &doing.todo {
        page.field("To do", &outside(Some(todo)), Tone::Plain);
    }
    files(page, index, (window, work));
    if let Some(context) = doing.context {
        let model = doing.model.as_ref().map(|model| format!(" · {}", outside(Some(model))));
        let size = context.window.filter(|_| context.percent().is_some());
        let size = size.map(|tokens| format!(" of {}k", tokens / 1_000)).unwrap_or_default();
        let text = format!("{}{size} tokens{}", doing::fill(context), model.unwrap_or_default());
        page.field("Context", &text, Tone::Plain);
    }
    page.field("Read from", &outside(Some(work.path.text())), Tone::Dim);
    page.moment("Written", Some(work.written_at));
    if work.skipped > 0 {
        let lines = format!(
            "{}: not JSON, or over 2 MiB",
            count(usize::try_from(work.skipped).unwrap_or(usize::MAX), "line")
        );
        page.field("Not read", &lines, Tone::Notice);
    }
}

/// Names the sub-agents of one session that have edited a file: no collision, for one session gave them
/// their tasks. Nothing where it was one.
fn several(edit: &Edit, folder: Option<&Path>) -> String {
    let agents: Vec<String> = edit.sub_agents().map(|id| outside(Some(id))).collect();
    match agents.len() {
        0 | 1 => String::new(),
        many => {
            let path = doing::short(&edit.path, folder);
            format!("{many} have edited {path}, not committed: {}", agents.join(", "))
        }
    }
}

/// Writes the files that it has edited, the newest first, and what is not seen of them.
fn files(page: &mut Page, index: &Index, (window, work): (&WindowView, &Work)) {
    let folder = doing::folder(window);
    let mut edits: Vec<&Edit> = work.doing.edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.at));
    // A path names another file on another machine.
    let neighbours = edits.first().into_iter().flat_map(|_| index.neighbours(window));
    let beside: Vec<&WindowView> = neighbours.filter(|other| other.key != window.key).collect();
    for edit in edits.iter().take(MOST_FILES) {
        let at = edit.at.map_or(String::new(), |at| format!(", {} ago", age::label_between(page.now(), at)));
        let by = edit.by.as_ref().map_or(String::new(), |by| format!(", by sub-agent {}", outside(Some(by))));
        let fate = fate(edit);
        let path = doing::short(&edit.path, folder);
        let others = others(&beside, edit);
        page.field("Edited", &format!("{path}{at}{fate}{by}{others}"), Tone::Plain);
    }
    let more = edits.len().saturating_sub(MOST_FILES);
    if more > 0 {
        page.field("Edited", &format!("and {more} more"), Tone::Dim);
    }
    for (stash, (files, since)) in stashed(&edits).into_iter().take(MOST_FILES) {
        let since =
            since.map(|at| format!(", {} ago", age::label_between(page.now(), at))).unwrap_or_default();
        let short: String = stash.raw().chars().take(10).collect();
        let what = format!("{}{since}: git stash apply {}", count(files, "file"), safe(&short));
        page.field("Stashed", &what, Tone::Warning);
    }
    for edit in edits.iter().filter(|edit| edit.is_open()).take(MOST_FILES) {
        page.field("Sub-agents", &several(edit, folder), Tone::Notice);
    }
    if !edits.is_empty() {
        page.note_unseen();
    }
    if let Some(since) = work.doing.edits_since {
        page.moment("Edits since", Some(since));
    }
}

/// Returns the stash entries that have edits, each with how many of the files and since when.
fn stashed<'a>(edits: &[&'a Edit]) -> BTreeMap<&'a Untrusted, (usize, Option<Timestamp>)> {
    let mut found: BTreeMap<&Untrusted, (usize, Option<Timestamp>)> = BTreeMap::new();
    for edit in edits.iter().filter(|edit| edit.fate.state == EditState::Stashed) {
        let Some(stash) = &edit.fate.stash else { continue };
        let (files, since) = found.entry(stash).or_default();
        *files += 1;
        *since = (*since).max(edit.fate.since);
    }
    found
}

/// Says what became of an edit, if that is known.
fn fate(edit: &Edit) -> &'static str {
    match edit.fate.state {
        EditState::Committed => ", committed",
        EditState::Stashed => ", stashed",
        EditState::Superseded => ", edited further, not committed",
        EditState::Gone => ", gone: not in the file, a commit or a stash",
        EditState::Present => ", not committed",
        EditState::Unknown if edit.is_open() => ", not committed",
        EditState::Unknown => "",
    }
}

/// Names those of some windows that have edited a file.
fn others(windows: &[&WindowView], edit: &Edit) -> String {
    let edits = |other: &WindowView| {
        other.work.iter().flat_map(|work| &work.doing.edits).any(|one| one.path == edit.path)
    };
    let names: Vec<String> =
        windows.iter().filter(|other| edits(other)).map(|other| window_name(other)).collect();
    if names.is_empty() { String::new() } else { format!(", also by {}", listed(&names)) }
}

/// Writes what it is doing, or what it did when its machine was last heard.
fn write_state(page: &mut Page, index: &Index, window: &WindowView) {
    let (mark, tone, word) = index.standing(window);
    if let Some(machine) = index.unheard(&window.key) {
        let unseen = unseen_for(machine, page.now()).unwrap_or_default();
        let detail = format!("{}, {unseen}; before that {word}", machine.name);
        page.sign("State", (Mark::Unknown, Tone::Warning, "not seen"), &detail);
        return;
    }
    page.sign("State", (mark, tone, word), "");
    page.field("Agent says", &outside(window.activity.as_ref()), Tone::Dim);
    page.moment("Since", window.doing_since);
}

/// Writes what is known of the process itself.
pub(crate) fn facts(page: &mut Page, index: &Index, window: &WindowView) {
    write_state(page, index, window);
    page.field("Agent", &outside(Some(&window.agent)), Tone::Plain);
    page.field("PID", &format!("{}, start tick {}", window.pid, window.start_ticks), Tone::Plain);
    page.moment("Started", window.started_at);
    context(page, window);
    session(page, window);
    if let Some(repo) = &window.repo {
        let branch = repo.branch.as_ref().map_or("no branch".to_owned(), |branch| outside(Some(branch)));
        page.field("Worktree", &format!("{} on {branch}", outside(Some(&repo.worktree))), Tone::Plain);
    }
    let removed = if window.is_folder_gone { " (removed)" } else { "" };
    page.field("Folder", &(outside(window.cwd.as_ref()) + removed), Tone::Plain);
    let place = window.place.to_text().map(|words| format!(", {words}")).unwrap_or_default();
    let terminal = window.tty.as_ref().map_or("none".to_owned(), |tty| outside(Some(tty)));
    page.field("Terminal", &format!("{terminal}{place}"), Tone::Plain);
    page.field("Key", window.key.as_str(), Tone::Dim);
}

/// Writes its own process and the newest of those below it.
fn processes(page: &mut Page, window: &WindowView) {
    let lines = window.processes.iter().map(|process| {
        let age = process
            .started_at
            .map_or(String::new(), |at| format!(" ({})", age::label_between(page.now(), at)));
        format!("{} {}{age}", outside(Some(&process.name)), process.pid)
    });
    let more = (window.more_processes > 0).then(|| format!("and {} more", window.more_processes));
    let all: Vec<String> = lines.chain(more).collect();
    page.field("Processes", &all.join(" · "), Tone::Plain);
}

/// Says for how long it has been idle, if its agent's own file has it.
fn idle(page: &Page, window: &WindowView) -> String {
    let turn = window.work.as_ref().map(|work| work.doing.turn).unwrap_or_default();
    let is_idle = match turn.state {
        TurnState::Finished | TurnState::Interrupted | TurnState::Failed | TurnState::CutOff => true,
        TurnState::Unknown | TurnState::Working => false,
    };
    let since = turn.since.filter(|_| is_idle);
    since.map_or(String::new(), |since| format!("; idle for {}", age::label_between(page.now(), since)))
}

/// Says what its processes take: memory, and the ports that they listen on.
fn takes(members: &[Member]) -> String {
    let memory: u64 = members.iter().filter_map(|member| member.memory).sum();
    let ports: BTreeSet<u16> =
        members.iter().flat_map(|member| &member.ports).map(|port| port.number).collect();
    let ports: String = ports.iter().map(|port| format!(" :{port}")).collect();
    let listens = if ports.is_empty() { String::new() } else { format!(", listens on{ports}") };
    let processes = match members.len() {
        1 => "1 process".to_owned(),
        many => format!("{many} processes"),
    };
    format!("{} in {processes}{listens}", megabytes(memory))
}

fn context(page: &mut Page, window: &WindowView) {
    let id = &window.context_id;
    let (stable, tone) = if id.stable {
        ("stable", Tone::Plain)
    } else {
        ("not stable: the next call gets a new one", Tone::Notice)
    };
    let from = words::context_source(id.source);
    page.field("Context ID", &format!("{} · {from} · {stable}", outside(Some(&id.value))), tone);
}

/// Writes which session it is, how certain that is and what says so.
fn session(page: &mut Page, window: &WindowView) {
    let Some(session) = &window.session else {
        return page.field("Session ID", "unknown: nothing says which session it runs", Tone::Notice);
    };
    let tone = match session.strength {
        Strength::Exact | Strength::Strong => Tone::Plain,
        Strength::Guess => Tone::Notice,
    };
    let strength = session.strength.label();
    page.field("Session ID", &format!("{} · {strength}", outside(Some(&session.id))), tone);
    page.evidence(&session.evidence);
}

fn claims(page: &mut Page, index: &Index, window: &WindowView) {
    if window.claims.is_empty() {
        return;
    }
    page.heading("Claims");
    for claim in window.claims.iter().filter_map(|key| index.claim(key)) {
        super::line::claim(page, claim);
    }
}

fn records(page: &mut Page, index: &Index, window: &WindowView) {
    if window.records.is_empty() {
        return;
    }
    page.heading("Session records");
    for record in window.records.iter().filter_map(|key| index.record(key)) {
        let (mark, tone, word) = of_verdict(record.verdict.state);
        let title = outside(Some(&record.title));
        let reason = record.verdict.reason.name();
        let key = page.key(&record.key);
        page.bullet(mark, &format!("{key}{} {title} · {word}, {reason}", record.format.name()), tone);
        for evidence in &record.verdict.evidence {
            page.evidence(evidence);
        }
    }
}
