//! The programs of agents that are found by their names.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};

/// How long the list of found programs is reused: 1 min. Some hundred names are looked up, and programs are rarely
/// installed.
const FOUND_FOR: SignedDuration = SignedDuration::from_mins(1);

/// The programs found on the path.
#[derive(Default)]
pub(crate) struct OnPath {
    looked_at: Option<Timestamp>,
    found: Vec<PathBuf>,
}

impl OnPath {
    /// Returns the programs of these names that are in these folders, or were a moment ago.
    pub(crate) fn find(&mut self, folders: &[PathBuf], names: &BTreeSet<&str>, now: Timestamp) -> &[PathBuf] {
        let is_fresh = |at: Timestamp| now.duration_since(at).abs() < FOUND_FOR;
        if !self.looked_at.is_some_and(is_fresh) {
            let named = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
            self.found = named.filter(|path| path.exists()).collect();
            self.looked_at = Some(now);
        }
        &self.found
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up_once_a_minute() {
        let world = tempfile::tempdir().unwrap();
        let (folders, names) = ([world.path().to_path_buf()], ["claude", "codex"].into());
        let program = world.path().join("codex");
        let mut path = OnPath::default();
        let mut after = |seconds| {
            let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
            path.find(&folders, &names, now).to_vec()
        };
        assert_eq!(after(100), [] as [PathBuf; 0]);
        std::fs::write(&program, "").unwrap();
        assert_eq!(after(159), [] as [PathBuf; 0]);
        let found = after(160);
        assert_eq!(found, [program]);
        found.iter().for_each(|program| std::fs::remove_file(program).unwrap());
        assert_eq!(after(219), found);
        assert_eq!(after(100), [] as [PathBuf; 0], "the clock was set back");
    }
}
