//! The hosts of a fleet's database, as read by a viewer.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::core::fleet::database::host_name::possible_names;
use crate::core::fleet::database::host_row::{HostRow, POSTGRES, PartRow, ReadAt, hello};
use crate::core::fleet::database::outbox::{LOOK, ORDER};
use crate::core::fleet::database::presence::{GRACE, Grace, LATE, NOT_SEEN, Presence, presence};
use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::fleet::wire::decoder::{Answer, Decoder, Message};
use crate::core::fleet::wire::line::Line;
use crate::core::model::text::json;
use crate::core::model::text::shown;
use crate::core::model::{MachineState, MachineView, Tombstone, Untrusted};

/// The hosts that a viewer may see.
#[derive(Default)]
pub(crate) struct Roster {
    hosts: BTreeMap<String, Box<HostState>>,
    /// Every name a host has had here: a name shown on the screen must never be given to another host.
    names: BTreeMap<String, String>,
    /// The names of machines that are reached in other ways.
    taken: Vec<String>,
    read_at: Option<ReadAt>,
    /// When the database was reached again after it had been lost.
    reached_again: Option<Duration>,
}

/// A machine's hashed ID, its boot and the PID namespace.
type MachineBoot<'a> = (Option<&'a str>, Option<&'a str>, Option<u64>);

/// The known state of one host.
struct HostState {
    row: HostRow,
    /// Its name here, for as long as this viewer runs.
    name: String,
    /// The sequence up to which all its rows were read.
    known: i64,
    decoder: Decoder,
    tombstones: Arc<[Tombstone]>,
    look: Option<String>,
    presence: Option<Presence>,
    /// How many bytes of its own words it may still add, however often it is read again.
    words_left: usize,
    /// Why its content up to this sequence is not read.
    unread: Option<(String, i64)>,
}

impl Roster {
    /// Creates a roster without hosts that gives none of them one of these names.
    pub(crate) fn beside(taken: Vec<String>) -> Self {
        Self { taken, ..Self::default() }
    }

    /// Returns the ID and the epoch of the host with this name here.
    pub(crate) fn address(&self, name: &str) -> Option<(String, i64)> {
        let known = self.hosts.values().find(|known| known.name == name)?;
        Some((known.row.host.clone(), known.row.epoch))
    }

    /// Reads the answer of the host with this name here.
    pub(crate) fn answer(&mut self, name: &str, line: &str) -> Option<Answer> {
        let known = self.hosts.values_mut().find(|known| known.name == name)?;
        known.decoder.receive(line.as_bytes()).ok()?;
        known.decoder.answer()
    }

    /// Updates hosts: all of them, or those that have beaten since the last read.
    pub(crate) fn hosts(&mut self, rows: Vec<HostRow>, is_all: bool, at: ReadAt) {
        self.read_at = Some(at);
        if is_all {
            let listed: HashSet<&str> = rows.iter().map(|row| row.host.as_str()).collect();
            self.hosts.retain(|host, _| listed.contains(host.as_str()));
        }
        self.name_new(&rows);
        for row in rows {
            if let Some(known) = self.hosts.get_mut(&row.host) {
                known.take(row);
            } else {
                let name = self.names.get(&row.host).cloned().unwrap_or_default();
                self.hosts.insert(row.host.clone(), Box::new(HostState::new(row, name)));
            }
        }
        let grace = self.grace(at);
        for known in self.hosts.values_mut() {
            known.presence = Some(presence(known.age(at, at.steady), grace, known.presence));
        }
    }

    /// Records that the database is reached again.
    pub(crate) fn reached_again(&mut self, steady: Duration) {
        if self.read_at.is_some() {
            self.reached_again = Some(steady);
        }
    }

    /// Returns the moment of the last read of hosts, by the database's clock.
    pub(crate) fn since(&self) -> Option<i64> {
        self.read_at.map(|at| at.server)
    }

