//! Drafts: a record as far as its file alone tells it, before a format fills it in.

use std::sync::Arc;

use jiff::SignedDuration;

use crate::core::model::NamedTexts;
use crate::core::model::code::Code;
use crate::core::model::context::is_valid_id;
use crate::core::model::file::FileImage;
use crate::core::model::record::Record;
use crate::core::model::record::claim::{ResourceKind, StatedClaim};
use crate::core::model::record::format::Format;
use crate::core::model::record::kind::RecordKind;
use crate::core::model::record::location::{Location, Row};
use crate::core::model::record::ownership::Ownership;
use crate::core::model::record::problem::Problem;
use crate::core::model::snapshot::BrokenFile;
use crate::core::model::text::Untrusted;
use crate::format::json;
use crate::format::reading::Reading;

/// How long a temporary file may be a write in flight: 60 s.
pub(super) const IN_FLIGHT_FOR: SignedDuration = SignedDuration::from_secs(60);

/// How much later than the last write a change of the inode says more than that: less than what clocks are allowed to
/// be apart. Whoever writes a file and renames it does both within that.
const WELL_AFTER: SignedDuration = SignedDuration::from_secs(1);

/// Starts a record of the current generation that has nothing but its file.
pub(super) fn record(format: Format, kind: RecordKind, file: &FileImage, reading: &Reading<'_>) -> Record {
    // An unknown age counts as none: an old one could make a younger process look reborn.
    let written_at = file.meta.map_or(reading.now, |meta| meta.modified_at);
    let changed_at = file.meta.map(|meta| meta.changed_at);
    let changed_at = changed_at.filter(|at| at.duration_since(written_at) >= WELL_AFTER);
    let location = Location::File(file.path.clone());
    Record { changed_at, ..Record::blank((format, kind), location, file.ownership(), written_at) }
}

/// Starts a record of the current generation that has nothing but its row.
pub(super) fn row(
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
    /// Who owns the file.
    pub ownership: Ownership,
}

impl Source {
    /// Starts the record of the row with this ID, as [`row`] does.
    pub(super) fn row(
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
/// The broken file when it is not a plain, readable one.
pub(super) fn temporary(
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
pub(super) fn session_lock(
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

/// Shares a record that is filled in, without the secrets that people leave in prompts and titles.
pub(super) fn finished(record: impl Into<Arc<Record>>) -> Arc<Record> {
    let mut shared = record.into();
    let record = Arc::make_mut(&mut shared);
    record.hide_secrets();
    // Thousands of records are kept, each with one of these.
    record.problems.shrink_to_fit();
    shared
}

/// Describes a plain file whose bytes mean nothing: corrupt, or torn while it is young.
pub(super) fn unusable(format: Format, file: &FileImage, reading: &Reading<'_>, why: &str) -> BrokenFile {
    let problem = if json::is_settled(file, reading.now) {
        Problem::new(Code::CorruptRecord, why)
    } else {
        Problem::new(Code::TornRecord, format!("being written just now: {why}"))
    };
    json::broken(format, file, problem)
}

pub(super) fn known<const N: usize>(facts: [(&'static str, Option<Untrusted>); N]) -> NamedTexts {
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

#[cfg(test)]
pub(super) mod sample {
    //! A machine, a moment and files to read in tests.

    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use jiff::tz::{self, TimeZone};
    use jiff::{SignedDuration, Timestamp};

    use crate::core::model::host::INITIAL_TIME_NAMESPACE;
    use crate::core::model::{BrokenFile, Content, FileImage, FileMeta, Host, Medium, Ownership, Record};
    use crate::format::reading::{Parsed, Reading};

    /// The moment of every look: shortly after the fixtures were written.
    pub(in crate::format) fn now() -> Timestamp {
        "2026-11-20T21:48:00Z".parse().unwrap()
    }

    /// A machine of user 1000, this many hours east of UTC.
    pub(in crate::format) fn host(hours: i8) -> Host {
        Host {
            name: "desk".to_owned(),
            boot_id: None,
            pid_namespace: None,
            machine_id: None,
            time_namespace: Some(INITIAL_TIME_NAMESPACE),
            boot_at: None,
            platform: Default::default(),
            up_by: None,
            clock_doubt: jiff::SignedDuration::ZERO,
            ticks_per_second: 100,
            uid: 1000,
            zone: TimeZone::fixed(tz::offset(hours)),
        }
    }

    /// A file of user 1000 with mode 0600, written `age` seconds ago.
    pub(in crate::format) fn image(name: &str, bytes: &[u8], age: i64) -> FileImage {
        let at = now() - SignedDuration::from_secs(age);
        FileImage {
            path: Path::new("/f").join(name).into(),
            meta: Some(FileMeta {
                dev: 1,
                ino: 1,
                ownership: Ownership::new(1000, 0o600),
                links: 1,
                size: bytes.len() as u64,
                modified_at: at,
                changed_at: at,
            }),
            content: Content::Bytes(bytes.to_vec()),
            locked_by: None,
            medium: Medium::Local,
        }
    }

    /// Reads on a machine in UTC.
    pub(in crate::format) fn read(reader: impl FnOnce(&Reading<'_>) -> Parsed) -> Parsed {
        reader(&Reading { host: &host(0), now: now() })
    }

    /// Returns the record that was read.
    #[track_caller]
    pub(in crate::format) fn record(parsed: Parsed) -> Record {
        match parsed {
            Parsed::Record(record) => Arc::unwrap_or_clone(record),
            Parsed::Broken(broken) => panic!("{broken:?}"),
            Parsed::Ignored => panic!("ignored"),
        }
    }

    /// Returns the broken file that was read.
    #[track_caller]
    pub(in crate::format) fn broken(parsed: Parsed) -> BrokenFile {
        match parsed {
            Parsed::Broken(broken) => broken,
            Parsed::Record(record) => panic!("{record:?}"),
            Parsed::Ignored => panic!("ignored"),
        }
    }

    /// Tells in one line what matters: kind, generation, variant, context, session, holder and
    /// problems.
    pub(in crate::format) fn summary(parsed: &Parsed) -> String {
        match parsed {
            Parsed::Record(record) => {
                let text = |text: &Option<crate::core::model::Untrusted>| {
                    text.as_ref().map_or("-".to_owned(), ToString::to_string)
                };
                let holder = record.holder.as_ref().map_or("-".to_owned(), |holder| {
                    let pid = holder.pid.as_ref().and_then(|pid| pid.valid());
                    format!("{}/{:?}", pid.map_or("bad".to_owned(), |pid| pid.to_string()), holder.role)
                });
                let codes: Vec<&str> = record.problems.iter().map(|problem| problem.code.name()).collect();
                format!(
                    "{:?} {:?} '{}' context {} session {} holder {holder} [{}]",
                    record.kind,
                    record.generation,
                    record.variant,
                    text(&record.context_id),
                    text(&record.session_id),
                    codes.join(" ")
                )
            }
            Parsed::Broken(broken) => format!("broken: {}", broken.problem.message),
            Parsed::Ignored => "ignored".to_owned(),
        }
    }

    /// Returns the bytes of a real file, or nothing where the fixtures are absent.
    #[expect(clippy::disallowed_methods, reason = "a test reads files that it knows to be plain")]
    pub(crate) fn fixture(path: &str) -> Option<Vec<u8>> {
        let root = std::env::var_os("CLAIMTOP_FIXTURES")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures"), PathBuf::from);
        if !root.is_dir() {
            eprintln!("skipped: no fixtures at {}", root.display());
            return None;
        }
        Some(std::fs::read(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}")))
    }
}
