//! What a person is doing: state, messages, keys and rows, pure and without a screen.

pub mod attention;
pub mod command;
pub(crate) mod diagnosis;
pub(crate) mod entry;
pub mod filter;
pub mod geometry;
pub mod keymap;
pub mod layer;
pub(crate) mod mapped;
pub mod msg;
pub(crate) mod navigate;
pub(crate) mod news;
pub mod order;
pub(crate) mod pages;
pub mod panel;
pub(crate) mod past;
pub(crate) mod perform;
pub mod rows;
pub mod sheet;
pub mod state;
pub mod summary;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub(crate) mod update;
pub mod view;

pub use update::update;
