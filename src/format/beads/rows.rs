//! The rows of an SQLite database of beads: taken `issues`.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::{Format, Record, RecordDetail, RecordKind, ResourceKind, StatedClaim, Untrusted};
use crate::format::Source;
use crate::format::reading::Reading;
use crate::format::reading::cells::Cells;
use crate::format::reading::draft;

/// The table of issues.
pub const TABLE: &str = "issues";

/// Reads the taken issues of a working tree: total, for any values.
pub fn rows(source: &Source, tree: &Path, rows: &[Cells], reading: &Reading<'_>) -> Vec<Arc<Record>> {
    rows.iter().filter_map(|row| issue(row, source, tree, reading)).map(draft::finished).collect()
}

fn issue(row: &Cells, source: &Source, tree: &Path, reading: &Reading<'_>) -> Option<Record> {
    row.text("status").filter(|status| is_taken(status))?;
    let id: Untrusted = row.text("id")?.into();
    let assignee = row.text("assignee").filter(|name| !name.is_empty())?;
    let mut record = source.row(Format::Beads, RecordKind::Metadata, TABLE, id.clone(), reading);
    let title = row
        .text("title")
        .map(|title| crate::format::reading::excerpt::excerpt(title, 60))
        .unwrap_or_default();
    record.variant = "issue";
    record.title = format!("{}: {}", id.raw(), title.raw()).into();
    record.cwd = Some(tree.into());
    record.started_at = row.time("updated_at");
    record.written_at = record.started_at.unwrap_or(reading.now);
    record.claims = [claim(id, record.started_at, "issues")].into();
    record.detail = RecordDetail::Taken { owner: Some(assignee.into()), is_shared: false };
    record.facts =
        draft::known([("owner", Some(assignee.into())), ("status", row.text("status").map(Untrusted::from))]);
    Some(record)
}

/// Returns an export without the claims that its database itself has: without all of them if the database was written
/// later, else without those on issues that it has. `None` if the record is not an export of a database in this
/// folder.
pub(crate) fn without_copies(
    export: &Record,
    folder: &Path,
    database: &[Cells],
    is_newer: bool,
) -> Option<Record> {
    let is_beside = export.location.path().and_then(Path::parent) == Some(folder);
    if export.format != Format::Beads || !is_beside || export.claims.is_empty() {
        return None;
    }
    let has = |id: &Untrusted| database.iter().any(|row| row.text("id") == Some(id.raw()));
    let mut left = export.clone();
    let claims = left.claims.into_iter();
    left.claims = claims.filter(|claim| !is_newer && !has(&claim.resource.id)).collect();
    Some(left)
}

pub(crate) fn claim(id: Untrusted, since: Option<Timestamp>, surface: &'static str) -> StatedClaim {
    StatedClaim::new(ResourceKind::Task, id, surface, since)
}

/// Returns whether an issue of this status is taken.
pub(crate) fn is_taken(status: &str) -> bool {
    matches!(status, "in_progress" | "hooked")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::Ownership;
    use crate::format::testing;

    fn row(id: &str, status: &str, assignee: &str) -> Cells {
        let cells = [("id", id), ("status", status), ("assignee", assignee), ("title", "Fix login")];
        Cells(cells.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }

    #[test]
    fn only_what_somebody_works_on_is_held() {
        let all = [
            row("a-1", "in_progress", "alice"),
            row("a-2", "in_progress", ""),
            row("a-3", "closed", "bob"),
            row("a-4", "hooked", "max"),
        ];
        let source = Source { database: "/s/.beads/beads.db".into(), ownership: Ownership::default() };
        let host = testing::host(0);
        let records = rows(&source, Path::new("/s"), &all, &Reading { host: &host, now: testing::now() });
        let told: Vec<String> = records.iter().map(|record| record.title.shown()).collect();
        assert_eq!(told, ["a-1: Fix login", "a-4: Fix login"]);
    }

    #[test]
    fn an_export_tells_only_what_its_database_does_not() {
        let text = ["a-1", "a-9"]
            .map(|id| format!("{{\"id\":\"{id}\",\"status\":\"in_progress\",\"assignee\":\"alice\"}}\n"));
        let mut file = testing::image("issues.jsonl", text.concat().as_bytes(), 60);
        file.path = Path::new("/s/.beads/issues.jsonl").to_path_buf().into();
        let export = testing::record(testing::read(|reading| {
            super::super::read(super::super::Kind::Issues, &file, reading)
        }));
        let rows = [row("a-1", "closed", "alice")];
        let left = |folder: &str, is_newer| {
            let left = without_copies(&export, Path::new(folder), &rows, is_newer)?;
            Some(left.claims.iter().map(|claim| claim.resource.id.shown()).collect::<Vec<_>>())
        };
        assert_eq!(left("/s/.beads", false), Some(vec!["a-9".to_owned()]));
        assert_eq!(left("/s/.beads", true), Some(vec![]));
        assert_eq!(left("/t/.beads", true), None);
    }
}
