//! The panel about claimtop itself: its sources, what it watches, what it costs, its bounds.

use std::time::Duration;

use crate::app::msg::Hints;
use crate::app::state::State;
use crate::core::model::{Cost, LookStats, Report, SourceHealth, SourceState};
use crate::present::sources::source_state;
use crate::present::text::megabytes;
use crate::present::text::page::Page;
use crate::present::text::tone::Tone;

/// Writes the panel; returns its title.
pub(crate) fn write(page: &mut Page, state: &State) -> String {
    if let Some(report) = state.report() {
        page.heading("What is read");
        write_sources(page, report);
        page.heading("What is watched");
        page.moment("last look", Some(report.taken_at));
    }
    write_watched(page, &state.measured, state.hints);
    if !state.options.start.origin.is_empty() {
        page.field("last view", &state.options.start.origin, Tone::Plain);
    }
    page.heading("What claimtop itself costs");
    match &state.cost {
        Some(cost) => write_cost(page, cost),
        None => page.text("  This system does not report it.", Tone::Dim),
    }
    page.heading("Its limits");
    for bound in &state.options.bounds {
        page.field(bound.what, &bound.most, Tone::Plain);
    }
    "Claimtop itself".to_owned()
}

fn write_sources(page: &mut Page, report: &Report) {
    // Of most systems there is nothing on most machines.
    let is_absent =
        |source: &&SourceHealth| source.state == SourceState::Absent && source.detail.raw() == "no folder";
    let absent: Vec<&str> =
        report.sources.iter().filter(is_absent).map(|source| source.id.as_str()).collect();
    for source in report.sources.iter().filter(|source| !is_absent(source)) {
        let tone = match source.state {
            SourceState::Ok => Tone::Plain,
            SourceState::Absent => Tone::Dim,
            SourceState::Partial | SourceState::Failed => Tone::Warning,
        };
        let words = format!("{}: {}", source_state(source.state), source.detail.shown());
        page.field(&source.id, &words, tone);
    }
    if !absent.is_empty() {
        page.field("no folder of", &absent.join(", "), Tone::Dim);
    }
}

fn write_watched(page: &mut Page, measured: &LookStats, hints: Hints) {
    let took = format!("{} so far, the last took {}", measured.looks, time(measured.took));
    page.field("looks", &took, Tone::Plain);
    let watched = format!("{} folders, {} processes", measured.watched.folders, measured.watched.processes);
    page.field("watches", &watched, Tone::Plain);
    let tone = match hints {
        Hints::Kept => Tone::Plain,
        Hints::Lost => Tone::Warning,
    };
    page.field("changes", hints.label(), tone);
}

fn write_cost(page: &mut Page, cost: &Cost) {
    page.field("PID", &cost.pid.to_string(), Tone::Plain);
    page.field(
        "memory",
        &format!("{}, peak {}", megabytes(cost.resident), megabytes(cost.peak)),
        Tone::Plain,
    );
    let share = cost.cpu.as_secs_f64() / cost.age.as_secs_f64().max(0.001) * 100.0;
    let cpu = format!("{} in {}, {share:.2} % of a core", time(cost.cpu), time(cost.age));
    page.field("CPU", &cpu, Tone::Plain);
    let most = cost.descriptor_limit.map_or_else(|| "no limit".to_owned(), |most| most.to_string());
    page.field("descriptors", &format!("{} of {most}", cost.descriptors), Tone::Plain);
    page.field("threads", &cost.threads.to_string(), Tone::Plain);
    page.field("wake-ups", &format!("{} of the screen's thread", cost.wakeups), Tone::Plain);
    if cost.lost_lines > 0 {
        page.field("log", &format!("{} lines lost: failed to write them", cost.lost_lines), Tone::Warning);
    }
}

/// Returns a span in the unit that suits it.
fn time(span: Duration) -> String {
    match span.as_millis() {
        0..10 => format!("{} µs", span.as_micros()),
        10..10_000 => format!("{} ms", span.as_millis()),
        _ => format!("{} s", span.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_the_unit_that_suits_them() {
        assert_eq!(time(Duration::from_micros(9_999)), "9999 µs");
        assert_eq!(time(Duration::from_millis(10)), "10 ms");
        assert_eq!(time(Duration::from_secs(10)), "10 s");
    }
}
