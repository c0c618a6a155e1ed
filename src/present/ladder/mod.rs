//! Everything about one thing: each fact, where it was read, and the rule that decided.

pub(crate) mod claim;
pub(crate) mod finding;
pub(crate) mod left_over;
pub(crate) mod line;
pub(crate) mod record;
pub(crate) mod story;
pub(crate) mod window;

use crate::core::model::{Finding, Key};
use crate::present::lookup::Index;
use crate::present::machine;
use crate::present::page::Page;
use crate::present::tone::Tone;

/// Writes everything about a thing and returns its title.
pub(crate) fn write(page: &mut Page, index: &Index, key: &Key) -> String {
    if let Some(window) = index.window(key) {
        window::write(page, index, window);
    } else if let Some(record) = index.record(key) {
        record::write(page, index, record);
    } else if let Some(claim) = index.claim(key) {
        claim::write(page, index, claim);
    } else if let Some(one) = index.left_over(key) {
        left_over::write(page, index, one);
    } else if let Some(one) = index.left_tree(key) {
        left_over::tree_page(page, index, one);
    } else if let Some(machine) = index.machine(key) {
        machine::write(page, machine);
        return machine.name.clone();
    } else if let Some(finding) = index.finding(key) {
        return write_problem(page, index, finding, key);
    } else {
        if index.findings_near(key).is_empty() {
            page.text("It is gone since the last look.", Tone::Notice);
        }
        finding::write_advice_near(page, index, key);
        finding::write_near(page, index, key);
    }
    index.name(key)
}

/// Writes a finding with what it is about.
fn write_problem(page: &mut Page, index: &Index, finding: &Finding, key: &Key) -> String {
    finding::write(page, index, finding, key);
    for key in finding.subjects.iter().take(8) {
        page.heading(&format!("About {}", index.name(key)));
        if let Some(window) = index.window(key) {
            window::facts(page, index, window);
        } else if let Some(record) = index.record(key) {
            record::facts(page, record);
        } else if let Some(claim) = index.claim(key) {
            claim::facts(page, index, claim);
        } else if let Some(one) = index.left_over(key) {
            left_over::facts(page, index, one);
        }
    }
    finding.code.name().to_owned()
}
