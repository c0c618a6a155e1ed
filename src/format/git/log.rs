//! Lines of git's logs of its refs: `old new Name <mail> seconds zone`, a tab, a message (git-reflog(1)).

use bstr::ByteSlice;

/// A line of a log. Who made it is not read.
pub(crate) struct LogLine<'a> {
    /// The object before, in hexadecimal digits: 40, or 64 with SHA-256.
    pub(crate) old: &'a [u8],
    /// The object after.
    pub(crate) new: &'a [u8],
    /// The time, in seconds since 1970.
    pub(crate) second: i64,
    /// The zone of its author, such as `+0100`.
    pub(crate) zone: &'a str,
    /// What was done.
    pub(crate) message: &'a [u8],
}

impl<'a> LogLine<'a> {
    /// Reads a line without its end; `None` if it has not this form.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        let (old, rest) = line.split_once_str(" ")?;
        let (new, rest) = rest.split_once_str(" ")?;
        let (who, message) = rest.split_once_str("\t").unwrap_or((rest, b""));
        let at = who.rsplit(|byte| *byte == b'>').next()?;
        let (second, zone) = str::from_utf8(at).ok()?.trim_start().split_once(' ')?;
        Some(Self { old, new, second: second.parse().ok()?, zone, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "d5bd669c76d540d7f64830d021f124522c02df74";

    #[test]
    fn a_line_has_two_objects_a_time_and_a_message() {
        let line = format!("{NAME} {NAME} A > B <a@x> 1795420797 +0100\tcommit: pay > tax\ttoo");
        let line = LogLine::parse(line.as_bytes()).unwrap();
        assert_eq!((line.old, line.new), (NAME.as_bytes(), NAME.as_bytes()));
        assert_eq!((line.second, line.zone), (1_795_420_797, "+0100"));
        assert_eq!(line.message, b"commit: pay > tax\ttoo");
        let without = format!("{NAME} {NAME} A <a@x> 7 +0000");
        assert_eq!(LogLine::parse(without.as_bytes()).unwrap().message, b"");
    }

    #[test]
    fn another_form_is_not_a_line() {
        for line in ["", "x", NAME, "a b", &format!("{NAME} {NAME} A <a@x> soon +0100\tx")] {
            assert!(LogLine::parse(line.as_bytes()).is_none(), "{line}");
        }
    }
}
