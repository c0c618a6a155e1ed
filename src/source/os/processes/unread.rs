//! What is read of processes on Linux alone: elsewhere none of it is known, and so none of it proves anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::core::model::{FolderId, Household, InputEnd, Interaction, Member, Port, ProcessId};
use crate::source::os::opener::HiddenOpener;
use crate::source::os::processes::measure::Measure;
use crate::source::os::processes::traced::TraceReading;

/// Which files a process has open is not read.
pub(crate) fn open_files(_pid: u32) -> Vec<PathBuf> {
    Vec::new()
}

/// So any process may have any file open.
#[expect(clippy::unnecessary_wraps, reason = "on Linux it can be seen")]
pub(crate) fn hidden_opener() -> Option<HiddenOpener> {
    Some(HiddenOpener::Unlisted)
}

/// Nor what they bear of the window that started them.
pub(crate) fn traces(_those: &[ProcessId], _uid: u32, _homes: &[&Path]) -> Vec<(ProcessId, TraceReading)> {
    Vec::new()
}

/// So nobody counts as settled.
pub(crate) fn settled_tick() -> u64 {
    0
}

/// Nobody has a pidfd there.
pub(crate) fn lives_by_inode(_pid: u32, _inode: u64) -> Option<bool> {
    None
}

/// What those of a window cost is not read.
pub(crate) fn measured(_of: &Household) -> Vec<Member> {
    Vec::new()
}

/// Nor those of any other process.
pub(crate) fn measures(_those: &[ProcessId]) -> BTreeMap<ProcessId, Measure> {
    BTreeMap::new()
}

/// Nor whether a person may be working with one.
pub(crate) fn interactions(_those: &[ProcessId]) -> BTreeMap<ProcessId, Interaction> {
    BTreeMap::new()
}

/// Nor whom they wait for.
pub(crate) fn ports(_those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>> {
    BTreeMap::new()
}

/// Nor who is connected there.
pub(crate) fn count_clients(_ports: Vec<&mut Port>) {}

/// Nor who waits there.
pub(crate) fn listeners(_wanted: &BTreeSet<u16>) -> BTreeMap<u16, Vec<u64>> {
    BTreeMap::new()
}

/// Nor whose that is.
pub(crate) fn owners(_those: &[ProcessId], _sockets: &BTreeSet<u64>) -> BTreeMap<u64, ProcessId> {
    BTreeMap::new()
}

/// Nor who has asked them.
pub(crate) fn inputs(_those: &[ProcessId], _uid: u32) -> BTreeMap<ProcessId, InputEnd> {
    BTreeMap::new()
}

/// What a process takes for the file system, which cannot be told.
pub(crate) struct View;

/// Nothing tells which folder a path means to another process.
pub(crate) fn view_of(_id: ProcessId) -> Option<View> {
    None
}

pub(crate) fn own_view() -> Option<View> {
    None
}

/// Nor in which one it works, but by its name.
pub(crate) fn working_folder(_id: ProcessId) -> Option<FolderId> {
    None
}

impl View {
    pub(crate) fn is_elsewhere(&self, _other: &Self, _path: &Path) -> bool {
        false
    }

    pub(crate) fn called_here(&self, _other: &Self, _pid: u32, _cwd: &Path) -> Option<PathBuf> {
        None
    }

    pub(crate) fn id(&self) {}

    pub(crate) fn folders(
        &self,
        _must_be: &[&PathBuf],
        _paths: &[PathBuf],
    ) -> Option<(BTreeSet<FolderId>, bool)> {
        None
    }
}

/// Returns `None`: the system has no pidfds.
pub(crate) fn pidfd_inode(_id: ProcessId) -> Option<u64> {
    None
}
