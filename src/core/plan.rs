//! What an action would do, as pure data: shown before anything is touched.

mod leo;
mod rows;

use serde::{Deserialize, Serialize};

use super::finding::Code;
use super::git::WORKTREE_LOCK;
use super::journal::Ended;
use super::key::Key;
use super::record::{DAEMON, EDITOR, Format, Generation, LetGo, RecordKind};
use super::report::{LocationView, RecordView, Report, VerdictState};
use super::text::Untrusted;

/// What a person asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Let a claim go, or end a dead record.
    Release,
    /// Move a legacy record to its present form.
    Migrate,
    /// Put a file aside.
    Park,
    /// Take an earlier action back.
    Undo,
}

/// What is asked to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Something about a record or a claim.
    Act {
        /// Which.
        key: Key,
        /// What to do.
        action: Action,
    },
    /// An entry of the journal that is to be taken back.
    Undo {
        /// Its number.
        entry: u64,
        /// Where its files go.
        place: Place,
    },
}

/// Where a file is restored to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where it was.
    Own,
    /// Beside whatever lies there, under a name of its own.
    Beside,
}

/// A plan with what it takes to confirm it, as it is shown to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// What was asked for.
    pub request: Request,
    /// What would be done, and what must be typed where a plain yes is not enough; or why it is
    /// not done.
    pub plan: Result<(Plan, Option<String>), String>,
}

/// What became of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What it was about.
    pub title: String,
    /// How it ended; `None` when it was not begun.
    pub ended: Option<Ended>,
    /// What there is to say.
    pub detail: String,
}

/// A shown plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// What would be acted on.
    pub subject: Key,
    /// The record that it comes down to.
    pub record: Key,
    /// The full name of the subject, as a person must type it to let go of what lives.
    pub name: String,
    /// What would be done, in one sentence.
    pub what: String,
    /// Why it may or may not be done.
    pub why: Vec<String>,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// What follows once it is done, each by its own rule and by itself: what is refused there
    /// stops nothing else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<Self>,
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
    /// Move the file to where nothing lies, and date it anew.
    Move {
        /// The file.
        path: Untrusted,
        /// Its new place.
        to: Untrusted,
    },
    /// Put a parked file back where nothing lies.
    Restore {
        /// Its name among the parked ones.
        parked: Untrusted,
        /// Where it goes.
        to: Untrusted,
    },
    /// Exchange a file's content under its system's own lock.
    Exchange {
        /// The file.
        path: Untrusted,
        /// Which fields change, and to what.
        change: String,
    },
    /// Change a row of a database, together with the other rows of the plan or not at all.
    Row {
        /// Whose database.
        format: Format,
        /// The database.
        database: Untrusted,
        /// The table.
        table: String,
        /// The primary key.
        id: Untrusted,
        /// Which columns change, from what and to what.
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

/// Plans an action on a record or claim, or on a file that could not be read as one. A window
/// has no plan of its own.
pub fn plan_for(report: &Report, key: &Key, action: Action) -> Plan {
    let claim = report.claims.iter().find(|claim| &claim.key == key);
    let wanted = claim.map_or(key, |claim| &claim.record);
    match report.records.iter().find(|record| &record.key == wanted) {
        Some(record) => {
            let name = claim.map_or_else(|| record.title.shown(), |claim| claim.resource.id.shown());
            About { report, key, record, name }.plan(action)
        }
        None => broken(report, key, action),
    }
}

/// An action on a record.
struct About<'a> {
    report: &'a Report,
    key: &'a Key,
    record: &'a RecordView,
    name: String,
}