    /// Returns the hosts with unread content, and the sequence up to which each was read.
    pub(crate) fn wanted(&self) -> Vec<(String, i64)> {
        let wanted = self.hosts.values().filter(|known| known.has_news());
        wanted.map(|known| (known.row.host.clone(), known.known)).collect()
    }

    /// Applies the rows of these hosts.
    pub(crate) fn parts(&mut self, of: &[(String, i64)], rows: Vec<PartRow<'_>>) {
        let mut by_host: BTreeMap<&str, Vec<PartRow<'_>>> = BTreeMap::new();
        for row in rows {
            by_host.entry(row.host).or_default().push(row);
        }
        for (host, _) in of {
            let Some(known) = self.hosts.get_mut(host) else { continue };
            let host_rows = by_host.remove(host.as_str()).unwrap_or_default();
            // The rows of one host must not affect the others, even if they trigger a bug in the reader.
            if catch_unwind(AssertUnwindSafe(|| known.read(&host_rows))).is_err() {
                known.forget();
            }
        }
    }

    /// Records that a host's content cannot be read until it changes.
    pub(crate) fn unreadable(&mut self, host: &str, why: &str) {
        if let Some(known) = self.hosts.get_mut(host) {
            known.unread = Some((why.to_owned(), known.row.changed));
        }
    }

    /// Returns every host as a machine. `now` is this machine's wall clock at the moment `steady` of its steady clock.
    pub(crate) fn machines(&self, steady: Duration, now: Timestamp) -> Vec<FarMachine> {
        let Some(at) = self.read_at else { return Vec::new() };
        let is_blind = steady.saturating_sub(at.steady) >= LATE;
        let mut claimed: HashMap<MachineBoot<'_>, usize> = HashMap::new();
        for known in self.hosts.values() {
            *claimed.entry(known.place()).or_default() += 1;
        }
        // If several claim to be the same machine in the same boot, it is not known which one sees its processes.
        let is_disputed = |known: &HostState| claimed.get(&known.place()).is_some_and(|many| *many > 1);
        let machine = |known: &HostState| {
            let mut machine = known.machine(known.age(at, steady), is_blind, is_disputed(known), now);
            machine.view.no_orders = known.no_orders(at.may_ask).map(Untrusted::new);
            machine
        };
        self.hosts.values().map(|known| machine(known)).collect()
    }

    fn grace(&self, at: ReadAt) -> Grace {
        let up = u64::try_from(at.server.saturating_sub(at.started)).unwrap_or_default();
        let again = self.reached_again.map(|again| at.steady.saturating_sub(again));
        let up = Duration::from_millis(up);
        if up < GRACE {
            Grace::Started(up)
        } else if again.is_some_and(|again| again < GRACE) {
            Grace::ReachedAgain
        } else {
            Grace::Over
        }
    }

    /// Names the new hosts: the plain name if it is unambiguous, or else one with as much of the ID as distinguishes
    /// it from all others. The order of the rows does not matter.
    fn name_new(&mut self, rows: &[HostRow]) {
        if rows.iter().all(|row| self.names.contains_key(&row.host)) {
            return;
        }
        let seen = self.hosts.values().map(|known| &known.row).chain(rows);
        let possible: BTreeMap<&str, Vec<String>> =
            seen.map(|row| (row.host.as_str(), possible_names(&row.name, &row.host))).collect();
        let mut wanted: HashMap<&str, usize> = HashMap::new();
        possible.values().flatten().for_each(|name| *wanted.entry(name).or_default() += 1);
        let given: HashSet<&String> = self.names.values().chain(&self.taken).collect();
        let is_free = |name: &&String| wanted.get(name.as_str()) == Some(&1) && !given.contains(name);
        let new = possible.iter().filter(|(host, _)| !self.names.contains_key(**host));
        let new: Vec<(String, String)> = new
            .filter_map(|(host, names)| {
                let name = names.iter().find(is_free).or(names.last())?;
                Some(((*host).to_owned(), name.clone()))
            })
            .collect();
        self.names.extend(new);
    }
}

