//! Plans about one record, by the rule of its system.

use crate::core::judge::successors::{Successor, Successors};
use crate::core::model::action::{ALWAYS, OF_BROKEN, PUT_BACK};
use crate::core::model::report::context::is_valid_id;
use crate::core::model::{
    Action, BrokenPath, ClaimView, ClaudeCode, Code, Confirmation, FilePath, Format, Generation, Key,
    Location, Plan, RecordDetail, RecordKind, RecordView, Releasable, Report, Step, VerdictState,
};
use crate::core::plan::bring_back::ends_listing;
use crate::core::plan::rescue::plan_lost;
use crate::core::plan::{holder, leo, rows};

/// Plans an action on a record or claim, or on a file that could not be read as one. A window has no plan of its own.
pub fn plan_for(report: &Report, key: &Key, action: Action) -> Plan {
    if action == Action::Rescue {
        return plan_lost(report, key);
    }
    let claim = report.claims.iter().find(|claim| &claim.key == key);
    let wanted = claim.map_or(key, |claim| &claim.record.key);
    let record = report.records().find(|record| &record.key == wanted);
    let Some(record) = record.or_else(|| claim.map(|claim| &*claim.record)) else {
        return broken(report, key, action);
    };
    let name = claim.map_or_else(|| record.title.shown(), |claim| claim.resource.id.shown());
    let is_foreign =
        report.findings.iter().any(|f| f.code == Code::ForeignOwner && f.subjects.contains(&record.key));
    let user = ReportView::new(report).user_of(record);
    let window = holder::window(report, record, claim);
    let name = holder::full_name(report, record, window, name);
    let plan = About { report, key, record, claim, name, is_foreign, user }.plan(action);
    let is_done = plan.confirmation != Confirmation::Refused;
    Plan { held_by: window.filter(|_| is_done).map(holder::held_by), ..plan }
}

/// Returns how a claim of a record may be released, as its plan requires.
pub(crate) fn releasable(known: &ReportView<'_>, claim: &ClaimView, is_foreign: bool) -> Releasable {
    let (report, key, record) = (known.report, &claim.key, &*claim.record);
    let (name, user) = (String::new(), known.user_of(record));
    let about = About { report, key, record, claim: Some(claim), name, is_foreign, user };
    if about.never(Action::Release).is_some() {
        return Releasable::No;
    }
    match about.confirmation() {
        Confirmation::Yes => Releasable::Yes,
        Confirmation::Code | Confirmation::FullName => Releasable::Confirm,
        Confirmation::Refused => Releasable::No,
    }
}

/// A report with its most frequently used lookups.
pub(crate) struct ReportView<'a> {
    report: &'a Report,
    successors: Successors<'a>,
}

impl<'a> ReportView<'a> {
    /// Looks through a report once.
    pub(crate) fn new(report: &'a Report) -> Self {
        Self { report, successors: Successors::new(&report.windows, &report.records) }
    }

    /// Returns whether an action on a record is always refused.
    pub(crate) fn is_refused(&self, record: &RecordView, action: Action, is_foreign: bool) -> bool {
        let (report, key, name) = (self.report, &record.key, String::new());
        let about = About { report, key, record, claim: None, name, is_foreign, user: None };
        about.never(action).is_some()
    }

    /// Returns who may use what a dead holder has left, so that a plain yes is not enough.
    pub(crate) fn user_of(&self, record: &RecordView) -> Option<String> {
        self.successors.successor(record).map(Successor::reason)
    }
}

/// An action on a record.
pub(crate) struct About<'a> {
    pub(crate) report: &'a Report,
    pub(crate) key: &'a Key,
    pub(crate) record: &'a RecordView,
    /// The claim, if the plan is about a single one.
    pub(crate) claim: Option<&'a ClaimView>,
    /// The text that a person would have to type.
    pub(crate) name: String,
    /// Whether the record's file is another user's.
    pub(crate) is_foreign: bool,
    /// Who may use what its dead holder has left.
    pub(crate) user: Option<String>,
}

