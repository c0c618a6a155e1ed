//! Keys: what each asks for, the table that dispatches them, the palette, and what a command would do now.

pub(crate) mod command;
pub(crate) mod keymap;
pub(crate) mod palette;
pub(crate) mod possible;
pub(crate) mod purpose;
