//! `leftovers`: what windows have left running, whose it was and how sure that is.

mod sizes;
mod trees;

use jiff::Timestamp;
use serde::Serialize;

use crate::cli::args::View;
use crate::cli::look;
use crate::cli::output::failure::Outcome;
use crate::cli::output::progress::Progress;
use crate::cli::output::{Shape, print};
use crate::cli::settings::Settings;
use crate::cli::show::list;
use crate::core::model::text::json;
use crate::core::model::{LeftOver, LeftStash, LeftTree, NotAsked, SourceHealth};
use crate::observe::ReportSource;
use crate::source::git::Asker;

/// What is printed as JSON.
#[derive(Serialize)]
struct Output<'a> {
    schema: &'static str,
    taken_at: Timestamp,
    left_overs: &'a [LeftOver],
    left_trees: &'a [LeftTree],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    left_stashes: &'a [LeftStash],
    /// The sources that may have more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread_sources: Vec<&'a SourceHealth>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_asked: &'a [NotAsked],
}

/// What is asked beside processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extras {
    Nothing,
    /// What git says of working trees.
    Trees,
    /// How much lies where.
    Sizes,
}

impl Extras {
    pub(crate) fn new(trees: bool, sizes: bool) -> Self {
        match (trees, sizes) {
            (true, _) => Self::Trees,
            (_, true) => Self::Sizes,
            (false, false) => Self::Nothing,
        }
    }
}

/// Looks once and prints what windows have left running.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(
    reports: &mut dyn ReportSource,
    settings: &Settings,
    asked: Extras,
    shape: Shape,
) -> Outcome {
    let Settings { places, environment, .. } = settings;
    let progress = Progress::begin(environment, "Looking at processes and files");
    let report = reports.next_report();
    match asked {
        Extras::Nothing => drop(progress),
        Extras::Sizes => return sizes::show(&report, places, shape, progress),
        Extras::Trees => {
            let asker = Asker { programs: environment.programs.clone(), home: places.home.clone() };
            return trees::show(&report, (&asker, &places.fence()), shape, progress);
        }
    }
    if let Shape::Text(_) = shape {
        return list::show(&report, Some(View::Leftovers), shape);
    }
    let shown = Output {
        schema: sizes::SCHEMA,
        taken_at: report.taken_at,
        left_overs: &report.left_overs,
        left_trees: &report.left_trees,
        left_stashes: &report.left_stashes,
        unread_sources: list::unread(&report, None),
        not_asked: &report.not_asked,
    };
    print(&format!("{}\n", json::to_string_pretty(&shown)?))?;
    Ok(look::exit(&report))
}
