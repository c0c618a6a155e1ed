//! Everything about one thing: each fact, where it was read, and the rule that decided.

pub(crate) mod claim;
pub(crate) mod finding;
pub(crate) mod left_over;
pub(crate) mod line;
pub(crate) mod record;
pub(crate) mod story;
pub(crate) mod window;

use crate::core::model::{Code, Finding, Key, Need, NeedKind, Remains};
use crate::present::machine;
use crate::present::need::{alike, sentence};
use crate::present::report_index::Index;
use crate::present::text::page::Page;
use crate::present::text::tone::Tone;

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
    } else if let Some(one) = index.left_stash(key) {
        left_over::stash_page(page, one);
    } else if let Some(machine) = index.machine(key) {
        machine::write(page, machine);
        return machine.name.clone();
    } else if let Some(finding) = index.finding(key) {
        return write_problem(page, index, finding, key);
    } else if let Some(NeedKind::MoreDied { .. }) = index.need(key).map(|need| &need.kind) {
        return more_died(page, index);
    } else if let Some(NeedKind::Alike { code, needs }) = index.need(key).map(|need| &need.kind) {
        return write_alike(page, index, (*code, needs));
    } else {
        if index.findings_near(key).is_empty() {
            page.text("Gone since the last look.", Tone::Notice);
        }
        finding::write_advice_near(page, index, key);
        finding::write_near(page, index, key);
    }
    index.name(key)
}

/// Lists the collisions of one kind that are one line.
fn write_alike(page: &mut Page, index: &Index, (code, needs): (Code, &[Need])) -> String {
    page.text("Problems (5) has each of them with its story:", Tone::Plain);
    let says = needs.iter().map(|need| sentence(&index.report, need, index.report.taken_at));
    list(page, &alike::described(code, needs).0, says);
    code.name().to_owned()
}

/// Lists what the dead windows have left that are not listed one by one.
fn more_died(page: &mut Page, index: &Index) -> String {
    let remains: Vec<&Remains> = index.needs.iter().filter_map(Need::left).collect();
    page.text("In these views, release or end what they left, one by one or marked with Space.", Tone::Plain);
    let claims = index.report.claims.iter().filter(|claim| claim.is_dead());
    let claims: Vec<_> =
        claims.filter(|claim| remains.iter().all(|left| !left.claims.contains(&claim.key))).collect();
    list(page, "Claims (4)", claims.iter().map(|claim| index.name(&claim.key)));
    let running = index.report.left_overs.iter().filter(|one| one.is_left());
    let running: Vec<_> =
        running.filter(|one| remains.iter().all(|left| !left.left_overs.contains(&one.key))).collect();
    list(page, "Left-overs (6)", running.iter().map(|one| index.name(&one.key)));
    "More windows that have died".to_owned()
}

/// Lists names below a heading, if there are any.
fn list(page: &mut Page, heading: &str, names: impl ExactSizeIterator<Item = String>) {
    const MOST: usize = 40;
    if names.len() == 0 {
        return;
    }
    page.heading(heading);
    let more = names.len().saturating_sub(MOST);
    names.take(MOST).for_each(|name| page.text(&name, Tone::Plain));
    if more > 0 {
        page.text(&format!("and {more} more"), Tone::Dim);
    }
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
