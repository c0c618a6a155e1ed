//! A wire that can be cut: passes bytes on until a limit, then closes both ends.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The direction that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From claimtop to the server.
    Up,
    /// From the server to claimtop.
    Down,
}

/// Where the first connection is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(crate) way: Way,
    /// After how many bytes in that direction.
    pub(crate) after: usize,
    /// Whether later connections pass.
    pub(crate) heals: bool,
}

/// A proxy in front of a server.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    cut: Mutex<Option<Cut>>,
    is_cut: AtomicBool,
    connections: AtomicUsize,
    /// The direction and byte count at which each write of the first connection ended.
    steps: Mutex<Vec<(Way, usize)>>,
    /// Where the commit's write begins and ends, on its way up.
    commit: Mutex<Option<(usize, usize)>>,
    /// The action at the cut, beside closing.
    at_cut: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Proxy {
    /// Starts to pass bytes to a port of this machine.
    pub(crate) fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                own.pass(client, server);
            }
        });
        Self { port, shared }
    }

    /// Begins anew: no connection yet, and one cut to come.
    pub(crate) fn prepare(&self, cut: Option<Cut>) {
        *self.shared.cut.lock().unwrap() = cut;
        self.shared.is_cut.store(false, Ordering::SeqCst);
        self.shared.connections.store(0, Ordering::SeqCst);
        self.shared.steps.lock().unwrap().clear();
        *self.shared.commit.lock().unwrap() = None;
    }

    /// Sets the action at the cut.
    pub(crate) fn at_cut(&self, act: impl FnOnce() + Send + 'static) {
        *self.shared.at_cut.lock().unwrap() = Some(Box::new(act));
    }

    /// Returns the direction and byte count at which each write of the first connection ended.
    pub(crate) fn steps(&self) -> Vec<(Way, usize)> {
        self.shared.steps.lock().unwrap().clone()
    }

    /// Returns where the commit's write began and ended, on its way up.
    pub(crate) fn commit(&self) -> Option<(usize, usize)> {
        *self.shared.commit.lock().unwrap()
    }

    /// Waits until the wire is cut and the action at the cut is done.
    pub(crate) fn wait_for_cut(&self) {
        while !self.shared.is_cut.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Shared {
    fn pass(self: &Arc<Self>, client: TcpStream, server: u16) {
        let number = self.connections.fetch_add(1, Ordering::SeqCst);
        let heals = self.cut.lock().unwrap().is_some_and(|cut| cut.heals);
        let server = TcpStream::connect(("127.0.0.1", server));
        let Ok(server) = server.map_err(drop) else { return };
        if self.is_cut.load(Ordering::SeqCst) && !heals {
            return;
        }
        for (way, from, to) in [(Way::Up, &client, &server), (Way::Down, &server, &client)] {
            let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            let own = Arc::clone(self);
            std::thread::spawn(move || own.copy(number, way, from, to));
        }
    }

    fn note(&self, way: Way, sent: usize, bytes: &[u8]) {
        self.steps.lock().unwrap().push((way, sent));
        if bytes.windows(7).any(|part| part == b"COMMIT\0") && way == Way::Up {
            *self.commit.lock().unwrap() = Some((sent - bytes.len(), sent));
        }
    }

    fn copy(&self, number: usize, way: Way, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = [0; 4_096];
        let mut sent = 0;
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let cut = *self.cut.lock().unwrap();
            let limit = cut.filter(|cut| number == 0 && cut.way == way).map(|cut| cut.after);
            let room = limit.map_or(read, |limit| limit.saturating_sub(sent).min(read));
            let _ = to.write_all(buffer.get(..room).unwrap());
            sent += room;
            if number == 0 {
                self.note(way, sent, buffer.get(..room).unwrap());
            }
            if limit.is_some_and(|limit| sent >= limit) {
                if let Some(act) = self.at_cut.lock().unwrap().take() {
                    act();
                }
                self.is_cut.store(true, Ordering::SeqCst);
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}
