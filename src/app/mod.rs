//! What a person is doing: state, messages, keys and rows, pure and without a screen.

pub mod age;
pub mod attention;
mod command;
pub mod counts;
mod diagnosed;
pub mod filter;
pub mod geometry;
pub mod keymap;
mod ladder;
pub mod layer;
pub mod lookup;
mod mapped;
pub mod msg;
mod navigate;
mod news;
pub mod order;
mod page;
pub mod pages;
mod past;
pub mod rows;
pub mod sheet;
pub mod state;
pub mod summary;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod text;
pub mod tone;
mod update;
pub mod view;
mod words;

pub use update::update;
