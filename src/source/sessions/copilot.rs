//! Copilot CLI: `session-state/<session>/inuse.<pid>.lock`, and a `.hold` beside it that the
//! process keeps locked.

use std::path::Path;

use rustix::fs::FileType;

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{SessionFile, Tie, Untrusted};
use crate::source::sessions::look::{Look, SessionTarget};

/// Finds the locks of these windows.
pub(crate) fn read(look: &mut Look<'_>, home: &Path, wanted: &[&SessionTarget]) {
    if wanted.is_empty() {
        return;
    }
    let states = home.join(".copilot/session-state");
    for (folder, _) in look.entries(&states, FileType::Directory, is_valid_id) {
        let Some(session) = folder.file_name().and_then(|name| name.to_str()).map(Untrusted::from) else {
            continue;
        };
        for (path, meta) in look.files(&folder, |name| pid_of(name).is_some()) {
            let pid = path.file_name().and_then(|name| pid_of(name.to_str()?));
            let Some(pid) = pid.filter(|pid| wanted.iter().any(|one| one.id.pid == *pid)) else { continue };
            let tie = look.lock_holder(&meta).map_or(Tie::Named(pid), Tie::Locked);
            let (session, written_at) = (session.clone(), meta.modified_at);
            look.found.push(SessionFile::new("copilot", session, tie, (path.into(), written_at)));
        }
    }
}

fn pid_of(name: &str) -> Option<u32> {
    let rest = name.strip_prefix("inuse.")?;
    rest.strip_suffix(".lock").or_else(|| rest.strip_suffix(".hold"))?.parse().ok()
}
