//! The versions of what a window wrote, and how they differ from the files as they are now.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::sheet::targets::losing;
use crate::app::sheet::window;
use crate::app::state::State;
use crate::core::model::{Edit, Key, ListedVersion, Untrusted, Work};
use crate::present::plan::write_diff;
use crate::present::report_index::{Index, window_name};
use crate::present::text::page::Page;
use crate::present::text::tone::{Line, Tone};
use crate::present::text::{age, safe};
use crate::present::versions::{source_words, state_words};

/// The most files of a window whose versions are listed: those that are away first, then the last ones edited.
const MOST_FILES: usize = 12;

/// What is asked for: the versions of some files, by the sessions that wrote them.
#[derive(Clone, Debug)]
pub(crate) struct VersionsQuestion {
    /// The window.
    pub(crate) key: Key,
    /// The files, in the order in which they are shown.
    pub(crate) paths: Vec<PathBuf>,
    /// What the sessions do that wrote any of them.
    pub(crate) works: Vec<Arc<Work>>,
}

/// Returns the window of this machine that has edits which a page can show, where a thing is chosen.
pub(crate) fn of_window(index: &Index, key: &Key) -> Option<Key> {
    let key = losing(index, key).or_else(|| window(index, key).map(|window| window.key.clone()))?;
    question(index, &key).filter(|_| key.machine().is_none()).map(|question| question.key)
}

/// Returns what is to be read for a window's page.
pub(crate) fn question(index: &Index, key: &Key) -> Option<VersionsQuestion> {
    let work = index.window(key)?.work.as_deref()?;
    let mut edits: Vec<&Edit> = work.doing.edits.iter().collect();
    edits.sort_by_key(|edit| (!edit.fate.state.is_away(), std::cmp::Reverse(edit.at)));
    let mut known = HashSet::new();
    let paths = edits.iter().map(|edit| PathBuf::from(edit.path.raw()));
    let paths: Vec<PathBuf> = paths.filter(|path| known.insert(path.clone())).take(MOST_FILES).collect();
    let wrote_any = |work: &&Arc<Work>| {
        let mut edits = work.doing.edits.iter();
        edits.any(|edit| paths.iter().any(|path| path.as_path() == Path::new(edit.path.raw())))
    };
    let works = index.report.windows.iter().filter_map(|window| window.work.as_ref());
    let works = works.filter(wrote_any).cloned().collect();
    (!paths.is_empty()).then(|| VersionsQuestion { key: key.clone(), paths, works })
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
            let names = names(index);
            let mut file = None;
            for one in all.iter() {
                if file.replace(&one.path) != Some(&one.path) {
                    page.heading(&safe(one.path.raw()));
                }
                write_version(page, one, &names);
            }
        }
    }
    index.window(key).map_or_else(String::new, |window| format!("Versions: {}", window_name(window)))
}

fn names(index: &Index) -> BTreeMap<&Untrusted, String> {
    let of = |window| window_name(window);
    let windows = index.report.windows.iter();
    windows.filter_map(|window| Some((window.session_id.as_ref()?, of(window)))).collect()
}

fn write_version(page: &mut Page, one: &ListedVersion, names: &BTreeMap<&Untrusted, String>) {
    let now = page.now();
    let who = names.get(&one.session).cloned().unwrap_or_else(|| one.session.to_string());
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
