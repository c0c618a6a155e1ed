//! Settings as values of options: their names, and what each means.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::config::{ColorChoice, Theme};

/// A shell that completions can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletionShell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    #[value(name = "powershell")]
    PowerShell,
    Zsh,
}

/// A command that takes names of what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NamedCommand {
    Explain,
    Release,
    Stop,
    Rescue,
    Events,
    Migrate,
    Park,
    Undo,
}

impl NamedCommand {
    /// Returns the name of the command.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl ValueEnum for Theme {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Dark => "Truecolor, dark background",
            Self::Light => "Truecolor, light background",
            Self::ColorBlind => "Colours for colour-blind eyes (the Okabe-Ito palette)",
            Self::Ansi => "The terminal's own sixteen colours",
            Self::Gruvbox => "Gruvbox, dark",
            Self::Nord => "Nord",
            Self::Dracula => "Dracula",
            Self::SolarizedDark => "Solarized, dark",
            Self::SolarizedLight => "Solarized, light",
            Self::Catppuccin => "Catppuccin Mocha",
            Self::CatppuccinLatte => "Catppuccin Latte",
            Self::TokyoNight => "Tokyo Night",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

impl ValueEnum for ColorChoice {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Auto, Self::Always, Self::Never]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Auto => "When the output is a terminal and NO_COLOR is not set",
            Self::Always => "Always",
            Self::Never => "Never",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}
