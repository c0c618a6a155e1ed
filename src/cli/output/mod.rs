//! Plain output: what is written to the standard output, and in which colours.

pub(crate) mod columns;
pub(crate) mod crash;
pub(crate) mod failure;
pub(crate) mod progress;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _, stdin, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::config::{ColorChoice, Glyphs};
use crate::present::text::page::Page;
use crate::present::text::tone::Tone;
use crate::ui::glyphs;
use failure::{Exit, Failure};

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Never.
    Plain,
    /// With the terminal's own sixteen colours.
    Colored,
}

/// In which shape a command answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Text(Paint),
    Json,
}

impl Paint {
    /// Decides for the standard output.
    pub(crate) fn for_stdout(choice: ColorChoice) -> Self {
        let is_wanted = match choice {
            ColorChoice::Auto => io::stdout().is_terminal(),
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        if is_wanted { Self::Colored } else { Self::Plain }
    }

    /// Colours a text that is already safe to show; each tone has one of the sixteen colours that
    /// it has on a screen with these.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Strong | Tone::Accent => "1",
            Tone::Key => "36",
            Tone::Dim => "2",
            Tone::Good => "32",
            Tone::Notice => "35",
            Tone::Warning => "33",
            Tone::Bad => "1;31",
        };
        match self {
            Self::Colored if !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Colored | Self::Plain => text.to_owned(),
        }
    }
}

/// Returns a page as lines of text.
pub(crate) fn lines(page: &Page, paint: Paint) -> String {
    let mut out = String::new();
    for line in &page.lines {
        let text: String = line.0.iter().map(|span| paint.paint(span.tone, span.text())).collect();
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

/// Returns the width of the terminal that the standard output is; `None` when it is none, and
/// nothing needs to be cut.
pub(crate) fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Whether only ASCII is written, for the rest of this run.
static IS_ASCII: AtomicBool = AtomicBool::new(false);

/// Decides with which characters everything is written from now on.
pub(crate) fn draw_with(glyphs: Glyphs) {
    IS_ASCII.store(glyphs.is_ascii(), Ordering::Relaxed);
}

/// Returns text as it is written: with ASCII alone where that is wanted. JSON says the same in its own way.
fn drawn(text: &str) -> Cow<'_, str> {
    if !IS_ASCII.load(Ordering::Relaxed) || text.is_ascii() {
        return Cow::Borrowed(text);
    }
    if !text.starts_with(['{', '[']) {
        return glyphs::text(Glyphs::Ascii, text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii() {
            true => escaped.push(c),
            false => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(escaped, "\\u{unit:04x}");
            }),
        }
    }
    Cow::Owned(escaped)
}

/// Writes a whole text at once.
///
/// # Errors
/// The writing failed; quiet when the reader has gone.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(drawn(text).as_bytes())?;
    Ok(out.flush()?)
}

/// Writes a whole text at once for those who act: that the reader has gone stops nothing.
///
/// # Errors
/// The writing failed for another reason.
pub(crate) fn print_if_heard(text: &str) -> Result<(), Failure> {
    match print(text) {
        Err(Failure { error: None, .. }) => Ok(()),
        printed => printed,
    }
}

/// Writes a line to the standard error output, if it is still read: a terminal that has
/// hung up must not make a panic of it.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", drawn(line));
}

/// Returns whether the reader of the standard output has gone: asking costs nothing, and
/// without it a stream with no events would never end.
pub(crate) fn is_reader_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    fds.iter().any(|fd| fd.revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL))
}

/// Asks a question and returns whether the answer is yes; without a terminal nothing is asked, and it
/// is no.
///
/// # Errors
/// The question cannot be written, or the answer cannot be read.
pub(crate) fn said_yes(question: &str) -> Result<bool, Failure> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Ok(false);
    }
    print(&format!("{question}? [y/N] "))?;
    let mut line = String::new();
    let read = stdin().read_line(&mut line).context("failed to read the answer");
    read.map_err(|error| Failure::new(Exit::Failed, error))?;
    Ok(line.trim().eq_ignore_ascii_case("y"))
}
