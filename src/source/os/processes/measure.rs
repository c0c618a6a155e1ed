//! What was measured of one process.

use crate::core::model::{Hindrance, Load, Port};

/// What changes about a process while it runs the same program.
#[derive(Default)]
pub(crate) struct Measure {
    pub(crate) load: Load,
    /// `None` where they cannot be told.
    pub(crate) ports: Option<Vec<Port>>,
    pub(crate) hindrance: Option<Hindrance>,
}
