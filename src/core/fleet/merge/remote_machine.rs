//! The last known state of a remote machine.

use std::sync::Arc;

use crate::core::fleet::wire::line::Hello;
use crate::core::model::{MachineView, Report, Tombstone};

/// The last known state of one remote machine.
#[derive(Clone, Debug)]
pub struct FarMachine {
    /// Its connection state.
    pub view: MachineView,
    /// Its introduction.
    pub hello: Option<Hello>,
    /// Its last complete report.
    pub report: Option<Arc<Report>>,
    /// The processes it has proven dead in the last boot it reported.
    pub tombstones: Arc<[Tombstone]>,
}
