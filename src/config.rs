//! What a person can set, and where each value came from.

use std::path::PathBuf;

use crate::core::agent::Signature;

/// The effective settings.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The colours of the screen.
    pub theme: Theme,
    /// Whether the screen keeps to ASCII.
    pub glyphs: Glyphs,
    /// Whether colours are used.
    pub color: ColorChoice,
    /// Whether the mouse is captured.
    pub mouse: Mouse,
    /// Whether every action is refused.
    pub access: Access,
    /// Folders and repositories to look in, besides those of live windows.
    pub roots: Vec<PathBuf>,
    /// A person's own agent signatures.
    pub agents: Vec<Signature>,
}

/// The colours of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Truecolor on a dark ground.
    #[default]
    Dark,
    /// Truecolor on a light ground.
    Light,
    /// Colours that stay apart for colour-blind eyes (Okabe and Ito's set).
    ColorBlind,
    /// The terminal's own sixteen colours.
    Ansi,
}

/// Which characters draw the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Glyphs {
    /// Box lines and symbols.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
}

/// Whether colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// When the output is a terminal and `NO_COLOR` is not set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Whether the mouse is captured; capturing breaks copying, so it is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mouse {
    /// The terminal keeps it.
    #[default]
    Off,
    /// Clicks select.
    On,
}

/// Whether claimtop may act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Actions may be confirmed.
    #[default]
    Full,
    /// Every action is refused.
    ReadOnly,
}