impl About<'_> {
    fn plan(self, action: Action) -> Plan {
        if let Some((why, instead)) = self.never(action) {
            let command = command(self.record).filter(|_| matches!(action, Action::Release | Action::Park));
            let command = command.map(|command| format!("{instead}: {command}"));
            return Plan::refused(self.key, why, command.as_deref().unwrap_or(instead));
        }
        match action {
            Action::Migrate => self.migration(),
            Action::Release
            | Action::Park
            | Action::Undo
            | Action::Stop
            | Action::Rescue
            | Action::Setup
            | Action::BringBack => self.release(),
        }
    }

    fn release(self) -> Plan {
        Plan {
            what: what(self.report, self.record, self.key),
            why: why(self.record, self.user.clone()).into_iter().chain(ends_listing(self.record)).collect(),
            used_by: self.user.clone().filter(|_| self.record.verdict.state == VerdictState::Dead),
            steps: steps(self.report, self.record, self.key),
            follows: follows(self.report, self.record, self.key),
            inverse: inverse(self.record).to_owned(),
            refuses_when: refuses_when(self.record),
            confirmation: self.confirmation(),
            ..self.empty()
        }
    }

    fn confirmation(&self) -> Confirmation {
        match self.record.verdict.state {
            VerdictState::Dead if self.record.runs_elsewhere().is_some() => Confirmation::FullName,
            VerdictState::Dead if self.user.is_some() => Confirmation::Code,
            VerdictState::Dead => Confirmation::Yes,
            VerdictState::Unknown => Confirmation::Code,
            VerdictState::Alive => Confirmation::FullName,
        }
    }

    /// Returns a plan without any steps.
    pub(crate) fn empty(self) -> Plan {
        // The time in a database row need not cover all the changed fields.
        let written_at = (!is_row(self.record)).then_some(self.record.written_at);
        Plan { record: self.record.key.clone(), name: self.name, written_at, ..Plan::empty(self.key) }
    }
}

/// Plans to put aside a file that could not be read as a record; only on request.
fn broken(report: &Report, key: &Key, action: Action) -> Plan {
    let codes = [Code::CorruptRecord, Code::TornRecord, Code::LeftoverTemp];
    let finding = report.findings.iter().find(|f| codes.contains(&f.code) && f.subjects.first() == Some(key));
    let file = report.broken.iter().find(|file| file.key == *key).filter(|_| action == Action::Park);
    let (Some(finding), Some(BrokenPath { path, .. })) = (finding, file) else {
        return Plan::refused(key, "this is not a record or a claim", "select a record or a claim");
    };
    Plan {
        name: path.text().shown(),
        what: format!("park the file {}, which claimtop cannot read", path.text()),
        why: vec![finding.message.to_string()],
        steps: vec![Step::Park { path: path.clone() }],
        inverse: PUT_BACK.to_owned(),
        refuses_when: OF_BROKEN.to_vec(),
        confirmation: Confirmation::Code,
        ..Plan::empty(key)
    }
}

/// Returns the command with which a task's own system releases it.
fn command(record: &RecordView) -> Option<String> {
    let is_task = matches!(record.detail, RecordDetail::ClaudeCode(ClaudeCode::Task { .. }));
    let list = record.context_id.as_ref().filter(|list| is_task && is_valid_id(list.raw()))?;
    Some(match &record.session_id {
        Some(session) => format!("claude --resume {session}, or CLAUDE_CODE_TASK_LIST_ID={list} claude"),
        None => format!("CLAUDE_CODE_TASK_LIST_ID={list} claude"),
    })
}

pub(crate) fn is_row(record: &RecordView) -> bool {
    matches!(record.location, Location::Row(_))
}

fn what(report: &Report, record: &RecordView, key: &Key) -> String {
    let title = &record.title;
    if record.format == Format::Leo && is_row(record) {
        leo::what(report, record, key)
    } else if record.format == Format::Entire && record.kind == RecordKind::Session {
        format!("end the session {title} in its state file; nothing is deleted")
    } else if record.format != Format::Obra {
        format!("park the {} record {title}", record.format.name())
    } else if record.kind == RecordKind::Metadata {
        format!("set {title} back to PENDING in Obra's database")
    } else {
        format!("abandon the session of {title} in Obra's database")
    }
}