impl HostState {
    fn new(row: HostRow, name: String) -> Self {
        let decoder = Self::greeted(&row, Decoder::new(&name));
        let tombstones = Arc::default();
        let words_left = decoder.words_left();
        Self {
            row,
            name,
            known: 0,
            decoder,
            tombstones,
            look: None,
            presence: None,
            words_left,
            unread: None,
        }
    }

    /// Starts to read a host from the beginning.
    fn greeted(row: &HostRow, mut decoder: Decoder) -> Decoder {
        let line = Line { hello: Some(hello(row)), ..Line::default() };
        if let Ok(text) = json::to_line(&line) {
            // A first hello in this version's protocol is never refused.
            let _ = decoder.receive(text.as_bytes());
        }
        decoder
    }

    fn take(&mut self, row: HostRow) {
        // Another epoch sends everything again, and a restored database has less than was read from it.
        if row.epoch != self.row.epoch || row.boot != self.row.boot || row.sequence < self.row.sequence {
            self.known = 0;
        }
        self.row = row;
    }

    fn has_news(&self) -> bool {
        self.row.changed > self.known && self.row.state == "ok" && !self.is_unread()
    }

    /// Returns whether its content is already known to be unreadable.
    fn is_unread(&self) -> bool {
        self.unread.as_ref().is_some_and(|(_, changed)| *changed == self.row.changed)
    }

