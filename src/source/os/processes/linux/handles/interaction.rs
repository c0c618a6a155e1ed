//! Whether a person may be working with a process, by its connections to a desktop, to terminals and to virtual
//! machines.
//!
//! No list of names can decide this: editors, terminals and viewers can have any name. What they share is a way to
//! show something and to receive input: a connection to a display server or a session's bus, or the master side of a
//! terminal in which something else runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::AddressFamily;

use crate::core::model::{Interaction, ProcessId};
use crate::source::os::processes::linux::handles::links;
use crate::source::os::processes::linux::proc::{Proc, slurp};
use crate::source::os::processes::linux::sockets::diag::{dump, u16_at, u32_at};
use crate::source::os::processes::linux::sockets::tcp;

/// Flags of the query for unix sockets (`linux/unix_diag.h`): `UDIAG_SHOW_NAME` and `UDIAG_SHOW_PEER`.
const SHOW: u32 = 1 | 4;
/// The attributes of the answer: `UNIX_DIAG_NAME` and `UNIX_DIAG_PEER`.
const NAME: u16 = 0;
const PEER: u16 = 2;
/// The length of `struct unix_diag_msg`.
const MESSAGE: usize = 16;

/// The most bytes of an environment that are read.
const ENVIRONMENT: usize = 2 << 20;

/// The port of the first display of an X server that is reached over a network (X(7)).
const FIRST_DISPLAY: u16 = 6_000;

/// The deciding facts of one process, from its own folder.
struct ProcessFacts {
    /// An interaction by an open path.
    open: Option<Interaction>,
    sockets: Vec<u64>,
    named: DisplayNames,
}

/// The display and the session's bus of an environment, with their own names.
#[derive(Debug, Default, PartialEq, Eq)]
struct DisplayNames {
    /// The port of a display that is reached over a network.
    port: Option<u16>,
    /// How the names of sockets end.
    sockets: Vec<(Vec<u8>, Interaction)>,
}

/// Returns whether a person may be working with each of these processes; processes for which that cannot be determined
/// are left out.
pub(crate) fn interactions(proc: &mut Proc, those: &[ProcessId]) -> BTreeMap<ProcessId, Interaction> {
    let held: BTreeMap<ProcessId, ProcessFacts> =
        those.iter().filter_map(|id| Some((*id, held(&proc.folder_of(*id)?)?))).collect();
    // The next look finds what is opened later: the open files of a process were read before.
    let has_sockets = held.values().any(|one| !one.sockets.is_empty());
    let unix = if has_sockets { Peers::read() } else { Some(Peers::default()) };
    let displays: BTreeSet<u16> = held.values().filter_map(|one| one.named.port).collect();
    let shown = if displays.is_empty() { Some(BTreeSet::new()) } else { tcp::connected_to(&displays) };
    let decide = |one: &ProcessFacts| -> Option<Interaction> {
        if let Some(open) = one.open {
            return Some(open);
        }
        if one.sockets.is_empty() {
            return Some(Interaction::Nothing);
        }
        let mut doubt = false;
        for socket in &one.sockets {
            match unix.as_ref()?.of(*socket, &one.named.sockets) {
                Ok(Interaction::Nothing) => {}
                Ok(found) => return Some(found),
                Err(UnseenPeer) => doubt = true,
            }
        }
        if one.named.port.is_some()
            && one.sockets.iter().any(|socket| shown.as_ref().is_none_or(|all| all.contains(socket)))
        {
            return shown.as_ref().map(|_| Interaction::Display);
        }
        (!doubt).then_some(Interaction::Nothing)
    };
    held.iter().filter_map(|(id, one)| Some((*id, decide(one)?))).collect()
}

/// Reads what a process has open; `None` if that may not be read, or its network is another one.
fn held(folder: &OwnedFd) -> Option<ProcessFacts> {
    let opened = links::opened(folder.as_fd()).ok()?;
    let sockets = tcp::here(folder.as_fd(), opened.sockets)?;
    let mut text = Vec::new();
    if !sockets.is_empty() {
        slurp(folder.as_fd(), "environ", &mut text, ENVIRONMENT).ok()?;
    }
    Some(ProcessFacts { open: opened.interaction, sockets, named: named(&text) })
}

/// Reads the displays and the bus of an environment: `DISPLAY`, `WAYLAND_DISPLAY` (a path, or a name in
/// `XDG_RUNTIME_DIR`) and `DBUS_SESSION_BUS_ADDRESS` (dbus-daemon(1)), as other sockets than the usual ones may have
/// any name.
fn named(environment: &[u8]) -> DisplayNames {
    let value = |name: &str| {
        let mut entries = environment.split(|byte| *byte == 0);
        let value = entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
        value.and_then(|value| std::str::from_utf8(value).ok()).filter(|value| !value.is_empty())
    };
    let display = value("WAYLAND_DISPLAY").map(|name| format!("/{}", name.trim_start_matches('/')));
    let buses = value("DBUS_SESSION_BUS_ADDRESS").into_iter().flat_map(|all| all.split([';', ',']));
    let buses = buses.filter_map(|part| {
        let part = part.strip_prefix("unix:").unwrap_or(part);
        let is_abstract = || Some(format!("\0{}", part.strip_prefix("abstract=")?));
        part.strip_prefix("path=").map(str::to_owned).or_else(is_abstract)
    });
    let displays = display.into_iter().map(|name| (name.into_bytes(), Interaction::Display));
    let sockets = displays.chain(buses.map(|name| (name.into_bytes(), Interaction::Bus)));
    DisplayNames { port: value("DISPLAY").and_then(port), sockets: sockets.collect() }
}

