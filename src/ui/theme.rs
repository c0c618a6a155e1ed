//! The colours of each theme: what a tone looks like.

use ratatui::style::{Color, Modifier, Style};

use super::{palettes, svg};
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

/// The colours of a truecolor theme, as `0xRRGGBB`.
pub(super) struct Tints {
    pub(super) plain: u32,
    pub(super) dim: u32,
    pub(super) strong: u32,
    pub(super) accent: u32,
    pub(super) good: u32,
    pub(super) notice: u32,
    pub(super) warning: u32,
    pub(super) bad: u32,
    pub(super) ground: u32,
    pub(super) selected: u32,
    pub(super) bar: u32,
    pub(super) rule: u32,
}

const DARK: Tints = Tints {
    plain: 0xc5_cb_d6,
    dim: 0x8b_93_a3,
    strong: 0xf2_f4_f8,
    accent: 0x7a_b8_ff,
    good: 0x7f_c9_8f,
    notice: 0xa9_b8_f5,
    warning: 0xe6_b4_50,
    bad: 0xff_6f_7d,
    ground: svg::DARK.paper,
    selected: 0x2b_33_45,
    bar: 0x1d_22_2e,
    rule: 0x4a_52_63,
};

const LIGHT: Tints = Tints {
    plain: 0x2e_34_40,
    dim: 0x5f_68_78,
    strong: 0x0d_10_17,
    accent: 0x0b_5c_ad,
    good: 0x1f_6f_3a,
    notice: 0x4a_44_b3,
    warning: 0x8a_55_00,
    bad: 0xb4_16_2c,
    ground: svg::LIGHT.paper,
    selected: 0xd5_e3_f5,
    bar: 0xe9_ed_f3,
    rule: 0xb4_bc_c9,
};

/// Okabe and Ito's set on a dark ground: blue, bluish green, yellow and vermilion differ for
/// every kind of colour vision.
const COLOR_BLIND: Tints = Tints {
    plain: 0xc8_cd_d6,
    dim: 0x93_9b_a8,
    strong: 0xff_ff_ff,
    accent: 0x56_b4_e9,
    good: 0x00_9e_73,
    notice: 0xcc_79_a7,
    warning: 0xf0_e4_42,
    bad: 0xe6_7a_1e,
    ground: svg::DARK.paper,
    selected: 0x24_34_4a,
    bar: 0x1b_20_2a,
    rule: 0x4a_52_63,
};

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
