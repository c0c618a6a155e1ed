//! Encodes looks as lines.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::value::RawValue;

use crate::core::history::recording::line::{Header, Line};
use crate::core::model::text::json;
use crate::core::model::{Format, LetGo, Snapshot};

/// After this many looks one is written in full again, so that going back is quick.
const FULL_EVERY: u64 = 64;

/// Writes each look as its difference from the look before.
#[derive(Debug, Default)]
pub struct Encoder {
    looks: u64,
    before: HashMap<String, Box<RawValue>>,
    order: Vec<String>,
}

/// All contents of a look, part by part.
struct All {
    parts: Vec<(String, Box<RawValue>)>,
    order: Vec<String>,
}

impl Encoder {
    /// Writes the first line, with its newline.
    ///
    /// # Errors
    /// Returns the error of serde_json, which does not occur for our own types.
    pub fn header(header: &Header) -> serde_json::Result<String> {
        Ok(json::to_line(header)? + "\n")
    }

    /// Writes one look, with its newline.
    ///
    /// # Errors
    /// Returns the error of serde_json, which does not occur for our own types.
    pub fn look(&mut self, snapshot: &Snapshot, event: bool) -> serde_json::Result<String> {
        let All { parts, order } = all(snapshot)?;
        let full = self.looks.is_multiple_of(FULL_EVERY);
        self.looks += 1;
        if full {
            self.before.clear();
            self.order.clear();
        }
        let is_new =
            |id: &str, part: &RawValue| self.before.get(id).is_none_or(|old| old.get() != part.get());
        let changed: BTreeMap<String, &RawValue> = parts
            .iter()
            .filter(|(id, part)| is_new(id, part))
            .map(|(id, part)| (id.clone(), &**part))
            .collect();
        let now: HashMap<&str, ()> = parts.iter().map(|(id, _)| (id.as_str(), ())).collect();
        let mut gone: Vec<String> =
            self.before.keys().filter(|id| !now.contains_key(id.as_str())).cloned().collect();
        gone.sort_unstable();
        let moved = (order != self.order).then(|| order.clone());
        let line = Line { at: snapshot.taken_at, full, event, parts: changed, gone, order: moved };
        let text = json::to_line(&line)? + "\n";
        self.before = parts.into_iter().collect();
        self.order = order;
        Ok(text)
    }
}

fn all(snapshot: &Snapshot) -> serde_json::Result<All> {
    let mut all = All { parts: Vec::new(), order: Vec::new() };
    let table = &snapshot.processes;
    all.add("host", &snapshot.host)?;
    all.add("listed", &table.listed)?;
    all.add("threads", &table.threads)?;
    all.add("partial", &table.partial)?;
    all.add("repos", &snapshot.repos)?;
    all.add("databases", &snapshot.databases)?;
    all.add("bound", &snapshot.bound)?;
    all.add("homes", &snapshot.homes)?;
    all.add("session-files", &snapshot.session_files)?;
    all.add("work", &snapshot.work)?;
    all.add("unread-work", &snapshot.unread_work)?;
    all.add("unfinished", &snapshot.unfinished)?;
    all.add("git-commands", &snapshot.git_commands)?;
    all.add("call-waits", &snapshot.call_waits)?;
    all.add("forecasts", &snapshot.forecasts)?;
    all.add("tombstones", &snapshot.tombstones)?;
    all.add("plain-folders", &snapshot.plain_folders)?;
    all.add("traces", &snapshot.traces)?;
    all.add("sources", &snapshot.sources)?;
    all.add("seen", &snapshot.seen_agents)?;
    // Before the records, so that these are read by the rule of their format.
    all.add("own", &own(snapshot))?;
    for (pid, process) in &table.by_pid {
        all.add(&format!("p:{pid}"), process)?;
    }
    for record in &snapshot.records {
        all.add_in_order(format!("r:{}", record.location.text().raw()), &**record)?;
    }
    for broken in &snapshot.broken {
        all.add_in_order(format!("b:{}", broken.path.text().raw()), broken)?;
    }
    Ok(all)
}

/// Returns the release rule for the records of each format that a person has defined.
fn own(snapshot: &Snapshot) -> BTreeMap<&'static str, LetGo> {
    let own = snapshot.records.iter().filter_map(|record| {
        let Format::Described(own) = record.format else { return None };
        Some((own.name(), own.let_go))
    });
    own.collect()
}

impl All {
    fn add<T: Serialize>(&mut self, id: &str, part: &T) -> serde_json::Result<()> {
        self.parts.push((id.to_owned(), RawValue::from_string(json::to_line(part)?)?));
        Ok(())
    }

    /// Adds parts that have an order; a name that comes twice gets its place added.
    fn add_in_order<T: Serialize>(&mut self, id: String, part: &T) -> serde_json::Result<()> {
        let id = if self.order.last() == Some(&id) { format!("{id}#{}", self.order.len()) } else { id };
        self.add(&id, part)?;
        self.order.push(id);
        Ok(())
    }
}
