//! What a person is doing: state, messages, keys and rows, pure and without a screen.

pub(crate) mod attention;
pub(crate) mod bands;
pub(crate) mod chooser;
pub(crate) mod command;
pub(crate) mod copy;
pub(crate) mod deaths;
pub(crate) mod diagnosis;
pub(crate) mod entry;
pub(crate) mod filter;
pub(crate) mod geometry;
pub(crate) mod kept;
pub(crate) mod keymap;
pub(crate) mod layer;
pub(crate) mod mapped;
pub(crate) mod msg;
pub(crate) mod navigate;
pub(crate) mod news;
pub(crate) mod order;
pub(crate) mod pages;
pub(crate) mod palette;
pub(crate) mod panel;
pub(crate) mod past;
pub(crate) mod perform;
pub(crate) mod possible;
pub(crate) mod rows;
pub(crate) mod sheet;
pub(crate) mod state;
pub(crate) mod summary;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub(crate) mod unseen;
pub(crate) mod update;
pub(crate) mod view;

pub use update::update;
