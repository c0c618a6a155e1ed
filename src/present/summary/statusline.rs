//! A window's own line in its status bar.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::fleet::last_known::{Counts, KnownMachine};
use crate::core::model::{ContextFill, Finding, Report, Severity, WindowDoing, WindowView};
use crate::present::need::doing::{fill, question};
use crate::present::report_index::{Index, window_name};
use crate::present::summary::Summary;
use crate::present::text::age;
use crate::present::text::count;
use crate::present::text::tone::of_window;

/// From how many percent on a context is reported as nearly full.
const NEARLY_FULL: u64 = 85;

/// Returns a window's name and state, what it waits for, its collisions, and how full its context is
/// where that is nearly.
pub(crate) fn own_words(report: &Arc<Report>, window: &WindowView) -> Vec<String> {
    let index = Index::new(Arc::clone(report));
    let state = match &window.waiting {
        Some(waiting) => {
            let since = waiting
                .since
                .map_or(String::new(), |since| format!(" ({})", age::label_between(report.taken_at, since)));
            format!("{}{since}: {}", WindowDoing::Asks.word(), question(waiting, None))
        }
        None => of_window(window).2.to_owned(),
    };
    let near = index.findings_near(&window.key);
    let collisions = near.into_iter().filter(|finding| finding.severity == Severity::Collision);
    let collisions = collisions.map(|finding| collision(&index, window, finding));
    let context = window.work.as_ref().and_then(|work| work.doing.context);
    let full = context.filter(|context| context.percent().is_some_and(|percent| percent >= NEARLY_FULL));
    let full = full.map(|context: ContextFill| format!("context {}", fill(context)));
    let own = std::iter::once(format!("{} {state}", window_name(window)));
    own.chain(collisions).chain(full).collect()
}

/// Returns what was last known of other machines, and how long ago they were heard; nothing where nothing is known.
pub(crate) fn elsewhere_words<'a>(
    known: impl Iterator<Item = &'a KnownMachine>,
    now: Timestamp,
) -> Option<String> {
    let known: Vec<&KnownMachine> = known.collect();
    let heard = known.iter().filter(|one| one.state.is_heard());
    // Of those that were heard the oldest answer counts, and else the last sign of life of any.
    let oldest = heard.clone().map(|one| one.at).min();
    let at = oldest.or_else(|| known.iter().map(|one| one.at).max())?;
    let sum = |count: fn(&Counts) -> usize| known.iter().map(|one| count(&one.counts)).sum::<usize>();
    let windows = heard.clone().map(|one| one.counts.windows).sum();
    let waiting = heard.clone().map(|one| one.counts.waiting).sum();
    let waits = Summary { waiting, ..Summary::default() }.waits();
    let unheard = known.len() - heard.count();
    let trouble = [
        (sum(|counts| counts.collisions), "collision"),
        (sum(|counts| counts.dead_claims), "dead claim"),
        (unheard, "machine"),
    ];
    let trouble = trouble.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| {
        let what = count(number, noun);
        if noun == "machine" { format!("{what} not seen") } else { what }
    });
    let all = [count(windows, "window")].into_iter().chain((waiting > 0).then_some(waits)).chain(trouble);
    let all: Vec<String> = all.collect();
    Some(format!("elsewhere {} ago: {}", age::label_between(now, at), all.join(", ")))
}

/// Names a collision, and the other windows in it.
fn collision(index: &Index, window: &WindowView, finding: &Finding) -> String {
    let about = finding.subjects.iter().filter_map(|key| index.window_of(key));
    let others: BTreeSet<String> = about.filter(|other| other.key != window.key).map(window_name).collect();
    let others = others.into_iter().collect::<Vec<_>>().join(", ");
    if others.is_empty() {
        finding.code.name().to_owned()
    } else {
        format!("{} with {others}", finding.code.name())
    }
}
