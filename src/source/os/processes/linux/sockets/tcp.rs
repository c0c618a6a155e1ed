//! Listening TCP ports, and how many connections each has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use rustix::net::AddressFamily;

use crate::core::model::{Port, ProcessId};
use crate::source::os::processes::linux::handles::links;
use crate::source::os::processes::linux::proc::Proc;
use crate::source::os::processes::linux::sockets::diag::{dump, u32_at};

/// States of a connection (`net/tcp_states.h`). To list those that are established the kernel walks a table of up to
/// half a million places; listening sockets have a small one of their own.
const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;
/// `IPPROTO_TCP`.
const TCP: u8 = 6;
/// The length of `struct inet_diag_req_v2` (`linux/inet_diag.h`).
const REQUEST: usize = 56;
/// The most bytes of `/proc/net/tcp` that are read: some hundred thousand sockets.
const MOST: u64 = 64 << 20;

/// One end of a connection, or a listening socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Socket {
    state: u8,
    address: IpAddr,
    port: u16,
    /// The port of the other end; 0 if there is none.
    remote: u16,
    inode: u64,
}

/// Returns the ports that each of these processes listens on, with their connections; processes for which that cannot
/// be determined, such as those in another network, are left out.
pub(crate) fn ports(proc: &mut Proc, those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>> {
    let open = those.iter().filter_map(|id| {
        let folder = proc.folder_of(*id)?;
        Some((*id, here(folder.as_fd(), links::opened(folder.as_fd()).ok()?.sockets)?))
    });
    let mut all = of_sockets(open.collect());
    count_clients(all.values_mut().flatten().collect());
    all
}

/// Returns the sockets of a process if they are of this network (network_namespaces(7)).
pub(crate) fn here(folder: BorrowedFd<'_>, sockets: Vec<u64>) -> Option<Vec<u64>> {
    let network = |at, path| readlinkat(at, path, Vec::new()).ok();
    let is_here =
        || network(folder, "ns/net").is_some_and(|one| Some(one) == network(CWD, "/proc/self/ns/net"));
    (sockets.is_empty() || is_here()).then_some(sockets)
}

/// Returns the ports that each process listens on, by its open sockets, which are of this network. Connections are not
/// counted: having the kernel walk all of them takes as long as measuring a process.
pub(crate) fn of_sockets(open: BTreeMap<ProcessId, Vec<u64>>) -> BTreeMap<ProcessId, Vec<Port>> {
    if open.values().all(Vec::is_empty) {
        return open.into_keys().map(|id| (id, Vec::new())).collect();
    }
    let (listening, is_whole) = sockets(LISTEN, |_| true);
    let ports_of = open.into_iter().map(|(id, inodes)| {
        let is_sure = is_whole || inodes.is_empty();
        (id, is_sure, among(&listening, &inodes))
    });
    ports_of
        .filter(|(_, is_sure, ports)| *is_sure || !ports.is_empty())
        .map(|(id, _, ports)| (id, ports))
        .collect()
}

/// Counts the connections to each of these ports.
pub(crate) fn count_clients(ports: Vec<&mut Port>) {
    // A connection is in the address family of its listening socket.
    let is_asked =
        |family| ports.iter().any(|port| port.address.is_ipv6() == (family == AddressFamily::INET6));
    let (connected, is_whole) = sockets(ESTABLISHED, is_asked);
    for port in ports {
        let count = connected.iter().filter(|one| one.port == port.number).count();
        port.clients = u32::try_from(count).ok().filter(|_| is_whole);
    }
}

/// Returns every port that a process listens on; `None` if not all could be read.
pub(crate) fn listening() -> Option<BTreeSet<u16>> {
    let (listening, is_whole) = sockets(LISTEN, |_| true);
    is_whole.then(|| listening.iter().map(|one| one.port).collect())
}

/// Returns the sockets that listen on each of these ports, by their inodes.
pub(crate) fn listeners(wanted: &BTreeSet<u16>) -> BTreeMap<u16, Vec<u64>> {
    let mut found: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    for socket in sockets(LISTEN, |_| true).0.into_iter().filter(|one| wanted.contains(&one.port)) {
        found.entry(socket.port).or_default().push(socket.inode);
    }
    found
}

/// Returns the sockets that are connected to one of these ports, by their inodes; `None` if not all could be read.
pub(crate) fn connected_to(ports: &BTreeSet<u16>) -> Option<BTreeSet<u64>> {
    let (connected, is_whole) = sockets(ESTABLISHED, |_| true);
    let those = connected.iter().filter(|one| ports.contains(&one.remote));
    is_whole.then(|| those.map(|one| one.inode).collect())
}

/// Returns which of these processes has each of these sockets open; if several have it, the one that started first,
/// which has passed it on.
pub(crate) fn owners(
    proc: &mut Proc,
    those: &[ProcessId],
    inodes: &BTreeSet<u64>,
) -> BTreeMap<u64, ProcessId> {
    let mut owners: BTreeMap<u64, ProcessId> = BTreeMap::new();
    for id in those {
        let Some(folder) = proc.folder_of(*id) else { continue };
        let open = links::opened(folder.as_fd()).unwrap_or_default();
        for inode in open.sockets.into_iter().filter(|inode| inodes.contains(inode)) {
            let owner = owners.entry(inode).or_insert(*id);
            if (id.start_ticks, id.pid) < (owner.start_ticks, owner.pid) {
                *owner = *id;
            }
        }
    }
    owners
}

/// Reads all sockets of some families in a state, and returns whether these are all.
fn sockets(state: u8, is_asked: impl Fn(AddressFamily) -> bool) -> (Vec<Socket>, bool) {
    let families = [(AddressFamily::INET, "/proc/net/tcp"), (AddressFamily::INET6, "/proc/net/tcp6")];
    let those = families.into_iter().filter(|(family, _)| is_asked(*family));
    let read: Vec<Option<Vec<Socket>>> =
        those.map(|(family, path)| asked(family, state).or_else(|| listed(path))).collect();
    let is_whole = read.iter().all(Option::is_some);
    let all = read.into_iter().flatten().flatten();
    (all.filter(|socket| socket.state == state).collect(), is_whole)
}

/// Returns the ports of the listening sockets with these inodes, which are sorted.
fn among(listening: &[Socket], inodes: &[u64]) -> Vec<Port> {
    let own = listening.iter().filter(|one| inodes.binary_search(&one.inode).is_ok());
    let mut ports: Vec<Port> =
        own.map(|one| Port { number: one.port, address: one.address, clients: None }).collect();
    ports.sort();
    ports.dedup();
    ports
}

/// Queries the kernel for the sockets of a family in a state; `None` if it refuses.
fn asked(family: AddressFamily, state: u8) -> Option<Vec<Socket>> {
    let mut request = vec![u8::try_from(family.as_raw()).ok()?, TCP, 0, 0];
    request.extend((1_u32 << state).to_ne_bytes());
    request.resize(REQUEST, 0);
    let answers = dump(&request).ok()?;
    answers.iter().map(|answer| answered(answer)).collect()
}

/// Parses a `struct inet_diag_msg`.
fn answered(answer: &[u8]) -> Option<Socket> {
    let address = if u16::from(*answer.first()?) == AddressFamily::INET6.as_raw() {
        IpAddr::from(answer.get(8..)?.first_chunk::<16>().map(|octets| Ipv6Addr::from(*octets))?)
    } else {
        IpAddr::from(answer.get(8..)?.first_chunk::<4>().map(|octets| Ipv4Addr::from(*octets))?)
    };
    let port = |at: usize| Some(u16::from_be_bytes(*answer.get(at..)?.first_chunk()?));
    let (port, remote) = (port(4)?, port(6)?);
    Some(Socket { state: *answer.get(1)?, address, port, remote, inode: u32_at(answer, 68)?.into() })
}

/// Reads the same from `/proc/net`, for when the kernel may not be queried.
fn listed(path: &str) -> Option<Vec<Socket>> {
    let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = String::new();
    let length = File::from(file).take(MOST).read_to_string(&mut text).ok()?;
    (u64::try_from(length).ok()? < MOST).then(|| text.lines().skip(1).filter_map(line).collect())
}

/// Parses a line of `/proc/net/tcp` or `tcp6` (proc_pid_net(5)).
fn line(line: &str) -> Option<Socket> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (address, port) = fields.next()?.split_once(':')?;
    let (_, remote) = fields.next()?.split_once(':')?;
    let state = u8::from_str_radix(fields.next()?, 16).ok()?;
    let inode = fields.nth(5)?.parse().ok()?;
    let number = |text: &str| u16::from_str_radix(text, 16).ok();
    Some(Socket { state, address: ip(address)?, port: number(port)?, remote: number(remote)?, inode })
}

