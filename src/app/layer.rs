//! What lies over the table: opened one over the other, closed one by one with Esc.

use super::sheet::Sheet;
use crate::core::model::{Key, Untrusted};

/// One opened panel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Layer {
    /// Everything that is known about a thing.
    Evidence {
        key: Key,
        /// The first line shown.
        scroll: usize,
    },
    /// The versions of what a window wrote.
    Versions {
        /// The window.
        key: Key,
        /// The first line shown.
        scroll: usize,
    },
    /// A look into a window.
    Peek {
        /// The window.
        key: Key,
        /// The first line shown.
        scroll: usize,
    },
    /// The plan of bringing dead windows back.
    BringBack {
        /// Their sessions.
        sessions: Vec<Untrusted>,
        /// The first line shown.
        scroll: usize,
    },
    /// The plans of an action.
    Sheet(Box<Sheet>),
    /// The map of who holds what.
    Map {
        /// Which of its things is chosen.
        at: usize,
        /// The first line shown.
        scroll: usize,
    },
    /// What has changed lately.
    Recent {
        /// The first line shown.
        scroll: usize,
    },
    /// What claimtop itself reads, watches and costs.
    Diagnosis {
        /// The first line shown.
        scroll: usize,
    },
    /// All commands by their names.
    Palette(Palette),
    /// The columns of the view.
    Columns {
        /// Which one is chosen.
        at: usize,
        /// The first line shown.
        scroll: usize,
    },
    /// What can be set.
    Settings {
        /// Which one is chosen.
        at: usize,
        /// The first line shown.
        scroll: usize,
    },
    /// The keys that are active now.
    Help {
        /// The first line shown.
        scroll: usize,
    },
}

/// What is typed into the palette, and where in its list one is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Palette {
    pub(crate) text: String,
    /// Which of those that match.
    pub(crate) at: usize,
    /// The first line shown.
    pub(crate) scroll: usize,
}

impl Layer {
    pub(crate) fn sheet(&self) -> Option<&Sheet> {
        if let Self::Sheet(sheet) = self { Some(sheet) } else { None }
    }

    /// Returns the sheet for changing it, if it is one.
    pub(crate) fn sheet_mut(&mut self) -> Option<&mut Sheet> {
        if let Self::Sheet(sheet) = self { Some(sheet) } else { None }
    }

    pub(crate) fn evidence(&self) -> Option<&Key> {
        if let Self::Evidence { key, .. } = self { Some(key) } else { None }
    }

    /// Returns the first line shown.
    pub(crate) fn scroll(&self) -> usize {
        match self {
            Self::Evidence { scroll, .. }
            | Self::Versions { scroll, .. }
            | Self::Peek { scroll, .. }
            | Self::BringBack { scroll, .. }
            | Self::Map { scroll, .. }
            | Self::Recent { scroll }
            | Self::Diagnosis { scroll }
            | Self::Columns { scroll, .. }
            | Self::Settings { scroll, .. }
            | Self::Help { scroll } => *scroll,
            Self::Palette(palette) => palette.scroll,
            Self::Sheet(sheet) => sheet.scroll,
        }
    }

    /// Returns the first line shown, for changing it.
    pub(crate) fn scroll_mut(&mut self) -> &mut usize {
        match self {
            Self::Evidence { scroll, .. }
            | Self::Versions { scroll, .. }
            | Self::Peek { scroll, .. }
            | Self::BringBack { scroll, .. }
            | Self::Map { scroll, .. }
            | Self::Recent { scroll }
            | Self::Diagnosis { scroll }
            | Self::Columns { scroll, .. }
            | Self::Settings { scroll, .. }
            | Self::Help { scroll } => scroll,
            Self::Palette(palette) => &mut palette.scroll,
            Self::Sheet(sheet) => &mut sheet.scroll,
        }
    }

    /// Returns which of its choices is chosen.
    pub(crate) fn chosen(&self) -> usize {
        match self {
            Self::Palette(palette) => palette.at,
            Self::Columns { at, .. } | Self::Settings { at, .. } | Self::Map { at, .. } => *at,
            Self::Evidence { .. }
            | Self::Versions { .. }
            | Self::Peek { .. }
            | Self::BringBack { .. }
            | Self::Sheet(_)
            | Self::Recent { .. }
            | Self::Diagnosis { .. }
            | Self::Help { .. } => 0,
        }
    }

    /// Returns which of its choices is chosen, for changing it.
    pub(crate) fn at_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Palette(palette) => Some(&mut palette.at),
            Self::Columns { at, .. } | Self::Settings { at, .. } | Self::Map { at, .. } => Some(at),
            Self::Evidence { .. }
            | Self::Versions { .. }
            | Self::Peek { .. }
            | Self::BringBack { .. }
            | Self::Sheet(_)
            | Self::Recent { .. }
            | Self::Diagnosis { .. }
            | Self::Help { .. } => None,
        }
    }
}
