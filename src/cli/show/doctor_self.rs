//! `doctor --self`: what the system grants claimtop, what it costs where it does not, and whom
//! claimtop remembers to be dead.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::anyhow;
use serde::Serialize;

use super::grants::{Grant, grants};
use crate::act::fs::system::System;
use crate::act::state::tombstones;
use crate::cli::output::failure::{Exit, Failure, Outcome, of_action};
use crate::cli::output::{Paint, Shape, print};
use crate::cli::settings::Settings;
use crate::core::model::Tombstone;
use crate::core::model::report::SCHEMA;
use crate::core::model::text::json;
use crate::core::model::text::shown;
use crate::observe::Observer;
use crate::present::text::tone::Tone;
use crate::present::text::zone::Zone;
use crate::source::os::clock;
use crate::source::os::processes::own::own_pid;

/// What this program was built for.
const PLATFORM: &str = if cfg!(target_env = "musl") { "linux (musl)" } else { std::env::consts::OS };

/// What is asked about claimtop itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Tell,
    DropTombstones,
}

/// What `doctor --self --json` prints.
#[derive(Serialize)]
struct About<'a> {
    schema: &'static str,
    grants: Vec<Grant>,
    tombstones: &'a [Tombstone],
}

/// Looks once and prints what claimtop can see; or forgets the machines that it remembers.
///
/// # Errors
/// The output or the tombstones cannot be written.
pub(crate) fn run(settings: &Settings, observer: &mut Observer, wish: Wish, shape: Shape) -> Outcome {
    let path = settings.places.tombstones();
    if wish == Wish::DropTombstones {
        if settings.effective.config.access.is_read_only() {
            return Err(Failure::new(Exit::Refused, anyhow!("--read-only: nothing is changed")));
        }
        let dropped = path.as_deref().map_or(Ok(()), |path| tombstones::drop_all(&System, path));
        dropped.map_err(of_action)?;
        print("All tombstones are dropped.\n")?;
        return Ok(Exit::Fine);
    }
    let snapshot = observer.look();
    let about =
        About { schema: SCHEMA, grants: grants(settings, &snapshot), tombstones: &snapshot.tombstones };
    match shape {
        Shape::Text(paint) => print(&text(&about, path.as_deref(), &Zone(clock::zone()), paint))?,
        Shape::Json => print(&format!("{}\n", json::to_string_pretty(&about)?))?,
    }
    Ok(Exit::Fine)
}

fn text(about: &About<'_>, path: Option<&Path>, zone: &Zone, paint: Paint) -> String {
    let mut out =
        format!("claimtop {} runs as PID {} on {PLATFORM}.\n", env!("CARGO_PKG_VERSION"), own_pid());
    for Grant { what, granted, detail, cost } in &about.grants {
        let (word, tone) = if *granted { ("yes", Tone::Good) } else { ("no", Tone::Warning) };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {what:<12} {} {detail}", paint.paint(tone, &format!("{word:<3}")));
        if let Some(cost) = cost {
            let _ = writeln!(out, "{:17}{}", "", paint.paint(Tone::Dim, &format!("so: {cost}")));
        }
    }
    let place = path.map(|path| shown(&path.to_string_lossy())).unwrap_or_default();
    let _ = writeln!(out, "{} tombstones of this boot, in {place}", about.tombstones.len());
    about.tombstones.iter().for_each(|stone| out.push_str(&line(stone, zone)));
    out
}

fn line(stone: &Tombstone, zone: &Zone) -> String {
    let session = stone.session_id.as_ref().map_or_else(String::new, |id| format!(", session {id}"));
    let at = zone.date(stone.proven_at);
    let (pid, start) = (stone.id.pid, stone.id.start_ticks);
    format!("  PID {pid}, start tick {start}: {}, {at}{session}\n", stone.reason.name())
}
