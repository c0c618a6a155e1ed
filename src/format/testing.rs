//! A machine, a moment and files to read in tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::{self, TimeZone};
use jiff::{SignedDuration, Timestamp};

use crate::core::model::snapshot::host::INITIAL_TIME_NAMESPACE;
use crate::core::model::{BrokenFile, Content, FileImage, FileMeta, Host, Medium, Ownership, Record};
use crate::format::reading::{FileContents, Reading};

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
        clock: Default::default(),
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
        made_at: None,
        content: Content::Bytes(bytes.to_vec()),
        locked_by: None,
        medium: Medium::Local,
    }
}

/// Reads on a machine in UTC.
pub(in crate::format) fn read(reader: impl FnOnce(&Reading<'_>) -> FileContents) -> FileContents {
    reader(&Reading { host: &host(0), now: now() })
}

/// Returns the record that was read.
#[track_caller]
pub(in crate::format) fn record(parsed: FileContents) -> Record {
    match parsed {
        FileContents::Record(record) => Arc::unwrap_or_clone(record),
        FileContents::Broken(broken) => panic!("{broken:?}"),
        FileContents::Ignored => panic!("ignored"),
    }
}

/// Returns the broken file that was read.
#[track_caller]
pub(in crate::format) fn broken(parsed: FileContents) -> BrokenFile {
    match parsed {
        FileContents::Broken(broken) => broken,
        FileContents::Record(record) => panic!("{record:?}"),
        FileContents::Ignored => panic!("ignored"),
    }
}

/// Returns one line with the main facts: kind, generation, variant, context, session, holder and problems.
pub(in crate::format) fn summary(parsed: &FileContents) -> String {
    match parsed {
        FileContents::Record(record) => {
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
        FileContents::Broken(broken) => format!("broken: {}", broken.problem.message),
        FileContents::Ignored => "ignored".to_owned(),
    }
}

/// Returns the bytes of a real file, or nothing if the fixtures are absent.
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
