//! Reads which processes were seen below windows that have ended since, from claimtop's state folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use crate::core::model::snapshot::descent::merged;
use crate::core::model::{Descent, Host};
use crate::source::os::fence::Fence;
use crate::source::own::lines;
use crate::source::own::lines::OwnLines;

/// Returns their path, beside the tombstones: a file of its own, so that versions of claimtop that only know
/// tombstones leave it alone.
pub(crate) fn beside(tombstones: &Path) -> PathBuf {
    tombstones.with_file_name("descents.jsonl")
}

/// Reads the file when it has changed, and remembers its content and what was added since.
#[derive(Default)]
pub(crate) struct Reader {
    file: OwnLines,
    read: Arc<[Descent]>,
}

impl Reader {
    /// Returns all descents that count in this boot.
    pub(crate) fn read(&mut self, path: Option<&Path>, fence: &Fence, host: &Host) -> Arc<[Descent]> {
        let path = path.filter(|path| fence.reaches(path));
        if let Some(read) = path.and_then(|path| self.file.changed(path, host)) {
            self.read = of_boot(read, host).into();
        }
        self.read.clone()
    }

    /// Returns what was last read.
    pub(crate) fn last(&self) -> &[Descent] {
        &self.read
    }

    /// Takes over the descents that are kept from now on.
    pub(crate) fn learn(&mut self, learnt: &[Descent]) {
        if !learnt.is_empty() {
            self.read = merged(self.read.to_vec(), learnt).into();
        }
    }
}

/// Reads a file's descents of this boot.
///
/// # Errors
/// It is not a plain file, or the system refuses.
pub(crate) fn kept(path: &Path, host: &Host) -> Result<Vec<Descent>, Errno> {
    Ok(of_boot(lines::kept(path, host)?, host))
}

fn of_boot(mut all: Vec<Descent>, host: &Host) -> Vec<Descent> {
    all.retain(|one| host.boot_id.as_deref() == Some(one.boot_id.raw()));
    merged(all, &[])
}
