//! The versions of what a window wrote, and how they differ from the files as they are now.

use std::sync::Arc;

use crate::app::sheet::targets::losing;
use crate::app::sheet::window;
use crate::app::state::State;
use crate::core::model::{Key, ListedVersion, Report, Work};
use crate::present::plan::write_diff;
use crate::present::report_index::{Index, window_name};
use crate::present::text::page::Page;
use crate::present::text::tone::{Line, Tone};
use crate::present::text::{age, safe};
use crate::present::versions::{SessionLabel, source_words, state_words};

/// What is asked for: the versions of the files that a session wrote.
#[derive(Clone, Debug)]
pub(crate) struct VersionsQuestion {
    /// The window, or a record of a dead one.
    pub(crate) key: Key,
    /// What its session does.
    pub(crate) work: Arc<Work>,
    /// What all sessions of the look do.
    pub(crate) works: Vec<Arc<Work>>,
}

/// Returns the window of this machine, or the record of a dead one, that has edits which a page can show, where a thing
/// is chosen.
pub(crate) fn of_window(index: &Index, key: &Key) -> Option<Key> {
    let key = losing(index, key).or_else(|| window(index, key).map(|window| window.key.clone()))?;
    question(index, &key).filter(|_| key.machine().is_none()).map(|question| question.key)
}

/// Returns what is to be read for a window's page.
pub(crate) fn question(index: &Index, key: &Key) -> Option<VersionsQuestion> {
    let (_, work) = index.report.owner_of_edits(key).filter(|(_, work)| work.has_edits())?;
    let works = index.report.windows.iter().filter_map(|window| window.work.as_ref());
    let works: Vec<Arc<Work>> =
        works.chain(index.report.lost.iter().map(|lost| &lost.work)).cloned().collect();
    Some(VersionsQuestion { key: key.clone(), work: Arc::clone(work), works })
}

/// Writes the page of a window and returns its title.
pub(crate) fn write(page: &mut Page, state: &State, key: &Key) -> String {
    let Some(index) = state.index.as_deref() else { return String::new() };
    match state.versions.as_ref().filter(|(of, _)| of == key) {
        None => page.text("Reading the versions…", Tone::Dim),
        Some((_, all)) if all.is_empty() => {
            page.text("No hook has kept a version, and the session's file gives none.", Tone::Notice);
        }
        Some((_, all)) => {
            let mut file = None;
            for one in all.iter() {
                if file.replace(&one.path) != Some(&one.path) {
                    page.heading(&safe(one.path.raw()));
                }
                write_version(page, one, &index.report);
            }
        }
    }
    let name = || index.report.owner_of_edits(key).map(|(name, _)| safe(name.raw()));
    let name = index.window(key).map(window_name).or_else(name);
    name.map_or_else(String::new, |name| format!("Versions: {name}"))
}

fn write_version(page: &mut Page, one: &ListedVersion, report: &Report) {
    let now = page.now();
    let label = SessionLabel::new(report, (&one.session, &one.agent), one.title.as_ref());
    let who = label.text(&one.session);
    let (tone, state) = state_words(&one.fate, now);
    let ago = age::label_between(now, one.at);
    let what = format!("{ago} ago  {} B  {}  ", one.size, source_words(one.from, one.sure));
    page.moments.push(one.at);
    page.lines.push(
        Line::new("  ", Tone::Dim)
            .then(&safe(&who), Tone::Strong)
            .then("  ", Tone::Dim)
            .then(&what, Tone::Plain)
            .then(&state, tone),
    );
    match &one.diff {
        None => page.verbatim("not compared as text", Tone::Dim),
        Some(diff) if diff.is_empty() => page.verbatim("as the file is now", Tone::Dim),
        Some(diff) => write_diff(page, diff),
    }
}
