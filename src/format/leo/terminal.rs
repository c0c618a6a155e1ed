//! Terminal IDs: how LEO ties a session to a window, and how far each sort can be trusted.

use super::id::is_uuid;
use super::names::is_number;

/// The parts of a terminal ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terminal<'a> {
    /// A UUID: the conversation's own.
    Conversation,
    /// `win-cc-<port>-<PID>`: Claude Code's PID.
    Agent(&'a str),
    /// `win-cc-<port>`: a port that every conversation of an editor window shares.
    Port,
    /// `win-fallback-<port>-<PID>-<hex>`: a helper that did not find its Claude Code.
    Fallback,
    /// `win-<PID>`: the desktop app's.
    Desktop(&'a str),
    /// `win-session-<n>`: one for everything in a Windows login.
    Login,
    /// `win-pid-<PID>`: the writer's own PID, its last resort on Windows.
    Writer,
    /// `tty-<hash>`: a terminal's.
    Tty,
    /// `pid-<PID>`: a shell's, the usual case on Unix.
    Shell,
    /// Any other form.
    Other,
}

impl<'a> Terminal<'a> {
    /// Reads a terminal ID.
    pub(super) fn read(text: &'a str) -> Self {
        let parts: Vec<&str> = text.splitn(6, '-').collect();
        match parts.as_slice() {
            _ if is_uuid(text) => Self::Conversation,
            ["win", "cc", port, pid] if is_number(port) && is_number(pid) => Self::Agent(pid),
            ["win", "cc", port] if is_number(port) => Self::Port,
            ["win", "fallback", port, pid, _] if is_number(port) && is_number(pid) => Self::Fallback,
            ["win", "session", number] if is_number(number) => Self::Login,
            ["win", "pid", pid] if is_number(pid) => Self::Writer,
            ["win", pid] if is_number(pid) => Self::Desktop(pid),
            ["pid", pid] if is_number(pid) => Self::Shell,
            ["tty", hash] if hash.len() == 12 => Self::Tty,
            _ => Self::Other,
        }
    }

    /// Returns the PID of the window itself, if the ID ends in it.
    pub(super) fn pid(self) -> Option<&'a str> {
        match self {
            Self::Agent(pid) | Self::Desktop(pid) => Some(pid),
            Self::Conversation
            | Self::Port
            | Self::Fallback
            | Self::Login
            | Self::Writer
            | Self::Tty
            | Self::Shell
            | Self::Other => None,
        }
    }

    /// Returns why several windows can share a terminal ID, and how to give each its own: newer code of LEO matches no
    /// session by a port, and uses the conversation's ID if that is set.
    pub(super) fn weak(id: &'a str) -> Option<String> {
        let why = Self::read(id).weakness()?;
        let id = crate::format::reading::excerpt::excerpt(id, 40);
        Some(format!(
            "terminal ID {id} is {why}: start each window with CLAUDE_SESSION_ID set to a UUID of its own, or update LEO, \
             which then writes one; remove this row with claimtop release once its window has ended"
        ))
    }

    /// Returns what the windows with such an ID share, if several can have it.
    fn weakness(self) -> Option<&'static str> {
        match self {
            Self::Port => Some("only a port, which every conversation of an editor window shares"),
            Self::Login => Some("only a Windows login, which every console of it shares"),
            Self::Conversation
            | Self::Agent(_)
            | Self::Fallback
            | Self::Desktop(_)
            | Self::Writer
            | Self::Tty
            | Self::Shell
            | Self::Other => None,
        }
    }

    /// Returns a description of the ID for people.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Conversation => "the conversation's own UUID",
            Self::Agent(_) => "ends in Claude Code's PID",
            Self::Port => "a port alone",
            Self::Fallback => "made up by a short-lived helper, a new one for each call",
            Self::Desktop(_) => "the desktop app's PID",
            Self::Login => "a Windows login",
            Self::Writer => "the PID of the short-lived writer",
            Self::Tty => "a hash of the terminal's path",
            Self::Shell => "a shell's PID, a new one for each shell",
            Self::Other => "of an unknown kind",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Terminal<'_>) {
        assert_eq!(Terminal::read(text), expected, "{text}");
    }

    #[test]
    fn every_sort_is_known_by_its_shape() {
        check("487c6af6-a8cc-45f2-9dfb-6c45eed8934e", Terminal::Conversation);
        check("win-cc-55188-4468", Terminal::Agent("4468"));
        check("win-cc-39623", Terminal::Port);
        check("win-fallback-39623-13566-0fb790c5", Terminal::Fallback);
        check("win-4468", Terminal::Desktop("4468"));
        check("win-session-1", Terminal::Login);
        check("win-pid-13585", Terminal::Writer);
        check("tty-0123456789ab", Terminal::Tty);
        check("pid-11472", Terminal::Shell);
    }

    #[test]
    fn near_misses_are_of_no_known_sort() {
        for text in ["", "win", "win-cc-", "win-cc-x", "win-cc-1-2-3", "pid-", "pid--1", "tty-1", "win-cc-1 "]
        {
            check(text, Terminal::Other);
        }
    }

    #[test]
    fn only_what_windows_share_is_weak() {
        let weak = |text| Terminal::read(text).weakness().is_some();
        assert!(weak("win-cc-39623") && weak("win-session-1"));
        assert!(!weak("win-cc-55188-4468") && !weak("pid-11472") && !weak("odd"));
    }
}
