//! An answer: its text, its JSON and its exit code.

use jiff::Timestamp;
use serde::Serialize;

use crate::cli::output::failure::{Exit, Outcome};
use crate::cli::output::{Shape, lines, print_if_heard};
use crate::core::judge::session::lives::Life;
use crate::core::model::text::json;
use crate::core::model::{Key, Process, Snapshot, Untrusted, Verdict, VerdictState};
use crate::present::text::page::Page;
use crate::present::words;

/// The schema of the JSON.
const SCHEMA: &str = "claimtop.alive.v1";

/// What was asked about, by the name of its argument.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Subject {
    Process(Untrusted),
    Session(Untrusted),
    Pane(Untrusted),
    File(Untrusted),
}

/// The process behind the answer, for a caller to record.
#[derive(Serialize)]
pub(super) struct ProcessView {
    pid: u32,
    start_ticks: u64,
    started_at: Option<Timestamp>,
    name: Untrusted,
}

/// The answer to one question.
#[derive(Serialize)]
pub(crate) struct Answer {
    schema: &'static str,
    taken_at: Timestamp,
    subject: Subject,
    #[serde(flatten)]
    verdict: Verdict,
    /// The process that has the PID now, whatever the verdict.
    process: Option<ProcessView>,
    /// The record or window that decided.
    decided_by: Option<Key>,
}

impl Answer {
    pub(super) fn new(subject: Subject, verdict: Verdict, taken_at: Timestamp) -> Self {
        Self { schema: SCHEMA, taken_at, subject, verdict, process: None, decided_by: None }
    }

    /// Creates the answer of a look.
    pub(super) fn of_look(subject: Subject, life: Life, snapshot: &Snapshot) -> Self {
        let answer = Self::new(subject, life.verdict, snapshot.taken_at).with_process(life.pid, snapshot);
        Self { decided_by: life.decided_by, ..answer }
    }

    /// Adds the process that has a PID in a look.
    pub(super) fn with_process(mut self, pid: Option<u32>, snapshot: &Snapshot) -> Self {
        let process = pid.and_then(|pid| snapshot.processes.get(pid));
        self.process = process.map(|process: &Process| ProcessView {
            pid: process.id.pid,
            start_ticks: process.id.start_ticks,
            started_at: snapshot.host.wall_clock(process.id.start_ticks),
            name: process.comm.clone(),
        });
        self
    }

    /// Returns when it was seen, the verdict, and the PID of the process that has the PID now.
    pub(crate) fn judged(&self) -> (Timestamp, &Verdict, Option<u32>) {
        (self.taken_at, &self.verdict, self.process.as_ref().map(|process| process.pid))
    }

    fn exit(&self) -> Exit {
        match self.verdict.state {
            VerdictState::Alive => Exit::Fine,
            VerdictState::Dead => Exit::Dead,
            VerdictState::Unknown => Exit::Unknown,
        }
    }

    /// Prints the answer. If nothing reads the output, the exit code still answers.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn print(&self, shape: Shape) -> Outcome {
        let text = match shape {
            Shape::Json => format!("{}\n", json::to_string_pretty(self)?),
            Shape::Text(paint) => {
                let Verdict { state, reason, evidence, .. } = &self.verdict;
                let mut page = Page::for_text(self.taken_at);
                evidence.iter().for_each(|evidence| page.evidence(evidence));
                let first = format!("{} {}: {}\n", state.name(), reason.name(), words::reason(*reason));
                first + &lines(&page, paint)
            }
        };
        print_if_heard(&text)?;
        Ok(self.exit())
    }
}
