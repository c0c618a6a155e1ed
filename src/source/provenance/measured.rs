//! Facts of a process that change while it runs the same program.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{InputEnd, Interaction, Port, ProcessId, Trace};
use crate::source::os::processes::measure::Measure;
use crate::source::os::processes::{count_clients, inputs, interactions, measures};

/// How long a measurement counts. Actions, and the page of evidence, measure anew.
const LASTS: SignedDuration = SignedDuration::from_secs(30);
/// How long the other end of an input and the number of connections to a port count: the end of an input that has gone
/// does not come back, and connections are counted again before a port is taken away.
const ENDS_LAST: SignedDuration = SignedDuration::from_secs(90);
/// How many old measurements a look repeats, the oldest first: at least this many, and at most this part of all.
/// Adding up the pages of a process alone takes as long as reading ten others in a look.
const FEWEST: usize = 2;
const PART: usize = 10;

/// The last measurements.
#[derive(Default)]
pub(super) struct MeasureCache {
    known: BTreeMap<ProcessId, (Timestamp, Measure)>,
    /// The inputs of processes that no window stands above.
    inputs: BTreeMap<ProcessId, InputEnd>,
    /// Whether a person may be working with each; `None` if that could not be read.
    interactions: BTreeMap<ProcessId, Option<Interaction>>,
    ends_read_at: Option<Timestamp>,
}

impl MeasureCache {
    /// Measures the new ones among these processes, and a few whose figures are old; all of those if a person looks at
    /// them.
    pub(super) fn refresh(
        &mut self,
        (those, tops): (&BTreeSet<ProcessId>, &[ProcessId]),
        uid: u32,
        is_shown: bool,
        now: Timestamp,
    ) {
        self.known.retain(|id, _| those.contains(id));
        let is_any_new = tops.iter().any(|id| !self.known.contains_key(id));
        let are_old = |at: Timestamp| is_over(at, ENDS_LAST, now);
        let asks = is_any_new || self.ends_read_at.is_none_or(are_old);
        if asks {
            self.inputs = inputs(tops, uid);
            self.ends_read_at = Some(now);
        }
        self.interactions.retain(|id, _| those.contains(id));
        // Files opened meanwhile are looked for as often as the inputs, and before anything is ended.
        let is_asked = |id: &&ProcessId| asks || is_shown || !self.interactions.contains_key(id);
        let asked: Vec<ProcessId> = those.iter().filter(is_asked).copied().collect();
        let mut found = interactions(&asked);
        self.interactions.extend(asked.into_iter().map(|id| (id, found.remove(&id))));
        let mut due: Vec<ProcessId> =
            those.iter().filter(|id| !self.known.contains_key(id)).copied().collect();
        due.extend(match (is_shown, asks) {
            (true, _) => self.old(now, usize::MAX),
            // One look does not do both.
            (false, true) => Vec::new(),
            (false, false) => self.old(now, FEWEST.max(those.len() / PART)),
        });
        let mut found = measures(&due);
        for id in due {
            let mut measure = found.remove(&id).unwrap_or_default();
            if let Some((_, before)) = self.known.get(&id) {
                keep_clients(&mut measure, before);
            }
            self.known.insert(id, (now, measure));
        }
        let ports = self.known.values_mut().flat_map(|(_, measure)| measure.ports.iter_mut().flatten());
        let ports: Vec<&mut Port> = ports.collect();
        if asks || is_shown || ports.iter().any(|port| port.clients.is_none()) {
            count_clients(ports);
        }
    }

    /// Returns the processes that are due to be measured again, at most so many.
    fn old(&self, now: Timestamp, most: usize) -> Vec<ProcessId> {
        let old = self.known.iter().filter(|(_, (at, _))| is_over(*at, LASTS, now));
        let mut old: Vec<(Timestamp, ProcessId)> = old.map(|(id, (at, _))| (*at, *id)).collect();
        old.sort_unstable();
        old.truncate(most);
        old.into_iter().map(|(_, id)| id).collect()
    }

    /// Adds the measurements.
    pub(super) fn fill(&self, trace: &mut Trace) {
        trace.input = self.inputs.get(&trace.id).copied();
        trace.interaction = self.interactions.get(&trace.id).copied().flatten();
        let Some((_, Measure { load, ports, hindrance })) = self.known.get(&trace.id) else { return };
        (trace.memory, trace.cpu_time) = (load.memory, load.cpu_time);
        trace.hindrance.clone_from(hindrance);
        trace.ports = ports.clone().unwrap_or_default();
    }
}

