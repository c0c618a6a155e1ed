//! `foresee`: which working trees of living windows will conflict.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use crate::act::state::forecasts::BookKeeper;
use crate::cli::look;
use crate::cli::output::failure::{Exit, Outcome};
use crate::cli::output::progress::Progress;
use crate::cli::output::{Paint, Shape, print};
use crate::cli::settings::Settings;
use crate::cli::show::list;
use crate::config::{Access, Foresee};
use crate::core::model::text::json;
use crate::core::model::{
    Conflict, Forecast, ForecastSide, Key, Outcome as Merge, Report, Untrusted, WindowView,
};
use crate::observe::{Observer, ReportSource};
use crate::present::report_index::window_name;
use crate::present::text::tone::Tone;
use crate::present::text::{count, outside, safe};
use crate::run::threads::foresight;
use crate::run::threads::foresight::Foresights;
use crate::source::database::sqlite::copies::Copies;
use crate::source::git::Asker;
use crate::source::git::foresight::memory::Memory;
use crate::source::git::foresight::{Foreseer, Foresight};
use crate::source::os::host;

/// The name of the JSON schema.
const SCHEMA: &str = "claimtop.foresee.v1";

/// The most paths in conflict that are shown of one pair.
const MOST_SHOWN: usize = 20;

/// What is shown if there is nothing to compare.
const NONE: &str = "No two working trees of living windows belong to one repository.\n";

/// What is printed as JSON.
#[derive(Serialize)]
struct Output<'a> {
    schema: &'static str,
    taken_at: Timestamp,
    pairs: Vec<Pair<'a>>,
    /// The working trees that are not compared: their repository has too many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<Untrusted>,
}

/// Two sides and the result of their merge.
#[derive(Serialize)]
struct Pair<'a> {
    outcome: Merge,
    /// Why it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    repository: String,
    sides: [Side<'a>; 2],
    conflicts: &'a [Conflict],
    /// The number of the side that goes first.
    first: usize,
    way_out: Vec<String>,
    #[serde(skip)]
    forecast: &'a Forecast,
}

#[derive(Serialize)]
struct Side<'a> {
    #[serde(flatten)]
    side: &'a ForecastSide,
    windows: Vec<Window<'a>>,
}

#[derive(Serialize)]
struct Window<'a> {
    key: &'a Key,
    name: String,
}

/// Looks once and prints which working trees of living windows will conflict.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(reports: &mut dyn ReportSource, settings: &Settings, shape: Shape) -> Outcome {
    let Settings { places, environment, .. } = settings;
    let progress = Progress::begin(environment, "Looking at processes and files");
    let report = reports.next_report();
    let trees = report.working_trees().into_values().flatten();
    let trees: Vec<PathBuf> = trees.map(|tree| PathBuf::from(tree.raw())).collect();
    progress.show(&format!("Merging what {} have now", count(trees.len(), "working tree")));
    let asker = Asker { programs: environment.programs.clone(), home: places.home.clone() };
    let (copies, fence) = (Copies::in_folder(&places.copies), places.fence());
    let Foresight { forecasts, left_out } =
        Foreseer { asker: &asker, copies: &copies, fence: &fence }.foresee(&trees, &mut Memory::default());
    let left_out: Vec<Untrusted> = left_out.iter().map(|tree| Untrusted::from_path(tree)).collect();
    drop(progress);
    let pairs: Vec<Pair<'_>> = forecasts.iter().map(|forecast| pair(&report, forecast)).collect();
    match shape {
        Shape::Json => {
            let output = Output { schema: SCHEMA, taken_at: report.taken_at, pairs, left_out };
            print(&format!("{}\n", json::to_string_pretty(&output)?))?;
        }
        Shape::Text(paint) => {
            let rest = match left_out.len() {
                0 => String::new(),
                many => format!(
                    "\nNot compared, as their repository has too many: {}\n",
                    count(many, "working tree")
                ),
            };
            print(
                &(text(&pairs, paint)
                    + &rest
                    + &list::unread_sources(&report, &list::unread(&report, None), paint)),
            )?;
        }
    }
    let is_any = |outcome: Merge| {
        forecasts.iter().any(|forecast| forecast.outcome == outcome && forecast.is_between_trees())
    };
    Ok(match (is_any(Merge::Conflicts), is_any(Merge::Unknown)) {
        (true, _) => Exit::Problems,
        // What is not known is not clean.
        (false, true) => Exit::Failed,
        (false, false) => look::exit(&report),
    })
}

/// Has the working trees of what is observed compared in the background, if claimtop may write and a person has not set
/// it otherwise.
pub(crate) fn watch(observer: Observer, settings: &Settings) -> Observer {
    let config = &settings.effective.config;
    let may_write = config.access == Access::Full && host::owns(&settings.places.home);
    if !may_write || config.foresee == Foresee::CommandOnly {
        return observer;
    }
    match foresight::start(foresights(settings)) {
        Ok(recorder) => observer.recorded(recorder),
        Err(error) => {
            tracing::warn!(%error, "working trees are not compared");
            observer
        }
    }
}

