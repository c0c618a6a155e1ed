//! Decodes lines into looks.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::core::history::recording::line::Line;
use crate::core::history::recording::upgrade::upgraded;
use crate::core::model::{
    BrokenFile, DescribedFormat, Format, Host, LetGo, Process, ProcessTable, Record, Snapshot,
};

/// All parts of a look read from the lines, with the line of each.
#[derive(Default)]
pub(crate) struct Parts<'a> {
    known: HashMap<String, (usize, &'a RawValue)>,
    order: Vec<String>,
}

/// A part that cannot be read, and the line that it stands in.
pub(crate) type Damage = (usize, serde_json::Error);

fn read<T: DeserializeOwned>((line, part): &(usize, &RawValue)) -> Result<T, Damage> {
    serde_json::from_str(part.get()).map_err(|error| (*line, error))
}

impl<'a> Parts<'a> {
    /// Takes a line over.
    pub(crate) fn apply(&mut self, number: usize, line: Line<'a>) {
        if line.full {
            *self = Self::default();
        }
        for id in &line.gone {
            self.known.remove(id);
        }
        self.known.extend(line.parts.into_iter().map(|(id, part)| (id, (number, part))));
        self.order = line.order.unwrap_or_else(|| std::mem::take(&mut self.order));
    }

    /// Reads a part; returns the default if no line contains it.
    fn part<T: DeserializeOwned + Default>(&self, id: &str) -> Result<T, Damage> {
        self.known.get(id).map_or_else(|| Ok(T::default()), read)
    }

    /// Reads the parts in order whose IDs start with a prefix.
    fn in_order<T: DeserializeOwned>(&self, start: &str) -> impl Iterator<Item = Result<T, Damage>> {
        let ids = self.order.iter().filter(move |id| id.starts_with(start));
        ids.filter_map(|id| self.known.get(id)).map(read)
    }

    /// Puts the look together; nothing without its host. A part that this version does not know is
    /// passed over.
    pub(crate) fn snapshot(&self, taken_at: Timestamp) -> Result<Option<Snapshot>, Damage> {
        let Some(host) = self.part::<Option<Host>>("host")? else { return Ok(None) };
        let processes = self.known.iter().filter(|(id, _)| id.starts_with("p:"));
        let process = |process: Process| (process.id.pid, process);
        let own = self.part("own")?;
        let record = |record: Record| {
            let record = upgraded(record);
            Arc::new(Record { format: with_rule(record.format, &own), ..record })
        };
        let broken = |broken: BrokenFile| BrokenFile { format: with_rule(broken.format, &own), ..broken };
        Ok(Some(Snapshot {
            taken_at,
            host,
            processes: ProcessTable {
                listed: self.part("listed")?,
                partial: self.part("partial")?,
                by_pid: processes.map(|(_, part)| read(part).map(process)).collect::<Result<_, _>>()?,
                threads: self.part("threads")?,
            },
            records: self.in_order("r:").map(|read| read.map(record)).collect::<Result<_, _>>()?,
            broken: self.in_order("b:").map(|read| read.map(broken)).collect::<Result<_, _>>()?,
            repos: self.part("repos")?,
            databases: self.part("databases")?,
            bound: self.part("bound")?,
            homes: self.part("homes")?,
            session_files: self.part("session-files")?,
            tombstones: self.part("tombstones")?,
            plain_folders: self.part("plain-folders")?,
            traces: self.part("traces")?,
            work: self.part("work")?,
            unread_work: self.part("unread-work")?,
            unfinished: self.part("unfinished")?,
            git_commands: self.part("git-commands")?,
            call_waits: self.part("call-waits")?,
            forecasts: self.part("forecasts")?,
            sources: self.part("sources")?,
            seen_agents: self.part("seen")?,
        }))
    }
}

/// Returns a format known by its name, with the rule by which its records are released.
fn with_rule(format: Format, own: &BTreeMap<String, LetGo>) -> Format {
    let Format::Described(described) = format else { return format };
    let let_go = own.get(described.name()).copied().unwrap_or_default();
    Format::Described(DescribedFormat::named(described.name(), let_go))
}
