//! `events`: what changes, one line for each change, until interrupted.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::interval;

use super::following::{Following, Next, follow_all};
use crate::cli::look;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::{Paint, Shape, complain, is_reader_gone, print};
use crate::cli::show::explain::find;
use crate::core::history::change::Change;
use crate::core::history::diff::diff;
use crate::core::history::subject::Subject as What;
use crate::core::model::text::json;
use crate::core::model::{Key, MachineState, Report, Untrusted};
use crate::core::plan::find::Subject;
use crate::observe::Observer;
use crate::observe::fleet::Others;
use crate::present::change::{is_news, sentence};
use crate::present::text::tone::{Tone, of_claim, of_doing, of_severity, of_verdict};
use crate::present::text::zone::Zone;
use crate::source::os::clock;

/// How often to ask whether there is still a reader.
const READER: Duration = Duration::from_secs(1);

/// Prints what is there, and then each change, until INT, TERM or the end of the reader.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(observer: Observer, others: Others, about: Option<String>, shape: Shape) -> Outcome {
    if let Some(line) = look::not_asked(&others.not_asked) {
        complain(&line);
    }
    follow_all(observer, others.fleet, async |following| stream(following, about, shape).await)
}

/// The state of the other machines as last printed.
#[derive(Default)]
struct Standing {
    last_states: Vec<(MachineState, Untrusted)>,
    exit: Option<Exit>,
}

impl Standing {
    /// Prints each machine that has become silent or is back: what is missing stands beside the events.
    fn print_machines(&mut self, report: &Report) {
        let now: Vec<_> =
            report.machines.iter().map(|machine| (machine.state, machine.detail.clone())).collect();
        for (at, (machine, (state, why))) in report.machines.iter().zip(&now).enumerate() {
            if self.last_states.get(at).is_none_or(|(before, words)| (before, words) != (state, why)) {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                complain(&format!("machine {} is {}{why}", machine.name, state.name()));
            }
        }
        self.last_states = now;
        self.exit = Some(look::missing(report));
    }
}

async fn stream(mut following: Following, about: Option<String>, shape: Shape) -> Outcome {
    let mut topic = about.map(Topic::new);
    let mut ticks = interval(READER);
    let mut before: Option<Arc<Report>> = None;
    let mut standing = Standing::default();
    let zone = Zone(clock::zone());
    loop {
        // `None` when it is only time to ask for the reader.
        let next = tokio::select! {
            biased;
            next = following.next() => Some(next),
            _ = ticks.tick() => None,
        };
        if is_reader_gone() {
            return Ok(standing.exit.unwrap_or(Exit::Fine));
        }
        match next.transpose()? {
            Some(Next::Looked(now)) => {
                standing.print_machines(&now);
                let mut changes = diff(before.as_deref(), &now);
                if let Some(topic) = &mut topic {
                    topic.learn(&now)?;
                    changes.retain(|change| topic.is_told(change));
                }
                print(&lines(&changes, shape, &zone)?)?;
                before = Some(now);
            }
            Some(Next::Interrupted) => return Ok(standing.exit.unwrap_or(Exit::Fine)),
            Some(Next::HintsLost) | None => {}
        }
    }
}

/// What the changes must be about: all that a name has meant so far, and what belongs to it.
struct Topic {
    name: String,
    keys: BTreeSet<Key>,
}

impl Topic {
    fn new(name: String) -> Self {
        Self { name, keys: BTreeSet::new() }
    }

    /// Adds what the name means by now.
    ///
    /// # Errors
    /// At first nothing or several things are called so.
    fn learn(&mut self, report: &Report) -> Result<(), Failure> {
        let found = match find::find_all(report, &self.name) {
            Ok(found) => found,
            Err(failure) if self.keys.is_empty() => return Err(failure),
            // What has gone is reported all the same, and may come back.
            Err(_) => return Ok(()),
        };
        for subject in found {
            self.keys.insert(subject.key().clone());
            if let Subject::Window(window) = subject {
                self.keys.extend(window.records.iter().chain(&window.claims).cloned());
            }
            let key = subject.key();
            let of_record = report.claims.iter().filter(|claim| claim.record.key == *key);
            self.keys.extend(of_record.map(|claim| claim.key.clone()));
        }
        Ok(())
    }

    fn is_told(&self, change: &Change) -> bool {
        change.subject.keys().iter().any(|key| self.keys.contains(key))
    }
}

fn lines(changes: &[Change], shape: Shape, zone: &Zone) -> Result<String, Failure> {
    let mut out = String::new();
    for change in changes {
        match shape {
            Shape::Text(_) if !is_news(change) => {}
            Shape::Text(paint) => out.extend([line(change, zone, paint).as_str(), "\n"]),
            Shape::Json => out.extend([json::to_line(change)?.as_str(), "\n"]),
        }
    }
    Ok(out)
}

/// Describes a change in one line for people, at their own time.
fn line(change: &Change, zone: &Zone, paint: Paint) -> String {
    let time = paint.paint(Tone::Dim, &zone.clock_and_offset(change.at, change.at));
    let what = paint.paint(tone(&change.subject), &zone.localized(&sentence(change)));
    format!("{time}  {:<15}  {what}", change.event.name())
}

fn tone(subject: &What) -> Tone {
    match subject {
        What::Window { state, doing, .. } => of_doing(*state, *doing).1,
        What::Record { verdict, .. } => of_verdict(*verdict).1,
        What::Claim { status, .. } => status.map_or(Tone::Dim, |status| of_claim(status).1),
        What::Finding { severity, .. } => of_severity(*severity).1,
    }
}
