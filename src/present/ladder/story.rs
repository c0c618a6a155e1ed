//! How a problem came to be: the events in order, each with what says so.

use crate::core::model::{Certitude, Event, Story};
use crate::present::text::outside;
use crate::present::text::page::Page;
use crate::present::text::tone::Tone;

/// Writes a story below its problem, which says what to do.
pub(crate) fn write(page: &mut Page, story: &Story) {
    if page.folds(story.events.len()) {
        return;
    }
    page.heading(&format!("How it came to be: {}", story.cause.name()));
    for event in &story.events {
        write_event(page, event);
    }
    page.gap();
    page.field("Would change", &story.would_change, Tone::Plain);
}

fn write_event(page: &mut Page, event: &Event) {
    let label = event.at.map_or_else(String::new, |at| page.clock(at));
    let (sentence, from) = match event.known {
        Certitude::Observed => (event.told.clone(), "seen in"),
        Certitude::Inferred => (format!("so: {}", event.told), "follows from"),
    };
    page.dated(&label, &sentence);
    let mut sources: Vec<String> = Vec::new();
    for evidence in &event.evidence {
        let source = outside(Some(&evidence.source));
        if !source.is_empty() && !sources.contains(&source) {
            sources.push(source);
        }
    }
    if !sources.is_empty() {
        page.dated("", &format!("({from} {})", sources.join(", ")));
    }
}
