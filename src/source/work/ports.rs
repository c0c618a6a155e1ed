//! The processes that listen on the ports that sessions could not get.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{ProcessId, ProcessTable, Work};
use crate::source::os::processes::{listeners, owners};

/// Earlier results: looking through the open files of two thousand processes takes 30 ms, so it is done once for each
/// socket.
#[derive(Default)]
pub(super) struct Listeners {
    /// The process that has a socket open.
    owners: BTreeMap<u64, ProcessId>,
    /// The sockets whose process was not found, and when it was looked for.
    unknown: BTreeMap<u64, Timestamp>,
}

/// How long the owner of a socket is not looked for again.
const SOUGHT: SignedDuration = SignedDuration::from_secs(30);

impl Listeners {
    /// Adds to each port that a session could not get the process that listens on it now.
    pub(super) fn mark(&mut self, works: &mut [&mut Arc<Work>], table: &ProcessTable, now: Timestamp) {
        let taken = works.iter().flat_map(|work| &work.doing.taken_ports);
        let wanted: BTreeSet<u16> = taken.map(|taken| taken.port).collect();
        if wanted.is_empty() {
            return;
        }
        let sockets = listeners(&wanted);
        self.find(&sockets.values().flatten().copied().collect(), table, now);
        let owner =
            |port: u16| sockets.get(&port)?.iter().find_map(|socket| self.owners.get(socket)).copied();
        for work in works {
            let is_as_said = work.doing.taken_ports.iter().all(|taken| taken.by == owner(taken.port));
            if !is_as_said {
                let doing = &mut Arc::make_mut(work).doing;
                doing.taken_ports.iter_mut().for_each(|taken| taken.by = owner(taken.port));
            }
        }
    }

    /// Finds the owners of these sockets that are not known or have exited.
    fn find(&mut self, sockets: &BTreeSet<u64>, table: &ProcessTable, now: Timestamp) {
        let lives = |id: &ProcessId| table.get(id.pid).is_some_and(|process| process.id == *id);
        self.owners.retain(|socket, owner| sockets.contains(socket) && lives(owner));
        // Also if the clock was set back.
        let was_sought = |at: &Timestamp| now.duration_since(*at).abs() < SOUGHT;
        self.unknown.retain(|socket, at| sockets.contains(socket) && was_sought(at));
        let is_new = |socket: &u64| !self.owners.contains_key(socket) && !self.unknown.contains_key(socket);
        let new: BTreeSet<u64> = sockets.iter().copied().filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        let all: Vec<ProcessId> = table.by_pid.values().map(|process| process.id).collect();
        let found = owners(&all, &new);
        self.unknown
            .extend(new.iter().filter(|socket| !found.contains_key(socket)).map(|socket| (*socket, now)));
        self.owners.extend(found);
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;
    use crate::core::model::{Doing, Format, Medium, TakenPort};
    use crate::source::os::clock;
    use crate::source::os::processes::linux::proc::{Proc, Reading};

    fn work(port: u16) -> Arc<Work> {
        let taken = TakenPort { port, at: None, by: None };
        Arc::new(Work {
            format: Format::ClaudeCode,
            session: "a".into(),
            path: std::path::PathBuf::from("/a").into(),
            medium: Medium::Local,
            written_at: Timestamp::UNIX_EPOCH,
            doing: Doing { taken_ports: vec![taken], ..Doing::default() },
            agents: Vec::new(),
            warnings: Vec::new(),
            skipped: 0,
        })
    }

    #[test]
    fn who_listens_on_a_port_is_found_and_forgotten_when_he_stops() {
        let Reading::Read(own) = Proc::open().unwrap().process(std::process::id()) else { panic!("we run") };
        let own = own.process;
        let table = ProcessTable { by_pid: [(own.id.pid, own.clone())].into(), ..ProcessTable::default() };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut work = work(listener.local_addr().unwrap().port());
        let mut known = Listeners::default();
        let mut owner = || {
            known.mark(&mut [&mut work], &table, Timestamp::UNIX_EPOCH);
            work.doing.taken_ports.first().unwrap().by
        };
        assert_eq!(owner(), Some(own.id));
        assert_eq!(owner(), Some(own.id), "it is known");
        drop(listener);
        // A child that another test starts has it open until it runs its program.
        let deadline = clock::steady() + Duration::from_secs(60);
        while owner().is_some() && clock::steady() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(owner(), None);
    }
}
