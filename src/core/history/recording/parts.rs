//! Lines in, looks out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::core::history::recording::line::Line;
use crate::core::history::recording::upgrade::upgraded;
use crate::core::model::{
    BrokenFile, Database, Described, Format, HomeFolder, Host, LetGo, Notes, Process, ProcessTable, Record,
    Repo, SeenAgent, SessionFile, Snapshot, SourceHealth, Tombstone, Untrusted, Work,
};

/// Everything of a look, as far as the lines have told.
#[derive(Default)]
pub(crate) struct Parts {
    host: Option<Host>,
    listed: BTreeSet<u32>,
    partial: Option<String>,
    threads: BTreeMap<u32, u32>,
    repos: Vec<Repo>,
    databases: Vec<Database>,
    bound: Notes,
    homes: Vec<HomeFolder>,
    session_files: Vec<SessionFile>,
    tombstones: Arc<[Tombstone]>,
    plain_folders: Vec<Untrusted>,
    work: Vec<Work>,
    sources: Vec<SourceHealth>,
    seen: Vec<SeenAgent>,
    processes: HashMap<u32, Process>,
    records: HashMap<String, Arc<Record>>,
    broken: HashMap<String, BrokenFile>,
    order: Vec<String>,
    /// By what rule the records of each described format are let go.
    own: BTreeMap<String, LetGo>,
}

fn read<T: DeserializeOwned>(part: &RawValue) -> serde_json::Result<T> {
    serde_json::from_str(part.get())
}

impl Parts {
    /// Takes a line over.
    pub(crate) fn apply(&mut self, line: &Line<'_>) -> serde_json::Result<()> {
        if line.full {
            *self = Self::default();
        }
        line.gone.iter().for_each(|id| self.forget(id));
        line.parts.iter().try_for_each(|(id, part)| self.learn(id, part))?;
        if let Some(order) = &line.order {
            self.order.clone_from(order);
        }
        Ok(())
    }

    fn forget(&mut self, id: &str) {
        if let Some(pid) = id.strip_prefix("p:").and_then(|pid| pid.parse().ok()) {
            self.processes.remove(&pid);
        }
        self.records.remove(id);
        self.broken.remove(id);
    }

    /// Takes a part over; one that this version does not know is passed over.
    fn learn(&mut self, id: &str, part: &RawValue) -> serde_json::Result<()> {
        match id {
            "host" => self.host = Some(read(part)?),
            "listed" => self.listed = read(part)?,
            "threads" => self.threads = read(part)?,
            "partial" => self.partial = read(part)?,
            "repos" => self.repos = read(part)?,
            "databases" => self.databases = read(part)?,
            "bound" => self.bound = read(part)?,
            "homes" => self.homes = read(part)?,
            "tombstones" => self.tombstones = read(part)?,
            "session-files" => self.session_files = read(part)?,
            "work" => self.work = read(part)?,
            "plain-folders" => self.plain_folders = read(part)?,
            "own" => self.own = read(part)?,
            "sources" => self.sources = read(part)?,
            "seen" => self.seen = read(part)?,
            id if id.starts_with("p:") => {
                let process: Process = read(part)?;
                self.processes.insert(process.id.pid, process);
            }
            id if id.starts_with("r:") => {
                let mut record: Record = upgraded(read(part)?);
                record.format = self.with_rule(record.format);
                self.records.insert(id.to_owned(), Arc::new(record));
            }
            id if id.starts_with("b:") => {
                let mut broken: BrokenFile = read(part)?;
                broken.format = self.with_rule(broken.format);
                self.broken.insert(id.to_owned(), broken);
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns a format that is known by its name with the rule by which its records are let go.
    fn with_rule(&self, format: Format) -> Format {
        let Format::Described(described) = format else { return format };
        let let_go = self.own.get(described.name()).copied().unwrap_or_default();
        Format::Described(Described::named(described.name(), let_go))
    }

    /// Puts the look together; nothing without its host.
    pub(crate) fn snapshot(self, taken_at: Timestamp) -> Option<Snapshot> {
        Some(Snapshot {
            taken_at,
            host: self.host?,
            processes: ProcessTable {
                listed: self.listed,
                partial: self.partial,
                by_pid: self.processes.into_iter().collect(),
                threads: self.threads,
            },
            records: self.order.iter().filter_map(|id| self.records.get(id).cloned()).collect(),
            broken: self.order.iter().filter_map(|id| self.broken.get(id).cloned()).collect(),
            repos: self.repos,
            databases: self.databases,
            bound: self.bound,
            homes: self.homes,
            session_files: self.session_files,
            tombstones: self.tombstones,
            plain_folders: self.plain_folders,
            work: self.work,
            sources: self.sources,
            seen_agents: self.seen,
        })
    }
}
