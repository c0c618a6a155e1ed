//! The plan of bringing dead windows back: which, where, by which command, and why not.

use crate::app::state::State;
use crate::core::model::Untrusted;
use crate::core::plan::bring_back::ClosedWindow;
use crate::present::text::page::Page;
use crate::present::text::tone::Tone;
use crate::present::text::{count, outside, safe};

/// Writes the plan and returns its title.
pub(crate) fn write(page: &mut Page, state: &State, sessions: &[Untrusted]) -> String {
    let found = state.bring_back.windows_of(sessions);
    match found.as_deref() {
        None => page.text("Looking whether anything alive runs their sessions…", Tone::Dim),
        Some([]) => {
            page.text("Its session runs again, or it is not known which session it had.", Tone::Notice)
        }
        Some(closed) => {
            let able = closed.iter().filter(|one| one.refusal.is_none()).count();
            if state.options.access.is_read_only() {
                page.text("claimtop is read-only: nothing is opened.", Tone::Notice);
            } else if able > 0 && !state.bring_back.is_confirmed {
                let what = format!("y brings back {} {}.", count(able, "window"), state.bring_back.place);
                page.text(&what, Tone::Key);
                page.text(
                    "It opens windows and closes none. All sessions are looked for again first, so that none runs twice.",
                    Tone::Dim,
                );
            }
            closed.iter().for_each(|one| write_one(page, state, one));
        }
    }
    "Bring back".to_owned()
}

fn write_one(page: &mut Page, state: &State, one: &ClosedWindow) {
    page.heading(&safe(one.name.raw()));
    page.field("Agent", one.agent, Tone::Plain);
    page.field("Folder", &outside(one.folder.as_ref()), Tone::Plain);
    page.field("Was doing", &outside(one.doing.as_ref()), Tone::Plain);
    page.moment("Last seen", Some(one.last_seen_at));
    match &one.refusal {
        Some(why) => page.field("Not from here", &safe(why), Tone::Notice),
        None => page.field("Command", &safe(&one.line().unwrap_or_default()), Tone::Key),
    }
    if let Some(said) = state.bring_back.said.get(&one.session) {
        page.field("Now", &safe(said), Tone::Strong);
    }
}
