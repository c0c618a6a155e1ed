//! The first line: how many of what, and badges for what is not as usual.

use ratatui::layout::Rect;

use super::paint::{Painter, columns};
use crate::app::msg::Hints;
use crate::app::state::{Picture, State};
use crate::config::Access;
use crate::core::model::Topic;
use crate::core::model::snapshot::unread;
use crate::present::sources::{databases, source_name, source_state, troubled};
use crate::present::summary::Summary;
use crate::present::text::age;
use crate::present::text::tone::{Line, Mark, Tone};
use crate::present::text::{count, safe};

pub(super) fn draw(painter: &mut Painter<'_>, area: Rect, state: &State) {
    painter.wash(area, painter.look.palette.bar);
    let badges = badges(state, area.width);
    let badge_width = columns(badges.width());
    let room = area.width.saturating_sub(badge_width + 3);
    painter.line(area.x + 1, area.y, room, &fitting(state, usize::from(room)));
    let x = area.right().saturating_sub(badge_width + 1);
    painter.line(x, area.y, badge_width, &badges);
}

/// The highest rank of a source in trouble.
const LEAST_TROUBLE: u8 = 3;

/// One part of the line.
struct Part {
    /// A high rank leaves first.
    rank: u8,
    line: Line,
    /// What stands for it where there is less room, before it leaves.
    short: Option<Line>,
}

impl Part {
    fn new(rank: u8, text: &str, tone: Tone) -> Self {
        Self { rank, line: Line::new(text, tone), short: None }
    }

    fn marked(rank: u8, (mark, tone): (Mark, Tone), text: &str) -> Self {
        Self { rank, line: Line::default().then_marked(mark, text, tone), short: None }
    }
}

/// Joins the parts that fit: what is no trouble leaves first, then words leave before counts.
fn fitting(state: &State, room: usize) -> Line {
    let mut parts = parts(state);
    while parts.iter().map(|part| part.line.width() + 2).sum::<usize>() > room + 2 {
        let last = |fits: &dyn Fn(&Part) -> bool| {
            let fitting = parts.iter().enumerate().filter(|(_, part)| fits(part));
            fitting.max_by_key(|(_, part)| part.rank).map(|(at, _)| at)
        };
        let at = last(&|part| part.rank > LEAST_TROUBLE).or_else(|| last(&|part| part.short.is_some()));
        let Some(at) = at.or_else(|| last(&|part| part.rank > 0)) else { break };
        match parts.get_mut(at).and_then(|part| Some((part.short.take()?, part))) {
            Some((short, part)) => part.line = short,
            None => drop(parts.remove(at)),
        }
    }
    let mut joined = Line::default();
    for part in parts {
        if !joined.0.is_empty() {
            joined = joined.then("  ", Tone::Dim);
        }
        joined.0.extend(part.line.0);
    }
    joined
}

