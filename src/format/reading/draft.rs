//! Drafts: a record with only the facts of its file, before a format fills it in.

use std::sync::Arc;

use jiff::SignedDuration;

use crate::core::model::NamedTexts;
use crate::core::model::record::Problem;
use crate::core::model::record::Record;
use crate::core::model::record::claim::{ResourceKind, StatedClaim};
use crate::core::model::record::format::Format;
use crate::core::model::record::kind::RecordKind;
use crate::core::model::record::location::{Location, Row};
use crate::core::model::record::ownership::Ownership;
use crate::core::model::report::context::is_valid_id;
use crate::core::model::report::finding::code::Code;
use crate::core::model::snapshot::BrokenFile;
use crate::core::model::snapshot::file::{FileImage, FileMeta};
use crate::core::model::text::Untrusted;
use crate::format::reading::Reading;
use crate::format::reading::json;

/// How long a temporary file may be a write in flight: 60 s.
pub(crate) const IN_FLIGHT_FOR: SignedDuration = SignedDuration::from_secs(60);

/// Starts a record of the current generation with only its file.
pub(crate) fn record(format: Format, kind: RecordKind, file: &FileImage, reading: &Reading<'_>) -> Record {
    // An unknown age counts as zero: an old one could make a younger process look reborn.
    let written_at = file.meta.map_or(reading.now, |meta| meta.modified_at);
    let changed_at = file.meta.filter(FileMeta::is_changed_later).map(|meta| meta.changed_at);
    let location = Location::File(file.path.clone());
    Record {
        changed_at,
        made_at: file.made_at,
        // For git's locks it is the process that has the file open.
        locked_by: file.locked_by.filter(|_| format != Format::Git),
        ..Record::blank((format, kind), location, file.ownership(), written_at)
    }
}

/// Starts a record of the current generation with only its row.
pub(crate) fn row(
    format: Format,
    kind: RecordKind,
    row: Row,
    ownership: Ownership,
    reading: &Reading<'_>,
) -> Record {
    Record::blank((format, kind), Location::Row(row.into()), ownership, reading.now)
}

/// The file of a database whose rows are read.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its path, as rows name it.
    pub database: Untrusted,
    /// The owner of the file.
    pub ownership: Ownership,
}

impl Source {
    /// Starts the record of the row with this ID, as [`row`] does.
    pub(crate) fn row(
        &self,
        format: Format,
        kind: RecordKind,
        table: &'static str,
        id: Untrusted,
        reading: &Reading<'_>,
    ) -> Record {
        row(format, kind, Row::new(self.database.clone(), table, id), self.ownership, reading)
    }
}

/// Drafts a temporary file, whose content means nothing: a leftover once it is older than
/// [`IN_FLIGHT_FOR`].
///
/// # Errors
/// The broken file if it is not a plain, readable one.
pub(crate) fn temporary(
    format: Format,
    file: &FileImage,
    reading: &Reading<'_>,
) -> Result<Record, BrokenFile> {
    json::bytes(format, file, reading)?;
    let mut record = record(format, RecordKind::Temporary, file, reading);
    let age = reading.now.duration_since(record.written_at);
    if age >= IN_FLIGHT_FOR {
        record.problems.push(Problem::new(
            Code::LeftoverTemp,
            format!("an interrupted write left it {} s ago; no clean-up removes it", age.as_secs()),
        ));
    }
    record.problems.extend(json::ownership_problems(file, reading, None));
    Ok(record)
}

/// Drafts the lock of a session, which stands for the session itself.
pub(crate) fn session_lock(
    format: Format,
    id: Untrusted,
    surface: &'static str,
    file: &FileImage,
    reading: &Reading<'_>,
) -> Record {
    let mut lock = record(format, RecordKind::Lock, file, reading);
    lock.title = id.clone();
    lock.session_id = Some(id.clone()).filter(|id| is_valid_id(id.raw()));
    lock.claims = vec![StatedClaim::new(ResourceKind::Session, id, surface, None)];
    lock.problems = json::ownership_problems(file, reading, None);
    lock
}

/// Shares a completed record, without the secrets that people leave in prompts and titles.
pub(crate) fn finished(record: impl Into<Arc<Record>>) -> Arc<Record> {
    let mut shared = record.into();
    let record = Arc::make_mut(&mut shared);
    record.hide_secrets();
    // Thousands of records are kept, each with one of these.
    record.problems.shrink_to_fit();
    shared
}

/// Describes a plain file whose bytes mean nothing: corrupt, or torn while it is young.
pub(crate) fn unusable(format: Format, file: &FileImage, reading: &Reading<'_>, why: &str) -> BrokenFile {
    let problem = if json::is_settled(file, reading.now) {
        Problem::new(Code::CorruptRecord, why)
    } else {
        Problem::new(Code::TornRecord, format!("being written just now: {why}"))
    };
    json::broken(format, file, problem)
}

pub(crate) fn known<const N: usize>(facts: [(&'static str, Option<Untrusted>); N]) -> NamedTexts {
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