impl About<'_> {
    fn plan(self, action: Action) -> Plan {
        if let Some((why, instead)) = self.never(action) {
            return refused(self.key, why, instead);
        }
        match action {
            Action::Migrate => self.migration(),
            Action::Release | Action::Park | Action::Undo => self.release(),
        }
    }

    /// Decides whether it is never done, and says what to do instead.
    fn never(&self, action: Action) -> Option<(&'static str, &'static str)> {
        let record = self.record;
        let about = |code: Code| {
            self.report.findings.iter().any(|f| f.code == code && f.subjects.contains(&record.key))
        };
        let is_dead = record.verdict.state == VerdictState::Dead;
        if about(Code::ForeignOwner) {
            return Some(("the file belongs to another user", "claimtop never touches other users' files"));
        }
        match (record.format, action) {
            (_, Action::Undo) => Some(("this is no entry of the journal", "undo an entry of the journal")),
            (_, Action::Migrate) => self.never_migrated(),
            (Format::Entire, _) if record.kind == RecordKind::Marker => {
                Some(("the live registry expires by itself", "the entire CLI removes it after 12 h"))
            }
            (Format::Entire, _) if record.kind == RecordKind::Lock => Some((
                "only a held lock means anything",
                "the file of a lock that nobody holds is in nobody's way",
            )),
            (Format::Entire, _) if record.ended => {
                Some(("the session has ended already", "entire doctor condenses what it left"))
            }
            (Format::Observability, _) if record.variant == RATE_LIMIT => {
                Some(("a rate-limit file holds nothing", "its system overwrites it at the next start"))
            }
            (Format::ClaudeCode, _) if [DAEMON, EDITOR].contains(&record.variant) => Some((
                "a daemon's or an editor's own file is let go by that program alone",
                "end the daemon, or close the editor; by what rule another takes over is not known for certain",
            )),
            (Format::ClaudeCode, _) if record.kind == RecordKind::Metadata => Some((
                "Claude Code alone changes its task lists and teams",
                "in a session that works on the list, ask for the task to become pending and without an owner",
            )),
            (Format::ClaudeCode, _) if !is_dead => Some((
                "Claude Code's own registry is only parked when its process is provably gone",
                "close the window",
            )),
            (Format::Obra, _) => rows::never(self.report, record),
            (Format::Beads, _) => Some((
                "beads keeps its issues in a database of its own",
                "bd update <id> --status open lets an issue go; the kernel frees a daemon's lock at its end",
            )),
            (Format::AgentMail, _) => Some((
                "mcp_agent_mail keeps its reservations in a database of its own",
                "wait for its end, or have its tool force_release_file_reservation let it go",
            )),
            (Format::Codex | Format::Copilot, _) => Some((
                "an agent's own lock is let go by that agent alone",
                "close its window; by what rule it takes over an old lock is not known for certain",
            )),
            (Format::Own(own), _) if own.definition().let_go == LetGo::Never => Some((
                "its description does not say that it may be parked",
                "its own system lets it go; or write park = \"when-dead\" into the description",
            )),
            (Format::Own(_), _) if !is_dead => Some((
                "its description lets only what is proven dead be parked",
                "end its process, or let its own system let it go",
            )),
            (Format::Leo, _) if is_row(record) => leo::never(self.report, record),
            (Format::Git, _) if !is_dead => Some(git_is_alive(record)),
            (
                Format::Maia
                | Format::Observability
                | Format::Entire
                | Format::Leo
                | Format::ClaudeCode
                | Format::Git
                | Format::Own(_),
                _,
            ) => None,
        }
    }

    fn never_migrated(&self) -> Option<(&'static str, &'static str)> {
        if self.record.generation == Generation::Current {
            Some(("the record has its present form already", "there is nothing to migrate"))
        } else if self.record.format != Format::Maia {
            Some(("its own system reads both forms", "there is nothing to migrate"))
        } else {
            None
        }
    }

    fn release(self) -> Plan {
        Plan {
            what: what(self.report, self.record, self.key),
            why: why(self.record),
            steps: steps(self.report, self.record, self.key),
            follows: follows(self.report, self.record, self.key),
            inverse: inverse(self.record).to_owned(),
            refuses_when: refuses_when(self.record),
            confirmation: match self.record.verdict.state {
                VerdictState::Dead => Confirmation::Yes,
                VerdictState::Unknown => Confirmation::Code,
                VerdictState::Alive => Confirmation::FullName,
            },
            ..self.empty()
        }
    }

    /// Plans the move of a Maia record to its present place. Its own code never moves the
    /// `context_{PPID}` files, so only the window that the PID provably belongs to may own them.
    fn migration(self) -> Plan {
        let (report, record) = (self.report, self.record);
        let heir = record.window.clone().or_else(|| only_heir(report, record));
        let Some(window) = heir.and_then(|key| report.windows.iter().find(|window| window.key == key)) else {
            return refused(self.key, "no live window provably owns it", &candidates(report, record));
        };
        let context = window.context_id.value.raw();
        if !is_file_name(context) {
            return refused(self.key, "the window's context ID is no file name", "park it");
        }
        let name = format!("~/.maia/sessions/swarm_session_{context}.json");
        Plan {
            what: format!("move the legacy record {} to {}", record.title, Untrusted::from(name.as_str())),
            why: vec![format!("PID {} is the only window that can own it", window.pid)],
            steps: vec![Step::Move { path: path_of(record), to: name.into() }],
            inverse: "undo puts the file back, with its bytes, mode and times".to_owned(),
            refuses_when: std::iter::once("the new name is taken").chain(ALWAYS).collect(),
            confirmation: Confirmation::Yes,
            ..self.empty()
        }
    }

    fn empty(self) -> Plan {
        Plan { record: self.record.key.clone(), name: self.name, ..refused(self.key, "", "") }
    }
}

/// Says why a lock of git's stays, and what git itself would do.
fn git_is_alive(record: &RecordView) -> (&'static str, &'static str) {
    if record.variant == WORKTREE_LOCK {
        ("its holder is not proven dead", "git worktree unlock <tree> lets it go, if its owner agrees")
    } else {
        (
            "a git process that may hold it is not ruled out",
            "wait for every git process to end, then look again",
        )
    }
}

/// The variant of the observability system's rate-limit files.
const RATE_LIMIT: &str = "rate limit";

