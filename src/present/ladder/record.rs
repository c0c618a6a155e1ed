//! Everything about a session record.

use crate::core::model::{Generation, HolderView, Need, RecordView};
use crate::present::report_index::{Index, place_of};
use crate::present::text::age;
use crate::present::text::outside;
use crate::present::text::page::Page;
use crate::present::text::tone::{Tone, of_verdict};
use crate::present::words;

pub(crate) fn write(page: &mut Page, index: &Index, record: &RecordView) {
    super::finding::write_advice_near(page, index, &record.key);
    facts(page, record);
    super::finding::write_near(page, index, &record.key);
    for (at, claim) in index.claims_of(&record.key).enumerate() {
        if at == 0 {
            page.heading("Claims");
        }
        super::line::claim(page, claim);
    }
    let running = index.needs.iter().filter(|need| need.subject == record.key).find_map(Need::left);
    if let Some(left) = running.filter(|left| !left.left_overs.is_empty()) {
        page.heading("Left running");
        super::line::left_overs(page, index, left);
    }
    let stashes = running.iter().flat_map(|left| &left.left_stashes);
    stashes.filter_map(|key| index.left_stash(key)).for_each(|one| super::left_over::stash_line(page, one));
    more(page, index, record);
}

/// Writes the verdict and the facts under it.
pub(crate) fn facts(page: &mut Page, record: &RecordView) {
    let verdict = &record.verdict;
    page.sign(
        "Verdict",
        of_verdict(verdict.state),
        &format!("{}: {}", verdict.reason.name(), words::reason(verdict.reason)),
    );
    for evidence in &verdict.evidence {
        page.evidence(evidence);
    }
    if let Some(holder) = record.holder_view() {
        page.field("Holder", &holder_words(record, holder), Tone::Plain);
    }
    page.moment("Heartbeat", record.heartbeat_at);
    page.moment("Written", Some(record.written_at));
    stale(page, record);
    if record.has_ended {
        page.field("Session", "marked as ended", Tone::Plain);
    }
}

fn stale(page: &mut Page, record: &RecordView) {
    let stale = record.stale(page.now());
    if stale.is {
        let age = age::label(stale.age_seconds);
        page.field("Stale", &format!("by its own rule: {} ({age})", stale.rule), Tone::Warning);
    } else {
        let means = if record.expiry.is_some() { "; stale means" } else { "" };
        page.field("Stale", &format!("no{means}: {}", stale.rule), Tone::Dim);
    }
}

fn holder_words(record: &RecordView, holder: HolderView<'_>) -> String {
    let stated = record.holder.as_ref().map(|holder| holder.role);
    // The evidence has what the format says, and the living process can add more.
    let how = if stated == Some(holder.role) { "" } else { ", as its process shows" };
    let mut words = match holder.pid {
        Some(pid) => format!("PID {pid} ({}{how})", holder.role.whose()),
        None => "no usable PID".to_owned(),
    };
    if let Some(ticks) = holder.start_ticks {
        words.push_str(&format!("; start tick {ticks}"));
    }
    if let Some(boot) = holder.boot_id {
        words.push_str(&format!("; boot {}", outside(Some(boot))));
    }
    if let Some(host) = holder.host {
        words.push_str(&format!("; host {}", outside(Some(host))));
    }
    words
}

/// Writes what the record says beside its holder.
fn more(page: &mut Page, index: &Index, record: &RecordView) {
    page.heading("Record");
    let form = match record.generation {
        Generation::Current => "current",
        Generation::Legacy => "legacy",
    };
    let kind = words::record_kind(record.kind);
    page.field(
        "Format",
        &format!("{} {kind}, {form}: {}", record.format.name(), record.variant),
        Tone::Plain,
    );
    page.field("Where", &place_of(record), Tone::Plain);
    page.field("Session ID", &outside(record.session_id.as_ref()), Tone::Plain);
    page.field("Context ID", &outside(record.context_id.as_ref()), Tone::Plain);
    if let Some(window) = &record.window {
        page.field("Window", &index.name(window), Tone::Plain);
    }
    for (name, value) in &*record.facts {
        page.field(name, &outside(Some(value)), Tone::Plain);
    }
    page.field("Key", record.key.as_str(), Tone::Dim);
}
