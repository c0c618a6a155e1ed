//! Formats that a person describes in TOML: one file for each, in `formats` beside the
//! configuration.

mod describe;
mod file;
#[cfg(test)]
mod tests;

pub use self::describe::{Zones, parse};
pub use self::file::read;
use crate::core::model::Root;
use crate::format::reading::place::Base;

/// Returns the folder that a described place is below.
pub fn base(root: Root) -> Base {
    match root {
        Root::Home => Base::Home,
        Root::Tmp => Base::Tmp,
        Root::Repository => Base::Worktree,
    }
}
