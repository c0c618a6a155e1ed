//! The same as `guard check`, for programs: who holds which file, and since when.

use std::path::PathBuf;

use super::check::each_tree;
use crate::cli::settings::Settings;
use crate::core::guard::decide::{self, Other};
use crate::core::model::{Edit, Untrusted};
use crate::present;
use crate::present::answer::Quote;
use crate::present::answer::edits::{FileHolder, Grip};

/// Returns who holds what of these files, for a program.
///
/// # Errors
/// As [`check`](super::check()).
pub(crate) fn file_holders(settings: &Settings, paths: &[PathBuf]) -> anyhow::Result<Vec<FileHolder>> {
    let mut holders = Vec::new();
    each_tree(settings, paths, |asked, tree| {
        let (top, now) = (tree.top, asked.now);
        let holder = |other: &Other, grip, path: &Untrusted, since, says: String| FileHolder {
            life: other.life,
            grip,
            pid: other.holder.process.map(|process| process.pid),
            agent: Some(Quote::from(&other.holder.agent)),
            path: Quote::from(path),
            since,
            says: Quote::new(&says),
        };
        let wanted = tree.wanted();
        holders.extend(wanted.map(|(other, held)| {
            let says = present::guard::hold((other, held), top, now);
            holder(other, Grip::Hold, &held.path, Some(held.at), says)
        }));
        for one in decide::held(&tree.others, |_, _| true) {
            let says = present::guard::holding(&one, top, now);
            let of_edit = |edit: &&Edit| holder(one.other, Grip::Edit, &edit.path, edit.at, says.clone());
            holders.extend(one.edits.iter().map(of_edit));
        }
    })?;
    Ok(holders)
}
