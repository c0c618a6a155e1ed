//! Guesses by folder and time, if nothing states which session a process runs: the newest session if no other window
//! of the agent works in the folder, else the one that can only be this window's by when it began.

use crate::core::judge::session::beginnings::{Beginnings, MOST};
use crate::core::judge::session::known::known;
use crate::core::judge::window::Window;
use crate::core::judge::world::World;
use crate::core::model::{Evidence, SessionFile, SessionView, Strength, Tie, Untrusted};

/// Guesses the session of a window.
pub(super) fn guessed(window: &Window<'_>, world: &World<'_>) -> Option<SessionView> {
    let (windows, files) = together(window, world)?;
    let (found, says) = if windows.len() == 1 {
        let mine = files.into_iter().filter(|file| !world.is_born_after(window.process, file.written_at));
        let newest = mine.max_by_key(|file| file.written_at)?;
        (newest, "the newest session of this folder, written since the window started")
    } else {
        let only = Beginnings { windows: &windows, files, world }.only(window)?;
        (only, "the only session of this folder that no other window can have begun")
    };
    let evidence = Evidence::new("folder", says, found.path.text().clone()).dated(found.written_at);
    Some(SessionView { id: found.session.clone(), strength: Strength::Guess, evidence })
}

/// Returns the sessions that a window may run, if other windows of its folder may as well.
pub(crate) fn may_run(window: &Window<'_>, world: &World<'_>) -> Vec<Untrusted> {
    if known(window, world).is_some() {
        return Vec::new();
    }
    let Some((windows, files)) = together(window, world).filter(|(windows, _)| windows.len() > 1) else {
        return Vec::new();
    };
    let files = files.into_iter().filter(|file| file.beginning.at.is_some()).collect();
    Beginnings { windows: &windows, files, world }.any(window)
}

/// Returns the windows of a window's agent in its folder, and the sessions of that folder; nothing if they are too
/// many to go through.
fn together<'a, 'w>(
    window: &Window<'_>,
    world: &'a World<'w>,
) -> Option<(Vec<&'a Window<'w>>, Vec<&'a SessionFile>)> {
    let folder = folder_of(window)?;
    let is_here = |file: &&SessionFile| {
        file.agent == window.agent && matches!(&file.tie, Tie::Folder(own) if own == folder)
    };
    let files: Vec<&SessionFile> = world.snapshot.session_files.iter().filter(is_here).collect();
    let same = world.windows.iter().filter(|other| other.agent == window.agent);
    let same: Vec<&Window<'_>> = same.filter(|other| folder_of(other) == Some(folder)).collect();
    (!files.is_empty() && same.len() <= MOST).then_some((same, files))
}

fn folder_of<'a>(window: &Window<'a>) -> Option<&'a Untrusted> {
    window.process.details.as_ref()?.cwd.as_ref()
}
