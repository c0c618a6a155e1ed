//! Facts of processes that only Linux provides: on other systems they are unknown, and prove nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::core::model::{
    CallProcesses, CallWait, FolderId, Household, InputEnd, Interaction, Member, Port, ProcessId,
    ProcessTable,
};
use crate::source::os::opener::HiddenOpener;
use crate::source::os::processes::measure::Measure;
use crate::source::os::processes::traced::TraceReading;

/// Returns no process: on this system all are read at once.
pub(crate) fn single(_pid: u32) -> ProcessTable {
    let partial = Some("no single process is read on this system".to_owned());
    ProcessTable { partial, ..ProcessTable::default() }
}

/// Returns none: open files are not read on this system.
pub(crate) fn open_files(_pid: u32) -> Vec<PathBuf> {
    Vec::new()
}

/// Returns an unlisted process: any process may have any file open.
#[expect(clippy::unnecessary_wraps, reason = "on Linux it can be seen")]
pub(crate) fn hidden_opener() -> Option<HiddenOpener> {
    Some(HiddenOpener::Unlisted)
}

/// Returns none: traces of windows are not read on this system.
pub(crate) fn traces(_those: &[ProcessId], _uid: u32, _homes: &[&Path]) -> Vec<(ProcessId, TraceReading)> {
    Vec::new()
}

/// Returns 0: no process counts as settled.
pub(crate) fn settled_tick() -> u64 {
    0
}

/// Returns `None`: the system has no pidfds.
pub(crate) fn lives_by_inode(_pid: u32, _inode: u64) -> Option<bool> {
    None
}

/// Returns none: the costs of a window's processes are not read on this system.
pub(crate) fn measured(_of: &Household) -> Vec<Member> {
    Vec::new()
}

/// Returns none: processes are not measured on this system.
pub(crate) fn measures(_those: &[ProcessId]) -> BTreeMap<ProcessId, Measure> {
    BTreeMap::new()
}

/// Returns none: interactions with a person are not read on this system.
pub(crate) fn interactions(_those: &[ProcessId]) -> BTreeMap<ProcessId, Interaction> {
    BTreeMap::new()
}

/// Returns none: listening ports are not read on this system.
pub(crate) fn ports(_those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>> {
    BTreeMap::new()
}

/// Counts nothing: connections are not read on this system.
pub(crate) fn count_clients(_ports: Vec<&mut Port>) {}

/// Returns none: listening sockets are not read on this system.
pub(crate) fn listeners(_wanted: &BTreeSet<u16>) -> BTreeMap<u16, Vec<u64>> {
    BTreeMap::new()
}

/// Returns none: the owners of sockets are not read on this system.
pub(crate) fn owners(_those: &[ProcessId], _sockets: &BTreeSet<u64>) -> BTreeMap<u64, ProcessId> {
    BTreeMap::new()
}

/// Returns none: the other ends of inputs are not read on this system.
pub(crate) fn inputs(_those: &[ProcessId], _uid: u32) -> BTreeMap<ProcessId, InputEnd> {
    BTreeMap::new()
}

/// Returns none: what processes wait for is not read on this system.
pub(crate) fn call_waits(_calls: &[CallProcesses], _table: &ProcessTable, _uid: u32) -> Vec<CallWait> {
    Vec::new()
}

/// The file system as a process sees it, which is unknown on this system.
pub(crate) struct View;

/// Returns `None`: the system does not show which folder a path denotes for another process.
pub(crate) fn view_of(_id: ProcessId) -> Option<View> {
    None
}

pub(crate) fn own_view() -> Option<View> {
    None
}

/// Returns `None`: the system shows a working folder only by its name.
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
