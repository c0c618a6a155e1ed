//! What needs a person: who waits, who is in whose way, and what the dead left.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::agent::Role;
use crate::core::judge::edited;
use crate::core::judge::rules::edits::shared;
use crate::core::judge::rules::facts::Facts;
use crate::core::judge::window::Window;
use crate::core::judge::world::World;
use crate::core::model::{
    Binding, ClaimView, ClaudeCode, Code, Finding, Judged, Key, KeyKind, Left, Need, NeedKind, NotedWait,
    Process, Reason, Record, RecordDetail, RecordKind, RecordView, Severity, Untrusted, VerdictState,
    Waiting, Wants, WindowView, Work,
};

/// The most dead windows that are told one by one.
const MOST_DEAD: usize = 5;

/// Tells what needs a person, the most harmful first.
pub(crate) fn needs(facts: &Facts<'_>, findings: &[Arc<Finding>]) -> Vec<Need> {
    let mut needs: Vec<Need> = facts.windows.iter().filter_map(waits).collect();
    needs.sort_by_key(|need| (need.since.is_none(), need.since));
    needs.extend(collisions(facts, findings));
    let inherited = findings.iter().filter(|finding| finding.code == Code::InheritedRecord);
    let inherited = inherited.flat_map(|finding| &finding.subjects).collect();
    needs.extend(died(facts.world, &Dead::new(facts.records, facts.claims, &inherited)));
    needs
}

fn need(subject: &Key, what: &str, kind: NeedKind, since: Option<Timestamp>) -> Need {
    let key = Key::derive(KeyKind::Need, &[what, subject.as_str()]);
    Need { key, subject: subject.clone(), kind, since }
}

fn waits(window: &WindowView) -> Option<Need> {
    let waiting = window.waiting.clone()?;
    let since = waiting.since;
    Some(need(&window.key, "waits", NeedKind::Waits { waiting }, since))
}

/// Collisions between the same windows, the worst first.
struct Between<'a> {
    windows: Vec<&'a WindowView>,
    findings: Vec<&'a Finding>,
}

/// Tells every collision; those between the same windows at once.
fn collisions(facts: &Facts<'_>, findings: &[Arc<Finding>]) -> Vec<Need> {
    let mut all: Vec<Between<'_>> = Vec::new();
    let mut known: HashMap<BTreeSet<&Key>, usize> = HashMap::new();
    for finding in findings.iter().filter(|finding| finding.severity == Severity::Collision) {
        let windows = windows_of(finding, facts);
        let keys: BTreeSet<&Key> = windows.iter().map(|window| &window.key).collect();
        let is_pair = keys.len() > 1;
        match known.get(&keys).and_then(|at| all.get_mut(*at)).filter(|_| is_pair) {
            Some(between) => between.findings.push(finding),
            None => {
                known.insert(keys, all.len());
                all.push(Between { windows, findings: vec![finding] });
            }
        }
    }
    for between in &mut all {
        between.findings.sort_by_key(|finding| harm(finding.code));
    }
    all.iter().filter_map(|between| collision(between, facts)).collect()
}

/// Ranks what is between the same windows: what loses work first, what is only a place last.
fn harm(code: Code) -> u8 {
    if code == Code::SharedSessionId {
        0
    } else if code == Code::OverlappingFiles {
        1
    } else if matches!(code, Code::SameWorktree | Code::SameFolder) {
        3
    } else {
        2
    }
}

fn collision(between: &Between<'_>, facts: &Facts<'_>) -> Option<Need> {
    let (worst, others) = between.findings.split_first()?;
    let mut also: Vec<Code> = others.iter().map(|finding| finding.code).collect();
    also.retain(|code| *code != worst.code);
    also.dedup();
    let windows: Vec<Key> = between.windows.iter().map(|window| window.key.clone()).collect();
    let mut keys: Vec<&str> = windows.iter().map(Key::as_str).collect();
    keys.sort_unstable();
    let what = if keys.len() > 1 { format!("between {}", keys.join(" ")) } else { all_of(worst) };
    let kind = NeedKind::Collision {
        code: worst.code,
        message: worst.message.clone(),
        subjects: worst.subjects.clone(),
        windows,
        also,
        files: files_of(between, facts),
    };
    let began = worst.story.as_ref().and_then(|story| story.events.last()?.at);
    Some(need(worst.subjects.first()?, &what, kind, began))
}

