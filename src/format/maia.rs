//! TODO maia

use super::{Parsed, Place, Reading};
use crate::core::file::FileImage;

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {}

/// Where the files are.
pub const PLACES: &[Place] = &[];

/// Reads one file.
pub fn read(kind: Kind, _file: &FileImage, _reading: &Reading<'_>) -> Parsed {
    match kind {}
}
