//! What a guard says to a model: short, and of others' words only what cannot read as an instruction.

pub(crate) mod stash;

use jiff::Timestamp;

use crate::core::guard::decide::{Holding, Life, Other};
use crate::core::guard::shell::{Command, ShellContext, commands};
use crate::core::model::snapshot::ledger::{Encounter, FileMoment, Loss};
use crate::core::model::{ConflictKind, Edit, Forecast, GitCommand, Untrusted};
use crate::present::text::{age, count};

/// The most windows that a text names.
const MOST_WINDOWS: usize = 2;
/// The most files that are named of one window.
const MOST_FILES: usize = 2;
/// The most characters of a name, and of a path.
const MOST_NAME: usize = 40;
const MOST_PATH: usize = 100;

/// Describes at a prompt what other windows hold, in at most three lines.
pub(crate) fn brief(holdings: &[Holding<'_>], holds_count: bool, tree: &str, now: Timestamp) -> String {
    let line = |one: &Holding<'_>| {
        let is_dead = one.other.life == Life::Dead;
        let verb = if is_dead { "left" } else { "has" };
        let edits =
            (!one.edits.is_empty()).then(|| format!("{verb} uncommitted edits in {}", files(one, tree, now)));
        let holds = (holds_count && !is_dead && !one.other.holds.is_empty())
            .then(|| format!("holds {} for itself", holds(&one.other.holds, tree)));
        let what: Vec<String> = edits.into_iter().chain(holds).collect();
        format!("{} {}.", who(one.other), what.join(" and "))
    };
    let mut lines: Vec<String> = holdings.iter().take(MOST_WINDOWS).map(line).collect();
    let more = holdings.len().saturating_sub(MOST_WINDOWS);
    if more > 0 {
        let verb = if more == 1 { "has" } else { "have" };
        lines.push(format!("{} more {verb} edits or holds in this working tree.", windows(more)));
    }
    format!("claimtop: {}", lines.join("\n"))
}

/// Describes at a prompt what the working tree will not merge with, in one line.
pub(crate) fn conflict(forecast: &Forecast, window: Option<&Other>) -> String {
    let first = forecast.sides.get(forecast.first());
    let folder = first.and_then(|side| side.tree.as_ref()).map_or("", |tree| tree.raw());
    let who = window.map_or_else(|| "another window".to_owned(), who);
    let what = match forecast.conflicts.first() {
        Some(one) if one.kind == ConflictKind::Lines => {
            format!("edits the same lines of {}", inside(one.path.raw(), ""))
        }
        Some(one) => format!("is in conflict about {} ({})", inside(one.path.raw(), ""), one.kind.phrase()),
        None => "is in conflict with this one".to_owned(),
    };
    let more = forecast.conflicts.len().saturating_sub(1);
    let more = if more > 0 { format!(" and {}", count(more, "more file")) } else { String::new() };
    let branch = first.and_then(|side| side.branch.as_ref());
    let onto =
        branch.map_or_else(|| "it".to_owned(), |branch| format!("`{}`", clean(branch.raw(), MOST_NAME)));
    format!(
        "claimtop: {who}, in the working tree `{}`, {what}{more}. It is further: commit here, then rebase onto {onto} once that is committed.",
        clean(folder, MOST_PATH)
    )
}

/// Says to a person who holds what.
pub(crate) fn holding(holding: &Holding<'_>, tree: &str, now: Timestamp) -> String {
    format!("{} has uncommitted edits in {}", who(holding.other), files(holding, tree, now))
}

/// Says after an edit whose uncommitted edits it met.
pub(crate) fn note(met: &[Encounter], others: &[Other], tree: &str, now: Timestamp) -> String {
    let of_one = |met: &Encounter| {
        let (session, at) = met.others.first()?;
        let other = others.iter().find(|other| other.holder.session == *session);
        let who = other.map_or_else(|| "another window".to_owned(), who);
        let path = inside(met.path.raw(), tree);
        let age = age::label_between(now, *at);
        Some(format!(
            "{who} edited {path} {age} ago and has not committed it. Read the file again: keep what it changed."
        ))
    };
    format!("claimtop: {}", met.iter().take(MOST_WINDOWS).filter_map(of_one).collect::<Vec<_>>().join("\n"))
}