fn parts(state: &State) -> Vec<Part> {
    let name = Part::new(5, "claimtop", Tone::Accent);
    let Some(index) = &state.index else {
        return vec![Part { rank: 0, ..name }, Part::new(1, "looking…", Tone::Dim)];
    };
    let (report, summary) = (&index.report, index.summary);
    let Summary { windows, waiting, claims, dead_claims: dead, collisions, warnings, notes, .. } = summary;
    let mut parts = vec![
        name,
        Part::new(6, &report.host.name, Tone::Dim),
        Part::new(0, &windows.with_noun("window"), Tone::Strong),
        Part::new(
            if claims.seen == 0 && claims.is_open { 2 } else { 4 },
            &claims.with_noun("claim"),
            Tone::Plain,
        ),
    ];
    let mut trouble = |rank, number: usize, (mark, tone), text: String| {
        if number > 0 {
            let short = Some(Line::default().then_marked(mark, &number.to_string(), tone));
            parts.push(Part { short, ..Part::marked(rank, (mark, tone), &text) });
        }
    };
    trouble(1, waiting, (Mark::Waiting, Tone::Notice), summary.waits());
    let done = index.needs.iter().filter(|need| need.is_done()).count();
    trouble(2, done, (Mark::Turn, Tone::Accent), format!("{done} done, unseen"));
    trouble(1, collisions, (Mark::Collision, Tone::Bad), count(collisions, "collision"));
    trouble(2, dead, (Mark::Dead, Tone::Warning), count(dead, "dead claim"));
    trouble(LEAST_TROUBLE, warnings, (Mark::Warning, Tone::Warning), count(warnings, "warning"));
    if collisions + dead + warnings == 0 {
        let is_open = unread(&report.sources, Topic::All).next().is_some();
        let (sign, text) = match (is_open, notes) {
            (true, _) => ((Mark::Unknown, Tone::Notice), "not everything was read".to_owned()),
            (false, 0) => ((Mark::Alive, Tone::Good), "no problems".to_owned()),
            (false, _) => ((Mark::Alive, Tone::Good), format!("no warning, {}", count(notes, "note"))),
        };
        parts.push(Part::marked(1, sign, &text));
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
        add(&format!("frozen {}", age::label_between(state.now, at)), Tone::Accent);
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

/// Says how a database on a server is read: since when, how far behind, with what rights.
fn database(state: &State, room: u16, add: &mut impl FnMut(&str, Tone)) {
    for source in state.report().into_iter().flat_map(databases) {
        let detail = source.detail.raw().split_once(", ").map_or(source.detail.raw(), |(_, detail)| detail);
        match room {
            ..120 => add("database", Tone::Dim),
            _ => add(&format!("database {detail}"), Tone::Dim),
        }
    }
}

/// Names the sources in trouble, or counts them where there is no room.
fn sources(state: &State, room: u16, add: &mut impl FnMut(&str, Tone)) {
    let Some(index) = &state.index else { return };
    let troubled: Vec<_> = troubled(&index.report).collect();
    match troubled.as_slice() {
        [] => {}
        [source] if room >= 80 => {
            add(&format!("{} {}", source_name(source), source_state(source.state)), Tone::Warning)
        }
        // The list of problems has it too.
        _ if room < 50 && index.summary.collisions > 0 => {}
        more if room < 80 => add(&format!("{} unread", more.len()), Tone::Warning),
        more => add(&format!("{} unread", count(more.len(), "source")), Tone::Warning),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::msg::Msg;
    use crate::app::state::Options;
    use crate::app::table::geometry::Size;
    use crate::app::update;
    use crate::core::model::{Code, Severity, SourceState};
    use crate::core::testing;

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

    #[test]
    fn where_there_is_little_room_words_go_before_counts() {
        let mut state = State::new(Options::default(), Size { width: 80, height: 24 }, testing::now());
        update(&mut state, Msg::Looked(Arc::new(testing::busy())));
        for (room, expected) in [
            (90, "claimtop  devbox  5 windows  7+ claims  2 collisions  1 dead claim  2 warnings"),
            (60, "5 windows  2 collisions  1 dead claim  2 warnings"),
            (50, "5 windows  2 collisions  1 dead claim  2"),
            (40, "5 windows  2 collisions  1  2"),
            (30, "5 windows  2  1  2"),
            (20, "5 windows  2  1"),
            (9, "5 windows"),
        ] {
            assert_eq!(fitting(&state, room).plain(), expected, "{room}");
        }
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
        let unread = "0 windows  claims unknown  not everything was read";
        check_unread("leo:postgres://far/leo", SourceState::Failed, unread);
        check_unread("leo:postgres://far/leo", SourceState::Absent, unread);
        check_unread("obra:/home/dev/o.db", SourceState::Partial, unread);
        check_unread("processes", SourceState::Failed, "windows unknown  0 claims  not everything was read");
        check_unread("maia", SourceState::Absent, "0 windows  0 claims  no problems");
    }
}