fn inverse(record: &RecordView) -> &'static str {
    match &record.location {
        Location::File(_) => "undo puts every file back where it was, with its bytes, mode and times",
        Location::Row(_) if record.format == Format::Leo => leo::inverse(record),
        Location::Row(_) => rows::INVERSE,
    }
}

fn refuses_when(record: &RecordView) -> Vec<&'static str> {
    match &record.location {
        Location::File(_) => ALWAYS.to_vec(),
        Location::Row(_) if record.format == Format::Leo => leo::refuses_when(record),
        Location::Row(_) => rows::REFUSES.to_vec(),
    }
}

fn why(record: &RecordView, user: Option<String>) -> Vec<String> {
    let verdict = &record.verdict;
    let state = match verdict.state {
        VerdictState::Dead if record.runs_elsewhere().is_some() => {
            "the holder is dead, but its session lives: a live window would lose this"
        }
        VerdictState::Alive => "the holder is alive: a live window would lose this",
        VerdictState::Dead => "the holder is proven dead",
        VerdictState::Unknown => "nothing proves whether the holder is alive or dead",
    };
    let facts = verdict.evidence.iter();
    let facts = facts.map(|fact| format!("{}: {} ({})", fact.fact, fact.value, fact.source));
    let first = match (&record.lives_on, record.witness()) {
        (Some(session), _) => format!("{state}: {} ({})", session.place_text(), verdict.reason.name()),
        (None, Some(witness)) => format!("{state} ({} by {})", verdict.reason.name(), witness.source),
        (None, None) => format!("{state} ({})", verdict.reason.name()),
    };
    // The first line already contains it.
    let user = user.filter(|_| record.lives_on.is_none());
    std::iter::once(first).chain(user).chain(facts).collect()
}

fn steps(report: &Report, record: &RecordView, key: &Key) -> Vec<Step> {
    let path = match &record.location {
        Location::Row(_) if record.format == Format::Leo => return leo::steps(report, record, key),
        Location::Row(_) => return rows::steps(report, record),
        Location::File(path) => path.clone(),
    };
    if record.format == Format::Entire && record.kind == RecordKind::Session {
        let change = "phase becomes ended, ended_at the last interaction; every other field stays".to_owned();
        return vec![Step::EndEntireSession { path, change }];
    }
    let of_context = |other: &&RecordView| {
        other.format == record.format && other.context_id.is_some() && other.context_id == record.context_id
    };
    // Several records can share one context, and each companion goes with only one of them.
    let sessions = report.records().filter(of_context).filter(|other| other.kind == RecordKind::Session);
    let owner = sessions.min_by_key(|session| session.generation != Generation::Current);
    let companions = report.records().filter(of_context).filter(|other| {
        other.kind == RecordKind::Companion
            && other.verdict.state == record.verdict.state
            && owner.is_some_and(|owner| owner.key == record.key)
    });
    let paths = std::iter::once(path).chain(companions.filter_map(file_of));
    paths.map(|path| Step::Park { path }).collect()
}

/// Plans the steps after a release: the other left-overs of a session of LEO, each only if its own rule proves it
/// dead.
fn follows(report: &Report, record: &RecordView, key: &Key) -> Vec<Plan> {
    if record.format != Format::Leo || !is_row(record) {
        return Vec::new();
    }
    let left = leo::left(report, record, key).into_iter();
    let plans = left.map(|key| plan_for(report, key, Action::Park));
    plans.filter(|plan| plan.confirmation == Confirmation::Yes).collect()
}

pub(crate) fn file_of(record: &RecordView) -> Option<FilePath> {
    match &record.location {
        Location::File(path) => Some(path.clone()),
        Location::Row(_) => None,
    }
}
