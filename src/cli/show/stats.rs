//! `stats`: how often the dead held claims, for how long, and what was done about it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::anyhow;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::act::state::dead_holds;
use crate::cli::act::looking;
use crate::cli::guard::held_up;
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::{Exit, Failure, Outcome, of_action};
use crate::cli::output::{Paint, Shape, print};
use crate::cli::settings::Settings;
use crate::core::history::dead_holds::{DeadHold, HeldByDead, by_system};
use crate::core::history::journal::{Entry, History};
use crate::core::model::text::json;
use crate::core::model::text::shown;
use crate::core::model::{Action, ForecastBook, ForecastCounts, Format};
use crate::present::text::age::label;
use crate::present::text::count;
use crate::source::os::{clock, host};
use crate::source::own::forecasts;

/// What `stats --json` prints.
#[derive(Serialize)]
struct Stats {
    schema: &'static str,
    /// The days that were asked for, before now.
    days: u16,
    /// The beginning of what is counted; later than asked for where nothing was kept before.
    since: Timestamp,
    until: Timestamp,
    /// Holders that were first seen dead, for each day of this machine's time zone that had any.
    by_day: Vec<Day>,
    dead_holds: Vec<Group>,
    actions: Actions,
    /// Calls that the guard held up or denied.
    held_up: usize,
    /// What was foreseen of working trees, since it is counted.
    foresight: Foresight,
}

/// What was foreseen of working trees.
#[derive(Serialize)]
struct Foresight {
    since: Option<Timestamp>,
    pairs: u64,
    #[serde(flatten)]
    counts: ForecastCounts,
}

impl Foresight {
    fn new(book: &ForecastBook) -> Self {
        Self { since: book.since, pairs: book.counts.pairs(), counts: book.counts }
    }

    fn words(&self, now: Timestamp) -> String {
        let Some(since) = self.since.filter(|_| self.pairs > 0) else {
            return "No working trees were compared yet: an open screen does that.\n".to_owned();
        };
        let ForecastCounts { checks, clean, conflicts, unknown, came_true, did_not } = self.counts;
        let ended = came_true + did_not;
        let ended = match ended {
            0 => "none of them was merged since".to_owned(),
            _ => format!("{came_true} of {ended} merged since as foreseen"),
        };
        format!(
            "{} of working trees compared in {} in the last {}: {clean} clean, {conflicts} in conflict, {unknown} unknown; {ended}\n",
            counted(self.pairs, "pair"),
            counted(checks, "check"),
            label(now.duration_since(since).as_secs()),
        )
    }
}

fn counted(number: u64, noun: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), noun)
}

#[derive(Serialize)]
struct Day {
    day: Date,
    holders: usize,
}

/// Dead holders of one system and one shape of terminal ID.
#[derive(Serialize)]
struct Group {
    system: Format,
    terminal: Option<String>,
    holders: usize,
    still_held: usize,
    median: Span,
    longest: Span,
}

/// How long something was held after its holder died, in seconds.
#[derive(Serialize)]
struct Span {
    /// Since it was first seen dead.
    at_least_s: i64,
    /// Since its last sign of life.
    at_most_s: i64,
}

impl Span {
    fn new((at_least, at_most): (SignedDuration, SignedDuration)) -> Self {
        Self { at_least_s: at_least.as_secs(), at_most_s: at_most.as_secs() }
    }

    fn words(&self) -> String {
        let (least, most) = (label(self.at_least_s), label(self.at_most_s));
        if least == most { least } else { format!("{least} to {most}") }
    }
}

/// What was done from here, by the journal.
#[derive(Serialize)]
struct Actions {
    released: usize,
    migrated: usize,
    parked: usize,
    stopped: usize,
    undone: usize,
}

impl Actions {
    fn counted(history: &History, since: Timestamp) -> Self {
        let done = |entry: &&Entry| entry.at >= since && entry.is_done() && entry.intent.asked_of().is_none();
        let of = |action| {
            let is_it = |entry: &&Entry| entry.intent.action == action;
            history.entries.iter().filter(done).filter(is_it).count()
        };
        Self {
            released: of(Action::Release),
            migrated: of(Action::Migrate),
            parked: of(Action::Park),
            stopped: of(Action::Stop),
            undone: of(Action::Undo),
        }
    }
}