/// Returns the living windows that a finding is about, the oldest first and whoever is to yield last.
fn windows_of<'a>(finding: &Finding, facts: &Facts<'a>) -> Vec<&'a WindowView> {
    let window = |key: &Key| facts.windows.iter().find(|window| window.key == *key);
    let of_record = |record: &RecordView| record.window.as_ref().and_then(window);
    let of_claim = |key: &Key| {
        let claim = facts.claims.iter().find(|claim| claim.key == *key)?;
        claim.window.as_ref().and_then(window).or_else(|| of_record(&claim.record))
    };
    let of = |key: &Key| match key.kind() {
        Some(KeyKind::Window) => window(key),
        Some(KeyKind::Claim) => of_claim(key),
        Some(_) | None => facts.index.of_key(key).and_then(|record| of_record(record)),
    };
    let yields: BTreeSet<&Key> = finding.yields().iter().filter_map(of).map(|window| &window.key).collect();
    let mut windows: Vec<&WindowView> = finding.subjects.iter().filter_map(of).collect();
    windows.sort_by_key(|window| (yields.contains(&window.key), window.start_ticks, window.pid));
    windows.dedup_by_key(|window| window.pid);
    windows
}

/// Returns the files that two windows both edit, by their own files or by a system's records.
fn files_of(between: &Between<'_>, facts: &Facts<'_>) -> Vec<Untrusted> {
    let by_windows = match between.windows.as_slice() {
        [one, other] => shared(one, other),
        _ => Vec::new(),
    };
    let mut files: Vec<Untrusted> = by_windows.into_iter().map(|(edit, _)| edit.path.clone()).collect();
    let overlaps = between.findings.iter().filter(|finding| finding.code == Code::OverlappingFiles);
    for finding in overlaps {
        let mut records = finding.subjects.iter().filter_map(|key| facts.index.of_key(key));
        let Some(first) = records.next() else { continue };
        let others: Vec<&Judged> = records.collect();
        let is_shared = |file: &&Untrusted| others.iter().all(|other| other.files.contains(file));
        files.extend(first.files.iter().filter(is_shared).cloned());
    }
    files.sort();
    files.dedup();
    files
}

/// Names a finding by its code and everything that it is about.
fn all_of(finding: &Finding) -> String {
    let subjects = finding.subjects.iter().map(Key::as_str);
    std::iter::once(finding.code.name()).chain(subjects).collect::<Vec<_>>().join(" ")
}

/// What is known of the dead: there can be thousands, so nothing is built for one that is not told.
struct Dead<'a> {
    /// The records of those of whom nothing lives, in the order of whose they are.
    records: Vec<(&'a Untrusted, &'a Judged)>,
    /// The claims that can be released, in the order of their records' keys.
    claims: Vec<&'a ClaimView>,
}

/// A window that has gone and left something.
struct Gone<'a> {
    records: &'a [(&'a Untrusted, &'a Judged)],
    work: Option<&'a Work>,
    since: Option<Timestamp>,
}

