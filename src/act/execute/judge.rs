//! Judges the holder again during an action: taken files as if they were still in their places, rows while no other
//! process can write.

use std::sync::Arc;

use crate::act::error::ActionError;
use crate::act::look::Look;
use crate::act::preflight::preview::Preview;
use crate::core::judge::window::local_start;
use crate::core::model::text::shown;
use crate::core::model::{Database, FileImage, FileMeta, Format, Medium, Record, RecordView, Snapshot};
use crate::format::{self, FileContents, Reading};
use crate::source::os::open::folder::Folder;
use crate::source::os::open::medium::Media;
use crate::source::os::opener;

impl Preview {
    /// Judges the holder again while no other process can write the database.
    pub(crate) fn agrees(&self, database: &str, observer: &mut impl Look) -> Result<(), ActionError> {
        let snapshot = observer.look();
        is_free(&snapshot.databases, database)?;
        let Some(holder) = &self.holder else { return Ok(()) };
        let report = observer.judge(&snapshot);
        let record = report.records().find(|record| record.key == self.plan.record);
        let gone = || ActionError::Changed("the row is gone".to_owned());
        holder.is_still(record.ok_or_else(gone)?)
    }

    /// Judges the holder again while no process can renew the record in its place.
    pub(crate) fn believe(&self, taken: &[FileImage], observer: &mut impl Look) -> Result<(), ActionError> {
        let Some(holder) = &self.holder else { return Ok(()) };
        match (judge_taken(observer, holder.format, taken), taken.last()) {
            (Some(record), _) => holder.is_still(&record),
            (None, Some(last)) if holder.said_at.is(&last.path) => {
                Err(ActionError::Changed(format!("{} is no longer a record", last.path.text())))
            }
            // A file that only belongs to a record is not judged by itself.
            (None, _) => Ok(()),
        }
    }
}

/// Parses a file's bytes as a record of a system.
fn parse(format: Format, image: &FileImage, snapshot: &Snapshot) -> Option<Arc<Record>> {
    let kind = format::kind_at(format, &image.path)?;
    let reading = Reading { host: &snapshot.host, now: snapshot.taken_at };
    match format::read(kind, image, &reading) {
        FileContents::Record(record) => Some(record),
        FileContents::Broken(_) | FileContents::Ignored => None,
    }
}

/// Returns a taken file as it was in its place: on its folder's file system, without the change time of our own
/// rename, and with the process that has it open if that is its holder (git's locks name no other).
fn in_place(format: Format, image: &FileImage, media: &mut Media) -> FileImage {
    let meta = image.meta.filter(|_| format == Format::Git);
    let name = image.path.file_name().unwrap_or_default();
    let folder = || Folder::open(image.path.parent()?).ok();
    let medium = match image.medium {
        Medium::Unknown => folder().and_then(|folder| Some(media.medium(&folder, folder.id().ok()?))),
        known @ (Medium::Local | Medium::Mapped | Medium::Shared) => Some(known),
    };
    FileImage {
        meta: image.meta.map(|meta| FileMeta { changed_at: meta.modified_at, ..meta }),
        locked_by: meta.and_then(|meta| opener::find(name, &meta)),
        medium: medium.unwrap_or(Medium::Unknown),
        ..image.clone()
    }
}

/// Judges the last of some records that are no longer in their places as if they were, against the current processes.
fn judge_taken(observer: &mut impl Look, format: Format, images: &[FileImage]) -> Option<RecordView> {
    let image = images.last()?;
    let mut snapshot = observer.look_again();
    let mut media = Media::default();
    let taken: Vec<_> = (images.iter())
        .filter_map(|image| parse(format, &in_place(format, image, &mut media), &snapshot))
        .collect();
    snapshot.records.retain(|other| images.iter().all(|image| other.location.path() != Some(&*image.path)));
    snapshot.records.extend(taken);
    local_start::settle(&mut snapshot);
    let report = observer.judge(&snapshot);
    report.records().find(|view| view.location.is(&image.path)).cloned()
}

/// Makes sure that no process uses a row's database: one that does may hold rows in memory and write over them later.
fn is_free(databases: &[Database], database: &str) -> Result<(), ActionError> {
    let found = databases.iter().find(|found| found.name.raw() == database);
    let unread =
        || ActionError::Changed(format!("{} is not among the databases that were read", shown(database)));
    let found = found.ok_or_else(unread)?;
    let Some(file) = &found.file else { return is_whole(found) };
    let openers = found.opened_by.as_deref().unwrap_or_default();
    match (openers.first(), file.runners.first()) {
        (Some(pid), _) => Err(ActionError::Changed(format!("PID {pid} now has the database open"))),
        (None, Some(pid)) => Err(ActionError::Changed(format!("PID {pid} of Obra is now running"))),
        (None, None) => Ok(()),
    }
}

/// Makes sure that a server's rows are current: rows read only in part, or before the connection was lost, decide
/// nothing.
fn is_whole(database: &Database) -> Result<(), ActionError> {
    match database.is_complete {
        true => Ok(()),
        false => {
            Err(ActionError::Changed(format!("{} could not be read completely", shown(database.name.raw()))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::DatabaseFile;

    /// A database that was read whole and that no process uses.
    fn database(file: Option<DatabaseFile>) -> Database {
        Database {
            format: Format::Obra,
            name: "/home/dev/orchestrator.db".into(),
            is_complete: true,
            opened_by: Some(Vec::new()),
            file,
            work: <_>::default(),
        }
    }

    #[track_caller]
    fn check(found: Database, expected: Result<(), &str>) {
        let free = is_free(&[found], "/home/dev/orchestrator.db");
        assert_eq!(free, expected.map_err(|why| ActionError::Changed(why.to_owned())));
    }

    #[test]
    fn a_file_is_free_while_nobody_has_it_open_and_its_system_does_not_run() {
        let file = || database(Some(DatabaseFile::default()));
        check(file(), Ok(()));
        let opened = Database { opened_by: Some(vec![900]), ..file() };
        check(opened, Err("PID 900 now has the database open"));
        let run = database(Some(DatabaseFile { runners: vec![901], ..DatabaseFile::default() }));
        check(run, Err("PID 901 of Obra is now running"));
    }

    #[test]
    fn what_was_not_read_whole_decides_nothing() {
        check(database(None), Ok(()));
        let in_part = Database { is_complete: false, ..database(None) };
        check(in_part, Err("/home/dev/orchestrator.db could not be read completely"));
        let other = Database { name: "/home/dev/other.db".into(), ..database(None) };
        check(other, Err("/home/dev/orchestrator.db is not among the databases that were read"));
    }
}