/// Returns the port of a display that is reached over a network: `host:10.0`.
fn port(display: &str) -> Option<u16> {
    let (host, number) = display.rsplit_once(':')?;
    let number: u16 = number.split('.').next()?.parse().ok()?;
    (!host.is_empty() && host != "unix" && !host.starts_with('/'))
        .then(|| FIRST_DISPLAY.checked_add(number))?
}

/// The other end of a unix socket cannot be seen, as in another network.
struct UnseenPeer;

/// The unix sockets of this network: their names and their peers, if they have any.
#[derive(Default)]
struct Peers {
    names: HashMap<u64, Vec<u8>>,
    peers: HashMap<u64, u64>,
    known: BTreeSet<u64>,
}

impl Peers {
    /// Queries the kernel for all; `None` if it does not answer.
    fn read() -> Option<Self> {
        let mut request = vec![u8::try_from(AddressFamily::UNIX.as_raw()).ok()?, 0, 0, 0];
        for number in [u32::MAX, 0, SHOW, 0, 0] {
            request.extend(number.to_ne_bytes());
        }
        let mut all = Self::default();
        for answer in dump(&request).ok()? {
            all.add(&answer)?;
        }
        Some(all)
    }

    /// Parses a `struct unix_diag_msg` with its attributes (netlink(7)).
    fn add(&mut self, answer: &[u8]) -> Option<()> {
        let inode = u64::from(u32_at(answer, 4)?);
        self.known.insert(inode);
        let mut rest = answer.get(MESSAGE..)?;
        while let (Some(length), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
            let value = rest.get(4..usize::from(length))?;
            match kind {
                NAME => drop(self.names.insert(inode, name_of(value).to_vec())),
                PEER => drop(self.peers.insert(inode, u32_at(value, 0)?.into())),
                _ => {}
            }
            rest = rest.get(usize::from(length).next_multiple_of(4).max(4)..).unwrap_or_default();
        }
        Some(())
    }

    /// Returns what a socket is, or leads to: its peer has the name that was connected to.
    fn of(&self, socket: u64, own: &[(Vec<u8>, Interaction)]) -> Result<Interaction, UnseenPeer> {
        let sort = |socket: u64| {
            let name = self.names.get(&socket)?;
            let is_named = |(end, sort): &(Vec<u8>, Interaction)| name.ends_with(end).then_some(*sort);
            sort_of(name).or_else(|| own.iter().find_map(is_named))
        };
        if let Some(own) = sort(socket) {
            return Ok(own);
        }
        match self.peers.get(&socket) {
            None | Some(0) => Ok(Interaction::Nothing),
            Some(peer) if !self.known.contains(peer) => Err(UnseenPeer),
            Some(peer) => Ok(sort(*peer).unwrap_or(Interaction::Nothing)),
        }
    }
}

/// Returns a name without what follows its end. One in the abstract namespace begins with a zero byte (unix(7)).
fn name_of(value: &[u8]) -> &[u8] {
    let end = value.iter().skip(1).position(|byte| *byte == 0).map_or(value.len(), |at| at + 1);
    value.get(..end).unwrap_or(value)
}

