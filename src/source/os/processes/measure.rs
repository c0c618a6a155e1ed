//! Measurements of one process.

use crate::core::model::{Hindrance, Load, Port};

/// Facts of a process that change while it runs the same program.
#[derive(Default)]
pub(crate) struct Measure {
    pub(crate) load: Load,
    /// `None` if they cannot be determined.
    pub(crate) ports: Option<Vec<Port>>,
    pub(crate) hindrance: Option<Hindrance>,
}
