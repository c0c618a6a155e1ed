//! Whether the holder of a file lives: of a record or a lock that some system wrote, or of a plain PID file.

use std::path::Path;

use jiff::tz::TimeZone;

use super::answer::{Answer, Subject};
use super::process;
use crate::core::assess::assess;
use crate::core::judge::liveness::by_number::ProcessQuery;
use crate::core::judge::session::lives::{judge_file, unreadable};
use crate::core::model::{Content, FileImage, Format, Record, RecordKind, Untrusted};
use crate::format::Reading;
use crate::format::reading::draft;
use crate::observe::Observer;
use crate::source::os::open::error::errno_text;
use crate::source::os::open::medium::medium_at;
use crate::source::os::open::plain::{open_plain, read_at};
use crate::source::os::{clock, host};

/// The most bytes of a file with one number.
const NUMBER: usize = 64;

/// Answers for the holder of a file.
pub(super) fn answer(path: &Path, observer: &mut Observer) -> Answer {
    // The name of a file in the working folder is a path as well.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // A PID file is read before the processes are.
    let pid_file = pid_file(&path);
    let snapshot = observer.look();
    let report = assess(&snapshot, observer.policy());
    let subject = || Subject::File(Untrusted::from_path(&path));
    if let Some(life) = judge_file(&Untrusted::from_path(&path), &report) {
        return Answer::of_look(subject(), life, &snapshot);
    }
    match pid_file {
        Ok((query, record)) => process::answer_for(&query, &record, subject()),
        Err(why) => Answer::new(subject(), unreadable(why), snapshot.taken_at),
    }
}

/// Reads a file that holds a PID and nothing else.
fn pid_file(path: &Path) -> Result<(ProcessQuery, Record), String> {
    let failed = |error| format!("failed to read the file: {}", errno_text(error));
    let (fd, meta) = open_plain(path).map_err(failed)?;
    let bytes = read_at(&fd, 0, NUMBER, 1).map_err(failed)?;
    let text = std::str::from_utf8(&bytes).map(str::trim_ascii).unwrap_or_default();
    let query: Option<ProcessQuery> = text.parse().ok().filter(|query: &ProcessQuery| query.start.is_none());
    let query = query.ok_or("neither a record that claimtop knows nor a file with one PID")?;
    let image = FileImage {
        path: path.into(),
        meta: Some(meta),
        made_at: None,
        content: Content::Bytes(bytes),
        locked_by: None,
        medium: medium_at(path),
    };
    let now = clock::now();
    let reading = Reading { host: &host::host_in(TimeZone::UTC, now), now };
    // Every agent may run records of this format, so the format excludes no process.
    let record = draft::record(Format::Entire, RecordKind::Lock, &image, &reading);
    Ok((query.clone(), query.in_record(record)))
}