impl<'a> Dead<'a> {
    /// Leaves out what a living window has inherited: that is told as a collision.
    fn new(records: &'a [Judged], claims: &'a [ClaimView], inherited: &BTreeSet<&Key>) -> Self {
        let is_dead =
            |record: &RecordView| record.verdict.state == VerdictState::Dead && record.lives_in.is_none();
        // One without a PID and a heartbeat, such as a list of tasks, says of nobody that he lives.
        let says_nothing =
            |record: &RecordView| record.verdict.reason == Reason::NoPid && record.heartbeat_at.is_none();
        let living = records.iter().filter(|record| !is_dead(record) && !says_nothing(record));
        let living: BTreeSet<&Untrusted> = living.filter_map(|record| record.session_id.as_ref()).collect();
        let whose = |record: &'a Judged| {
            let who = record.session_id.as_ref().or(record.context_id.as_ref())?;
            let is_left = is_dead(record) && !living.contains(who) && !inherited.contains(&record.key);
            is_left.then_some((who, record))
        };
        let mut records: Vec<_> = records.iter().filter_map(whose).collect();
        records.sort_by_key(|(who, _)| *who);
        let mut claims: Vec<_> = claims.iter().filter(|claim| claim.is_dead()).collect();
        claims.sort_by_key(|claim| &claim.record.key);
        Self { records, claims }
    }

    /// Returns every window that has left something, the newest first.
    fn gone(&self, world: &World<'a>) -> Vec<Gone<'_>> {
        let work: HashMap<&Untrusted, &Work> =
            world.snapshot.work.iter().map(|work| (&work.session, &**work)).collect();
        let groups = self.records.chunk_by(|(one, _), (other, _)| one == other);
        let gone = groups.filter_map(|records| {
            let (who, _) = *records.first()?;
            let work = work.get(who).copied();
            // When it was proven dead, or the last that it wrote.
            let last = records.iter().map(|(_, record)| record.heartbeat_at.unwrap_or(record.written_at));
            let since = world.tombstone_of(who).map(|stone| stone.proven_at).or_else(|| last.max());
            let gone = Gone { records, work, since };
            (self.claims_of(&gone).next().is_some() || uncommitted(work) > 0).then_some(gone)
        });
        let mut gone: Vec<_> = gone.collect();
        gone.sort_by_key(|gone| Reverse(gone.since));
        gone
    }

    fn claims_of(&self, gone: &Gone<'_>) -> impl Iterator<Item = &'a ClaimView> {
        gone.records.iter().flat_map(|(_, record)| {
            let from = self.claims.partition_point(|claim| claim.record.key < record.key);
            let rest = self.claims.get(from..).unwrap_or_default().iter().copied();
            rest.take_while(|claim| claim.record.key == record.key)
        })
    }

    fn need(&self, gone: &Gone<'_>) -> Option<Need> {
        // Its agent's own registry names a window best, and knows how it is resumed.
        let is_named = |record: &RecordView| {
            record.record.holder.as_ref().is_some_and(|holder| holder.binding == Binding::Registry)
        };
        let rank = |record: &&Judged| {
            (!is_named(record), record.kind != RecordKind::Session, Reverse(record.written_at))
        };
        let told: &RecordView = gone.records.iter().map(|(_, record)| *record).min_by_key(rank)?;
        let left = Left {
            name: told.title.clone(),
            session: told.session_id.clone(),
            format: told.format.name(),
            cwd: told.cwd.as_ref().map(|cwd| cwd.text().clone()),
            claims: self.claims_of(gone).map(|claim| claim.key.clone()).collect(),
            unproven: 0,
            uncommitted: uncommitted(gone.work),
        };
        Some(need(&told.key, "died", NeedKind::Died(left), gone.since))
    }
}

/// Tells which windows have gone and left something, each once, whatever records speak of it; all but
/// the newest in one sentence.
fn died(world: &World<'_>, dead: &Dead<'_>) -> Vec<Need> {
    let gone = dead.gone(world);
    let (told, more) = gone.split_at(gone.len().min(MOST_DEAD));
    let mut needs: Vec<Need> = told.iter().filter_map(|gone| dead.need(gone)).collect();
    if let Some((_, first)) = more.first().and_then(|gone| gone.records.first()) {
        let claims = more.iter().map(|gone| dead.claims_of(gone).count()).sum();
        let kind = NeedKind::MoreDied { windows: more.len(), claims };
        needs.push(need(&first.key, "more", kind, more.first().and_then(|gone| gone.since)));
    }
    needs
}

/// Counts the edited files that git does not have.
pub(crate) fn uncommitted(work: Option<&Work>) -> usize {
    work.into_iter().flat_map(edited::uncommitted).count()
}

/// Returns what a window waits for: as its agent's registry says, else as its own hook noted, and the
/// call that it asks about.
pub(crate) fn waiting(
    registry: Option<&Record>,
    work: Option<&Work>,
    noted: Option<&NotedWait>,
) -> Option<Waiting> {
    let call = || work.and_then(|work| work.doing.calls.last()).cloned();
    let Some((status, waiting_for, since)) = registry.and_then(status) else {
        let Waiting { wants, call: asked, since } =
            noted.filter(|wait| !is_over(wait, work))?.waiting.clone();
        return Some(Waiting { wants, call: asked.or_else(call), since });
    };
    let wants = match waiting_for.map(Untrusted::raw) {
        Some("permission prompt") => Wants::Permission,
        Some("input needed") => Wants::Answer,
        Some(other) => Wants::Other(other.into()),
        None => Wants::Answer,
    };
    // A transcript that has not been written since is of before.
    (status == "waiting").then(|| Waiting { wants, call: call(), since })
}

/// Returns what a registry's entry says: its status, what it waits for, and since when.
fn status(registry: &Record) -> Option<(&str, Option<&Untrusted>, Option<Timestamp>)> {
    let RecordDetail::ClaudeCode(ClaudeCode::Session { status, waiting_for, updated_at }) = &registry.detail
    else {
        return None;
    };
    Some((status.as_ref()?.raw(), waiting_for.as_ref(), *updated_at))
}

/// How long after a hook its agent may still write down what it had to say before.
const STILL_WRITES: SignedDuration = SignedDuration::from_secs(1);

/// Returns whether a session has gone on since it waited: its own file was written, whatever came in.
fn is_over(wait: &NotedWait, work: Option<&Work>) -> bool {
    work.is_some_and(|work| work.written_at > wait.by.written_at + STILL_WRITES)
}

/// Returns the newest note that a window's session waits: its own process noted it, or a daemon of its
/// agent that serves several windows.
pub(crate) fn noted<'a>(
    window: &Window<'_>,
    session: &Untrusted,
    world: &World<'a>,
) -> Option<&'a NotedWait> {
    let is_daemon = |process: &Process| {
        let known = world.signatures.classify(process);
        known.is_some_and(|(agent, role)| agent.name == window.agent && role == Role::Daemon)
    };
    let waits = world.bindings.waits_of(session).iter();
    let own = waits.filter(|(_, process)| process.id == window.process.id || is_daemon(process));
    own.map(|(wait, _)| *wait).max_by_key(|wait| wait.by.since_boot_ms)
}
