//! Pages about what was observed: one change, what a thing has been through, what is new.

use jiff::Timestamp;

use crate::app::rows::history::{outcome, past_sign};
use crate::app::state::State;
use crate::core::history::journal::Entry;
use crate::core::history::timeline::{LATELY, Past, Timeline};
use crate::core::model::Key;
use crate::present::text::page::Page;
use crate::present::text::tone::{Line, Tone};
use crate::present::words;

/// How many changes of one thing are reported below its evidence.
const TOLD: usize = 8;

/// Writes everything about one change and returns its title.
pub(crate) fn write(page: &mut Page, past: &Past, timeline: &Timeline) -> String {
    page.lines.push(Line(vec![past_sign(past)]));
    page.field("What", &past.told, Tone::Strong);
    page.moment("Seen", Some(past.at));
    for key in &past.keys {
        page.heading(&format!("Everything seen of {key}"));
        list(page, timeline.entries_of(key, page.now()).take(TOLD));
    }
    past.event.name().to_owned()
}

/// Writes what a thing has been through, below its evidence.
pub(crate) fn write_of(page: &mut Page, timeline: &Timeline, key: &Key) {
    let mut past = timeline.entries_of(key, page.now()).take(TOLD).peekable();
    if past.peek().is_some() {
        page.heading("Seen lately");
        list(page, past);
    }
}

fn list<'a>(page: &mut Page, past: impl Iterator<Item = &'a Past>) {
    for past in past {
        page.dated(&page.clock(past.at), &past.told);
    }
}

/// Writes what has changed in the last ten minutes, our own actions too, and returns the title.
pub(crate) fn write_recent(page: &mut Page, state: &State) -> String {
    let now = state.told_at();
    let is_late = |entry: &&Entry| now.duration_since(entry.at) <= LATELY;
    let acts = state.history.entries.iter().rev().take_while(is_late);
    let act = |entry: &Entry| {
        let outcome = outcome(entry);
        (
            entry.at,
            format!(
                "claimtop {}: {} ({})",
                words::action(entry.intent.action),
                entry.intent.title,
                outcome.text()
            ),
        )
    };
    let seen = state.timeline.lately(now).map(|past| (past.at, past.told.clone()));
    let mut all: Vec<(Timestamp, String)> = seen.chain(acts.map(act)).collect();
    all.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    if all.is_empty() {
        page.text("Nothing has changed in the last ten minutes.", Tone::Good);
    }
    for (at, sentence) in all {
        page.dated(&page.clock(at), &sentence);
    }
    "What has changed in the last ten minutes".to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::SignedDuration;

    use crate::app::msg::{Effect, Msg, Press};
    use crate::app::state::{Options, State};
    use crate::app::table::geometry::Size;
    use crate::app::update;
    use crate::config::Switch;
    use crate::core::model::{EndedWindow, Key, Reason, Report};
    use crate::core::testing;

    /// Looks at the busy world and then, five seconds later, at what became of it.
    fn after(options: Options, change: impl Fn(&mut Report)) -> (State, Vec<Effect>) {
        let mut state = State::new(options, Size { width: 100, height: 30 }, testing::now());
        let mut later = testing::busy();
        assert_eq!(update(&mut state, Msg::Looked(Arc::new(testing::busy()))), [Effect::Redraw]);
        later.taken_at = testing::now() + SignedDuration::from_secs(5);
        change(&mut later);
        let effects = update(&mut state, Msg::Looked(Arc::new(later)));
        (state, effects)
    }

    fn press(state: &mut State, keys: &str) -> String {
        for c in keys.chars() {
            update(state, Msg::Pressed(if c == '\n' { Press::Enter } else { Press::Char(c) }));
        }
        let lines = state.panel.as_ref().map(|panel| panel.page.lines.clone()).unwrap_or_default();
        let text = |line: &super::Line| line.0.iter().map(|span| span.text()).collect::<String>();
        lines.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    fn codex_goes(report: &mut Report) {
        report.windows.retain(|window| window.pid != 5120);
        report.ended = vec![EndedWindow { window: Key::typed("w-5120"), reason: Reason::NoProcess }];
    }

    #[test]
    fn one_key_tells_what_has_changed_lately() {
        let (mut state, _) = after(Options::default(), codex_goes);
        let page = press(&mut state, "t");
        assert!(page.contains("10:00:05Z"), "{page}");
        assert!(page.contains("shop-docs (codex) died"), "{page}");
        let (mut state, _) = after(Options::default(), |_| {});
        assert!(press(&mut state, "t").contains("Nothing has changed"));
        let (mut state, _) = after(Options::default(), codex_goes);
        update(&mut state, Msg::Tick(testing::now() + SignedDuration::from_mins(11)));
        assert!(press(&mut state, "t").contains("Nothing has changed"));
    }

    #[test]
    fn the_history_has_what_was_seen_and_is_filtered() {
        let (mut state, _) = after(Options::default(), |report| {
            codex_goes(report);
            report.claims.retain(|claim| claim.resource.id.raw() != "SD-099");
        });
        press(&mut state, "7");
        let shown = |state: &State| state.table.rows.len();
        assert_eq!(shown(&state), 2);
        press(&mut state, "/SD-099\n");
        assert_eq!(shown(&state), 1);
        let page = press(&mut state, "\n");
        assert!(page.contains("gamma (PID 3999) let go of work-item SD-099"), "{page}");
        assert!(page.contains("Everything seen of c-SD-099"), "{page}");
    }

    #[test]
    fn a_thing_tells_what_it_has_been_through() {
        let (mut state, _) = after(Options::default(), |report| {
            for window in report.windows.iter_mut().filter(|window| window.pid == 4711) {
                window.cwd = Some("/home/dev/elsewhere".into());
            }
        });
        let page = press(&mut state, "2\n");
        assert!(page.contains("Seen lately"), "{page}");
        assert!(page.contains("cart api works in another folder"), "{page}");
    }

    #[test]
    fn what_is_seen_while_frozen_is_not_lost_and_is_kept_only_if_asked() {
        let (_, effects) = after(Options::default(), codex_goes);
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Keep(_))));
        let keeping = Options { history: Switch::On, ..Options::default() };
        let (mut state, effects) = after(keeping, codex_goes);
        assert!(matches!(effects.as_slice(), [Effect::Redraw, Effect::Keep(past)] if past.len() == 1));
        update(&mut state, Msg::Pressed(Press::Char('f')));
        let effects = update(&mut state, Msg::Looked(Arc::new(testing::busy())));
        assert!(matches!(effects.as_slice(), [Effect::Keep(past)] if past.len() == 1));
    }
}
