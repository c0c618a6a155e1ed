//! Lines of another program, of bounded length and number.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::time::Instant;

use crate::core::fleet::wire::decoder::{LONGEST_LINE, StreamError};

/// How many bytes may come at once: all of the largest machine.
const AT_ONCE: f64 = (96 << 20) as f64;

/// How many bytes may come each second after that.
const EACH_SECOND: f64 = (2 << 20) as f64;

/// The cost of a line beside its bytes: that of reading an empty one.
const EACH_LINE: usize = 64;

/// Reads lines.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    is_whole: bool,
    /// How much may still come, and as of when.
    left: f64,
    at: Instant,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        let input = BufReader::with_capacity(64 << 10, input);
        Self { input, line: Vec::new(), is_whole: false, left: AT_ONCE, at: Instant::now() }
    }

    /// Waits for the next line; nothing at the end. Cancelling it loses nothing.
    ///
    /// # Errors
    /// The line or all lines together are longer than any machine needs.
    pub(super) async fn next(&mut self) -> Result<Option<&[u8]>, StreamError> {
        if std::mem::take(&mut self.is_whole) {
            self.line.clear();
        }
        loop {
            // An input that cannot be read has ended.
            let Ok(bytes) = self.input.fill_buf().await else { return Ok(None) };
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(bytes.len(), |at| at + 1);
            self.line.extend(bytes.iter().take(taken));
            self.input.consume(taken);
            self.spend(taken + end.map_or(0, |_| EACH_LINE))?;
            if self.line.len() > LONGEST_LINE {
                return Err(StreamError::TooMuch("a line of more than 4 MiB"));
            }
            if end.is_some() {
                self.is_whole = true;
                return Ok(Some(&self.line));
            }
        }
    }

    /// Counts the bytes that have come.
    ///
    /// # Errors
    /// There are more than any machine needs.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), StreamError> {
        let now = Instant::now();
        let passed = now.duration_since(self.at).as_secs_f64();
        let bytes = u32::try_from(bytes).map_or(f64::MAX, f64::from);
        self.left = (self.left + passed * EACH_SECOND).min(AT_ONCE) - bytes;
        self.at = now;
        if self.left < 0.0 { Err(StreamError::TooMuch("2 MiB each second")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_of_nothing_are_not_for_nothing() {
        let endless = tokio::io::repeat(b'\n');
        let mut lines = Lines::new(endless);
        let mut read: u64 = 0;
        let why = loop {
            match lines.next().await {
                Ok(line) => read += u64::from(line.is_some()),
                Err(why) => break why,
            }
        };
        assert_eq!(why, StreamError::TooMuch("2 MiB each second"));
        assert!((1 << 20..10 << 20).contains(&read), "{read} lines");
    }
}
