//! `report`: the windows, the story of each problem, the map and the timeline, in one page.

mod html;
pub(crate) mod material;
mod page;
mod picture;

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};

use self::material::Material;
use super::list;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::{Paint, lines, print};
use crate::core::model::Untrusted;
use crate::present::ladder::{finding, story};
use crate::present::report_index::Index;
use crate::present::text::page::Page;
use crate::present::text::zone::Zone;
use crate::source::os::clock;

/// Writes the page into a new file, or prints the report as text.
///
/// # Errors
/// The file is there already, or cannot be written.
pub(crate) fn run(material: &Material, html: Option<&Path>, paint: Paint) -> Outcome {
    let zone = Zone(clock::zone());
    match html {
        None => print(&text(material, &zone, paint))?,
        Some(path) if path == Path::new("-") => print(&page::page(material, &zone))?,
        Some(path) => write(path, &page::page(material, &zone)).map_err(|error| {
            Failure::new(Exit::Failed, error)
                .hint("name a file that does not exist, or - for the standard output")
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

fn text(material: &Material, zone: &Zone, paint: Paint) -> String {
    let mut page = Page::for_text(material.report.taken_at).in_zone(zone);
    let index = Index::new(Arc::clone(&material.report));
    for finding in material.report.problems() {
        page.gap();
        finding::write_entry(&mut page, &index, finding);
        if let Some(story) = &finding.story {
            story::write(&mut page, story);
        }
    }
    page.heading("Timeline");
    for moment in material.timeline() {
        page.dated(&zone.date(moment.at), &moment.sentence);
    }
    lines(&page, paint)
        + &list::unread_sources(&material.report, &list::unread(&material.report, None), paint)
}
