//! Bounds what a server may send: messages are counted before they are parsed.
//!
//! tokio-postgres makes room for as much as a message announces, keeps each parameter that a server
//! names, and collects rows for as long as they come. So a server could fill the memory.

use std::collections::BTreeSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most bytes of one message: 16 MiB.
const MAX_MESSAGE: u64 = 16 << 20;

/// The most bytes of the answer to one request: 64 MiB.
const MAX_BYTES: u64 = 64 << 20;

/// The most messages of one answer: each row is one, and takes more memory than its bytes.
const MAX_MESSAGES: u64 = 500_000;

/// The most bytes of a parameter of the server's own: 16 KiB.
const MAX_PARAMETER: u64 = 16 << 10;

/// The most parameters that a server may name; PostgreSQL 18 has 15.
const MAX_PARAMETERS: usize = 128;

/// The tag of a message that names a parameter (PostgreSQL's protocol, `ParameterStatus`).
const PARAMETER: u8 = b'S';

/// Tag and length, which counts itself.
const HEADER: usize = 5;

/// How much a server may still send. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Allowance(Arc<[AtomicU64; 2]>);

impl Allowance {
    fn new() -> Self {
        Self(Arc::new([AtomicU64::new(MAX_BYTES), AtomicU64::new(MAX_MESSAGES)]))
    }

    /// Resets the allowance, as the previous request is answered.
    pub(crate) fn renew(&self) {
        let [bytes, messages] = &*self.0;
        bytes.store(MAX_BYTES, Ordering::Relaxed);
        messages.store(MAX_MESSAGES, Ordering::Relaxed);
    }

    fn take(&self, bytes: u64) -> Result<(), TooMuch> {
        let [left, messages] = &*self.0;
        take(messages, 1).ok_or(TooMuch::Messages)?;
        take(left, bytes).ok_or(TooMuch::Bytes)
    }
}

fn take(left: &AtomicU64, wanted: u64) -> Option<()> {
    let mut known = left.load(Ordering::Relaxed);
    loop {
        let rest = known.checked_sub(wanted)?;
        match left.compare_exchange_weak(known, rest, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(()),
            Err(now) => known = now,
        }
    }
}

/// Why no more is read from a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum TooMuch {
    /// It announces a message that is too long.
    #[error("the server announces a message of {0} bytes; at most {MAX_MESSAGE} are read")]
    Message(u64),
    /// A message is shorter than its own header.
    #[error("the server announces a message of {0} bytes, which is not a valid size")]
    None(u64),
    /// It has sent too many bytes.
    #[error("the server sent more than {} MiB for one read", MAX_BYTES >> 20)]
    Bytes,
    /// It has sent too many messages.
    #[error("the server sent more than {MAX_MESSAGES} messages for one read")]
    Messages,
    /// It has too many parameters, or one is too long.
    #[error("the server names more parameters than any PostgreSQL has")]
    Parameters,
}

/// Follows the messages of a server byte by byte, as they arrive in pieces.
#[derive(Debug)]
struct Frames {
    allowance: Allowance,
    /// The bytes of the next header that have arrived.
    header: Vec<u8>,
    /// How many bytes of this message are still to come.
    left: u64,
    /// The bytes of a parameter that have arrived, if this message names one.
    parameter: Option<Vec<u8>>,
    names: BTreeSet<Vec<u8>>,
}

impl Frames {
    fn new(allowance: Allowance) -> Self {
        Self { allowance, header: Vec::new(), left: 0, parameter: None, names: BTreeSet::new() }
    }

    /// Counts the bytes that have arrived.
    fn see(&mut self, mut bytes: &[u8]) -> Result<(), TooMuch> {
        while !bytes.is_empty() {
            let wanted = if self.left > 0 { self.left } else { (HEADER - self.header.len()) as u64 };
            let at = bytes.len().min(usize::try_from(wanted).unwrap_or(usize::MAX));
            let (piece, rest) = bytes.split_at(at);
            if self.left > 0 {
                self.body(piece)?
            } else {
                self.head(piece)?
            }
            bytes = rest;
        }
        Ok(())
    }

