//! What a person is doing: state, messages, keys and rows, pure and without a screen.

pub mod attention;
pub(crate) mod command;
pub mod counts;
pub(crate) mod diagnosed;
pub mod filter;
pub mod geometry;
pub mod keymap;
pub(crate) mod ladder;
pub mod layer;
pub mod lookup;
pub(crate) mod mapped;
pub mod msg;
pub(crate) mod navigate;
pub(crate) mod news;
pub mod order;
pub(crate) mod page;
pub mod pages;
pub(crate) mod past;
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