/// Returns whether text can be a part of a file's name.
fn is_file_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// Names the windows that could own a legacy record.
fn candidates(report: &Report, record: &RecordView) -> String {
    let ambiguous = report.findings.iter().find(|finding| {
        finding.code == Code::AmbiguousLegacy && finding.subjects.first() == Some(&record.key)
    });
    let windows = ambiguous.map_or(&[] as &[Key], |finding| finding.subjects.get(1..).unwrap_or_default());
    let pids: Vec<String> = windows
        .iter()
        .filter_map(|key| report.windows.iter().find(|window| &window.key == key))
        .map(|window| window.pid.to_string())
        .collect();
    match pids.as_slice() {
        [] => "park it, or wait until one window can own it".to_owned(),
        pids => format!(
            "it could be that of PID {}; park it, or wait until one window can own it",
            pids.join(", ")
        ),
    }
}

/// Plans to put aside a file that could not be read as a record; only when that is asked for.
fn broken(report: &Report, key: &Key, action: Action) -> Plan {
    let codes = [Code::CorruptRecord, Code::TornRecord, Code::LeftoverTemp];
    let finding = report.findings.iter().find(|f| codes.contains(&f.code) && f.subjects.first() == Some(key));
    let path = finding.and_then(|finding| Some((finding, finding.evidence.first()?.source.clone())));
    let Some((finding, path)) = path.filter(|_| action == Action::Park) else {
        return refused(key, "this is no record and no claim", "select a record or a claim");
    };
    Plan {
        name: path.shown(),
        what: format!("park the file {path}, which its own system cannot read either"),
        why: vec![finding.message.clone()],
        steps: vec![Step::Park { path }],
        inverse: "undo puts the file back, with its bytes, mode and times".to_owned(),
        refuses_when: ALWAYS.to_vec(),
        confirmation: Confirmation::Code,
        ..refused(key, "", "")
    }
}

fn refused(key: &Key, why: &str, instead: &str) -> Plan {
    Plan {
        subject: key.clone(),
        record: key.clone(),
        name: String::new(),
        what: format!("nothing would be done: {why}"),
        why: vec![instead.to_owned()],
        steps: Vec::new(),
        follows: Vec::new(),
        inverse: "nothing to undo".to_owned(),
        refuses_when: Vec::new(),
        confirmation: Confirmation::Refused,
    }
}

fn is_row(record: &RecordView) -> bool {
    matches!(record.location, LocationView::Row { .. })
}

fn what(report: &Report, record: &RecordView, key: &Key) -> String {
    match record.format {
        Format::Leo if is_row(record) => leo::what(report, record, key),
        Format::Entire if record.kind == RecordKind::Session => {
            format!("end the session {} in its state file; nothing is deleted", record.title)
        }
        Format::Entire
        | Format::Maia
        | Format::Observability
        | Format::Leo
        | Format::ClaudeCode
        | Format::Git
        | Format::Beads
        | Format::AgentMail
        | Format::Codex
        | Format::Copilot
        | Format::Own(_) => {
            format!("park the {} record {}", record.format.name(), record.title)
        }
        Format::Obra if record.kind == RecordKind::Metadata => {
            format!("let {} wait again in Obra's database", record.title)
        }
        Format::Obra => format!("abandon the session of {} in Obra's database", record.title),
    }
}

fn inverse(record: &RecordView) -> &'static str {
    match &record.location {
        LocationView::File { .. } => "undo puts every file back where it was, with its bytes, mode and times",
        LocationView::Row { .. } if record.format == Format::Leo => leo::INVERSE,
        LocationView::Row { .. } => rows::INVERSE,
    }
}

fn refuses_when(record: &RecordView) -> Vec<&'static str> {
    match &record.location {
        LocationView::File { .. } => ALWAYS.to_vec(),
        LocationView::Row { .. } if record.format == Format::Leo => leo::REFUSES.to_vec(),
        LocationView::Row { .. } => rows::REFUSES.to_vec(),
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

fn steps(report: &Report, record: &RecordView, key: &Key) -> Vec<Step> {
    match record.location {
        LocationView::Row { .. } if record.format == Format::Leo => return leo::steps(report, record, key),
        LocationView::Row { .. } => return rows::steps(report, record),
        LocationView::File { .. } => {}
    }
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
            && other.verdict.state == record.verdict.state
    });
    std::iter::once(path).chain(companions.map(path_of)).map(|path| Step::Park { path }).collect()
}

/// Plans what follows a release: the files that a session of LEO has left on this machine.
fn follows(report: &Report, record: &RecordView, key: &Key) -> Vec<Plan> {
    if record.format == Format::Leo && is_row(record) {
        leo::follows(report, record, key)
    } else {
        Vec::new()
    }
}

fn path_of(record: &RecordView) -> Untrusted {
    match &record.location {
        LocationView::File { path } => path.clone(),
        LocationView::Row { database, table, id } => {
            format!("{}:{table}:{}", database.raw(), id.raw()).into()
        }
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
