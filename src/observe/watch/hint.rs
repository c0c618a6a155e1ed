//! Why to look again.

use crate::core::model::ProcessId;

/// Why to look again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Some file or folder that matters has changed.
    Files,
    /// This process has exited.
    Process(ProcessId),
    /// A program of an agent's was opened: some process may become an agent now, without a fork.
    Program,
    /// A look was asked for.
    Asked,
    /// Changes were or will be missed; why, in words. Looking now and then helps.
    Lost(String),
}