    /// Applies its rows; if they cannot be read, its last state stays, and nothing counts as read.
    fn read(&mut self, rows: &[PartRow<'_>]) {
        let is_whole = self.known == 0 || rows.iter().any(|row| row.is_whole);
        let mut anew =
            is_whole.then(|| Self::greeted(&self.row, Decoder::again(&self.name, self.words_left)));
        let (mut look, mut has_look, mut order) = (self.look.clone().filter(|_| !is_whole), false, None);
        let mut known = self.row.changed;
        for row in rows {
            known = known.max(row.sequence);
            match row.kind {
                LOOK => (look, has_look) = (row.payload.map(str::to_owned), true),
                ORDER => order = row.payload,
                _ => {}
            }
        }
        let line = look_line(look.as_deref(), has_look, order);
        let decoder = anew.as_mut().unwrap_or(&mut self.decoder);
        let mut parts = rows.iter().filter(|row| ![LOOK, ORDER].contains(&row.kind));
        let received = parts.try_for_each(|row| decoder.receive_part(row.id(), row.payload));
        let heard = received.and_then(|()| decoder.receive(line.as_bytes()));
        self.words_left = decoder.words_left();
        let why = match heard {
            Ok(Message::Look) => None,
            Ok(_) => Some("the last line of its scan is garbled".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        self.unread = why.map(|why| (why, self.row.changed));
        if self.unread.is_some() {
            self.known = 0;
            return;
        }
        if let Some(anew) = anew {
            self.decoder = anew;
        }
        (self.known, self.look) = (known, look);
        self.tombstones = self.decoder.tombstones().cloned().collect();
    }

    /// Discards its state, which may be half changed, and does not read it again.
    fn forget(&mut self) {
        let why = "a bug in this claimtop prevents reading it; please report its log (--log-level error)"
            .to_owned();
        let name = std::mem::take(&mut self.name);
        *self = Self {
            presence: self.presence,
            words_left: self.words_left,
            unread: Some((why, self.row.changed)),
            ..Self::new(self.row.clone(), name)
        };
    }

    /// Returns the time since its last beat.
    fn age(&self, at: ReadAt, steady: Duration) -> Duration {
        let then = u64::try_from(at.server.saturating_sub(self.row.beat_at)).unwrap_or_default();
        Duration::from_millis(then) + steady.saturating_sub(at.steady)
    }

    /// Returns why nothing can be requested from it, if so.
    fn no_orders(&self, may_ask: bool) -> Option<String> {
        if !may_ask {
            return Some(
                "your login to the fleet's database may only read (claimtop_operate allows orders)"
                    .to_owned(),
            );
        }
        match self.row.accepts.as_str() {
            "typed" | "dead-only" => None,
            _ => Some("it does not accept orders (see `accept` in its [fleet])".to_owned()),
        }
    }

    /// Returns where its PIDs count, according to itself.
    fn place(&self) -> MachineBoot<'_> {
        (self.row.machine.as_deref(), self.row.boot.as_deref(), self.row.pid_namespace)
    }

    fn machine(&self, age: Duration, is_blind: bool, is_disputed: bool, now: Timestamp) -> FarMachine {
        let report = self.decoder.report().cloned();
        let presence = if is_blind { Presence::NotSeen } else { self.presence.unwrap_or(Presence::NotSeen) };
        let (state, detail) = self.standing(presence, is_blind);
        let state = if report.is_none() { MachineState::Unreached } else { state };
        let seconds = i64::try_from(age.as_secs()).unwrap_or(i64::MAX / 2);
        let view = MachineView {
            state,
            detail: Untrusted::new(detail),
            version: self.row.release.clone().map(Untrusted::new),
            host: Some(Untrusted::new(self.row.name.clone())),
            windows: report.as_ref().map_or(0, |report| report.windows.len()),
            seen_at: now.checked_sub(SignedDuration::from_secs(seconds)).ok(),
            not_understood: self.decoder.not_understood(),
            ..MachineView::new(&self.name, POSTGRES.to_owned())
        };
        let tombstones: Arc<[Tombstone]> = match is_disputed {
            true => Arc::default(),
            false => Arc::clone(&self.tombstones),
        };
        let hello = self.decoder.hello().cloned().filter(|_| !is_disputed);
        FarMachine { view, hello, report, tombstones }
    }

    fn standing(&self, presence: Presence, is_blind: bool) -> (MachineState, String) {
        if let Some((why, _)) = &self.unread {
            return (MachineState::Unreached, why.clone());
        }
        if self.row.state != "ok" {
            return (
                MachineState::Silent,
                "two machines publish under one ID; unknown until each has its own".to_owned(),
            );
        }
        if self.decoder.report().is_none() {
            return (MachineState::Unreached, "no data received yet".to_owned());
        }
        if is_blind {
            return (MachineState::Silent, "the fleet's database does not answer".to_owned());
        }
        if self.row.is_claimed {
            return (
                MachineState::Silent,
                "it was restarted or cloned; it will be clear which within a minute".to_owned(),
            );
        }
        // It was not visible then and has not beaten since, however recently the database has started.
        if let Some(by) = &self.row.lost_by {
            return (MachineState::Silent, format!("declared lost by {}, which proves nothing", shown(by)));
        }
        match presence {
            Presence::There => (MachineState::Live, String::new()),
            Presence::Late => (MachineState::Late, format!("no contact for over {} s", LATE.as_secs())),
            // The duration is shown beside it: a sentence that counted minutes would cause the whole fleet to be
            // merged again.
            Presence::NotSeen => {
                (MachineState::Silent, format!("no contact for over {} s", NOT_SEEN.as_secs()))
            }
        }
    }
}

/// Returns the line that commits the rows: as the witness sent it, or its last one without news.
fn look_line(taken_at: Option<&str>, has_look: bool, order: Option<&str>) -> String {
    #[derive(Deserialize)]
    struct At {
        at: Timestamp,
    }
    let order = order.map(|order| format!(r#","order":{order}"#)).unwrap_or_default();
    let at = taken_at
        .and_then(|look| serde_json::from_str::<At>(look).ok())
        .map_or(Timestamp::UNIX_EPOCH, |look| look.at);
    let body = taken_at.filter(|_| has_look).and_then(|look| look.strip_suffix('}'));
    match body {
        Some(body) => format!(r#"{{"look":{body}{order}}}}}"#),
        None => format!(r#"{{"look":{{"at":"{at}"{order}}}}}"#),
    }
}

#[cfg(test)]
mod tests;
