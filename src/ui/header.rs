//! The first line: how many of what, and badges for what is not as usual.

use ratatui::layout::Rect;

use super::paint::{Painter, columns};
use crate::app::msg::Hints;
use crate::app::state::{Picture, State};
use crate::config::Access;
use crate::core::model::Topic;
use crate::core::model::snapshot::unread;
use crate::present::age;
use crate::present::sources::{databases, source_name, source_state, troubled};
use crate::present::summary::Summary;
use crate::present::text::{count, safe};
use crate::present::tone::{Line, Mark, Tone};

pub(super) fn draw(painter: &mut Painter<'_>, area: Rect, state: &State) {
    painter.wash(area, painter.look.palette.bar);
    let badges = badges(state, area.width);
    let badge_width = columns(badges.width());
    let room = area.width.saturating_sub(badge_width + 3);
    painter.line(area.x + 1, area.y, room, &fitting(state, usize::from(room)));
    let x = area.right().saturating_sub(badge_width + 1);
    painter.line(x, area.y, badge_width, &badges);
}

/// Joins the parts that fit, leaving the least important out first.
fn fitting(state: &State, room: usize) -> Line {
    let mut parts = parts(state);
    while parts.iter().map(|(_, line)| line.width() + 2).sum::<usize>() > room + 2 {
        let Some(rank) = parts.iter().map(|(rank, _)| *rank).max().filter(|rank| *rank > 0) else { break };
        parts.retain(|(own, _)| *own != rank);
    }
    let mut joined = Line::default();
    for (_, line) in parts {
        if !joined.0.is_empty() {
            joined = joined.then("  ", Tone::Dim);
        }
        joined.0.extend(line.0);
    }
    joined
}

/// Returns the parts with their rank; a high rank leaves first.
fn parts(state: &State) -> Vec<(u8, Line)> {
    let name = (5, Line::new("claimtop", Tone::Accent));
    let Some(report) = state.report() else {
        return vec![(0, name.1), (1, Line::new("looking…", Tone::Dim))];
    };
    let summary = Summary::of(report);
    let Summary { windows, waiting, claims, dead_claims: dead, collisions, warnings, notes, .. } = summary;
    let mut parts = vec![
        name,
        (6, Line::new(&report.host.name, Tone::Dim)),
        (0, Line::new(&windows.words("window"), Tone::Strong)),
        (
            if claims.seen == 0 && claims.is_open { 2 } else { 4 },
            Line::new(&claims.words("claim"), Tone::Plain),
        ),
    ];
    let mut trouble = |rank, number: usize, mark, tone, text: String| {
        if number > 0 {
            parts.push((rank, Line::default().then_marked(mark, &text, tone)));
        }
    };
    trouble(1, waiting, Mark::Waiting, Tone::Notice, summary.waits());
    trouble(1, collisions, Mark::Collision, Tone::Bad, count(collisions, "collision"));
    trouble(2, dead, Mark::Dead, Tone::Warning, count(dead, "dead claim"));
    trouble(3, warnings, Mark::Warning, Tone::Warning, count(warnings, "warning"));
    if collisions + dead + warnings == 0 {
        let is_open = unread(&report.sources, Topic::All).next().is_some();
        let (mark, tone, text) = match (is_open, notes) {
            (true, _) => (Mark::Unknown, Tone::Notice, "not everything is read".to_owned()),
            (false, 0) => (Mark::Alive, Tone::Good, "no problems".to_owned()),
            (false, _) => (Mark::Alive, Tone::Good, format!("no warning, {}", count(notes, "note"))),
        };
        parts.push((1, Line::default().then_marked(mark, &text, tone)));
    }
    parts
}

