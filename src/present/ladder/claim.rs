//! Everything about a claim.

use crate::core::model::snapshot::work::TRANSCRIPT;
use crate::core::model::{ClaimView, Releasable, SurfaceState};
use crate::present::report_index::Index;
use crate::present::text::outside;
use crate::present::text::page::Page;
use crate::present::text::tone::{Tone, of_claim};
use crate::present::words;

/// How many edited files are named one by one, the last edited first.
const MOST_FILES: usize = 12;

pub(crate) fn write(page: &mut Page, index: &Index, claim: &ClaimView) {
    super::finding::write_advice_near(page, index, &claim.key);
    facts(page, index, claim);
    super::finding::write_near(page, index, &claim.key);
    page.heading(&format!("Stated by {}", index.name(&claim.record.key)));
    crate::present::ladder::record::facts(page, &claim.record);
}

/// Writes how the claim stands and where it is written.
pub(crate) fn facts(page: &mut Page, index: &Index, claim: &ClaimView) {
    page.sign("Status", of_claim(claim.status), words::claim_status(claim));
    let holds = format!("{} {}", claim.resource.kind.name(), words::holds(claim));
    page.field("Holds", &holds, Tone::Strong);
    for file in claim.files.iter().take(MOST_FILES) {
        page.field("File", &outside(Some(file)), Tone::Plain);
    }
    if claim.surfaces.iter().any(|surface| surface.name == TRANSCRIPT) {
        page.note_unseen();
    }
    if let Some(window) = &claim.window {
        page.field("Window", &index.name(window), Tone::Plain);
    }
    page.moment("Since", claim.since);
    for surface in claim.surfaces.iter() {
        let tone = match surface.state {
            SurfaceState::Agrees => Tone::Plain,
            SurfaceState::Disagrees | SurfaceState::Missing => Tone::Warning,
            SurfaceState::Unread => Tone::Notice,
        };
        page.field(
            "Written in",
            &format!("{} · {}", surface.name, words::surface_state(surface.state)),
            tone,
        );
    }
    let tone = match claim.releasable {
        Releasable::Yes => Tone::Key,
        Releasable::Confirm | Releasable::No => Tone::Dim,
    };
    page.field("Release", words::releasable(claim.releasable, page.medium()), tone);
    page.field("Key", claim.key.as_str(), Tone::Dim);
}