/// Takes over how many were connected to the ports that a process had before as well.
fn keep_clients(measure: &mut Measure, before: &Measure) {
    let known: Vec<&Port> = before.ports.iter().flatten().collect();
    for port in measure.ports.iter_mut().flatten() {
        let same = known.iter().find(|one| (one.number, one.address) == (port.number, port.address));
        port.clients = same.and_then(|one| one.clients);
    }
}

/// Returns whether this much time has passed, also if the clock was set back.
fn is_over(at: Timestamp, time: SignedDuration, now: Timestamp) -> bool {
    now.duration_since(at).abs() >= time
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    use std::{
        net::{SocketAddr, TcpListener, TcpStream},
        os::fd::OwnedFd,
        process::{Child, Command},
    };

    use super::*;
    #[cfg(target_os = "linux")]
    use crate::source::os::processes::linux::proc::{Proc, Reading};
    #[cfg(target_os = "linux")]
    use crate::source::os::processes::started::spawn;

    /// A process that listens on a port, and is ended with this.
    #[cfg(target_os = "linux")]
    struct Server(Child, SocketAddr);

    #[cfg(target_os = "linux")]
    impl Server {
        #[expect(clippy::disallowed_methods, reason = "the test starts its own processes")]
        fn start() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let at = listener.local_addr().unwrap();
            Self(spawn(Command::new("sleep").arg("600").stdin(OwnedFd::from(listener))), at)
        }

        fn id(&self) -> ProcessId {
            let Reading::Read(line) = Proc::open().unwrap().process(self.0.id()) else { panic!("it runs") };
            line.process.id
        }

        fn client(&self) -> TcpStream {
            TcpStream::connect(self.1).unwrap()
        }
    }

    #[cfg(target_os = "linux")]
    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn clients_are_counted_of_new_ports_and_for_whoever_looks_and_else_now_and_then() {
        let (server, later) = (Server::start(), Server::start());
        let (one, two) = (server.id(), later.id());
        let mut measured = MeasureCache::default();
        let mut look = |those: &[ProcessId], after: i64, is_shown: bool| {
            let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(after);
            measured.refresh((&those.iter().copied().collect(), &[]), 0, is_shown, now);
            let ports = measured.known.get(&one).unwrap().1.ports.as_ref().unwrap();
            ports.first().unwrap().clients
        };
        assert_eq!(look(&[one], 0, false), Some(0));
        let _first = server.client();
        assert_eq!(look(&[one], 30, false), Some(0), "a measurement that is repeated counts nobody");
        assert_eq!(look(&[one], 60, true), Some(1), "a person looks");
        let _second = server.client();
        assert_eq!(look(&[one], 89, false), Some(1));
        assert_eq!(look(&[one], 90, false), Some(2), "after a while all are counted");
        let _third = server.client();
        assert_eq!(look(&[one], 120, false), Some(2));
        assert_eq!(look(&[one, two], 121, false), Some(3), "whoever is new is counted with all others");
    }

    #[test]
    fn a_look_repeats_few_measurements_and_the_oldest_first() {
        // No process has these numbers, so nothing is found; which ones are due does not depend on that.
        let those: BTreeSet<ProcessId> =
            (0..40).map(|at| ProcessId { pid: u32::MAX - at, start_ticks: u64::from(at) }).collect();
        let mut measured = MeasureCache::default();
        let mut look = |after: i64, is_shown: bool| {
            let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(after);
            measured.refresh((&those, &[]), 0, is_shown, now);
            let is_now = |(at, _): &&(Timestamp, Measure)| *at == now;
            let oldest = measured.known.values().map(|(at, _)| *at).min().unwrap();
            (measured.known.values().filter(is_now).count(), oldest.as_second())
        };
        assert_eq!(look(0, false), (40, 0), "all are new");
        assert_eq!(look(29, false), (0, 0));
        for after in 30..39 {
            assert_eq!(look(after, false), (4, 0));
        }
        assert_eq!(look(39, false), (4, 30), "each had its turn");
        assert_eq!(look(60, false), (4, 31));
        assert_eq!(look(90, false), (0, 31), "that look asks who is at their inputs");
        assert_eq!(look(91, false), (4, 32));
        assert_eq!(look(92, true).0, 36, "all that is older than 30 s");
    }
}
