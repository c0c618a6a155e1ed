//! `now`: what needs a person, and what each window is doing.

use jiff::Timestamp;
use serde::Serialize;

use crate::cli::look;
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::Outcome;
use crate::cli::output::{Paint, Shape, print, terminal_width};
use crate::cli::show::list::{unread, unread_sources};
use crate::core::model::text::json;
use crate::core::model::{Key, Need, NotAsked, Report, SourceHealth, UnreadWork, WindowView, Work};
use crate::observe::ReportSource;
use crate::present::machine::Unheard;
use crate::present::need::alike::merged;
use crate::present::need::doing;
use crate::present::need::doing::Prompts;
use crate::present::need::{calm, line, sentence};
use crate::present::report_index::{window_and_machine, window_name};
use crate::present::summary::Summary;
use crate::present::text::outside;

/// The name of the JSON schema.
const SCHEMA: &str = "claimtop.now.v1";

/// Looks once and prints what needs a person.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(reports: &mut dyn ReportSource, shape: Shape) -> Outcome {
    let report = reports.next_report();
    match shape {
        Shape::Text(paint) => return show(&report, paint),
        Shape::Json => print(&format!("{}\n", json::to_string_pretty(&Now::of(&report))?))?,
    }
    Ok(look::exit(&report))
}

/// Prints what needs a person in a report, and what each window is doing.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn show(report: &Report, paint: Paint) -> Outcome {
    print(&text(report, paint, terminal_width()))?;
    Ok(look::exit(report))
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Now<'a> {
    schema: &'static str,
    taken_at: Timestamp,
    needs: Vec<ShownNeed<'a>>,
    windows: Vec<ShownWindow<'a>>,
    /// The sources that may have more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread_sources: Vec<&'a SourceHealth>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_asked: &'a [NotAsked],
}

#[derive(Serialize)]
struct ShownNeed<'a> {
    #[serde(flatten)]
    need: &'a Need,
    says: String,
}

#[derive(Serialize)]
struct ShownWindow<'a> {
    key: &'a Key,
    pid: u32,
    name: String,
    state: &'static str,
    doing: String,
    #[serde(flatten)]
    work: Option<&'a Work>,
    /// Its session's file, where that was found and not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<&'a UnreadWork>,
}

impl<'a> Now<'a> {
    fn of(report: &'a Report) -> Self {
        let need = |need: &'a Need| ShownNeed { need, says: sentence(report, need, report.taken_at) };
        let unheard = Unheard::from_report(report);
        let window = |window: &'a WindowView| ShownWindow {
            key: &window.key,
            pid: window.pid,
            name: window_name(window),
            state: unheard.standing(window).2,
            doing: doing::of_window(window, Prompts::Hidden),
            work: window.work.as_deref(),
            unread: window.unread.as_deref(),
        };
        Self {
            schema: SCHEMA,
            taken_at: report.taken_at,
            needs: report.needs.iter().map(need).collect(),
            windows: report.windows.iter().map(window).collect(),
            unread_sources: unread(report, None),
            not_asked: &report.not_asked,
        }
    }
}

fn text(report: &Report, paint: Paint, width: Option<usize>) -> String {
    let says = |need: &Need| {
        let tone = line(report, need, report.taken_at).tone;
        format!("{}\n", paint.paint(tone, &sentence(report, need, report.taken_at)))
    };
    let needs: String = merged(report.needs.clone()).iter().map(says).collect();
    let head = match needs.is_empty() {
        true => {
            let (_, tone, says) = calm(report, Summary::from_report(report).working);
            paint.paint(tone, &format!("{says}\n"))
        }
        false => needs,
    };
    let body = match report.windows.is_empty() {
        true => head,
        false => format!("{head}\n{}", windows(report).laid_out(paint, width)),
    };
    body + &unread_sources(report, &unread(report, None), paint)
}

fn windows(report: &Report) -> Columns {
    let mut columns = Columns::new(&["WINDOW", "STATE", "DOING", "FILES", "CONTEXT", "BRANCH"]);
    let unheard = Unheard::from_report(report);
    for window in &report.windows {
        let (_, tone, state) = unheard.standing(window);
        let work = window.work.as_ref().map(|work| &work.doing);
        let branch = window.repo.as_ref().and_then(|repo| repo.branch.as_ref());
        let doing = doing::of_window(window, Prompts::Hidden);
        columns.row([
            Cell::new(window_and_machine(window)),
            Cell::new(state).toned(tone),
            Cell::maybe(Some(doing).filter(|doing| !doing.is_empty())),
            Cell::maybe(work.map(|work| work.edits.len()).filter(|files| *files > 0)),
            Cell::maybe(work.and_then(|work| work.context).map(doing::fill)),
            Cell::maybe(branch.map(|branch| outside(Some(branch)))),
        ]);
    }
    columns
}
