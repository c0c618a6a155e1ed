//! `guard stats`: what the guard has said so far, and how long that took.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;

use super::scope::counted_in;
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::{Exit, Outcome};
use crate::cli::output::{Shape, print};
use crate::cli::settings::Settings;
use crate::core::model::text::json;
use crate::guard::outcome::{CountLine, GuardOutcome};
use crate::source::own::ledger::end_of;

/// How much is read of what was counted, in bytes: more than is kept.
const MOST: usize = 1 << 20;

/// Counts what was said to each agent.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn stats(settings: &Settings, shape: Shape) -> Outcome {
    let counted = counted(settings);
    let mut counts: BTreeMap<(&str, GuardOutcome), Vec<u64>> = BTreeMap::new();
    for one in &counted {
        counts.entry((&one.agent, one.said)).or_default().push(one.took);
    }
    counts.values_mut().for_each(|took| took.sort_unstable());
    let failed: u64 = counted.iter().map(|one| u64::from(one.keep_failed)).sum();
    match shape {
        Shape::Json => {
            let one = |((agent, said), took): (&(&str, GuardOutcome), &Vec<u64>)| serde_json::json!({ "agent": agent, "said": said, "count": took.len(), "p50_us": at(took, 50), "p99_us": at(took, 99), "max_us": at(took, 100) });
            let all: Vec<serde_json::Value> = counts.iter().map(one).collect();
            let since = counted.first().map(|one| one.at.to_string());
            print(&format!(
                "{}\n",
                json::to_string_pretty(
                    &serde_json::json!({ "since": since, "said": all, "keep_failed": failed })
                )?
            ))?;
        }
        Shape::Text(_) if counts.is_empty() => print("The guard has not run yet: see `claimtop setup`.\n")?,
        Shape::Text(paint) => {
            let mut table = Columns::new(&["AGENT", "SAID", "TIMES", "p50", "p99", "MAX"]);
            for ((agent, said), took) in &counts {
                let ms = |per_cent| Cell::new(format!("{:.1} ms", at(took, per_cent) as f64 / 1e3));
                table.row([
                    Cell::new(agent),
                    Cell::new(said.label()),
                    Cell::new(took.len()),
                    ms(50),
                    ms(99),
                    ms(100),
                ]);
            }
            print(&table.laid_out(paint, None))?;
            if failed > 0 {
                print(&format!(
                    "{failed} times what a window wrote could not be kept: see the folder `kept` of `claimtop config`'s state folder.\n"
                ))?;
            }
        }
    }
    Ok(Exit::Fine)
}

/// Reads what was counted, oldest first.
fn counted(settings: &Settings) -> Vec<CountLine> {
    let path = counted_in(settings);
    let mut older = path.as_os_str().to_owned();
    older.push(".1");
    let texts = [older.into(), path].into_iter().filter_map(|path: PathBuf| end_of(&path, MOST));
    texts
        .flat_map(|text| text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<_>>())
        .collect()
}

/// Returns how many calls it has held up since a moment, and since when it counts at all.
pub(crate) fn held_up(settings: &Settings, since: Timestamp) -> (usize, Option<Timestamp>) {
    let counted = counted(settings);
    let is_held =
        |one: &&CountLine| one.at >= since && matches!(one.said, GuardOutcome::HeldUp | GuardOutcome::Denied);
    (counted.iter().filter(is_held).count(), counted.first().map(|one| one.at))
}

fn at(sorted: &[u64], per_cent: usize) -> u64 {
    sorted
        .get((sorted.len() * per_cent / 100).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}