    fn head(&mut self, piece: &[u8]) -> Result<(), TooMuch> {
        self.header.extend_from_slice(piece);
        let &[tag, a, b, c, d] = self.header.as_slice() else { return Ok(()) };
        self.header.clear();
        let length = u64::from(u32::from_be_bytes([a, b, c, d]));
        self.left = length.checked_sub(4).ok_or(TooMuch::None(length))?;
        if self.left > MAX_MESSAGE {
            return Err(TooMuch::Message(length));
        }
        if tag == PARAMETER && self.left > MAX_PARAMETER {
            return Err(TooMuch::Parameters);
        }
        self.parameter = (tag == PARAMETER && self.left > 0).then(Vec::new);
        self.allowance.take(length + 1)
    }

    fn body(&mut self, piece: &[u8]) -> Result<(), TooMuch> {
        self.left -= piece.len() as u64;
        let Some(parameter) = &mut self.parameter else { return Ok(()) };
        parameter.extend_from_slice(piece);
        if self.left > 0 {
            return Ok(());
        }
        let name = parameter.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        self.names.insert(name);
        self.parameter = None;
        if self.names.len() > MAX_PARAMETERS { Err(TooMuch::Parameters) } else { Ok(()) }
    }
}

/// A wire on which a server can send only a limited amount.
pub(crate) struct BoundedWire {
    wire: Box<dyn Wire>,
    frames: Frames,
}

impl BoundedWire {
    /// Bounds a wire on which the server has not sent anything yet.
    pub(crate) fn new(wire: Box<dyn Wire>) -> (Self, Allowance) {
        let allowance = Allowance::new();
        (Self { wire, frames: Frames::new(allowance.clone()) }, allowance)
    }
}

impl AsyncRead for BoundedWire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.wire).poll_read(cx, buffer))?;
        let new = buffer.filled().get(before..).unwrap_or_default();
        Poll::Ready(self.frames.see(new).map_err(io::Error::other))
    }
}

impl AsyncWrite for BoundedWire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(cx)
    }
}

/// A wire to a server, protected or not.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag][..], &length.to_be_bytes(), body].concat()
    }

    /// Lets a server send these bytes, in pieces of each size.
    #[track_caller]
    fn check(bytes: &[u8], expected: Result<(), TooMuch>) {
        for size in [1, 3, 7, bytes.len()] {
            let mut frames = Frames::new(Allowance::new());
            assert_eq!(bytes.chunks(size).try_for_each(|piece| frames.see(piece)), expected, "by {size}");
        }
    }

    #[test]
    fn what_a_server_says_of_itself_passes() {
        let parameters = (0..15).flat_map(|n| message(b'S', format!("name {n}\0on\0").as_bytes()));
        let all: Vec<u8> = parameters.chain(message(b'Z', b"I")).collect();
        // A setting that changes with each transaction is still one.
        check(&all.repeat(100), Ok(()));
    }

    #[test]
    fn what_no_server_sends_is_refused() {
        let announced = [&[b'D'][..], &0x7fff_ffff_u32.to_be_bytes()].concat();
        check(&announced, Err(TooMuch::Message(0x7fff_ffff)));
        check(&message(b'S', &[b'x'; 20_000]), Err(TooMuch::Parameters));
        check(b"D\0\0\0\x03", Err(TooMuch::None(3)));
        let many = (0..200).flat_map(|n| message(b'S', format!("name {n}\0on\0").as_bytes()));
        check(&many.collect::<Vec<u8>>(), Err(TooMuch::Parameters));
    }

    #[test]
    fn an_answer_has_an_end_and_the_next_one_begins_anew() {
        let allowance = Allowance::new();
        let mut frames = Frames::new(allowance.clone());
        let row = message(b'D', &vec![0; 1 << 20]);
        let sent = (0..).find(|_| frames.see(&row).is_err()).unwrap();
        assert_eq!(sent, 63);
        allowance.renew();
        let mut frames = Frames::new(allowance);
        assert_eq!(frames.see(&row), Ok(()));
        let empty = message(b'D', b"");
        let sent = (0..).find(|_| frames.see(&empty).is_err()).unwrap();
        assert_eq!(sent + 1, MAX_MESSAGES);
    }
}
