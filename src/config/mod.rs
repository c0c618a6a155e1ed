//! What a person can set, and where each value came from.

pub(crate) mod file;
pub(crate) mod fleet;
pub(crate) mod guard;
pub(crate) mod keep;
pub(crate) mod layers;
mod machine;
pub(crate) mod notify;
pub(crate) mod preference;

use std::path::PathBuf;

use serde::Deserialize;

use self::fleet::Publishing;
use self::guard::Guard;
use self::keep::Keep;
use self::notify::{AlertRank, NotifyCommand};
use crate::core::fleet::order::Accepts;
use crate::core::fleet::transport::Machine;
use crate::core::judge::window::agent::Signature;
use crate::core::model::Secret;
use crate::core::model::text::named::named;

/// The effective settings.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The colours of the screen.
    pub(crate) theme: Theme,
    /// Whether the screen keeps to ASCII.
    pub(crate) glyphs: Glyphs,
    /// Whether colours are used.
    pub(crate) color: ColorChoice,
    /// Whether the mouse is captured; capturing breaks copying, so it is off.
    pub(crate) mouse: Switch,
    /// Whether every action is refused.
    pub(crate) access: Access,
    /// Folders and repositories to look in, besides those of live windows.
    pub(crate) roots: Vec<PathBuf>,
    /// Databases of Obra to read, besides those in its usual places.
    pub(crate) obra_databases: Vec<PathBuf>,
    /// LEO's database: a URL, which may hold a password.
    pub(crate) postgres: Option<Secret>,
    /// A file of passwords in libpq's form.
    pub(crate) postgres_password_file: Option<PathBuf>,
    /// A person's own agent signatures.
    pub(crate) agents: Vec<Signature>,
    /// For how long parked things are kept.
    pub(crate) retention: Retention,
    /// How to alert a person who is looking elsewhere.
    pub(crate) alerts: Alerts,
    /// The command that calls a person who is away.
    pub(crate) notify_command: NotifyCommand,
    /// Whether what is observed is kept on disk.
    pub(crate) history: Switch,
    /// Whether an open screen compares working trees.
    pub(crate) foresee: Foresee,
    /// What a guard says.
    pub(crate) guard: Guard,
    /// What a guard keeps of what windows write.
    pub(crate) keep: Keep,
    /// Other machines to watch.
    pub(crate) machines: Vec<Machine>,
    /// Which orders of other machines are taken.
    pub(crate) accepts: Accepts,
    /// The database in which machines meet: a URL, which may hold a password.
    pub(crate) fleet: Option<Secret>,
    /// What this machine publishes there.
    pub(crate) publishing: Publishing,
}

/// How to alert a person who is looking elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alerts {
    /// Whether the terminal's title shows the most severe problems.
    pub(crate) title: Switch,
    /// Whether the bell rings at a new problem.
    pub(crate) bell: Switch,
    /// How the desktop is asked for a notification of a new problem.
    pub(crate) notify: Notify,
    /// The least that a person is called for.
    pub(crate) from: AlertRank,
}

impl Alerts {
    /// The title only.
    pub(crate) const DEFAULT: Self =
        Self { title: Switch::On, bell: Switch::Off, notify: Notify::Off, from: AlertRank::Done };
}

impl Default for Alerts {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// When working trees are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Foresee {
    /// While a screen is open, and by the command.
    #[default]
    WhileOpen,
    /// By the command `foresee` alone.
    CommandOnly,
}

impl Foresee {
    /// Reads a truth value of the configuration file.
    pub(crate) fn from_truth(is_on: bool) -> Self {
        if is_on { Self::WhileOpen } else { Self::CommandOnly }
    }
}

/// Whether something is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switch {
    /// It is not.
    #[default]
    Off,
    On,
}

impl Switch {
    /// Reads a truth value of the configuration file.
    pub(crate) fn from_truth(is_on: bool) -> Self {
        if is_on { Self::On } else { Self::Off }
    }

    /// Returns the truth value of the configuration file.
    pub(crate) fn is_on(self) -> bool {
        self == Self::On
    }
}

named! {
    /// How the desktop is asked for a notification.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    pub(crate) enum Notify {
        /// It is not asked.
        Off = "off",
        /// By OSC 9, as iTerm2, WezTerm, Windows Terminal and others know it.
        Osc9 = "osc9",
        /// By OSC 777, as urxvt, foot and others know it.
        Osc777 = "osc777",
    }
}

named! {
    /// The colours of the screen.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    pub enum Theme {
        /// Truecolor, dark background.
        #[default]
        Dark = "dark",
        /// Truecolor, light background.
        Light = "light",
        /// Colours for colour-blind eyes (the Okabe-Ito palette).
        ColorBlind = "color-blind",
        /// The terminal's own sixteen colours.
        Ansi = "ansi",
        /// Gruvbox, dark.
        Gruvbox = "gruvbox",
        /// Nord.
        Nord = "nord",
        /// Dracula.
        Dracula = "dracula",
        /// Solarized, dark.
        SolarizedDark = "solarized-dark",
        /// Solarized, light.
        SolarizedLight = "solarized-light",
        /// Catppuccin Mocha.
        Catppuccin = "catppuccin",
        /// Catppuccin Latte.
        CatppuccinLatte = "catppuccin-latte",
        /// Tokyo Night.
        TokyoNight = "tokyo-night",
    }
}

impl Theme {
    /// Every theme.
    pub const ALL: [Self; 12] = [
        Self::Dark,
        Self::Light,
        Self::ColorBlind,
        Self::Ansi,
        Self::Gruvbox,
        Self::Nord,
        Self::Dracula,
        Self::SolarizedDark,
        Self::SolarizedLight,
        Self::Catppuccin,
        Self::CatppuccinLatte,
        Self::TokyoNight,
    ];
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

named! {
    /// Whether colours are used.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    pub(crate) enum ColorChoice {
        /// When the output is a terminal and `NO_COLOR` is not set.
        #[default]
        Auto = "auto",
        Always = "always",
        Never = "never",
    }
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

/// For how many days parked things are kept before pruning may remove them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retention {
    /// Days; 24 hours each.
    pub(crate) days: u16,
}

impl Default for Retention {
    fn default() -> Self {
        Self { days: 30 }
    }
}

impl Glyphs {
    /// Returns whether the screen keeps to ASCII.
    pub(crate) fn is_ascii(self) -> bool {
        match self {
            Self::Unicode => false,
            Self::Ascii => true,
        }
    }
}

impl Access {
    /// Returns whether every action is refused.
    pub(crate) fn is_read_only(self) -> bool {
        match self {
            Self::Full => false,
            Self::ReadOnly => true,
        }
    }
}
