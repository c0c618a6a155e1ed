//! Notes from an open claimtop for guards, about windows that write no ledger.

use std::path::Path;

use jiff::Timestamp;

use crate::core::guard::git::reach::is_pattern;
use crate::core::model::{ClaimStatus, ClaimView, Edit, Report, ResourceKind, Untrusted, WindowView};

/// A window to report, now or earlier.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ObservedWindow<'a> {
    pub(crate) window: &'a WindowView,
    pub(crate) session: &'a Untrusted,
    /// Its edits that are in no known commit, with their times.
    pub(crate) edits: Vec<(&'a Untrusted, Timestamp)>,
    /// The files and folders that a system has given to it alone.
    pub(crate) holds: Vec<&'a str>,
}

/// Returns every window whose session is proven, with its edits and holds.
pub(crate) fn seen(report: &Report) -> impl Iterator<Item = ObservedWindow<'_>> {
    report.windows.iter().filter_map(|window| {
        let session = window.session_id.as_ref()?;
        let work = window.work.as_ref().filter(|work| work.session == *session);
        let edit = |edit: &'_ Edit| !edit.has_ended() && Path::new(edit.path.raw()).is_absolute();
        let edits = work.iter().flat_map(|work| &work.doing.edits).filter(|one| edit(one));
        let held = report.claims.iter().filter(|claim| claim.window.as_ref() == Some(&window.key));
        let mut holds: Vec<&str> = held.filter_map(|claim| held_by(claim, window)).collect();
        holds.sort_unstable();
        holds.dedup();
        Some(ObservedWindow {
            window,
            session,
            edits: edits.filter_map(|edit| Some((&edit.path, edit.at?))).collect(),
            holds,
        })
    })
}

/// Returns the file or folder that a claim gives to a living window alone: files that it locked or reserved, and its
/// own working tree with the name of its claim, as LEO makes them.
fn held_by<'a>(claim: &'a ClaimView, window: &'a WindowView) -> Option<&'a str> {
    let is_held = matches!(claim.status, ClaimStatus::Held | ClaimStatus::Quiet) && !claim.is_of_transcript();
    let id = claim.resource.id.raw();
    match claim.resource.kind {
        _ if !is_held => None,
        ResourceKind::Files => {
            let path = id.strip_suffix("/**").unwrap_or(id);
            let is_plain = path.starts_with('/') && path.len() > 1 && !is_pattern(path);
            is_plain.then_some(path)
        }
        ResourceKind::WorkItem | ResourceKind::Task | ResourceKind::Worktree => {
            let repo = window.repo.as_ref().filter(|repo| repo.worktree != repo.root)?;
            let tree = repo.worktree.raw();
            (Path::new(tree).file_name()?.to_str()? == id).then_some(tree)
        }
        ResourceKind::AgentRole
        | ResourceKind::Project
        | ResourceKind::Branch
        | ResourceKind::Session
        | ResourceKind::Lock => None,
    }
}
