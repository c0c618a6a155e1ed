//! One recording of a real agent: its writes with their times, the processes, and the truth at each moment.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use claimtop::core::model::{
    Details, Host, InnerPids, Platform, Process, ProcessId, ProcessState, ProcessTable, Untrusted,
};
use claimtop::testing::core::{INITIAL_PID_NAMESPACE, INITIAL_TIME_NAMESPACE};
use claimtop::testing::observe::Moment;
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The truth, as the script of the scene knows it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Truth {
    pub(super) agent: String,
    #[serde(rename = "version")]
    _version: String,
    pub(super) scene: String,
    pub(super) root: String,
    /// Every file that was edited.
    #[serde(rename = "files")]
    _files: Vec<String>,
    pub(super) marks: Vec<Mark>,
}

/// The truth at one moment.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mark {
    pub(super) name: String,
    /// The time, in seconds since the recording began.
    pub(super) t: f64,
    pub(super) windows: BTreeMap<String, WindowTruth>,
}

/// The truth about one window.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WindowTruth {
    pub(super) pid: Option<u32>,
    #[serde(rename = "cwd")]
    _cwd: String,
    pub(super) alive: bool,
    /// Whether it only shows a session that runs in another process.
    #[serde(default)]
    pub(super) screen: bool,
    /// `None` before the model's first request.
    pub(super) session: Option<String>,
    pub(super) edits: Vec<String>,
    pub(super) state: String,
    pub(super) asks: Option<String>,
    /// The command, the file or the question that it asks about, if the scene has one.
    #[serde(default)]
    pub(super) about: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) agents: usize,
}

/// One write.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) t: f64,
    file: String,
    /// Its offset in the final file, and its length, in bytes: it was appended.
    offset: Option<usize>,
    length: Option<usize>,
    /// The content of the whole file from then on.
    text: Option<String>,
    #[serde(default)]
    gone: bool,
    /// The rows of a database, the removed ones, and the new tables.
    #[serde(default)]
    tables: BTreeMap<String, String>,
    #[serde(default)]
    rows: BTreeMap<String, Vec<Map<String, Value>>>,
}

/// The machine, as far as it matters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    /// When the recording began and when the machine had booted, in seconds since 1970.
    began: f64,
    booted: f64,
    ticks: u64,
}

/// A process for as long as nothing of it changed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    pid: u32,
    parent: u32,
    group: u32,
    session: u32,
    start: u64,
    comm: String,
    tty: Option<String>,
    argv: Vec<String>,
    exe: String,
    cwd: String,
    from: f64,
    until: Option<f64>,
}

/// One recording.
pub(super) struct Recorded {
    folder: PathBuf,
    pub(super) truth: Truth,
    pub(super) writes: Vec<Written>,
    machine: Machine,
    spans: Vec<Span>,
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn moment(seconds: f64) -> Timestamp {
    Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_secs_f64(seconds)).unwrap()
}

impl Recorded {
    pub(super) fn open(folder: &Path) -> Self {
        let processes = read(&folder.join("processes.jsonl"));
        let mut processes = processes.lines();
        let machine = serde_json::from_str(processes.next().unwrap()).unwrap();
        let writes = read(&folder.join("writes.jsonl"));
        Self {
            folder: folder.to_owned(),
            truth: serde_json::from_str(&read(&folder.join("truth.json"))).unwrap(),
            writes: writes.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
            machine,
            spans: processes.map(|line| serde_json::from_str(line).unwrap()).collect(),
        }
    }

    /// Replaces a text in every file that is overwritten.
    pub(super) fn replace(&mut self, from: &str, to: &str) {
        for text in self.writes.iter_mut().filter_map(|write| write.text.as_mut()) {
            *text = text.replace(from, to);
        }
    }

    /// Returns the scene's name with its agent's.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.truth.agent, self.truth.scene)
    }

    /// Recreates the machine as it was at a moment of the recording.
    pub(super) fn moment(&self, t: f64, uid: u32) -> Moment {
        let mut processes = ProcessTable::default();
        for span in &self.spans {
            if span.from <= t && span.until.is_none_or(|until| t < until) {
                processes.listed.insert(span.pid);
                processes.by_pid.insert(span.pid, span.process(uid));
            }
        }
        let host = Host {
            name: "vm".to_owned(),
            platform: Platform::Linux,
            boot_id: Some("00000000-0000-4000-8000-000000000000".to_owned()),
            pid_namespace: Some(INITIAL_PID_NAMESPACE),
            machine_id: Some("0".repeat(32)),
            time_namespace: Some(INITIAL_TIME_NAMESPACE),
            boot_at: Some(moment(self.machine.booted)),
            up_by: None,
            clock: Vec::new().into_iter().collect(),
            clock_doubt: SignedDuration::ZERO,
            ticks_per_second: self.machine.ticks,
            uid,
            zone: jiff::tz::TimeZone::UTC,
        };
        Moment { now: moment(self.machine.began + t), host, processes }
    }

    fn time(&self, t: f64) -> SystemTime {
        SystemTime::from(moment(self.machine.began + t))
    }
}

