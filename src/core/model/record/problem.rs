//! What is wrong with a file or record.

use lean_string::LeanStr;
use serde::{Deserialize, Serialize};

use crate::core::model::Code;

/// One thing wrong with a file or record, found while it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The finding that it raises.
    pub code: Code,
    /// What is wrong, in words, naming the value.
    pub message: LeanStr,
}

impl Problem {
    pub(crate) fn new(code: Code, message: impl Into<LeanStr>) -> Self {
        Self { code, message: message.into() }
    }
}
