//! What an action would do, as pure data: shown before anything is touched.

use serde::Serialize;

use super::finding::Code;
use super::key::Key;
use super::record::{Format, Generation, RecordKind};
use super::report::{LocationView, RecordView, Report, VerdictState};
use super::text::Untrusted;

/// What a person asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Let a claim go, or end a dead record.
    Release,
    /// Move a legacy record to its present form.
    Migrate,
    /// Put a file aside.
    Park,
}

/// A shown plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// What would be acted on.
    pub subject: Key,
    /// What would be done, in one sentence.
    pub what: String,
    /// Why it may or may not be done.
    pub why: Vec<String>,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// How it would be undone.
    pub inverse: String,
    /// What would make it refuse.
    pub refuses_when: Vec<&'static str>,
    /// What a person must give before it is done.
    pub confirmation: Confirmation,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "step")]
pub enum Step {
    /// Put the file aside, whole.
    Park {
        /// The file.
        path: Untrusted,
    },
    /// Write a new file where none is.
    WriteNew {
        /// The file.
        path: Untrusted,
    },
    /// Exchange a file's content under its system's own lock.
    Exchange {
        /// The file.
        path: Untrusted,
        /// Which fields change, and to what.
        change: String,
    },
}

/// What a person must give before a plan is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confirmation {
    /// The holder is proven dead: `y`.
    Yes,
    /// It cannot be told: a short code.
    Code,
    /// The holder lives: the full name of the resource.
    FullName,
    /// It is never done.
    Refused,
}

/// What makes every plan refuse, whatever it is about.
const ALWAYS: [&str; 4] = [
    "the file, its owner or its holder changed since it was seen",
    "the file is younger than 2 s or cannot be parsed",
    "the file is not a plain file of yours with one link",
    "another claimtop is at work on it",
];

/// Plans an action on a record or claim. A window has no plan of its own.
pub fn plan_for(report: &Report, key: &Key, action: Action) -> Plan {
    match record_of(report, key) {
        Some(record) => plan_record(report, key, record, action),
        None => refused(key, "this is no record and no claim", "select a record or a claim"),
    }
}

fn record_of<'a>(report: &'a Report, key: &Key) -> Option<&'a RecordView> {
    let claim = report.claims.iter().find(|claim| &claim.key == key);
    let wanted = claim.map_or(key, |claim| &claim.record);
    report.records.iter().find(|record| &record.key == wanted)
}

fn plan_record(report: &Report, key: &Key, record: &RecordView, action: Action) -> Plan {
    let about =
        |code: Code| report.findings.iter().any(|f| f.code == code && f.subjects.contains(&record.key));
    if about(Code::ForeignOwner) {
        return refused(key, "the file belongs to another user", "claimtop never touches other users' files");
    }
    if action == Action::Migrate {
        return migration(report, key, record);
    }
    if record.format == Format::Entire && record.kind == RecordKind::Marker {
        return refused(key, "the live registry expires by itself", "the entire CLI removes it after 12 h");
    }
    Plan {
        subject: key.clone(),
        what: what(record),
        why: why(record),
        steps: steps(report, record),
        inverse: "undo puts every file back where it was, with its bytes, mode and times".to_owned(),
        refuses_when: ALWAYS.to_vec(),
        confirmation: match record.verdict.state {
            VerdictState::Dead => Confirmation::Yes,
            VerdictState::Unknown => Confirmation::Code,
            VerdictState::Alive => Confirmation::FullName,
        },
    }
}

fn refused(key: &Key, why: &str, instead: &str) -> Plan {
    Plan {
        subject: key.clone(),
        what: format!("nothing would be done: {why}"),
        why: vec![instead.to_owned()],
        steps: Vec::new(),
        inverse: "nothing to undo".to_owned(),
        refuses_when: Vec::new(),
        confirmation: Confirmation::Refused,
    }
}

fn what(record: &RecordView) -> String {
    match record.format {
        Format::Entire if record.kind == RecordKind::Session => {
            format!("end the session {} in its state file; nothing is deleted", record.title)
        }
        Format::Entire | Format::Maia | Format::Observability | Format::Leo | Format::ClaudeCode => {
            format!("park the {} record {}", record.format.name(), record.title)
        }
    }
}

fn why(record: &RecordView) -> Vec<String> {
    let verdict = &record.verdict;
    let state = match verdict.state {
        VerdictState::Alive => "the holder lives: a live window would lose this",
        VerdictState::Dead => "the holder is proven dead",
        VerdictState::Unknown => "it cannot be told whether the holder lives",
    };
    let facts =
        verdict.evidence.iter().map(|fact| format!("{}: {} ({})", fact.fact, fact.value, fact.source));
    std::iter::once(format!("{state} ({})", verdict.reason.name())).chain(facts).collect()
}

fn steps(report: &Report, record: &RecordView) -> Vec<Step> {
    let path = path_of(record);
    if record.format == Format::Entire && record.kind == RecordKind::Session {
        let change = "phase becomes ended, ended_at the last interaction; every other field stays".to_owned();
        return vec![Step::Exchange { path, change }];
    }
    let companions = report.records.iter().filter(|other| {
        other.kind == RecordKind::Companion
            && other.format == record.format
            && other.context_id.is_some()
            && other.context_id == record.context_id
            && other.key != record.key
    });
    std::iter::once(path).chain(companions.map(path_of)).map(|path| Step::Park { path }).collect()
}

fn path_of(record: &RecordView) -> Untrusted {
    match &record.location {
        LocationView::File { path } => path.clone(),
        LocationView::Row { database, table, id } => {
            format!("{}:{table}:{}", database.raw(), id.raw()).into()
        }
    }
}

/// Plans the move of a Maia record to its present place. Its own code never moves the
/// `context_{PPID}` files, so only the window that the PID provably belongs to may own them.
fn migration(report: &Report, key: &Key, record: &RecordView) -> Plan {
    if record.generation == Generation::Current {
        return refused(key, "the record has its present form already", "there is nothing to migrate");
    }
    if record.format != Format::Maia {
        return refused(key, "its own system reads both forms", "there is nothing to migrate");
    }
    let heir = record.window.clone().or_else(|| only_heir(report, record));
    let Some(window) = heir.and_then(|key| report.windows.iter().find(|window| window.key == key)) else {
        return refused(
            key,
            "no live window provably owns it",
            "park it, or wait until one window can own it",
        );
    };
    let name = format!("~/.maia/sessions/swarm_session_{}.json", window.context_id.value.raw());
    Plan {
        subject: key.clone(),
        what: format!("move the legacy record {} to {}", record.title, Untrusted::from(name.as_str())),
        why: vec![format!("PID {} is the only window that can own it", window.pid)],
        steps: vec![Step::WriteNew { path: name.into() }, Step::Park { path: path_of(record) }],
        inverse: "undo parks the new file and puts the old one back".to_owned(),
        refuses_when: std::iter::once("the new name is taken").chain(ALWAYS).collect(),
        confirmation: Confirmation::Yes,
    }
}

/// Returns the one window that the machine-wide file can belong to, if it is exactly one.
fn only_heir(report: &Report, record: &RecordView) -> Option<Key> {
    let legacy = report.findings.iter().find(|finding| {
        finding.code == Code::LegacyRecord && finding.subjects.first() == Some(&record.key)
    })?;
    match legacy.subjects.as_slice() {
        [_, window] => Some(window.clone()),
        _ => None,
    }
}
