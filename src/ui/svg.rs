//! A drawn buffer as an SVG picture, the same bytes for the same cells.

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

/// The size of one cell in pixels.
const CELL: (u32, u32) = (9, 19);
/// The empty border around the screen in pixels.
const MARGIN: u32 = 12;
/// How far the base line of text is below the top of its cell.
const BASE: u32 = 14;

/// The colours of what has none of its own, as `0xRRGGBB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ground {
    /// Text.
    pub(crate) ink: u32,
    /// What is behind it.
    pub(crate) paper: u32,
}

/// A dark terminal.
pub const DARK: Ground = Ground { ink: 0xc5_cb_d6, paper: 0x12_15_1c };
/// A light terminal.
pub const LIGHT: Ground = Ground { ink: 0x2e_34_40, paper: 0xfb_fc_fe };

/// Returns the picture of a buffer.
pub fn to_svg(buffer: &Buffer, title: &str, ground: Ground) -> String {
    let area = buffer.area;
    let width = u32::from(area.width) * CELL.0 + 2 * MARGIN;
    let height = u32::from(area.height) * CELL.1 + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n\
         <g font-family=\"ui-monospace,'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace\" \
         font-size=\"14.95\" xml:space=\"preserve\">\n",
        escaped(title),
        hex(ground.paper),
    );
    for y in area.top()..area.bottom() {
        for run in runs(buffer, y, ground) {
            run.write(&mut svg, y - area.y);
        }
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// How a run of cells looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ink {
    ink: u32,
    paper: Option<u32>,
    modifier: Modifier,
}

/// Cells side by side that look the same.
struct TextRun {
    x: u16,
    cells: u16,
    text: String,
    ink: Ink,
}

/// Splits a line into runs.
fn runs(buffer: &Buffer, y: u16, ground: Ground) -> Vec<TextRun> {
    let mut runs: Vec<TextRun> = Vec::new();
    let mut x = buffer.area.left();
    while let Some(cell) = buffer.cell((x, y)) {
        let cells = u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
        let ink = ink(cell, ground);
        match runs.last_mut().filter(|run| run.ink == ink) {
            Some(run) => {
                run.cells += cells;
                run.text.push_str(cell.symbol());
            }
            None => runs.push(TextRun { x: x - buffer.area.x, cells, text: cell.symbol().to_owned(), ink }),
        }
        x += cells;
    }
    runs
}

impl TextRun {
    fn write(&self, svg: &mut String, line: u16) {
        let (x, y) = (MARGIN + u32::from(self.x) * CELL.0, MARGIN + u32::from(line) * CELL.1);
        let width = u32::from(self.cells) * CELL.0;
        if let Some(paper) = self.ink.paper {
            push(
                svg,
                format_args!(
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" fill=\"{}\"/>\n",
                    CELL.1,
                    hex(paper)
                ),
            );
        }
        if !self.text.trim().is_empty() {
            push(
                svg,
                format_args!(
                    "<text x=\"{x}\" y=\"{}\" textLength=\"{width}\" fill=\"{}\"{}>{}</text>\n",
                    y + BASE,
                    hex(self.ink.ink),
                    attributes(self.ink.modifier),
                    escaped(&self.text),
                ),
            );
        }
    }
}

fn push(svg: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = svg.write_fmt(text);
}

fn ink(cell: &Cell, ground: Ground) -> Ink {
    let mut ink = color(cell.fg).unwrap_or(ground.ink);
    let mut paper = color(cell.bg).filter(|paper| *paper != ground.paper);
    if cell.modifier.contains(Modifier::REVERSED) {
        (ink, paper) = (paper.unwrap_or(ground.paper), Some(ink));
    }
    let modifier = cell.modifier & (Modifier::BOLD | Modifier::DIM | Modifier::UNDERLINED);
    Ink { ink, paper, modifier }
}

fn attributes(modifier: Modifier) -> String {
    let mut attributes = String::new();
    if modifier.contains(Modifier::BOLD) {
        attributes.push_str(" font-weight=\"bold\"");
    }
    if modifier.contains(Modifier::DIM) {
        attributes.push_str(" opacity=\"0.7\"");
    }
    if modifier.contains(Modifier::UNDERLINED) {
        attributes.push_str(" text-decoration=\"underline\"");
    }
    attributes
}

/// Returns a colour's value; the sixteen are those of a common dark terminal.
fn color(color: Color) -> Option<u32> {
    Some(match color {
        Color::Reset | Color::Indexed(_) => return None,
        Color::Rgb(red, green, blue) => u32::from_be_bytes([0, red, green, blue]),
        Color::Black => 0x1d_1f_21,
        Color::Red => 0xd5_4e_53,
        Color::Green => 0x8c_b0_4a,
        Color::Yellow => 0xd8_a6_2a,
        Color::Blue => 0x2f_5f_a8,
        Color::Magenta => 0xb2_86_c4,
        Color::Cyan => 0x58_b0_b0,
        Color::Gray => 0xc5_c8_c6,
        Color::DarkGray => 0x80_86_90,
        Color::LightRed => 0xff_79_80,
        Color::LightGreen => 0xb9_dd_77,
        Color::LightYellow => 0xf3_cf_5c,
        Color::LightBlue => 0x81_a2_e6,
        Color::LightMagenta => 0xd7_a8_e8,
        Color::LightCyan => 0x8a_d6_d6,
        Color::White => 0xff_ff_ff,
    })
}

fn hex(color: u32) -> String {
    format!("#{color:06x}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
