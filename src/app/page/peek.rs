//! A look into a window: what it asks, what it said last, what it called, and what its pane shows.

use std::path::Path;

use crate::app::state::State;
use crate::core::model::{Key, NeedKind, Peek, Talk, Untrusted, Utterance};
use crate::present::need::doing::question as question_words;
use crate::present::report_index::window_name;
use crate::present::text::page::Page;
use crate::present::text::tone::Tone;
use crate::present::text::{age, safe};

/// The most calls that are listed.
const MOST_CALLS: usize = 6;
/// The most lines of a prompt that are shown.
const MOST_OF_PROMPT: usize = 6;
/// The most lines of a pane that are shown, its last ones.
const MOST_OF_PANE: usize = 24;

/// Writes what was seen and returns the title.
pub(crate) fn write(page: &mut Page, state: &State, key: &Key) -> String {
    let Some(index) = state.index.as_deref() else { return String::new() };
    let name = || index.report.owner_of_edits(key).map(|(name, _)| safe(name.raw()));
    let name = index.window(key).map(window_name).or_else(name).unwrap_or_default();
    let title = format!("Peek: {name}");
    if let Some(window) = index.window(key) {
        page.sign("State", index.standing(window), "");
    }
    if let Some(machine) = key.machine() {
        page.text(&format!("It is on {}: J goes there.", safe(machine)), Tone::Notice);
        return title;
    }
    let waits = index.needs.iter().find_map(|need| {
        let NeedKind::Waits { waiting, among } = &need.kind else { return None };
        (need.subject == *key || among.contains(key)).then_some(waiting)
    });
    let folder = index.window(key).and_then(|window| window.cwd.as_ref());
    if let Some(waiting) = waits {
        let asks = question_words(waiting, folder.map(|cwd| Path::new(cwd.raw())));
        page.field("Asks you", &asks, Tone::Strong);
    }
    match state.peek.seen(key) {
        None => page.text("Reading what it said…", Tone::Dim),
        Some(Peek { talk, pane }) => {
            // What a window shows while it asks has the choices.
            if waits.is_some() {
                write_pane(page, pane.as_ref());
            }
            match (talk, index.window(key).and_then(|window| window.unread.as_ref())) {
                (Ok(talk), _) => write_talk(page, talk, folder),
                (Err(_), Some(unread)) => {
                    let why = format!("its session file {} {}", unread.path.text(), unread.why.label());
                    page.text(&safe(&why), Tone::Notice);
                }
                (Err(why), None) => page.text(&safe(why), Tone::Notice),
            }
            if waits.is_none() {
                write_pane(page, pane.as_ref());
            }
        }
    }
    title
}

fn write_talk(page: &mut Page, talk: &Talk, folder: Option<&Untrusted>) {
    for question in talk.questions() {
        write_heading(page, "Asks you", question);
        write_text(page, &question.text, usize::MAX, Tone::Strong);
        for (at, choice) in question.choices.iter().enumerate() {
            page.text(&format!("  {}. {}", at + 1, safe(choice.raw())), Tone::Plain);
        }
    }
    let answer = talk.answer();
    if let Some(last) = answer.last() {
        write_heading(page, "Said last", last);
        answer.iter().for_each(|one| write_text(page, &one.text, usize::MAX, Tone::Plain));
    }
    let mut calls = talk.last_calls().take(MOST_CALLS).peekable();
    if let Some(newest) = calls.peek() {
        write_heading(page, "Called last", newest);
        let folder = folder.map(|folder| format!("{}/", folder.raw()));
        for call in calls {
            let short = folder.as_ref().map(|folder| call.text.raw().replacen(folder, "", 1));
            page.verbatim(&short.map_or_else(|| call.text.shown(), |short| safe(&short)), Tone::Dim);
        }
    }
    if let Some(prompt) = talk.prompt() {
        write_heading(page, "Your prompt", prompt);
        write_text(page, &prompt.text, MOST_OF_PROMPT, Tone::Dim);
    }
    if talk.prompt().is_none() && answer.is_empty() {
        page.text("Nothing was said lately.", Tone::Dim);
    }
}

/// Writes a heading with how long ago it was.
fn write_heading(page: &mut Page, heading: &str, one: &Utterance) {
    match one.at {
        None => page.heading(heading),
        Some(at) => {
            page.heading(&format!("{heading}, {} ago", age::label_between(page.now(), at)));
            page.moments.push(at);
        }
    }
}

/// Writes a text of several lines.
fn write_text(page: &mut Page, text: &Untrusted, most: usize, tone: Tone) {
    let mut lines = text.raw().lines().map(|line| safe(&line.replace('\t', "    ")));
    for line in lines.by_ref().take(most) {
        if line.trim().is_empty() { page.gap() } else { page.text(&line, tone) }
    }
    match lines.count() {
        0 => {}
        more => page.text(&format!("and {more} more lines"), Tone::Dim),
    }
}

fn write_pane(page: &mut Page, pane: Option<&Result<Vec<Untrusted>, String>>) {
    match pane {
        None => {}
        Some(Err(why)) => {
            page.heading("Its pane");
            page.text(&safe(why), Tone::Notice);
        }
        Some(Ok(lines)) => {
            page.heading("Its pane now");
            let first = lines.len().saturating_sub(MOST_OF_PANE);
            lines.iter().skip(first).for_each(|line| page.verbatim(&line.shown(), Tone::Dim));
            // The pane is looked at again while it is shown.
            let now = page.now();
            page.moments.push(now);
        }
    }
}
