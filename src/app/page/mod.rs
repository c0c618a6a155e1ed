//! Pages: what the panels, the detail pane and the line about the selected thing say.

pub(crate) mod bring_back;
pub(crate) mod copy;
pub(crate) mod diagnosis;
pub(crate) mod entry;
pub(crate) mod map;
pub(crate) mod pages;
pub(crate) mod panel;
pub(crate) mod past;
pub(crate) mod peek;
pub(crate) mod settings;
pub(crate) mod summary;
pub(crate) mod versions;