/// Says why a call is held up, and how it goes on.
pub(crate) fn hold_up(call: &str, holdings: &[Holding<'_>], tree: &str, now: Timestamp) -> String {
    let whose: Vec<String> = holdings
        .iter()
        .take(MOST_WINDOWS)
        .map(|holding| format!("{}: {}", who(holding.other), files(holding, tree, now)))
        .collect();
    let more = holdings.len().saturating_sub(MOST_WINDOWS);
    let more = if more > 0 { format!("; and {}", windows(more)) } else { String::new() };
    format!(
        "claimtop held this up once: {call} would affect another window's uncommitted edits in this tree ({}{more}). Restrict it to your own files, use your own working tree, or ask the person. If it is intended anyway, repeat the call within 10 minutes: it then goes through.",
        whose.join("; ")
    )
}

/// Says after a call which windows are on its new branch as well.
pub(crate) fn branched(holdings: &[Holding<'_>], tree: &str, now: Timestamp) -> String {
    let whose: Vec<String> = holdings
        .iter()
        .take(MOST_WINDOWS)
        .map(|one| format!("{}: {}", who(one.other), files(one, tree, now)))
        .collect();
    let more = holdings.len().saturating_sub(MOST_WINDOWS);
    let more = if more > 0 { format!("; and {}", windows(more)) } else { String::new() };
    format!(
        "claimtop: this working tree is on the new branch for other windows too, with their uncommitted edits ({}{more}). What they commit next goes there. For a branch of your own use a working tree of your own (`git worktree add`).",
        whose.join("; ")
    )
}

/// Says after a shell line whose uncommitted edits it has undone.
pub(crate) fn lost(lost: &[(Other, Vec<Loss>)], tree: &str) -> String {
    let whose: Vec<String> = lost
        .iter()
        .take(MOST_WINDOWS)
        .map(|(other, losses)| {
            let by = losses.iter().find_map(|loss| loss.git.as_deref());
            let by = by.map(|git| format!(", by {}", git_call(git))).unwrap_or_default();
            format!("{} of {}{by}; {}", lost_files(losses, tree), who(other), way_back(losses, tree))
        })
        .collect();
    let more = lost.len().saturating_sub(MOST_WINDOWS);
    let more = if more > 0 { format!(" And edits of {}.", windows(more)) } else { String::new() };
    format!("claimtop: this call undid uncommitted edits: {}.{more}", whose.join(". "))
}

/// Says to a window that its uncommitted edits were undone: by whose calls, or by none that is known but git's own
/// word.
pub(crate) fn undone(
    by_windows: &[(Other, Vec<Loss>)],
    by_no_call: &[(Option<Other>, Vec<Loss>)],
    tree: &str,
    now: Timestamp,
) -> String {
    let by_one = |(other, losses): &(Other, Vec<Loss>)| {
        let first = losses.first()?;
        let call = match (&first.git, &first.line) {
            (Some(git), _) => git_call(git),
            (None, Some(line)) => format!("the `{}`", call_in(line.raw())),
            (None, None) => "the `shell line`".to_owned(),
        };
        let age = age::label_between(now, first.at);
        let (files, way) = (lost_files(losses, tree), way_back(losses, tree));
        Some(format!(
            "your uncommitted edits of {files} were undone by {call} of {} {age} ago; {way}.",
            who(other)
        ))
    };
    let mut lines: Vec<String> = by_windows.iter().take(MOST_WINDOWS).filter_map(by_one).collect();
    let more = by_windows.len().saturating_sub(MOST_WINDOWS);
    if more > 0 {
        lines.push(format!("{} more undid others.", windows(more)));
    }
    for (window, losses) in by_no_call.iter().take(MOST_WINDOWS) {
        let (files, way) = (lost_files(losses, tree), way_back(losses, tree));
        let by = losses.first().and_then(|loss| loss.git.as_deref()).map(|git| {
            let of = match (window, &git.caller) {
                (Some(window), _) => format!("of {}", who(window)),
                (None, Some(_)) => "outside all windows".to_owned(),
                (None, None) => "of a process that nobody saw".to_owned(),
            };
            format!("{} {of}, as git's own events say,", git_call(git))
        });
        let by = by.unwrap_or_else(|| "a person or a script".to_owned());
        lines.push(format!("your uncommitted edits of {files} are gone: {by} undid them; {way}."));
    }
    format!("claimtop: {}", lines.join("\n"))
}

/// Names a git command that git itself has reported.
fn git_call(git: &GitCommand) -> String {
    format!("the `{}` (PID {})", call_in(&git.line()), git.pid)
}

/// Names the program of a shell line, or git's command.
fn call_in(line: &str) -> String {
    let commands = commands(line, &ShellContext { folder: "/", home: None, top_of: &|_| None });
    let is_git = |command: &&Command| command.words.first().is_some_and(|program| program == "git");
    let Some(command) = commands.iter().find(is_git).or_else(|| commands.first()) else {
        return "shell line".to_owned();
    };
    let program = command.words.first().map_or("", |word| word.rsplit('/').next().unwrap_or_default());
    let mut words = command.words.iter().skip(1).map(String::as_str);
    let verb = loop {
        match words.next() {
            // Options with a value (git(1)).
            Some("-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace") => drop(words.next()),
            Some(option) if option.starts_with('-') => {}
            verb => break verb.filter(|_| program == "git"),
        }
    };
    let words = [Some(program), verb].into_iter().flatten();
    words.map(|word| clean(word, MOST_NAME)).collect::<Vec<_>>().join(" ")
}

fn lost_files(losses: &[Loss], tree: &str) -> String {
    let first = losses.first().map(|loss| inside(loss.path.raw(), tree)).unwrap_or_default();
    match losses.len() {
        0 | 1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}

/// Says where the bytes are.
fn way_back(losses: &[Loss], tree: &str) -> String {
    let stashes: Vec<&Untrusted> = losses.iter().filter_map(|loss| loss.stash.as_ref()).collect();
    if let Some(stash) = stashes.first().filter(|_| stashes.len() == losses.len()) {
        return format!("a stash has them: `git stash apply {}`", clean(stash.raw(), MOST_NAME));
    }
    let Some(kept) = losses.iter().find(|loss| loss.blob.is_some()) else {
        return "no copy of them is kept".to_owned();
    };
    let inside =
        kept.path.raw().strip_prefix(tree).map_or(kept.path.raw(), |path| path.trim_start_matches('/'));
    // A path that would have to be quoted is found without its name.
    let is_plain = clean(inside, MOST_PATH) == inside && !inside.starts_with('-');
    let path = if is_plain { format!(" {inside}") } else { String::new() };
    format!("they are kept: `claimtop rescue{path}`")
}

/// Says to a person which window wants what for itself.
pub(crate) fn hold((other, held): (&Other, &FileMoment), tree: &str, now: Timestamp) -> String {
    let age = age::label_between(now, held.at);
    format!("{} has held {} for {age}", who(other), inside(held.path.raw(), tree))
}

/// Says why a call is refused that would reach what a window holds for itself.
pub(crate) fn keep_off(
    call: &str,
    held: (&Other, &FileMoment),
    is_final: bool,
    tree: &str,
    now: Timestamp,
) -> String {
    let way_out = if is_final {
        "Work on something else, or ask the person: it goes through once that window lets go (`claimtop hold --release`) or ends. Do not edit claimtop's files."
    } else {
        "Work on something else, or ask the person. If it is intended anyway, repeat the call within 10 minutes: it then goes through."
    };
    format!("claimtop refused {call}: {}; its process was running just now. {way_out}", hold(held, tree, now))
}

fn windows(count: usize) -> String {
    if count == 1 { "1 window".to_owned() } else { format!("{count} windows") }
}

fn who(other: &Other) -> String {
    let holder = &other.holder;
    let folder = holder.cwd.raw().rsplit('/').next().unwrap_or_default();
    let name = other.name.as_ref().map_or(folder, Untrusted::raw);
    let life = match other.life {
        Life::Alive => "alive",
        Life::Dead => "has died",
        Life::Unknown => "unknown if alive",
    };
    let pid = holder.process.map(|process| format!("PID {}, ", process.pid)).unwrap_or_default();
    let doing = other.doing.map(|doing| format!(", {doing}")).unwrap_or_default();
    let name = clean(name, MOST_NAME);
    // A person holds files from a shell.
    match clean(holder.agent.raw(), MOST_NAME).as_str() {
        "" => format!("the shell in `{name}` ({pid}{life}{doing})"),
        agent => format!("the window `{name}` ({agent}, {pid}{life}{doing})"),
    }
}

fn holds(holds: &[FileMoment], tree: &str) -> String {
    let named: Vec<String> =
        holds.iter().take(MOST_FILES).map(|held| inside(held.path.raw(), tree)).collect();
    let more = holds.len().saturating_sub(MOST_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(if more.is_empty() { " and " } else { ", " }))
}

fn files(Holding { other, edits }: &Holding<'_>, tree: &str, now: Timestamp) -> String {
    let one = |edit: &&Edit| {
        let age = edit.at.map(|at| format!(" ({} ago)", age::label_between(now, at))).unwrap_or_default();
        format!("{}{age}", inside(edit.path.raw(), tree))
    };
    let named: Vec<String> = edits.iter().take(MOST_FILES).map(one).collect();
    let more = edits.len().saturating_sub(MOST_FILES);
    let least = if other.is_cut { "at least " } else { "" };
    let more = if more > 0 { format!(" and {least}{more} more") } else { String::new() };
    format!("{}{more}", named.join(if more.is_empty() { " and " } else { ", " }))
}

/// Quotes a path as it lies in its working tree.
pub(crate) fn inside(path: &str, tree: &str) -> String {
    let inside = path.strip_prefix(tree).map_or(path, |inside| inside.trim_start_matches('/'));
    if inside.is_empty() {
        return "the whole working tree".to_owned();
    }
    format!("`{}`", clean(inside, MOST_PATH))
}

/// Keeps of a name what names are made of: no quotes, line ends or signs that close a quotation.
fn clean(text: &str, most: usize) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '@' | '+');
    let mut kept: String = text.chars().take(most).map(|c| if is_plain(c) { c } else { '?' }).collect();
    if text.chars().count() > most {
        kept.push('…');
    }
    kept
}
