//! The table: which rows, in which order, in which columns, and how the screen is divided.

pub(crate) mod bands;
pub(crate) mod chooser;
pub(crate) mod filter;
pub(crate) mod geometry;
pub(crate) mod order;
pub(crate) mod view;
