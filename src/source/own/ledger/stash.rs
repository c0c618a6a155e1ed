//! Git's stash, and what guarded windows have written down of it: in the ledgers of the folder that all working trees
//! of a repository share.

use std::path::Path;

use bstr::ByteSlice;
use jiff::Timestamp;

use super::lines::{MOST, end_of, holder_of, is_ledger, read_end};
use super::query::MOST_LEDGERS;
use super::tree::Tree;
use crate::core::guard::stash::{StashEntry, StashNotes, branch_in};
use crate::core::model::Untrusted;
use crate::core::model::snapshot::ledger::stash::{MOST_ENTRIES, StashLine};
use crate::core::model::snapshot::ledger::{LedgerLine, folder_name, parse};
use crate::core::model::text::hex;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::listing::Entry;
use crate::source::repos::objects::parse_name;

/// How much of the stash's log is read, in bytes: some 200 entries.
const END: usize = 32 << 10;
/// How many of the newest lines of a ledger count though they tell of no entry.
const NEWEST: usize = 16;

impl Tree {
    /// Returns the folder of git's that all working trees of the repository share, as text.
    pub(crate) fn shared(&self) -> Option<&str> {
        self.common_dir()?.to_str()
    }

    /// Returns the entries of the stash, the newest first, as git's log of it has them.
    pub(crate) fn stash(&self) -> Vec<StashEntry> {
        let log = self.common_dir().and_then(|common| end_of(&common.join("logs/refs/stash"), END));
        log.unwrap_or_default().lines().rev().filter_map(entry).collect()
    }
}

/// Reads a line of the log: from which commit to which, who, when, and a message (gitrepository-layout(5), `logs`).
fn entry(line: &str) -> Option<StashEntry> {
    let (head, message) = line.split_once('\t')?;
    let commit = parse_name(head.as_bytes().get(41..81)?)?;
    let second = head.rsplit_once('>')?.1.trim_start().split(' ').next()?.parse().ok()?;
    Some(StashEntry {
        commit: hex(&commit).into(),
        at: Timestamp::from_second(second).ok()?,
        branch: branch_in(message).map(Untrusted::from),
    })
}

/// Reads what the ledgers of a repository's shared folder have of its stash.
pub(crate) fn stash_notes(ledgers: &Path, shared: &str) -> Vec<StashNotes> {
    let path = ledgers.join(folder_name(shared));
    let mut entries = Folder::open(&path).and_then(|folder| folder.entries(is_ledger)).unwrap_or_default();
    // Parts that were set aside are older than their successors.
    entries.sort_by_key(|entry| !entry.name.as_encoded_bytes().ends_with(b".1"));
    let mut text = Vec::new();
    let read = |entry: Entry| {
        read_end(&path.join(&entry.name), MOST, &mut text)?;
        let holder = holder_of(&text).filter(|holder| holder.tree.raw() == shared)?;
        let line = |line| if let LedgerLine::Stash(line) = parse(line)? { Some(line) } else { None };
        let lines = text.lines().filter_map(line);
        Some(StashNotes { holder, lines: kept(lines.collect()) })
    };
    entries.into_iter().take(MOST_LEDGERS).filter_map(read).collect()
}

/// Leaves the lines that tell of an entry, and the newest.
fn kept(lines: Vec<StashLine>) -> Vec<StashLine> {
    let old = lines.len().saturating_sub(NEWEST);
    let tells = |line: &StashLine| match line {
        StashLine::After(after) => !after.made.is_empty() || !after.took.is_empty(),
        StashLine::Before(_) => false,
    };
    let is_kept = |(at, line): &(usize, StashLine)| *at >= old || tells(line);
    lines.into_iter().enumerate().filter(is_kept).map(|(_, line)| line).collect()
}

/// Returns the commits of the newest entries.
pub(crate) fn newest(entries: &[StashEntry]) -> Vec<Untrusted> {
    entries.iter().take(MOST_ENTRIES).map(|entry| entry.commit.clone()).collect()
}
