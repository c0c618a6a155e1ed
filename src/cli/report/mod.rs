//! `report`: the windows, the story of each problem, the map and the timeline, in one page.

mod html;
mod page;
mod picture;

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use jiff::Timestamp;

use super::failure::{Exit, Failure, Outcome};
use super::output::{Paint, lines, print};
use crate::core::history::journal::Entry;
use crate::core::history::timeline::Past;
use crate::core::model::finding::Finding;
use crate::core::model::report::Report;
use crate::core::model::story::Known;
use crate::core::model::text::Untrusted;
use crate::present::ladder::{finding, story};
use crate::present::lookup::window_and_pid;
use crate::present::page::Page;
use crate::present::words;

/// The most lines of the timeline.
const MOMENTS: usize = 400;

/// What a report is made of.
pub(crate) struct Material {
    /// The look that is reported.
    pub(crate) report: Arc<Report>,
    /// What was observed before, as far as it was kept.
    pub(crate) past: Vec<Past>,
    /// What claimtop did.
    pub(crate) acts: Vec<Entry>,
}

/// One line of the timeline.
struct Moment {
    at: Timestamp,
    told: String,
    from: String,
}

/// Writes the page into a new file, or prints the report as text.
///
/// # Errors
/// The file is there already, or cannot be written.
pub(crate) fn run(material: &Material, html: Option<&Path>, paint: Paint) -> Outcome {
    match html {
        None => print(&text(material, paint))?,
        Some(path) if path == Path::new("-") => print(&page::page(material))?,
        Some(path) => write(path, &page::page(material)).map_err(|error| {
            Failure::new(Exit::Failed, error)
                .hint("name a file that is not there yet, or - for the standard output")
        })?,
    }
    Ok(Exit::Fine)
}

fn write(path: &Path, page: &str) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(page.as_bytes()));
    written
        .map_err(|error| anyhow!(error))
        .with_context(|| format!("failed to write {}", Untrusted::from_path(path)))
}

fn text(material: &Material, paint: Paint) -> String {
    let mut page = Page::for_text(material.report.taken_at);
    for finding in &material.report.findings {
        page.gap();
        finding::write_entry(&mut page, finding);
        if let Some(story) = finding.story() {
            story::write(&mut page, story);
        }
    }
    page.heading("Timeline");
    for moment in material.timeline() {
        page.dated(&moment.at.strftime("%F %H:%M:%SZ").to_string(), &moment.told);
    }
    lines(&page, paint)
}

impl Material {
    /// Returns everything that is dated, the newest first: what stories tell and windows and
    /// claims say of themselves, what was observed, and what was done.
    fn timeline(&self) -> Vec<Moment> {
        let mut all: Vec<Moment> = self.told().chain(self.seen()).chain(self.done()).collect();
        all.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.told.cmp(&b.told)));
        all.dedup_by(|a, b| a.at == b.at && a.told == b.told);
        all.truncate(MOMENTS);
        all
    }

    fn told(&self) -> impl Iterator<Item = Moment> {
        let stories = self.report.findings.iter().filter_map(Finding::story);
        let events = stories.flat_map(|story| &story.events).filter(|event| event.known == Known::Observed);
        let told = events.filter_map(|event| {
            let from =
                event.evidence.first().map_or_else(String::new, |evidence| evidence.fact().source.shown());
            Some(Moment { at: event.at?, told: event.told.clone(), from })
        });
        let started = self.report.windows.iter().filter_map(|window| {
            let told = format!("{} started", window_and_pid(window));
            Some(Moment { at: window.started_at?, told, from: format!("/proc/{}/stat", window.pid) })
        });
        told.chain(started)
    }

    fn seen(&self) -> impl Iterator<Item = Moment> {
        self.past.iter().map(|past| Moment {
            at: past.at,
            told: format!("{} {}", past.event.name(), past.told),
            from: "seen by claimtop".to_owned(),
        })
    }

    fn done(&self) -> impl Iterator<Item = Moment> {
        self.acts.iter().map(|entry| Moment {
            at: entry.at,
            told: format!("{}: {}", words::action(entry.intent.action), entry.intent.title),
            from: format!("journal entry {}", entry.number),
        })
    }
}