/// Prints what was kept of the last days. Nothing is looked at.
///
/// # Errors
/// What was kept cannot be read, or the output cannot be written.
pub(crate) fn run(settings: &Settings, days: u16, shape: Shape) -> Outcome {
    let now = clock::now();
    let path = settings.places.tombstones().map(|path| dead_holds::beside(&path));
    let read = |path: PathBuf| {
        let failed = |errno: rustix::io::Errno| {
            let failed = anyhow!("{}: {errno}", shown(&path.to_string_lossy()));
            Failure::new(Exit::Failed, failed)
        };
        dead_holds::kept(&path, &host::host(now)).map_err(failed)
    };
    let holds = path.map(read).transpose()?.unwrap_or_default();
    let history = looking(settings)?.history().map_err(of_action)?;
    let asked = now.checked_sub(SignedDuration::from_hours(24 * i64::from(days))).unwrap_or(Timestamp::MIN);
    let (held_up, counted_from) = held_up(settings, asked);
    let first = holds.iter().map(|hold| hold.seen_at);
    let first = first.chain(history.entries.first().map(|entry| entry.at)).chain(counted_from).min();
    let since = asked.max(first.unwrap_or(now));
    let book = forecasts::last_book(&settings.state).unwrap_or_default();
    let counts = (Actions::counted(&history, asked), held_up, Foresight::new(&book));
    let stats = stats(&holds, (asked, since, now), days, counts);
    match shape {
        Shape::Json => print(&format!("{}\n", json::to_string_pretty(&stats)?))?,
        Shape::Text(paint) => print(&text(&stats, paint))?,
    }
    Ok(Exit::Fine)
}

fn stats(
    holds: &[DeadHold],
    (asked, since, now): (Timestamp, Timestamp, Timestamp),
    days: u16,
    (actions, held_up, foresight): (Actions, usize, Foresight),
) -> Stats {
    let counted = || holds.iter().filter(|hold| hold.seen_at >= asked);
    let mut by_day: BTreeMap<Date, usize> = BTreeMap::new();
    let zone = clock::zone();
    counted().for_each(|hold| *by_day.entry(hold.seen_at.to_zoned(zone.clone()).date()).or_default() += 1);
    let group = |((system, terminal), held): ((Format, Option<&str>), HeldByDead)| Group {
        system,
        terminal: terminal.map(str::to_owned),
        holders: held.holders,
        still_held: held.open,
        median: Span::new(held.median()),
        longest: Span::new(held.longest()),
    };
    Stats {
        schema: "claimtop.stats.v1",
        days,
        since,
        until: now,
        by_day: by_day.into_iter().map(|(day, holders)| Day { day, holders }).collect(),
        dead_holds: by_system(counted(), now).into_iter().map(group).collect(),
        actions,
        held_up,
        foresight,
    }
}

fn text(stats: &Stats, paint: Paint) -> String {
    let since = label(stats.until.duration_since(stats.since).as_secs());
    let Actions { released, migrated, parked, stopped, undone } = stats.actions;
    let done = format!(
        "{released} released, {migrated} migrated, {parked} parked, {stopped} stopped, {undone} undone; {} held up by the guard\n",
        count(stats.held_up, "call"),
    ) + &stats.foresight.words(stats.until);
    if stats.since == stats.until {
        let compared = stats.foresight.words(stats.until);
        return format!(
            "No data yet: each look of claimtop, such as `claimtop ls`, keeps what it sees.\n{compared}"
        );
    }
    if stats.dead_holds.is_empty() {
        return format!(
            "No dead holder of a claim was seen in the last {since} that claimtop knows of.\n{done}"
        );
    }
    let mut table =
        Columns::new(&["SYSTEM", "TERMINAL ID", "DEAD HOLDERS", "STILL HELD", "HELD (MEDIAN)", "LONGEST"]);
    for group in &stats.dead_holds {
        table.row([
            Cell::new(group.system.name()),
            Cell::maybe(group.terminal.as_deref().map(shown)),
            Cell::new(group.holders),
            Cell::new(group.still_held),
            Cell::new(group.median.words()),
            Cell::new(group.longest.words()),
        ]);
    }
    let all: usize = stats.by_day.iter().map(|day| day.holders).sum();
    let most = stats.by_day.iter().max_by_key(|day| day.holders);
    let most =
        most.map(|most| format!(", {} on {}, the most in a day", most.holders, most.day)).unwrap_or_default();
    let table = table.laid_out(paint, None);
    format!(
        "{table}\n{} in the last {since}{most}.\n\
         A claim was held for at least as long as claimtop saw its holder dead, and at most since that one's last sign of life.\n{done}",
        count(all, "dead holder"),
    )
}
