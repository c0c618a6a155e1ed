//! Qwen Code: `~/.qwen/sessions/<pid>.json` says which session a process runs now, also after `/clear`; and
//! `~/.qwen/projects/<folder>/chats/<session>.runtime.json` says which process has begun or continued a session.
//!
//! Seen with 0.24.4.

use std::path::{Path, PathBuf};

use crate::core::model::{FileMeta, Host, SessionFile, Tie, Untrusted};
use crate::format::agent::qwen::{begun, registered};
use crate::source::os::open::folder::look_at;
use crate::source::os::open::plain::small;
use crate::source::sessions::look::{Look, SessionTarget};
use crate::source::sessions::per_folder::slug;

/// Where the registry is.
pub(crate) const REGISTRY: &str = ".qwen/sessions";
/// The largest file that is read, in bytes; some 400 were seen.
const MOST: usize = 16 << 10;
/// How many sessions of a folder are checked for the process that began them, the newest first.
const NEWEST: usize = 8;

/// Finds the sessions that these windows run, and have run before.
pub(crate) fn read(look: &mut Look<'_>, home: &Path, wanted: &[&SessionTarget], host: &Host) {
    for window in wanted {
        let path = home.join(REGISTRY).join(format!("{}.json", window.id.pid));
        if look.fence.reaches(&path)
            && let Some((text, meta)) = own(&path, window)
            && let Some((process, session)) = registered(&text, host)
        {
            add(look, session, Tie::Stated(process), (path, &meta));
        }
        let Some(cwd) = &window.cwd else { continue };
        let chats = home.join(".qwen/projects").join(slug(cwd.raw())).join("chats");
        let noted = look.files(&chats, |name| name.ends_with(".runtime.json"));
        for (path, meta) in noted.into_iter().take(NEWEST) {
            let Some((text, _)) = own(&path, window) else { continue };
            let named = begun(&text, host).filter(|(pid, _)| *pid == window.id.pid);
            if let Some((pid, session)) = named {
                add(look, session, Tie::Named(pid), (path, &meta));
            }
        }
    }
}

/// Reads a file that only the window's own user has written.
fn own(path: &Path, window: &SessionTarget) -> Option<(Vec<u8>, FileMeta)> {
    let meta = look_at(path).filter(|meta| window.uid == Some(meta.ownership.uid) && meta.links == 1)?;
    Some((small(path, MOST).ok()?, meta))
}

fn add(look: &mut Look<'_>, session: Untrusted, tie: Tie, (path, meta): (PathBuf, &FileMeta)) {
    look.found.push(SessionFile::new("qwen", session, tie, (path.into(), meta.modified_at)));
}
