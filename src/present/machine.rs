//! How it stands with other machines, in words.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::core::model::{Finding, Key, MachineState, MachineView, Report, WindowView};
use crate::present::text::age;
use crate::present::text::page::Page;
use crate::present::text::safe;
use crate::present::text::tone::{Mark, Tone, of_window};

/// Returns how it stands with a machine, as a sign and a word.
pub(crate) fn standing(state: MachineState) -> (Mark, Tone, &'static str) {
    match state {
        MachineState::Connecting => (Mark::Unknown, Tone::Dim, "connecting"),
        MachineState::Live => (Mark::Alive, Tone::Good, "live"),
        MachineState::Late => (Mark::Quiet, Tone::Notice, "late"),
        MachineState::Silent => (Mark::Unknown, Tone::Warning, "silent"),
        MachineState::Unreached => (Mark::Dead, Tone::Bad, "unreached"),
    }
}

/// The most characters of what follows the program's name in a row.
const BRIEF: usize = 28;

/// Says in a few words how a machine is reached: the program by its name, and no long paths after it.
pub(crate) fn briefly(transport: &str) -> String {
    let (program, rest) = transport.split_once(' ').unwrap_or((transport, ""));
    let name = program.rsplit('/').next().unwrap_or(program);
    if !rest.contains(' ') {
        return format!("{name} {rest}").trim_end().to_owned();
    }
    let mut brief = name.to_owned();
    for word in rest.split(' ').filter(|word| !word.is_empty()) {
        if brief.chars().count() + word.chars().count() > name.chars().count() + BRIEF {
            return brief + " …";
        }
        brief = format!("{brief} {word}");
    }
    brief
}

/// Says for how long nothing has been heard of a machine.
pub(crate) fn unseen_for(machine: &MachineView, now: Timestamp) -> Option<String> {
    Some(format!("not seen for {}", age::label(age::seconds(now, machine.seen_at?))))
}

/// The machines of a report of which nothing is heard, by their names.
pub(crate) struct Unheard<'a>(HashMap<&'a str, &'a MachineView>);

impl<'a> Unheard<'a> {
    pub(crate) fn from_report(report: &'a Report) -> Self {
        let unheard = report.machines.iter().filter(|machine| !machine.state.is_heard());
        Self(unheard.map(|machine| (machine.name.as_str(), machine)).collect())
    }

    /// Returns the machine that a thing is on, if nothing is heard of it.
    pub(crate) fn machine(&self, key: &Key) -> Option<&'a MachineView> {
        self.0.get(key.machine()?).copied()
    }

    /// Returns how a window's process looks, which is not known of a machine that is not heard.
    pub(crate) fn standing(&self, window: &WindowView) -> (Mark, Tone, &'static str) {
        match self.machine(&window.key) {
            Some(_) => (Mark::Unknown, Tone::Dim, "not seen"),
            None => of_window(window),
        }
    }
}

/// Says in one sentence that nothing is heard of a machine, and why.
pub(crate) fn unheard(machine: &MachineView, now: Timestamp) -> String {
    let name = safe(&machine.name);
    match unseen_for(machine, now) {
        Some(unseen) => {
            format!("{name} is {}, {unseen}: its state is unknown", machine.state.name())
        }
        None if machine.detail.is_empty() => format!("{name} is {}", machine.state.name()),
        None => format!("{name} is {}: {}", machine.state.name(), machine.detail),
    }
}

/// Says of a sentence about these things on which other machine they all are: a PID, a path or a name in it is good
/// there alone. One about several machines names them itself.
pub(crate) fn there(subjects: &[Key], sentence: String) -> String {
    match only_machine(subjects.iter()) {
        Some(name) => format!("on {}: {sentence}", safe(name)),
        None => sentence,
    }
}

/// Returns the other machine that all of these things are on, if there is one.
pub(crate) fn only_machine<'a>(subjects: impl Iterator<Item = &'a Key>) -> Option<&'a str> {
    let mut machines = subjects.map(Key::machine);
    machines.next().flatten().filter(|first| machines.all(|machine| machine == Some(*first)))
}

/// Says what is wrong, and on which machine, where that is another one.
pub(crate) fn problem(finding: &Finding) -> String {
    there(&finding.subjects, finding.message.to_string())
}

/// Says the same in a few words.
pub(crate) fn problem_in_brief(finding: &Finding) -> String {
    there(&finding.subjects, finding.message.brief())
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
        let text = format!("{} things that this version does not know", machine.not_understood);
        page.field("Also sends", &text, Tone::Warning);
    }
    if machine.state == MachineState::Silent {
        page.text(
            "The last data is still shown. Nothing there is known to be alive, and only what the machine itself \
             proved dead is called dead.",
            Tone::Notice,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_how_a_machine_is_reached_and_not_all_of_a_long_command() {
        for (transport, brief) in [
            ("ssh devbox", "ssh devbox"),
            ("kubectl exec -n dev/web-0", "kubectl exec -n dev/web-0"),
            ("/opt/bin/reach", "reach"),
            (
                "devcontainer /home/dev/src/a-long-name-of-a-folder",
                "devcontainer /home/dev/src/a-long-name-of-a-folder",
            ),
            ("/usr/bin/claimtop demo-machine web /tmp/claimtop-demo-x1", "claimtop demo-machine web …"),
            ("unshare --pid --fork --kill-child --mount-proc sh", "unshare --pid --fork --kill-child …"),
        ] {
            assert_eq!(briefly(transport), brief);
        }
    }
}