/// Returns by its usual name whether a unix socket belongs to a display server or a session's bus.
fn sort_of(name: &[u8]) -> Option<Interaction> {
    let mut parts = name.rsplit(|byte| *byte == b'/');
    let (last, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let begins = |start: &str| last.starts_with(start.as_bytes());
    if folder == b".X11-unix" || folder == b".ICE-unix" || begins("wayland-") || begins("gamescope-") {
        Some(Interaction::Display)
    } else if last == b"bus" || begins("bus_") || begins("dbus-") || folder == b".dbus-proxy" {
        Some(Interaction::Bus)
    } else {
        None
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests start processes")]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::source::os::processes::linux::proc::Reading;
    use crate::source::os::processes::started::spawn;

    #[track_caller]
    fn check_name(name: &str, expected: impl Into<Option<Interaction>>) {
        assert_eq!(sort_of(name_of(name.as_bytes())), expected.into(), "{name:?}");
    }

    #[test]
    fn displays_and_buses_are_known_by_what_their_sockets_are_called() {
        for name in [
            "\0/tmp/.X11-unix/X0", "/tmp/.X11-unix/X10\0", "/run/user/1000/wayland-0",
            "/run/user/1000/wayland-1\0", "\0/tmp/.ICE-unix/1234", "/run/user/1000/gamescope-0",
        ] {
            check_name(name, Interaction::Display);
        }
        for name in [
            "/run/user/1000/bus",
            "\0/tmp/dbus-AbCdEf",
            "/run/user/1000/at-spi/bus_0",
            "/tmp/dbus-x1",
            "/run/user/1000/.dbus-proxy/session-bus-proxy-4DVZ7K",
        ] {
            check_name(name, Interaction::Bus);
        }
        for name in [
            "",
            "\0",
            "/run/dbus/system_bus_socket",
            "/run/docker.sock",
            "/run/user/1000/podman/podman.sock",
            "/tmp/.X11-unix.sock",
            "/home/dev/bus/app.sock",
            "/var/run/postgresql/.s.PGSQL.5432",
        ] {
            check_name(name, None);
        }
    }

    #[test]
    fn only_a_display_of_a_network_has_a_port() {
        let port = |text: &str| named(format!("A=1\0{text}\0B=2").as_bytes()).port;
        assert_eq!(port("DISPLAY=localhost:10.0"), Some(6_010));
        assert_eq!(port("DISPLAY=[::1]:0"), Some(6_000));
        for text in
            ["DISPLAY=:0", "DISPLAY=unix:0", "DISPLAY=", "DISPLAY=x", "XDISPLAY=a:1", "DISPLAY=a:70000"]
        {
            assert_eq!(port(text), None, "{text}");
        }
    }

    #[test]
    fn displays_and_buses_of_other_names_are_known_by_the_environment() {
        let found = |text: &str, name: &str| {
            let peers = Peers { names: [(1, name.into())].into(), peers: [(2, 1)].into(), known: [1].into() };
            peers.of(2, &named(text.as_bytes()).sockets).ok()
        };
        for (text, name, expected) in [
            ("WAYLAND_DISPLAY=nested", "/run/user/1000/nested", Interaction::Display),
            ("WAYLAND_DISPLAY=/srv/w/nested", "/srv/w/nested", Interaction::Display),
            ("WAYLAND_DISPLAY=nested", "/run/user/1000/other-nested", Interaction::Nothing),
            ("DBUS_SESSION_BUS_ADDRESS=unix:path=/srv/b,guid=1", "/srv/b", Interaction::Bus),
            ("DBUS_SESSION_BUS_ADDRESS=tcp:host=x;unix:abstract=/srv/b", "\0/srv/b", Interaction::Bus),
            ("WAYLAND_DISPLAY=\0DBUS_SESSION_BUS_ADDRESS=", "/run/docker.sock", Interaction::Nothing),
        ] {
            assert_eq!(found(text, name), Some(expected), "{text} {name:?}");
        }
    }

    fn sleep(input: impl Into<Stdio>) -> Child {
        spawn(Command::new("/bin/sleep").arg("600").stdin(input))
    }

    /// Returns the interaction that is read of a process with this standard input, and ends the process.
    fn of(input: impl Into<Stdio>) -> Option<Interaction> {
        let mut child = sleep(input);
        let mut proc = Proc::open().unwrap();
        let Reading::Read(line) = proc.process(child.id()) else { panic!("it runs") };
        let found = interactions(&mut proc, &[line.process.id]).remove(&line.process.id);
        child.kill().unwrap();
        child.wait().unwrap();
        found
    }

    #[test]
    fn who_is_connected_to_a_display_or_a_bus_shows_at_its_sockets() {
        let folder = tempfile::tempdir().unwrap();
        for (name, expected) in [
            ("wayland-7", Interaction::Display),
            ("bus", Interaction::Bus),
            ("docker.sock", Interaction::Nothing),
        ] {
            let path = folder.path().join(name);
            let listener = UnixListener::bind(&path).unwrap();
            let ours = UnixStream::connect(&path).unwrap();
            let _accepted = listener.accept().unwrap();
            assert_eq!(of(OwnedFd::from(ours)), Some(expected), "{name}");
        }
        let name = format!("{}/.X11-unix/X0", folder.path().display());
        let at = SocketAddr::from_abstract_name(&name).unwrap();
        let listener = UnixListener::bind_addr(&at).unwrap();
        let ours = UnixStream::connect_addr(&at).unwrap();
        let _accepted = listener.accept().unwrap();
        assert_eq!(of(OwnedFd::from(ours)), Some(Interaction::Display));
    }

    #[test]
    fn what_serves_or_has_nothing_of_the_sort_is_nothing() {
        assert_eq!(of(Stdio::null()), Some(Interaction::Nothing));
        let (ours, theirs) = UnixStream::pair().unwrap();
        assert_eq!(of(OwnedFd::from(theirs)), Some(Interaction::Nothing));
        drop(ours);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(of(OwnedFd::from(listener)), Some(Interaction::Nothing));
    }

    #[test]
    fn who_keeps_a_terminal_for_others_has_its_master() {
        let master = std::fs::File::options().read(true).write(true).open("/dev/ptmx").unwrap();
        assert_eq!(of(master), Some(Interaction::Terminals));
    }

    proptest::proptest! {
        #[test]
        fn understanding_is_total(bytes: Vec<u8>) {
            let _ = Peers::default().add(&bytes);
            let _ = sort_of(name_of(&bytes));
            let _ = named(&bytes);
        }
    }
}
