//! The threads beside the screen's loop, and what they hand it.

pub(crate) mod acting;
pub(crate) mod event;
pub(crate) mod foresight;
pub(crate) mod joining;
pub(crate) mod ordering;
pub(crate) mod scanner;
pub(crate) mod signals;
pub(crate) mod work;
