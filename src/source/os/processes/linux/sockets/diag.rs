//! Queries the kernel for sockets (sock_diag(7)): reading `/proc/net` costs more, and does not show the peers of unix
//! sockets.

use std::time::Duration;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// `SOCK_DIAG_BY_FAMILY` of `linux/sock_diag.h`.
const BY_FAMILY: u16 = 20;
/// Types and flags of messages (`linux/netlink.h`).
const ERROR: u16 = 2;
const DONE: u16 = 3;
const REQUEST: u16 = 0x001;
const DUMP: u16 = 0x300;
const INTERRUPTED: u16 = 0x010;
/// The length of a message's header.
const HEADER: usize = 16;
/// The kernel never puts more into one datagram of a dump.
const DATAGRAM: usize = 64 << 10;

/// Returns the answers to one request for all sockets of a family, without their headers.
pub(crate) fn dump(request: &[u8]) -> Result<Vec<Vec<u8>>, Errno> {
    let kind = (SocketType::RAW, SocketFlags::CLOEXEC);
    let socket = socket_with(AddressFamily::NETLINK, kind.0, kind.1, Some(netlink::SOCK_DIAG))?;
    // It answers at once.
    set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_secs(1)))?;
    let length = u32::try_from(HEADER + request.len()).map_err(|_| Errno::MSGSIZE)?;
    let mut message = Vec::with_capacity(HEADER + request.len());
    message.extend(length.to_ne_bytes());
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend((REQUEST | DUMP).to_ne_bytes());
    // The number of the request, and the kernel as its recipient.
    message.extend([0; 8]);
    message.extend(request);
    retry_on_intr(|| send(&socket, &message, SendFlags::empty()))?;
    let (mut answers, mut datagram) = (Vec::new(), vec![0; DATAGRAM]);
    loop {
        let (_, length) = retry_on_intr(|| recv(&socket, datagram.as_mut_slice(), RecvFlags::TRUNC))?;
        if take(datagram.get(..length).ok_or(Errno::MSGSIZE)?, &mut answers)? {
            return Ok(answers);
        }
    }
}

/// Takes the answers out of a datagram, and returns whether it was the last.
fn take(mut datagram: &[u8], answers: &mut Vec<Vec<u8>>) -> Result<bool, Errno> {
    while !datagram.is_empty() {
        let length = u32_at(datagram, 0).and_then(|length| usize::try_from(length).ok());
        let length = length.ok_or(Errno::BADMSG)?;
        let body = datagram.get(HEADER..length).ok_or(Errno::BADMSG)?;
        let (kind, flags) = (u16_at(datagram, 4), u16_at(datagram, 6));
        if flags.is_none_or(|flags| flags & INTERRUPTED != 0) {
            return Err(Errno::INTR);
        }
        match kind {
            Some(DONE) => return Ok(true),
            Some(ERROR) => {
                let code = body.first_chunk().map(|code| i32::from_ne_bytes(*code).saturating_neg());
                return Err(Errno::from_raw_os_error(
                    code.filter(|code| (1..4096).contains(code)).unwrap_or(1),
                ));
            }
            Some(_) => answers.push(body.to_vec()),
            None => return Err(Errno::BADMSG),
        }
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(HEADER + body.len()).unwrap();
        let mut all =
            [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &flags.to_ne_bytes(), &[0; 8]].concat();
        all.extend(body);
        all
    }

    #[test]
    fn a_dump_that_breaks_off_or_fails_is_no_answer() {
        let mut answers = Vec::new();
        let two = [message(20, 2, b"abcd"), message(20, 2, b"efgh")].concat();
        assert_eq!(take(&two, &mut answers), Ok(false));
        assert_eq!(answers, [b"abcd", b"efgh"]);
        assert_eq!(take(&message(DONE, 2, &[0; 4]), &mut answers), Ok(true));
        assert_eq!(take(two.get(..30).unwrap(), &mut Vec::new()), Err(Errno::BADMSG));
        assert_eq!(take(&message(20, INTERRUPTED, b"abcd"), &mut answers), Err(Errno::INTR));
        let refused = message(ERROR, 0, &(-1_i32).to_ne_bytes());
        assert_eq!(take(&refused, &mut answers), Err(Errno::PERM));
        assert_eq!(take(&[0; 16], &mut answers), Err(Errno::BADMSG));
    }

    proptest::proptest! {
        #[test]
        fn taking_is_total(bytes: Vec<u8>) {
            let _ = take(&bytes, &mut Vec::new());
        }
    }
}
