//! The work of sessions that are one JSON document each, which is read whole when it has changed.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use crate::core::model::{FileMeta, Talk, UnreadWork, WhyUnread, Work};
use crate::format;
use crate::format::reading::json;
use crate::format::transcripts::sessions::Document;
use crate::format::work::Draft;
use crate::source::interface::{Hints, Scope};
use crate::source::os::open::error::errno_text;
use crate::source::os::open::folder::look_at;
use crate::source::os::open::medium::medium_at;
use crate::source::os::open::plain::small;
use crate::source::work::wanted::{MOST, Session, WorkTarget};

/// The largest document that is read, in bytes.
const LARGEST: usize = 32 << 20;

/// The documents, as they were last read.
#[derive(Default)]
pub(crate) struct Store {
    kept: HashMap<Session, DocumentCache>,
}

struct DocumentCache {
    path: PathBuf,
    meta: FileMeta,
    /// The document that says how the session stands.
    status: Option<(PathBuf, FileMeta)>,
    /// Its content; nothing if it could not be read.
    work: Result<Arc<Work>, WhyUnread>,
}

impl Store {
    /// Reads the documents of these sessions that have changed.
    pub(crate) fn look(&mut self, wanted: &[WorkTarget], scope: &Scope, uid: u32) {
        for one in wanted {
            let document = format::spec(one.session.format).and_then(|spec| spec.document);
            let Some((document, path)) = document.zip(one.path.as_ref()) else { continue };
            let Some(meta) = look_at(path).filter(|_| scope.fence.reaches(path)) else { continue };
            let status = document.status.and_then(|status| (status.path)(path));
            let status = status.and_then(|path| look_at(&path).map(|meta| (path, meta)));
            let before = self.kept.remove(&one.session);
            let before = before.filter(|known| known.path.as_path() == &**path);
            let now = match before {
                Some(same) if same.meta == meta && same.status == status => same,
                before => {
                    let files = (&**path, meta, status);
                    DocumentCache::read(&one.session, files, document, (before, uid))
                }
            };
            self.kept.insert(one.session.clone(), now);
        }
        let mut ages: Vec<_> =
            self.kept.iter().map(|(session, one)| (one.meta.modified_at, session.clone())).collect();
        ages.sort_by_key(|(at, _)| Reverse(*at));
        for (_, session) in ages.iter().skip(MOST).filter(|(_, session)| !is_wanted(session, wanted)) {
            self.kept.remove(session);
        }
    }

    /// Returns the work that was read.
    pub(crate) fn works(&mut self) -> impl Iterator<Item = &mut Arc<Work>> {
        self.kept.values_mut().filter_map(|one| one.work.as_mut().ok())
    }

    /// Returns the documents that could not be read.
    pub(crate) fn unread(&self) -> impl Iterator<Item = UnreadWork> {
        self.kept.iter().filter_map(|(session, one)| {
            let why = one.work.as_ref().err()?;
            let (format, session) = (session.format, session.id.clone());
            Some(UnreadWork { format, session, path: one.path.clone().into(), why: *why })
        })
    }

    /// Adds the files whose change means another look.
    pub(crate) fn hints(&self, hints: &mut Hints) {
        for one in self.kept.values() {
            let status = one.status.as_ref().map(|(path, _)| path);
            for path in std::iter::once(&one.path).chain(status) {
                let Some((folder, name)) = path.parent().zip(path.file_name()) else { continue };
                hints.folders.insert(folder.to_owned());
                if let Some(name) = name.to_str() {
                    hints.names.entry(folder.to_owned()).or_default().insert(name.to_owned());
                }
            }
        }
    }
}

fn is_wanted(session: &Session, wanted: &[WorkTarget]) -> bool {
    wanted.iter().any(|one| one.session == *session)
}

impl DocumentCache {
    /// Reads a document. One that is being rewritten keeps its last content.
    fn read(
        session: &Session,
        (path, meta, status): (&Path, FileMeta, Option<(PathBuf, FileMeta)>),
        document: Document,
        (before, uid): (Option<Self>, u32),
    ) -> Self {
        let last = before.and_then(|before| before.work.ok());
        let draft = object_at(path, &meta, uid, |object| {
            let mut draft = Draft::default();
            (document.work)(&mut draft, object);
            draft
        });
        let work = match draft {
            Ok(mut draft) => {
                if let Some((read, (path, meta))) = document.status.zip(status.as_ref()) {
                    // One that cannot be read says nothing.
                    object_at(path, meta, uid, |object| (read.work)(&mut draft, object)).unwrap_or_default();
                }
                Ok(Arc::new(work_of(session, path, meta, &draft)))
            }
            Err(WhyUnread::Damaged) => last.ok_or(WhyUnread::Damaged),
            Err(why) => Err(why),
        };
        Self { path: path.to_path_buf(), meta, status, work }
    }
}

/// Reads one document of one's own and takes over what it says.
fn object_at<T>(
    path: &Path,
    meta: &FileMeta,
    uid: u32,
    take: impl FnOnce(&json::Object<'_>) -> T,
) -> Result<T, WhyUnread> {
    if meta.ownership.uid != uid {
        return Err(WhyUnread::ForeignOwner);
    }
    if meta.links != 1 {
        return Err(WhyUnread::SeveralNames);
    }
    let text = small(path, LARGEST).map_err(|errno| match errno {
        Errno::LOOP => WhyUnread::Link,
        Errno::INVAL => WhyUnread::NoPlainFile,
        Errno::ACCESS | Errno::PERM => WhyUnread::NoPermission,
        _ => WhyUnread::Failed,
    })?;
    json::parse(&text).map(|object| take(&object)).map_err(|_| WhyUnread::Damaged)
}

fn work_of(session: &Session, path: &Path, meta: FileMeta, draft: &Draft) -> Work {
    Work {
        format: session.format,
        session: session.id.clone(),
        path: path.to_path_buf().into(),
        medium: medium_at(path),
        written_at: meta.modified_at,
        doing: draft.doing(),
        agents: Vec::new(),
        warnings: Vec::new(),
        skipped: draft.skipped,
    }
}

/// Reads what was said in a document.
///
/// # Errors
/// It cannot be read; in words.
pub(crate) fn talk(path: &Path, read: fn(&mut Talk, &json::Object<'_>)) -> Result<Talk, String> {
    let text = small(path, LARGEST);
    let text = text.map_err(|errno| format!("the session's file cannot be read: {}", errno_text(errno)))?;
    let object = json::parse(&text).map_err(|_| "the session's file is being written".to_owned())?;
    let mut talk = Talk::default();
    read(&mut talk, &object);
    Ok(talk)
}
