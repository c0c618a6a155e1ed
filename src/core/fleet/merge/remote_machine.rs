//! All that is known of one machine.

use std::sync::Arc;

use crate::core::fleet::wire::line::Hello;
use crate::core::model::{MachineView, Report, Tombstone};

/// What is known of one machine.
#[derive(Clone, Debug)]
pub struct FarMachine {
    /// How it stands with it.
    pub view: MachineView,
    /// Who it has said it is.
    pub hello: Option<Hello>,
    /// What it told last, whole.
    pub report: Option<Arc<Report>>,
    /// Whom it has proven dead in the boot that it told of last.
    pub tombstones: Arc<[Tombstone]>,
}
