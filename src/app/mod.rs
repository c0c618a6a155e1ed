//! What a person is doing: state, messages, keys and rows, pure and without a screen.

pub(crate) mod attention;
pub(crate) mod kept;
pub(crate) mod keys;
pub(crate) mod layer;
pub(crate) mod msg;
pub(crate) mod navigate;
pub(crate) mod page;
pub(crate) mod perform;
pub(crate) mod rows;
pub(crate) mod sheet;
pub(crate) mod state;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod update;

pub use update::update;
