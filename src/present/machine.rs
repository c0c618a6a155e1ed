//! How it stands with other machines, in words.

use jiff::Timestamp;

use crate::core::model::{MachineState, MachineView};
use crate::present::age;
use crate::present::page::Page;
use crate::present::text::safe;
use crate::present::tone::{Mark, Tone};

/// Returns how it stands with a machine, as a sign and a word.
pub(crate) fn standing(state: MachineState) -> (Mark, Tone, &'static str) {
    match state {
        MachineState::Connecting => (Mark::Unknown, Tone::Dim, "connecting"),
        MachineState::Live => (Mark::Alive, Tone::Good, "live"),
        MachineState::Silent => (Mark::Unknown, Tone::Warning, "silent"),
        MachineState::Unreached => (Mark::Dead, Tone::Bad, "unreached"),
    }
}

/// Says for how long nothing has been heard of a machine.
pub(crate) fn unseen_for(machine: &MachineView, now: Timestamp) -> Option<String> {
    Some(format!("not seen for {}", age::words(age::seconds(now, machine.seen_at?))))
}

/// Says in one sentence that nothing is heard of a machine, and why.
pub(crate) fn unheard(machine: &MachineView, now: Timestamp) -> String {
    let name = safe(&machine.name);
    match unseen_for(machine, now) {
        Some(unseen) => {
            format!("{name} is {}, {unseen}: nothing can be told from here", machine.state.name())
        }
        None if machine.detail.is_empty() => format!("{name} is {}", machine.state.name()),
        None => format!("{name} is {}: {}", machine.state.name(), machine.detail),
    }
}

/// Writes everything about a machine.
pub(crate) fn write(page: &mut Page, machine: &MachineView) {
    let (_, tone, word) = standing(machine.state);
    page.field("State", word, tone);
    if !machine.detail.is_empty() {
        page.field("Why", machine.detail.raw(), Tone::Plain);
    }
    page.field("Reached by", &machine.transport, Tone::Plain);
    for (name, value) in [("Host name", &machine.host), ("claimtop", &machine.version)] {
        if let Some(value) = value {
            page.field(name, value.raw(), Tone::Plain);
        }
    }
    page.field("Windows", &machine.windows.to_string(), Tone::Plain);
    if let Some(ms) = machine.latency_ms {
        page.field("Answers in", &format!("{ms} ms"), Tone::Plain);
    }
    if machine.not_understood > 0 {
        let told = format!("{} things that this version does not know", machine.not_understood);
        page.field("Also tells", &told, Tone::Warning);
    }
    if machine.state == MachineState::Silent {
        page.text(
            "What it told last is still shown. Nobody of it is known to live, and nobody is called dead but whom it \
             has proven dead itself.",
            Tone::Notice,
        );
    }
}
