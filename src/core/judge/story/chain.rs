//! A chain of events while it is put together.

use jiff::Timestamp;

use crate::core::model::{Cause, Certitude, Event, Evidence, Story};

/// The most events of a story; the oldest and the newest matter most.
const MOST: usize = 16;

/// Collects events.
#[derive(Default)]
pub(crate) struct Chain {
    events: Vec<Event>,
}

impl Chain {
    /// Adds an event that was read.
    pub(crate) fn saw(
        &mut self,
        at: Option<Timestamp>,
        told: impl Into<String>,
        evidence: impl Into<Vec<Evidence>>,
    ) {
        self.push(at, told.into(), Certitude::Observed, evidence.into());
    }

    /// Adds what follows from `evidence`.
    pub(crate) fn concluded(
        &mut self,
        at: Option<Timestamp>,
        told: impl Into<String>,
        evidence: impl Into<Vec<Evidence>>,
    ) {
        self.push(at, told.into(), Certitude::Inferred, evidence.into());
    }

    fn push(&mut self, at: Option<Timestamp>, told: String, known: Certitude, evidence: Vec<Evidence>) {
        self.events.push(Event { at, told, known, evidence });
    }

    /// Sorts the events and ends the story with its conclusion. An event without a time stays behind the one it was
    /// reported after.
    pub(crate) fn end(self, ending: Ending, conclusion: Event) -> Option<Story> {
        let mut last = None;
        let mut dated: Vec<(Option<Timestamp>, Event)> = Vec::with_capacity(self.events.len() + 1);
        for event in self.events {
            last = event.at.or(last);
            dated.push((last, event));
        }
        dated.sort_by_key(|(at, _)| *at);
        let mut events: Vec<Event> = dated.into_iter().map(|(_, event)| event).collect();
        if events.len() > MOST {
            events.drain(MOST / 2..events.len() - MOST / 2);
        }
        events.push(conclusion);
        let Ending { cause, advice, would_change } = ending;
        Some(Story { cause, events, advice, yields: Vec::new(), would_change })
    }
}

/// The conclusion of a story.
pub(crate) struct Ending {
    /// The cause.
    pub(crate) cause: Cause,
    /// What to do.
    pub(crate) advice: String,
    /// The cheapest observation that would change the verdict.
    pub(crate) would_change: String,
}

impl Ending {
    /// States all three.
    pub(crate) fn new(cause: Cause, advice: impl Into<String>, would_change: impl Into<String>) -> Self {
        Self { cause, advice: advice.into(), would_change: would_change.into() }
    }
}

/// Makes the last event, which follows from all the others.
pub(crate) fn so(told: impl Into<String>, evidence: impl Into<Vec<Evidence>>) -> Event {
    Event { at: None, told: told.into(), known: Certitude::Inferred, evidence: evidence.into() }
}
