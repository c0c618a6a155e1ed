//! Why a window's tool call cannot end by itself, and what to do about it.

use crate::core::model::{Stall, StallReason, Untrusted};
use crate::present::text::safe;

/// The proof and the way out, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StallWords {
    /// What is proven.
    pub(crate) what: String,
    /// What to do: a command where there is one.
    pub(crate) way: String,
}

impl StallWords {
    /// Returns both in one sentence.
    pub(crate) fn sentence(&self) -> String {
        format!("{}: {}", self.what, self.way)
    }
}

/// Describes the proof that a call cannot end.
pub(crate) fn describe(stuck: &Stall) -> StallWords {
    let pid = stuck.pid;
    let process = process(&stuck.command, pid);
    let on = |or: &str| stuck.on.as_ref().map_or_else(|| or.to_owned(), |on| safe(on.raw()));
    let end = format!("kill {pid}");
    let (what, way) = match stuck.reason {
        StallReason::OutputHeld => {
            (format!("the tool's shell has ended, but {process} still has its output open"), end)
        }
        StallReason::Stopped => (format!("{process} is stopped"), format!("kill -CONT {pid}")),
        StallReason::Terminal => {
            let what = format!("{process} waits at {}, which only this window can answer", on("a terminal"));
            (what, format!("answer it there, or {end}"))
        }
        StallReason::Lock => {
            let waits = stuck.waits.map_or_else(String::new, |waits| format!("PID {waits} "));
            let held = format!("{waits}waits for the lock on {}, which {process}", on("a file"));
            match (&stuck.window, stuck.window_pid) {
                (Some(name), _) => {
                    (format!("{held} of {} holds", safe(name.raw())), "wait for that window".to_owned())
                }
                (None, Some(window)) => {
                    (format!("{held} of window {window} holds"), "wait for that window".to_owned())
                }
                (None, None) => (format!("{held} has from a process that has ended"), end),
            }
        }
    };
    StallWords { what, way }
}

/// Names a process by the beginning of its command line.
fn process(command: &Untrusted, pid: u32) -> String {
    const MOST: usize = 40;
    let raw = command.raw();
    if raw.is_empty() {
        return format!("PID {pid}");
    }
    let short = match raw.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", raw.get(..end).unwrap_or_default()),
        None => raw.to_owned(),
    };
    format!("`{}` (PID {pid})", safe(&short))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn stuck(reason: StallReason) -> Stall {
        Stall {
            reason,
            pid: 31,
            command: "npm run dev".into(),
            since: Timestamp::UNIX_EPOCH,
            on: None,
            waits: None,
            window_pid: None,
            window: None,
        }
    }

    #[track_caller]
    fn check(stuck: &Stall, expected: &str) {
        assert_eq!(describe(stuck).sentence(), expected);
    }

    #[test]
    fn each_proof_names_its_process_and_the_way_out() {
        check(
            &stuck(StallReason::OutputHeld),
            "the tool's shell has ended, but `npm run dev` (PID 31) still has its output open: kill 31",
        );
        check(&stuck(StallReason::Stopped), "`npm run dev` (PID 31) is stopped: kill -CONT 31");
        check(
            &Stall { on: Some("pts/3".into()), ..stuck(StallReason::Terminal) },
            "`npm run dev` (PID 31) waits at pts/3, which only this window can answer: \
             answer it there, or kill 31",
        );
        let lock = Stall { on: Some("/w/.lock".into()), waits: Some(30), ..stuck(StallReason::Lock) };
        check(
            &lock,
            "PID 30 waits for the lock on /w/.lock, which `npm run dev` (PID 31) has from a process that has \
             ended: kill 31",
        );
        check(
            &Stall { window_pid: Some(9), window: Some("shop".into()), ..lock },
            "PID 30 waits for the lock on /w/.lock, which `npm run dev` (PID 31) of shop holds: \
             wait for that window",
        );
    }

    #[test]
    fn a_hostile_command_is_shown_escaped_and_cut() {
        let hostile = Stall { command: "\u{1b}]0;x\u{7}".into(), ..stuck(StallReason::Stopped) };
        assert!(!describe(&hostile).what.contains('\u{1b}'));
        let long = Stall { command: "x".repeat(400).into(), ..stuck(StallReason::Stopped) };
        assert!(describe(&long).what.chars().count() < 80);
    }
}
