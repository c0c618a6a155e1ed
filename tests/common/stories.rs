//! A world's expectations for its findings' stories.

use claimtop::core::model::{Certitude, Event, Finding, Report};
use serde::Deserialize;

use super::expect::json_name;

/// The expectations for one finding: the first of its code that fits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectFinding {
    /// The code of the finding.
    pub(crate) code: String,
    /// Its cause; empty if it must have no story.
    #[serde(default)]
    pub(crate) cause: Option<String>,
    /// Parts of the events' sentences, in their order. One that begins with `so:` must be concluded, all others
    /// observed.
    #[serde(default)]
    story: Vec<String>,
    /// A part of the remedy.
    #[serde(default)]
    advice: String,
    /// A part of what would change the verdict.
    #[serde(default)]
    would_change: String,
    /// The remedy's shell line.
    #[serde(default)]
    command: Option<String>,
}

/// Compares one finding's story with its expectations.
pub(crate) fn check_finding(wanted: &ExpectFinding, report: &Report, out: &mut Vec<String>) {
    let of_code = || report.findings.iter().filter(|finding| finding.code.name() == wanted.code);
    if !of_code().any(|finding| difference(wanted, finding).is_none()) {
        let found: Vec<String> =
            of_code().map(|f| difference(wanted, f).unwrap_or_default() + &told(f)).collect();
        out.push(format!("story of {}: {}", wanted.code, found.join("; ")));
    }
}

fn difference(wanted: &ExpectFinding, finding: &Finding) -> Option<String> {
    let command = finding.command.as_deref();
    if wanted.command.as_ref().is_some_and(|wanted| Some(wanted.as_str()) != command) {
        return Some(format!("command {command:?}"));
    }
    let Some(story) = &finding.story else {
        return wanted.cause.as_ref().filter(|cause| !cause.is_empty()).map(|_| "no story".to_owned());
    };
    let cause = json_name(&story.cause);
    if wanted.cause.as_ref().is_some_and(|wanted| *wanted != cause) {
        return Some(format!("cause {cause}"));
    }
    let mut events = story.events.iter();
    let mut is_told = |part: &&String| events.any(|event| fits(event, part));
    if let Some(missing) = wanted.story.iter().find(|part: &&String| !is_told(part)) {
        return Some(format!("{missing:?} is not told, or not in its place"));
    }
    let ends = [(&story.advice, &wanted.advice), (&story.would_change, &wanted.would_change)];
    ends.iter()
        .find(|(text, part)| !text.contains(part.as_str()))
        .map(|(text, part)| format!("{text:?} lacks {part:?}"))
}

fn fits(event: &Event, part: &str) -> bool {
    match part.strip_prefix("so: ") {
        Some(part) => event.known == Certitude::Inferred && event.told.contains(part),
        None => event.known == Certitude::Observed && event.told.contains(part),
    }
}

fn told(finding: &Finding) -> String {
    let Some(story) = &finding.story else { return String::new() };
    let line = |event: &Event| format!("\n      {} {:?} {}", json_name(&event.known), event.at, event.told);
    let events: String = story.events.iter().map(line).collect();
    format!(
        " ({}){events}\n      do: {}\n      would change: {}",
        story.cause.name(),
        story.advice,
        story.would_change
    )
}
