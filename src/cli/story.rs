//! Stories in plain output: when, what, and what says so.

use super::output::{Paint, Tone};
use crate::core::model::story::{Event, Known, Story};
use crate::core::model::text::shown;

/// Lays a story out below its finding.
pub(crate) fn text(story: &Story, paint: Paint) -> String {
    let heading = format!("How it came to be: {}", story.cause.name());
    let mut out = format!("  {}\n", paint.paint(Tone::Heading, &heading));
    for event in &story.events {
        out.push_str(&line(event, paint));
    }
    out.push_str(&format!("    do: {}\n", shown(&story.advice)));
    out.push_str(&format!("    would change it: {}\n", shown(&story.would_change)));
    out
}

fn line(event: &Event, paint: Paint) -> String {
    let at = event.at.map_or_else(String::new, |at| at.strftime("%F %H:%M:%SZ").to_string());
    let (known, from) = match event.known {
        Known::Observed => ("", "seen in"),
        Known::Inferred => ("so: ", "follows from"),
    };
    let mut sources: Vec<String> = Vec::new();
    for source in event.evidence.iter().map(|evidence| evidence.fact().source.shown()) {
        if !source.is_empty() && !sources.contains(&source) {
            sources.push(source);
        }
    }
    let mut out = format!("    {:<20}  {known}{}\n", at, shown(&event.told));
    if !sources.is_empty() {
        let from = paint.paint(Tone::Dim, &format!("{from} {}", sources.join(", ")));
        out.push_str(&format!("    {:<20}  {from}\n", ""));
    }
    out
}