/// Compares the working trees of this look once, and keeps the result for as long as the returned keeper lives.
pub(crate) fn once(reports: &mut dyn ReportSource, settings: &Settings) -> Option<BookKeeper> {
    foresight::once(&reports.next_report(), foresights(settings))
}

fn foresights(settings: &Settings) -> Foresights {
    let Settings { places, environment, state, .. } = settings;
    let asker = Asker { programs: environment.programs.clone(), home: places.home.clone() };
    let (copies, fence) = (Copies::in_folder(&places.copies), places.fence());
    Foresights { asker, copies, fence, state: state.clone() }
}

fn pair<'a>(report: &'a Report, forecast: &'a Forecast) -> Pair<'a> {
    let [left, right] = &forecast.sides;
    let is_in_conflict = forecast.outcome == Merge::Conflicts;
    Pair {
        outcome: forecast.outcome,
        why: forecast.why.as_ref().map(|why| why.shown()),
        repository: forecast.repository.shown(),
        sides: [side(report, left), side(report, right)],
        conflicts: &forecast.conflicts,
        first: forecast.first(),
        way_out: if is_in_conflict { forecast.way_out() } else { Vec::new() },
        forecast,
    }
}

fn side<'a>(report: &'a Report, side: &'a ForecastSide) -> Side<'a> {
    let is_there = |window: &&WindowView| {
        let tree = window.repo.as_ref().map(|repo| &repo.worktree);
        window.key.machine().is_none() && tree.is_some() && tree == side.tree.as_ref()
    };
    let window = |window: &'a WindowView| Window { key: &window.key, name: window_name(window) };
    Side { side, windows: report.windows.iter().filter(is_there).map(window).collect() }
}

impl Side<'_> {
    /// Returns the names of its windows, or of its branch.
    fn name(&self) -> String {
        if self.windows.is_empty() {
            return format!("branch {}", outside(self.side.branch.as_ref()));
        }
        let names: Vec<&str> = self.windows.iter().map(|window| window.name.as_str()).collect();
        names.join(" and ")
    }

    /// Returns the name of what the other side is rebased onto.
    fn target(&self) -> String {
        let folder = || self.side.tree.as_ref().map(|tree| outside(Some(tree))).unwrap_or_default();
        self.side.branch.as_ref().map_or_else(folder, |branch| outside(Some(branch)))
    }
}

fn text(pairs: &[Pair<'_>], paint: Paint) -> String {
    if pairs.is_empty() {
        return NONE.to_owned();
    }
    let of = |outcome: Merge| pairs.iter().filter(move |pair| pair.outcome == outcome);
    let conflicts: String = of(Merge::Conflicts).map(|pair| pair.in_conflict(paint)).collect();
    let unknown: String = of(Merge::Unknown).map(|pair| pair.unknown(paint)).collect();
    let clean: Vec<String> = of(Merge::Clean).map(Pair::names).collect();
    let clean = match clean.len() {
        0 => String::new(),
        _ => format!("{} {}\n", paint.paint(Tone::Good, "These merge:"), clean.join("; ")),
    };
    [conflicts, unknown, clean].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

impl Pair<'_> {
    fn names(&self) -> String {
        let [left, right] = &self.sides;
        format!("{} and {}", left.name(), right.name())
    }

    fn in_conflict(&self, paint: Paint) -> String {
        let tone = if self.forecast.is_between_trees() { Tone::Bad } else { Tone::Notice };
        let (first, second) = match self.first {
            0 => (&self.sides[0], &self.sides[1]),
            _ => (&self.sides[1], &self.sides[0]),
        };
        let what = match self.conflicts {
            [only] => outside(Some(&only.path)),
            many => count(many.len(), "file"),
        };
        let advice = format!("rebase {} onto {}", second.target(), first.target());
        let head = format!("{} will conflict in {what}: {advice}", self.names());
        let shown = self.conflicts.iter().take(MOST_SHOWN).map(|conflict| self.conflict(conflict));
        let more = self.conflicts.len().saturating_sub(MOST_SHOWN);
        let more = (more > 0).then(|| format!("  and {} more\n", count(more, "file")));
        let commands = self.way_out.iter().map(|command| format!("  $ {}\n", safe(command)));
        format!("{}\n", paint.paint(tone, &head)) + &shown.chain(more).chain(commands).collect::<String>()
    }

    fn conflict(&self, conflict: &Conflict) -> String {
        let [left, right] = &self.sides;
        let all = |at: usize| -> String {
            let lines: Vec<String> = conflict
                .lines
                .iter()
                .filter_map(|lines| lines.get(at))
                .map(|lines| lines.to_text())
                .collect();
            lines.join(", ")
        };
        let lines = match conflict.lines.is_empty() {
            true => String::new(),
            false => format!(" ({}: lines {}; {}: lines {})", left.name(), all(0), right.name(), all(1)),
        };
        format!("  {}: {}{lines}\n", outside(Some(&conflict.path)), conflict.kind.phrase())
    }

    fn unknown(&self, paint: Paint) -> String {
        let why = self.why.as_deref().unwrap_or_default();
        let head = format!("{}: it is not known whether they will conflict: {}", self.names(), safe(why));
        format!("{}\n", paint.paint(Tone::Warning, &head))
    }
}
