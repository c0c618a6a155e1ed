//! What is drawn, without colours: spans of text with a tone and a mark.

use crate::core::model::{ClaimStatus, Severity, VerdictState, WindowDoing, WindowState, WindowView};
use crate::present::text::{safe, width};

/// What a piece of text means; the theme decides how that looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Ordinary text.
    #[default]
    Plain,
    /// Less important text.
    Dim,
    /// A name or a heading.
    Strong,
    /// The program itself, and what is chosen.
    Accent,
    /// A key to press.
    Key,
    /// All is well.
    Good,
    /// Worth knowing.
    Notice,
    /// Stale, dead or malformed.
    Warning,
    /// Windows in each other's way.
    Bad,
}

/// A sign of one column that says by its shape what a colour says too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It runs or lives.
    Alive,
    /// It waits for a person.
    Waiting,
    /// It is a person's turn.
    Turn,
    /// It is stopped or silent.
    Quiet,
    /// It is gone.
    Dead,
    /// It is not known.
    Unknown,
    /// Two are in each other's way.
    Collision,
    /// Something is wrong.
    Warning,
    /// Something is worth knowing.
    Info,
    /// Only a mirror says so.
    Ghost,
    /// Past its own lease, and no live owner was found.
    Expired,
    /// Chosen by a person.
    Chosen,
    /// Changed since a person last looked.
    News,
}

/// A piece of text of one tone. It can only be made from text that is safe to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    mark: Option<Mark>,
    text: String,
    /// What it means.
    pub(crate) tone: Tone,
}

impl Span {
    /// Makes a piece of text, with everything that could steer a terminal made visible.
    pub(crate) fn new(text: &str, tone: Tone) -> Self {
        Self { mark: None, text: safe(text), tone }
    }

    /// Makes a sign followed by text.
    pub(crate) fn marked(mark: Mark, text: &str, tone: Tone) -> Self {
        Self { mark: Some(mark), text: safe(text), tone }
    }

    /// Returns the sign.
    pub(crate) fn mark(&self) -> Option<Mark> {
        self.mark
    }

    /// Returns the text without the sign.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns how many columns it takes, with its sign and the space after it.
    pub(crate) fn width(&self) -> usize {
        let sign = if self.mark.is_none() { 0 } else { 1 + usize::from(!self.text.is_empty()) };
        sign + width(&self.text)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line(pub Vec<Span>);

impl Line {
    /// Makes a line of one tone.
    pub(crate) fn new(text: &str, tone: Tone) -> Self {
        Self(vec![Span::new(text, tone)])
    }

    pub(crate) fn then(mut self, text: &str, tone: Tone) -> Self {
        self.0.push(Span::new(text, tone));
        self
    }

    /// Adds another line at its end.
    pub(crate) fn joined(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// Adds a sign and text.
    pub(crate) fn then_marked(mut self, mark: Mark, text: &str, tone: Tone) -> Self {
        self.0.push(Span::marked(mark, text, tone));
        self
    }

    /// Returns how many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(Span::width).sum()
    }

    #[cfg(test)]
    pub(crate) fn plain(&self) -> String {
        self.0.iter().map(Span::text).collect()
    }
}

pub(crate) fn of_severity(severity: Severity) -> (Mark, Tone, &'static str) {
    match severity {
        Severity::Collision => (Mark::Collision, Tone::Bad, "collision"),
        Severity::Warning => (Mark::Warning, Tone::Warning, "warning"),
        Severity::Info => (Mark::Info, Tone::Notice, "info"),
    }
}

pub(crate) fn of_verdict(state: VerdictState) -> (Mark, Tone, &'static str) {
    match state {
        VerdictState::Alive => (Mark::Alive, Tone::Good, "alive"),
        VerdictState::Dead => (Mark::Dead, Tone::Warning, "dead"),
        VerdictState::Unknown => (Mark::Unknown, Tone::Notice, "unknown"),
    }
}

/// Returns how a window stands.
pub(crate) fn of_window(window: &WindowView) -> (Mark, Tone, &'static str) {
    of_doing(window.state, window.doing)
}

/// Returns how a window stands: by what goes on in it, else by what its process does.
pub(crate) fn of_doing(state: WindowState, doing: Option<WindowDoing>) -> (Mark, Tone, &'static str) {
    let (mark, tone) = match (state, doing) {
        (WindowState::Zombie, _) => return (Mark::Dead, Tone::Warning, "zombie"),
        (WindowState::Stopped, None) => return (Mark::Quiet, Tone::Warning, WindowDoing::Stopped.word()),
        (WindowState::Running, None) => return (Mark::Unknown, Tone::Dim, "unknown"),
        (_, Some(WindowDoing::Asks)) => (Mark::Waiting, Tone::Notice),
        (_, Some(WindowDoing::YourTurn)) => (Mark::Turn, Tone::Accent),
        (_, Some(WindowDoing::Working)) => (Mark::Alive, Tone::Good),
        (_, Some(WindowDoing::Quiet)) => (Mark::Quiet, Tone::Notice),
        (_, Some(WindowDoing::Stuck)) => (Mark::Warning, Tone::Warning),
        (_, Some(WindowDoing::Stopped)) => (Mark::Quiet, Tone::Warning),
    };
    (mark, tone, doing.map_or("", WindowDoing::word))
}

pub(crate) fn of_claim(status: ClaimStatus) -> (Mark, Tone, &'static str) {
    match status {
        ClaimStatus::Contested => (Mark::Collision, Tone::Bad, "contested"),
        ClaimStatus::Dead => (Mark::Dead, Tone::Warning, "dead"),
        ClaimStatus::Ghost => (Mark::Ghost, Tone::Warning, "ghost"),
        ClaimStatus::Expired => (Mark::Expired, Tone::Warning, "expired"),
        ClaimStatus::Unproven => (Mark::Unknown, Tone::Notice, "unproven"),
        ClaimStatus::Quiet => (Mark::Quiet, Tone::Notice, "quiet"),
        ClaimStatus::Held => (Mark::Alive, Tone::Good, "held"),
    }
}