/// Reads an address of 32-bit words, each in this machine's byte order.
fn ip(text: &str) -> Option<IpAddr> {
    let words = (0..text.len()).step_by(8).map(|at| u32::from_str_radix(text.get(at..at + 8)?, 16).ok());
    let octets: Vec<u8> =
        words.collect::<Option<Vec<u32>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    let four = || <[u8; 4]>::try_from(octets.as_slice()).ok().map(IpAddr::from);
    <[u8; 16]>::try_from(octets.as_slice()).ok().map(IpAddr::from).or_else(four)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;
    use crate::source::os::processes::linux::proc::Reading;
    use crate::source::os::processes::started::spawn;

    fn own() -> (Proc, ProcessId) {
        let mut proc = Proc::open().unwrap();
        let Reading::Read(line) = proc.process(std::process::id()) else { panic!("we run") };
        (proc, line.process.id)
    }

    #[track_caller]
    fn check(address: &str) {
        let Ok(listener) = TcpListener::bind((address, 0)) else { return };
        let at = listener.local_addr().unwrap();
        let expected = |clients| Port { number: at.port(), address: at.ip(), clients: Some(clients) };
        let read = || {
            let (mut proc, id) = own();
            let all = ports(&mut proc, &[id]).remove(&id).unwrap();
            all.into_iter().find(|port| port.number == at.port()).unwrap()
        };
        assert_eq!(read(), expected(0));
        let _client = TcpStream::connect(at).unwrap();
        let _other = TcpStream::connect(at).unwrap();
        let _server = listener.accept().unwrap();
        assert_eq!(read(), expected(2), "also one that was not accepted yet, and each once");
    }

    /// Starts a program, and returns its ports once it listens, or once its owner cannot be determined.
    #[expect(clippy::disallowed_methods, reason = "the test starts its own processes")]
    fn of_started(program: &str, arguments: &[&str]) -> Option<Vec<Port>> {
        let mut child = spawn(Command::new(program).args(arguments).stdin(Stdio::null()));
        let told = loop {
            assert_eq!(child.try_wait().unwrap(), None, "it runs");
            let mut proc = Proc::open().unwrap();
            let Reading::Read(line) = proc.process(child.id()) else { panic!("it runs") };
            let told = ports(&mut proc, &[line.process.id]).remove(&line.process.id);
            if told.as_ref().is_none_or(|ports| !ports.is_empty()) {
                break told;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        child.kill().unwrap();
        child.wait().unwrap();
        told
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test starts its own processes")]
    fn ports_of_another_network_cannot_be_told() {
        let serves = "import socket,time; s=socket.create_server(('',0)); time.sleep(600)";
        assert_eq!(of_started("python3", &["-c", serves]).unwrap().len(), 1);
        let apart = ["--user", "--map-root-user", "--net"];
        if !Command::new("unshare").args(apart).arg("true").status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: the kernel grants no network of one's own");
            return;
        }
        assert_eq!(of_started("unshare", &[&apart[..], &["python3", "-c", serves]].concat()), None);
    }

    #[test]
    fn a_port_is_told_with_its_address_and_its_clients() {
        check("127.0.0.1");
        check("::1");
    }

    #[test]
    fn the_kernel_answers_what_its_files_say() {
        let listeners: Vec<TcpListener> =
            ["127.0.0.1", "::1"].iter().filter_map(|at| TcpListener::bind((*at, 0)).ok()).collect();
        for (family, path) in
            [(AddressFamily::INET, "/proc/net/tcp"), (AddressFamily::INET6, "/proc/net/tcp6")]
        {
            let (Some(asked), Some(listed)) = (asked(family, LISTEN), listed(path)) else { continue };
            for at in listeners.iter().map(|one| one.local_addr().unwrap()) {
                let is_it =
                    |one: &&Socket| one.port == at.port() && one.address == at.ip() && one.state == LISTEN;
                assert_eq!(asked.iter().find(is_it), listed.iter().find(is_it));
                assert_eq!(
                    asked.iter().any(|one| is_it(&one)),
                    at.is_ipv6() == (family == AddressFamily::INET6)
                );
            }
        }
    }

    #[test]
    fn a_line_of_the_file_is_understood() {
        let text = "   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1";
        let socket =
            Socket { state: LISTEN, address: Ipv4Addr::LOCALHOST.into(), port: 3000, remote: 0, inode: 4242 };
        assert_eq!(line(text), Some(socket));
        for end in 0..text.find("4242").unwrap() {
            assert_eq!(line(text.get(..end).unwrap()), None, "{end}");
        }
    }

    #[test]
    fn a_port_is_told_by_the_inode_of_its_socket() {
        let socket =
            Socket { state: LISTEN, address: Ipv4Addr::LOCALHOST.into(), port: 3000, remote: 0, inode: 7 };
        let port = Port { number: 3000, address: Ipv4Addr::LOCALHOST.into(), clients: None };
        assert_eq!(among(&[socket], &[7]), [port]);
        assert_eq!(among(&[socket], &[8]), []);
    }
}