fn badges(state: &State, room: u16) -> Line {
    let mut line = Line::default();
    let mut add = |text: &str, tone| {
        let gap = if line.0.is_empty() { "" } else { " " };
        line = std::mem::take(&mut line).then(&format!("{gap}[{}]", safe(text)), tone);
    };
    if let Picture::Frozen(at) = state.picture {
        add(&format!("frozen {}", age::between(state.now, at)), Tone::Accent);
    }
    if let Some(zone) = state.options.zone.name(state.now) {
        add(&zone, Tone::Dim);
    }
    database(state, room, &mut add);
    sources(state, room, &mut add);
    if state.hints == Hints::Lost && room >= 100 {
        add("polling every 2 s", Tone::Dim);
    }
    if state.recording.is_some() {
        add("rec", Tone::Bad);
    }
    if let Some(position) = state.options.replayed {
        let at = state.options.zone.clock(state.now, position.at);
        add(&format!("replay {}/{} {at}", position.look, position.of), Tone::Accent);
    } else if state.options.access == Access::ReadOnly {
        add("read-only", Tone::Notice);
    }
    if let Some(badge) = &state.options.badge {
        add(badge, Tone::Notice);
    }
    line
}

/// Tells how a database on a server is read: since when, how far behind, with what rights.
fn database(state: &State, room: u16, add: &mut impl FnMut(&str, Tone)) {
    for source in state.report().into_iter().flat_map(databases) {
        let told = source.detail.raw().split_once(", ").map_or(source.detail.raw(), |(_, told)| told);
        match room {
            ..120 => add("database", Tone::Dim),
            _ => add(&format!("database {told}"), Tone::Dim),
        }
    }
}

/// Names the sources in trouble, or counts them where there is no room.
fn sources(state: &State, room: u16, add: &mut impl FnMut(&str, Tone)) {
    let Some(report) = state.report() else { return };
    let troubled: Vec<_> = troubled(report).collect();
    match troubled.as_slice() {
        [] => {}
        [source] if room >= 80 => {
            add(&format!("{} {}", source_name(source), source_state(source.state)), Tone::Warning)
        }
        // The list of problems tells it too.
        _ if room < 50 && Summary::of(report).collisions > 0 => {}
        more if room < 80 => add(&format!("{} unread", more.len()), Tone::Warning),
        more => add(&format!("{} unread", count(more.len(), "source")), Tone::Warning),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::geometry::Size;
    use crate::app::msg::Msg;
    use crate::app::state::Options;
    use crate::app::{testing, update};
    use crate::core::model::{Code, Severity, SourceState};

    #[track_caller]
    fn check(code: Code, notes: usize, expected: &str) {
        let mut report = testing::quiet();
        let found = testing::busy().findings.into_iter().filter(|one| one.code == code);
        report.findings = found.cycle().take(notes).collect();
        for finding in &mut report.findings {
            Arc::make_mut(finding).severity = Severity::Info;
        }
        let mut state = State::new(Options::default(), Size { width: 80, height: 24 }, testing::now());
        update(&mut state, Msg::Looked(Arc::new(report)));
        let line = fitting(&state, 80).plain();
        assert!(line.ends_with(expected), "{line}");
    }

    #[test]
    fn what_is_only_worth_knowing_is_no_problem_and_is_counted() {
        check(Code::SuspendedHolder, 0, "0 claims  no problems");
        check(Code::SuspendedHolder, 1, "no warning, 1 note");
        check(Code::SuspendedHolder, 12, "no warning, 12 notes");
        check(Code::NoRecord, 12, "0 claims  no problems");
    }

    #[track_caller]
    fn check_unread(id: &str, state: SourceState, expected: &str) {
        let mut report = testing::quiet();
        report.sources.push(testing::source(id, state, "it does not answer"));
        let mut shown = State::new(Options::default(), Size { width: 200, height: 24 }, testing::now());
        update(&mut shown, Msg::Looked(Arc::new(report)));
        let line = fitting(&shown, 200).plain();
        assert!(line.ends_with(expected), "{line}");
    }

    #[test]
    fn while_a_source_is_not_read_nothing_is_called_none() {
        let unread = "0 windows  claims unknown  not everything is read";
        check_unread("leo:postgres://far/leo", SourceState::Failed, unread);
        check_unread("leo:postgres://far/leo", SourceState::Absent, unread);
        check_unread("obra:/home/dev/o.db", SourceState::Partial, unread);
        check_unread("processes", SourceState::Failed, "windows unknown  0 claims  not everything is read");
        check_unread("maia", SourceState::Absent, "0 windows  0 claims  no problems");
    }
}
