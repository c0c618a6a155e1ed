//! Whether the holder of a file lives: of a record or a lock that some system wrote, or of a plain PID file.

use std::path::Path;

use super::answer::{Answer, Subject};
use super::process;
use crate::core::assess::assess;
use crate::core::judge::liveness::by_number::ProcessQuery;
use crate::core::judge::session::lives::{judge_file, unreadable};
use crate::core::model::{Content, FileImage, Format, Host, Record, RecordKind, Untrusted};
use crate::format::Reading;
use crate::format::reading::draft;
use crate::observe::Observer;
use crate::source::os::clock;
use crate::source::os::open::error::errno_text;
use crate::source::os::open::medium::medium_at;
use crate::source::os::open::plain::{open_plain, read_at};

/// The most bytes of a file with one number.
const NUMBER: usize = 64;

/// Answers for the holder of a file.
pub(super) fn answer(path: &Path, namespace: Option<u64>, observer: &mut Observer) -> Answer {
    // The name of a file in the working folder is a path as well.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // A PID file is read before the processes are.
    let pid_file = pid_file(&path, namespace);
    let snapshot = observer.look();
    let report = assess(&snapshot, observer.policy());
    let subject = || Subject::File(Untrusted::from_path(&path));
    if let Some(life) = judge_file(&Untrusted::from_path(&path), &report) {
        return Answer::of_look(subject(), life, &snapshot);
    }
    match pid_file {
        Ok((query, record, host)) => process::answer_for(&query, &record, host, subject()),
        Err(why) => Answer::new(subject(), unreadable(why), snapshot.taken_at),
    }
}

/// Reads a file that holds a PID and nothing else.
fn pid_file(path: &Path, namespace: Option<u64>) -> Result<(ProcessQuery, Record, Host), String> {
    let failed = |error| format!("failed to read the file: {}", errno_text(error));
    let (fd, meta) = open_plain(path).map_err(failed)?;
    let bytes = read_at(&fd, 0, NUMBER, 1).map_err(failed)?;
    let text = std::str::from_utf8(&bytes).map(str::trim_ascii).unwrap_or_default();
    let query: Option<ProcessQuery> = text.parse().ok().filter(|query: &ProcessQuery| query.start.is_none());
    let query = query.ok_or("neither a record that claimtop knows nor a file with one PID")?;
    let query = ProcessQuery { namespace, ..query };
    let image = FileImage {
        path: path.into(),
        meta: Some(meta),
        made_at: None,
        content: Content::Bytes(bytes),
        locked_by: None,
        medium: medium_at(path),
    };
    let now = clock::now();
    let host = process::own_host(now);
    let reading = Reading { host: &host, now };
    // Every agent may run records of this format, so the format excludes no process.
    let record = draft::record(Format::Entire, RecordKind::Lock, &image, &reading);
    let record = query.in_record(record, &host);
    Ok((query, record, host))
}
