//! The evidence ladder of one thing: every fact, where it was read, and the rule that decided.

pub(crate) mod claim;
pub(crate) mod record;
pub(crate) mod story;
pub(crate) mod window;

use crate::core::model::finding::Finding;
use crate::core::model::key::Key;
use crate::present::lookup::Index;
use crate::present::page::Page;
use crate::present::tone::{Tone, of_severity};
use crate::present::words;

/// Writes everything about a thing and returns its title.
pub(crate) fn write(page: &mut Page, index: &Index, key: &Key) -> String {
    if let Some(window) = index.window(key) {
        window::write(page, index, window);
    } else if let Some(record) = index.record(key) {
        record::write(page, index, record);
    } else if let Some(claim) = index.claim(key) {
        claim::write(page, index, claim);
    } else if let Some(finding) = index.finding(key) {
        return write_problem(page, index, finding);
    } else {
        page.text("It is gone since the last look.", Tone::Notice);
    }
    index.name(key)
}

/// Writes a finding with what it is about.
fn write_problem(page: &mut Page, index: &Index, finding: &Finding) -> String {
    write_finding(page, finding);
    if let Some(story) = finding.story() {
        story::write(page, story);
    }
    for key in finding.subjects().iter().take(8) {
        page.heading(&format!("About {}", index.name(key)));
        if let Some(window) = index.window(key) {
            window::facts(page, index, window);
        } else if let Some(record) = index.record(key) {
            record::facts(page, record);
        } else if let Some(claim) = index.claim(key) {
            claim::facts(page, index, claim);
        }
    }
    finding.code.name().to_owned()
}

/// Writes the findings near a thing under a heading; nothing when there are none.
fn write_findings(page: &mut Page, index: &Index, key: &Key) {
    for finding in index.findings_near(key) {
        page.gap();
        write_finding(page, finding);
    }
}

fn write_finding(page: &mut Page, finding: &Finding) {
    let (mark, tone, _) = of_severity(finding.severity);
    page.problem((mark, tone), finding.code.name(), &finding.message().to_string());
    for evidence in &finding.evidence() {
        page.evidence(evidence);
    }
    if let Some((key, verb)) = words::remedy_key(finding.remedy) {
        page.field("Helps", &format!("{key} shows how to {verb}"), Tone::Key);
    }
}
