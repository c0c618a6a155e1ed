//! The rows of the database: `file_reservations` with the names of its agents and projects.
//!
//! A row is held while its `released_ts` is null, or 0, and no `file_reservation_releases` names it.

use std::sync::Arc;

use jiff::Timestamp;

use super::reservation::{Reservation, is_over};
use crate::core::model::{Format, Record, RecordKind, Untrusted};
use crate::format::Source;
use crate::format::agent_mail::reservation::archived_as;
use crate::format::reading::Reading;
use crate::format::reading::cells::Cells;
use crate::format::reading::{draft, time};

/// A time of at least this number counts microseconds, as newer servers write it: the year 5138 in milliseconds.
const MICROSECONDS: i64 = 100_000_000_000_000;

/// One row that was read.
struct Row<'a>(&'a Cells);

/// Reads the rows that hold something: total, for any values.
pub fn rows(source: &Source, rows: &[Cells], reading: &Reading<'_>) -> Vec<Arc<Record>> {
    let held = rows.iter().map(Row).filter(|row| !row.is_released());
    held.filter(|row| !is_over(row.time("expires_ts"), reading.now))
        .map(|row| draft::finished(row.record(source, reading)))
        .collect()
}

/// Returns whether a record of the archive is a copy of one of these rows, whatever their state: then the row counts.
pub fn is_copied(record: &Record, rows: &[Cells]) -> bool {
    let Some((slug, number)) = record.location.path().and_then(archived_as) else { return false };
    let pattern = record.files.first().map(Untrusted::raw);
    record.format == Format::AgentMail
        && rows.iter().any(|row| {
            let is_named = number.is_none_or(|number| row.number("id") == Some(number));
            is_named && row.text("slug") == Some(slug) && row.text("path_pattern") == pattern
        })
}

impl Row<'_> {
    fn is_released(&self) -> bool {
        let is_set = |at: &str| at.trim().parse::<f64>().map_or(!at.is_empty(), |number| number > 0.0);
        ["released_ts", "released_too"].iter().any(|name| self.0.text(name).is_some_and(is_set))
    }

    /// Reads a time: text in UTC, or a number of seconds, milliseconds or microseconds.
    fn time(&self, name: &str) -> Option<Timestamp> {
        match self.0.number(name) {
            Some(number) if number >= MICROSECONDS => Timestamp::from_microsecond(number).ok(),
            Some(number) if number >= MICROSECONDS / 1_000 => time::epoch_ms(number),
            Some(number) => time::epoch_ms(number.checked_mul(1_000)?),
            None => self.0.time(name),
        }
    }

    fn record(&self, source: &Source, reading: &Reading<'_>) -> Record {
        let id = self.0.text("id").unwrap_or_default().into();
        let mut record =
            source.row(Format::AgentMail, RecordKind::Metadata, "file_reservations", id, reading);
        let text = |name: &str| self.0.text(name).map(Untrusted::from);
        let reservation = Reservation {
            pattern: text("path_pattern").unwrap_or_default(),
            agent: text("agent").or_else(|| text("agent_id").map(|id| format!("agent {}", id.raw()).into())),
            tree: None,
            project: self.0.text("human_key").map(Into::into),
            is_exclusive: !matches!(self.0.text("exclusive"), Some("0" | "f" | "false")),
            reason: self.0.text("reason").map(Into::into),
            branch: None,
            created_at: self.time("created_ts"),
            ends_at: self.time("expires_ts"),
            surface: "file_reservations",
        };
        reservation.fill(&mut record);
        record.written_at = record.started_at.unwrap_or(reading.now);
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::Ownership;
    use crate::format::testing;

    /// Reads one row that reserves `src/**` until a moment; the look is at 21:48.
    fn read(cells: &[(&str, &str)]) -> (Vec<Cells>, Vec<Arc<Record>>) {
        let usual = [("id", "7"), ("slug", "shop"), ("human_key", "/src/shop"), ("path_pattern", "src/**")];
        let all = usual.iter().chain(cells).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let rows = vec![Cells(all.collect())];
        let source = Source { database: "/m/storage.sqlite3".into(), ownership: Ownership::default() };
        let host = testing::host(0);
        let records = super::rows(&source, &rows, &Reading { host: &host, now: testing::now() });
        (rows, records)
    }

    #[track_caller]
    fn check(cells: &[(&str, &str)], expected: Option<&str>) {
        let (_, records) = read(cells);
        let ends = records
            .first()
            .map(|record| record.expiry.as_ref().map_or("no end".to_owned(), |expiry| expiry.at.to_string()));
        assert_eq!(ends.as_deref(), expected, "{cells:?}");
    }

    #[test]
    fn a_row_is_held_until_it_is_released_or_has_long_run_out() {
        check(&[("expires_ts", "2026-11-20 22:00:00.000000")], Some("2026-11-20T22:00:00Z"));
        check(&[("expires_ts", "1795212000000000")], Some("2026-11-20T22:00:00Z"));
        check(&[("expires_ts", "1795212000"), ("released_ts", "0")], Some("2026-11-20T22:00:00Z"));
        check(&[("expires_ts", "2026-11-20 22:00:00"), ("released_ts", "2026-11-20 21:00:00")], None);
        check(&[("expires_ts", "1795212000000000"), ("released_too", "1795211000000000")], None);
        check(&[("expires_ts", "2026-11-18 22:00:00")], None);
        check(&[("expires_ts", "9223372036854775807")], Some("no end"));
        check(&[], Some("no end"));
    }

    #[test]
    fn a_copy_in_the_archive_is_known_by_project_number_and_files() {
        let (rows, _) = read(&[("released_ts", "2026-11-20 21:00:00")]);
        let copied = |path: &str, pattern: &str| {
            let text = format!(r#"{{"path_pattern":"{pattern}","expires_ts":"2026-11-20T22:00:00Z"}}"#);
            let mut file = testing::image("x", text.as_bytes(), 60);
            file.path = std::path::PathBuf::from(path).into();
            is_copied(
                &testing::record(testing::read(|reading| super::super::read((), &file, reading))),
                &rows,
            )
        };
        assert!(copied("/m/projects/shop/file_reservations/id-7.json", "src/**"));
        assert!(copied("/m/projects/shop/file_reservations/0123.json", "src/**"));
        assert!(!copied("/m/projects/shop/file_reservations/id-8.json", "src/**"));
        assert!(!copied("/m/projects/shop/file_reservations/id-7.json", "docs/**"));
        assert!(!copied("/m/projects/other/file_reservations/id-7.json", "src/**"));
    }
}
