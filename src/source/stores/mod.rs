//! SQLite databases of systems that only they themselves write: issues of beads, reservations of
//! mcp_agent_mail. Their rows name no process, so it does not matter when they are read.

pub(crate) mod beads;
pub(crate) mod found;
pub(crate) mod kept;
pub(crate) mod mail;

use std::path::Path;

use self::kept::{Keeper, Kept};
use super::homes::Homes;
use crate::format::Reading;
use crate::source::os::fence::Fence;
use crate::source::sqlite::copies::Copies;
use crate::source::stores::found::Found;

/// Looks at databases again and again.
pub(crate) struct Reader {
    beads: Keeper,
    mail: Keeper,
}

impl Reader {
    /// Prepares to read; copies go where it is said.
    pub(crate) fn new(copies: &Copies) -> Self {
        Self { beads: Keeper::new(copies), mail: Keeper::new(copies) }
    }

    /// Reads the reservations of all projects, which name repositories that may not be known yet.
    pub(crate) fn begin(&mut self, homes: &Homes, fence: &Fence, reading: &Reading<'_>) -> Found {
        let mut found = Found::default();
        mail::read(&mut self.mail, homes, fence, reading, &mut found);
        found
    }

    /// Reads the issues of these working trees as well.
    pub(crate) fn finish<'a>(
        &mut self,
        trees: impl IntoIterator<Item = &'a Path>,
        fence: &Fence,
        reading: &Reading<'_>,
        found: &mut Found,
    ) {
        beads::read(&mut self.beads, trees, fence, reading, found);
    }
}
