//! Findings: the sentence, the evidence, and what helps.

use super::story;
use crate::core::model::{Finding, Key, Remedy};
use crate::present::machine;
use crate::present::report_index::Index;
use crate::present::text::page::{Medium, Page};
use crate::present::text::tone::Tone;
use crate::present::words;

/// Writes what to do about the findings near a thing: on the screen that stands first on its page.
pub(crate) fn write_advice_near(page: &mut Page, index: &Index, key: &Key) {
    if page.medium() == Medium::Screen {
        index.findings_near(key).into_iter().for_each(|finding| write_advice(page, index, finding, key));
        page.gap();
    }
}

/// Writes the findings near a thing; on the screen below what to do about them. Plain output says so where
/// there are none: no other page has them.
pub(crate) fn write_near(page: &mut Page, index: &Index, key: &Key) {
    let findings = index.findings_near(key);
    if findings.is_empty() && page.medium() == Medium::Text {
        page.text("No known problems.", Tone::Good);
    }
    for finding in findings {
        page.gap();
        page.problem(finding.severity, finding.code.name(), &machine::problem(finding));
        if page.medium() == Medium::Text {
            write_advice(page, index, finding, key);
        }
        write_facts(page, finding);
    }
}

/// Writes a finding, on the page of a thing or on its own: what helps, then its evidence and how it came to be.
pub(crate) fn write(page: &mut Page, index: &Index, finding: &Finding, of: &Key) {
    if page.medium() == Medium::Screen {
        write_advice(page, index, finding, of);
    }
    page.problem(finding.severity, finding.code.name(), &machine::problem(finding));
    if page.medium() == Medium::Text {
        write_advice(page, index, finding, of);
    }
    write_facts(page, finding);
}

/// Writes what its story advises, with the key where that can be done from the page of this thing: on
/// that of another window the same key would end that one.
fn write_advice(page: &mut Page, index: &Index, finding: &Finding, of: &Key) {
    let Some(story) = &finding.story else { return };
    let lives = |key: &Key| index.window(key).is_some_and(|window| !index.has_ended(window));
    let is_meant = |key: &Key| key == of || index.finding(of).is_some();
    let (key, verb) = match words::remedy_key(Remedy::Stop).filter(|_| page.medium() == Medium::Screen) {
        Some(end) if finding.closes().is_some_and(|key| lives(key) && is_meant(key)) => end,
        Some(_) | None => return page.field("Do", &story.advice, Tone::Key),
    };
    page.field("Do", &format!("{}; {key} shows how to {verb} it", story.advice), Tone::Key);
}

/// Writes what helps against a finding, its evidence and how it came to be.
fn write_facts(page: &mut Page, finding: &Finding) {
    write_remedy(page, finding);
    page.field("Command", finding.command.as_deref().unwrap_or_default(), Tone::Key);
    for evidence in &finding.evidence {
        page.evidence(evidence);
    }
    if let Some(story) = &finding.story {
        story::write(page, story);
    }
}

/// Writes a finding as one of a list: what it is about instead of its evidence.
pub(crate) fn write_entry(page: &mut Page, index: &Index, finding: &Finding) {
    page.problem(finding.severity, finding.code.name(), &machine::problem(finding));
    let mut names: Vec<String> = finding.subjects.iter().map(|key| index.name(key)).collect();
    names.dedup();
    page.field("About", &names.join(", "), Tone::Dim);
    write_remedy(page, finding);
}

fn write_remedy(page: &mut Page, finding: &Finding) {
    let remedy = match page.medium() {
        Medium::Screen => {
            words::remedy_key(finding.remedy).map(|(key, verb)| format!("{key} shows how to {verb}"))
        }
        Medium::Text => words::remedy(finding.remedy).map(str::to_owned),
    };
    page.field("Remedy", &remedy.unwrap_or_default(), Tone::Key);
}