impl Span {
    fn process(&self, uid: u32) -> Process {
        let details = Details {
            uid: Some(uid),
            exe: Some(self.exe.as_str().into()),
            argv: self.argv.iter().map(|word| Untrusted::from(word.as_str())).collect(),
            cwd: Some(self.cwd.as_str().into()),
            ns_pids: vec![self.pid],
            ..Details::default()
        };
        Process {
            id: ProcessId { pid: self.pid, start_ticks: self.start },
            parent: self.parent,
            state: ProcessState::Running,
            comm: self.comm.as_str().into(),
            tty: self.tty.clone(),
            group: self.group,
            session: self.session,
            pidfd_inode: None,
            has_exited: Some(false),
            inner: InnerPids::Read(Box::default()),
            is_renamed: false,
            details: Some(details),
        }
    }
}

/// A home into which a recording is written again.
pub(super) struct Home<'a> {
    recorded: &'a Recorded,
    pub(super) path: PathBuf,
    /// The final state of files that only grew.
    files: BTreeMap<String, Vec<u8>>,
}

impl<'a> Home<'a> {
    pub(super) fn new(recorded: &'a Recorded, path: PathBuf) -> Self {
        Self { recorded, path, files: BTreeMap::new() }
    }

    /// Returns where a write may be cut, in bytes: after lines and within one, few enough to look at each.
    pub(super) fn cuts(&mut self, write: &Written) -> Vec<usize> {
        let bytes = self.bytes(write);
        if !bytes.is_empty() && write.text.is_some() {
            return vec![0, bytes.len() / 2];
        }
        let mut ends: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        ends.retain(|end| *end < bytes.len());
        let torn = ends.last().copied().unwrap_or(0).midpoint(bytes.len());
        let step = ends.len().div_ceil(4).max(1);
        let mut cuts: Vec<usize> = ends.into_iter().step_by(step).collect();
        cuts.extend((torn > 0).then_some(torn));
        cuts
    }

    /// Returns the bytes of a write; empty for rows.
    fn bytes(&mut self, write: &Written) -> Vec<u8> {
        if let Some(text) = &write.text {
            return text.clone().into_bytes();
        }
        let Some((offset, length)) = write.offset.zip(write.length) else { return Vec::new() };
        let path = self.recorded.folder.join("files").join(&write.file);
        let kept = self.files.entry(write.file.clone()).or_insert_with(|| std::fs::read(path).unwrap());
        kept[offset..offset + length].to_vec()
    }

    /// Applies a write, or its first bytes.
    pub(super) fn write(&mut self, write: &Written, cut: Option<usize>) {
        let path = self.path.join(&write.file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if write.gone {
            std::fs::remove_file(&path).unwrap();
            return;
        }
        if write.text.is_none() && write.offset.is_none() {
            rows(&path, write);
        } else {
            let bytes = self.bytes(write);
            let bytes = &bytes[..cut.unwrap_or(bytes.len())];
            let mut options = File::options();
            let mut file = options.create(true).truncate(false).write(true).open(&path).unwrap();
            let offset = write.offset.unwrap_or(0);
            file.set_len(u64::try_from(offset).unwrap()).unwrap();
            std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).unwrap();
            file.write_all(bytes).unwrap();
        }
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, private).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(self.recorded.time(write.t)).unwrap();
    }
}

/// Writes rows into a database.
fn rows(path: &Path, write: &Written) {
    let mut database = Connection::open(path).unwrap();
    // Rows come table by table, in any order.
    database.pragma_update(None, "foreign_keys", false).unwrap();
    let change = database.transaction().unwrap();
    for sql in write.tables.values() {
        change.execute(sql, []).unwrap();
    }
    for (table, rows) in &write.rows {
        for row in rows {
            change_row(&change, table, row);
        }
    }
    change.commit().unwrap();
}

/// Writes a new row, or the changed columns of an existing one.
fn change_row(database: &Connection, table: &str, row: &Map<String, Value>) {
    let key = row["claimtop_row"].as_i64();
    if row.contains_key("claimtop_gone") {
        database.execute(&format!("DELETE FROM \"{table}\" WHERE rowid = ?1"), [key]).unwrap();
        return;
    }
    let cells: Vec<(&String, &Value)> = row.iter().filter(|(name, _)| *name != "claimtop_row").collect();
    let names = |end: &str| {
        let named = cells.iter().map(|(name, _)| format!("\"{name}\"{end}"));
        named.chain([format!("rowid{end}")]).collect::<Vec<_>>().join(",")
    };
    let values = || {
        let cells = cells.iter().map(|(_, value)| cell(value));
        rusqlite::params_from_iter(cells.chain([key.into()]).collect::<Vec<_>>())
    };
    let there = format!("SELECT count(*) FROM \"{table}\" WHERE rowid = ?1");
    let is_there = database.query_row(&there, [key], |row| row.get::<_, i64>(0)).unwrap() > 0;
    let places = vec!["?"; cells.len() + 1].join(",");
    let sql = if is_there {
        format!("UPDATE \"{table}\" SET {} WHERE rowid = ?{}", names(" = ?"), cells.len() + 1)
    } else {
        format!("INSERT INTO \"{table}\" ({}) VALUES ({places})", names(""))
    };
    database.execute(&sql, values()).unwrap();
}

fn cell(value: &Value) -> rusqlite::types::Value {
    match value {
        Value::Null => rusqlite::types::Value::Null,
        Value::Bool(flag) => i64::from(*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64().unwrap().into(),
        },
        Value::String(text) => text.clone().into(),
        Value::Array(_) | Value::Object(_) => value.to_string().into(),
    }
}
