//! The colours of each theme: what a tone looks like.

use ratatui::style::{Color, Modifier, Style};

use super::palettes;
use super::palettes::{COLOR_BLIND, DARK, LIGHT, Tints};
use crate::config::Theme;
use crate::present::text::tone::Tone;

/// Whether colours may be used at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colors {
    /// They may.
    #[default]
    Used,
    /// Only bold, dim, underlined and reversed.
    Unused,
}

/// A theme's colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    plain: Style,
    dim: Style,
    strong: Style,
    accent: Style,
    key: Style,
    good: Style,
    notice: Style,
    warning: Style,
    bad: Style,
    /// Behind everything. A theme of 24-bit colours brings its own, since it cannot know that of the
    /// terminal.
    pub(crate) ground: Style,
    pub(crate) selected: Style,
    /// The first and the last line.
    pub(crate) bar: Style,
    /// Lines between parts.
    pub(crate) rule: Style,
}

impl Palette {
    /// Returns a theme's colours.
    pub fn new(theme: Theme, colors: Colors) -> Self {
        if colors == Colors::Unused {
            return colorless();
        }
        match theme {
            Theme::Dark => truecolor(&DARK),
            Theme::Light => truecolor(&LIGHT),
            Theme::ColorBlind => truecolor(&COLOR_BLIND),
            Theme::Ansi => ansi(),
            Theme::Gruvbox => truecolor(&palettes::GRUVBOX),
            Theme::Nord => truecolor(&palettes::NORD),
            Theme::Dracula => truecolor(&palettes::DRACULA),
            Theme::SolarizedDark => truecolor(&palettes::SOLARIZED_DARK),
            Theme::SolarizedLight => truecolor(&palettes::SOLARIZED_LIGHT),
            Theme::Catppuccin => truecolor(&palettes::CATPPUCCIN),
            Theme::CatppuccinLatte => truecolor(&palettes::CATPPUCCIN_LATTE),
            Theme::TokyoNight => truecolor(&palettes::TOKYO_NIGHT),
        }
    }

    pub(crate) fn tone(&self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => self.plain,
            Tone::Dim => self.dim,
            Tone::Strong => self.strong,
            Tone::Accent => self.accent,
            Tone::Key => self.key,
            Tone::Good => self.good,
            Tone::Notice => self.notice,
            Tone::Warning => self.warning,
            Tone::Bad => self.bad,
        }
    }
}

fn rgb(color: u32) -> Color {
    Color::from_u32(color)
}

fn truecolor(tints: &Tints) -> Palette {
    let ink = |color: u32| Style::new().fg(rgb(color));
    Palette {
        plain: ink(tints.plain),
        dim: ink(tints.dim),
        strong: ink(tints.strong).add_modifier(Modifier::BOLD),
        accent: ink(tints.accent).add_modifier(Modifier::BOLD),
        key: ink(tints.accent),
        good: ink(tints.good),
        notice: ink(tints.notice),
        warning: ink(tints.warning),
        bad: ink(tints.bad).add_modifier(Modifier::BOLD),
        ground: Style::new().bg(rgb(tints.ground)),
        selected: Style::new().bg(rgb(tints.selected)),
        bar: Style::new().bg(rgb(tints.bar)),
        rule: ink(tints.rule),
    }
}

fn ansi() -> Palette {
    let ink = |color: Color| Style::new().fg(color);
    Palette {
        plain: Style::new(),
        dim: ink(Color::DarkGray),
        strong: Style::new().add_modifier(Modifier::BOLD),
        accent: ink(Color::Cyan).add_modifier(Modifier::BOLD),
        key: ink(Color::Cyan),
        good: ink(Color::Green),
        notice: ink(Color::Magenta),
        warning: ink(Color::Yellow),
        bad: ink(Color::Red).add_modifier(Modifier::BOLD),
        ground: Style::new(),
        selected: Style::new().bg(Color::Blue).fg(Color::White),
        bar: Style::new(),
        rule: ink(Color::DarkGray),
    }
}

fn colorless() -> Palette {
    let with = |modifier: Modifier| Style::new().add_modifier(modifier);
    Palette {
        plain: Style::new(),
        dim: with(Modifier::DIM),
        strong: with(Modifier::BOLD),
        accent: with(Modifier::BOLD),
        key: with(Modifier::UNDERLINED),
        good: Style::new(),
        notice: Style::new(),
        warning: with(Modifier::BOLD),
        bad: with(Modifier::BOLD),
        ground: Style::new(),
        selected: with(Modifier::REVERSED),
        bar: Style::new(),
        rule: with(Modifier::DIM),
    }
}
