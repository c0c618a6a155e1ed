//! What a view says when it has no rows.

use ratatui::layout::Rect;

use super::paint::Painter;
use crate::app::state::State;
use crate::app::table::view::View;
use crate::core::model::snapshot::unread;
use crate::core::model::{Report, Topic};
use crate::present::sources::source_state;
use crate::present::text::tone::{Line, Tone};
use crate::present::text::{count, cut, safe, wrap};

/// Draws what there is to say in place of rows.
pub(super) fn draw(painter: &mut Painter<'_>, area: Rect, state: &State) {
    let room = area.width.saturating_sub(4);
    for (y, line) in (area.y + 1..area.bottom()).zip(lines(state, usize::from(room))) {
        painter.line(area.x + 2, y, room, &line);
    }
}

fn lines(state: &State, room: usize) -> Vec<Line> {
    if state.view == View::History && state.filter.is_empty() {
        return history(room);
    }
    let Some(report) = state.report() else {
        return vec![Line::new("Taking the first look…", Tone::Dim)];
    };
    if !state.filter.is_empty() && state.table.unfiltered > 0 {
        let what = format!("Nothing here matches {}", state.filter.text);
        return vec![
            Line::new(&what, Tone::Strong),
            Line::new("Esc", Tone::Key).then(" clears the filter.", Tone::Dim),
        ];
    }
    let is_open = |topic| unread(&report.sources, topic).next().is_some();
    let mut lines = vec![match is_open(topic(state.view)) {
        true => Line::new(unknown(state.view), Tone::Warning),
        false => Line::new(nothing(state.view), Tone::Strong),
    }];
    if is_open(Topic::All) {
        lines.push(Line::new("Not everything could be read.", Tone::Warning));
    }
    let problems = report.problems().len();
    if problems > 0 {
        let text = format!(" shows {}.", count(problems, "problem"));
        lines.push(Line::new("5", Tone::Key).then(&text, Tone::Dim));
    }
    lines.push(Line::default());
    lines.extend(sources(report));
    lines.push(Line::default());
    lines.push(
        Line::new("claimtop setup", Tone::Key)
            .then(" adds its hooks to your agents, shown first and undoable.", Tone::Dim),
    );
    lines.push(
        Line::new("claimtop demo", Tone::Key)
            .then(" shows a made-up world with one of everything.", Tone::Dim),
    );
    lines
}

fn history(room: usize) -> Vec<Line> {
    let kept =
        "The journal keeps each release, migration and parking: when, why, and whether it can be undone.";
    let texts = [(nothing(View::History), Tone::Strong), ("", Tone::Dim), (kept, Tone::Dim)];
    let wrapped = |(text, tone)| wrap(text, room).into_iter().map(move |line| Line::new(&line, tone));
    texts.into_iter().flat_map(wrapped).collect()
}

fn nothing(view: View) -> &'static str {
    match view {
        View::Now | View::Windows => "No agent window is running.",
        View::Sessions => "No session record was found.",
        View::Claims => "Nothing is claimed.",
        View::Problems => "No problems.",
        View::LeftOvers => "No window has left anything running.",
        View::History => "Nothing has been done yet, and nothing has changed.",
        View::Machines => "No other machine is watched.",
    }
}

/// Returns what a view is about.
fn topic(view: View) -> Topic {
    match view {
        View::Now | View::Windows => Topic::Windows,
        View::Sessions | View::Claims => Topic::Records,
        View::Problems | View::LeftOvers | View::History | View::Machines => Topic::All,
    }
}

/// Says that a view is empty and there may be something all the same.
fn unknown(view: View) -> &'static str {
    match view {
        View::Now | View::Windows => "It is not known whether an agent window is running.",
        View::Sessions => "It is not known whether there are session records.",
        View::Claims => "It is not known whether anything is claimed.",
        View::Problems => "It is not known whether there is a problem.",
        View::LeftOvers => "It is not known whether a window has left anything behind.",
        View::History => "It is not known whether anything has changed.",
        View::Machines => "No other machine is watched.",
    }
}

/// Says what was looked at.
fn sources(report: &Report) -> Vec<Line> {
    let mut lines = vec![Line::new("Looked at:", Tone::Dim)];
    lines.extend(report.sources.iter().map(|source| {
        let id = safe(&source.id);
        let id = cut(&id, 28);
        Line::new(&format!("  {id:<28} "), Tone::Plain)
            .then(&format!("{:<8} ", source_state(source.state)), Tone::Dim)
            .then(source.detail.raw(), Tone::Dim)
    }));
    lines
}
