//! Needs of a person's attention: waiting windows, collisions, and what dead windows left.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::edited;
use crate::core::judge::left_over::owner::is_its;
use crate::core::judge::rules::facts::Facts;
use crate::core::judge::rules::place::edits::shared;
use crate::core::judge::rules::place::foresight::conflict_of;
use crate::core::judge::rules::place::lost::lost_files;
use crate::core::judge::window::Window;
use crate::core::judge::window::agent::Role;
use crate::core::judge::world::World;
use crate::core::model::{
    Binding, Call, ClaimView, ClaudeStatus, Code, Doing, Edit, Finding, JudgedRecord, Key, KeyKind, LeftOver,
    LeftStash, LeftTree, Need, NeedKind, NotedWait, Process, Reason, Record, RecordKind, RecordView, Remains,
    Severity, Target, TurnState, Untrusted, VerdictState, Waiting, Wants, WindowDoing, WindowView, Work,
};

/// The most dead windows that are reported one by one.
const MOST_DEAD: usize = 5;

/// Reports what needs a person, the most harmful first.
pub(crate) fn needs(facts: &Facts<'_>, findings: &[Arc<Finding>]) -> Vec<Need> {
    let mut needs: Vec<Need> = facts.windows.iter().filter_map(waits).collect();
    needs.extend(of_groups(facts));
    needs.sort_by_key(|need| (need.since.is_none(), need.since, need.key.clone()));
    let mut failed: Vec<Need> = facts.windows.iter().filter_map(failed).collect();
    failed.extend(facts.windows.iter().filter_map(stuck));
    failed.sort_by_key(|need| (need.since.is_none(), need.since));
    needs.extend(failed);
    needs.extend(findings.iter().filter_map(|finding| unfinished(facts, finding)));
    needs.extend(collisions(facts, findings));
    let inherited = findings.iter().filter(|finding| finding.code == Code::InheritedRecord);
    let inherited = inherited.flat_map(|finding| &finding.subjects).collect();
    needs.extend(died(&remnants(facts.records, facts.claims, &inherited), facts));
    needs
}

fn need(subject: &Key, what: &str, kind: NeedKind, since: Option<Timestamp>) -> Need {
    let key = Key::derive(KeyKind::Need, &[what, subject.as_str()]);
    Need { key, subject: subject.clone(), kind, since }
}

fn waits(window: &WindowView) -> Option<Need> {
    let waiting = window.waiting.as_deref()?.clone();
    let since = waiting.since;
    Some(need(&window.key, "waits", NeedKind::Waits { waiting, among: Vec::new() }, since))
}

/// Reports that an error ended a window's turn, which continues only when a person acts.
fn failed(window: &WindowView) -> Option<Need> {
    let doing = &window.work.as_ref().filter(|_| window.doing == Some(WindowDoing::YourTurn))?.doing;
    let kind = NeedKind::Failed { error: doing.error.clone() };
    (doing.turn.state == TurnState::Failed).then(|| need(&window.key, "failed", kind, doing.turn.since))
}

/// Reports that a window's tool call cannot end by itself.
fn stuck(window: &WindowView) -> Option<Need> {
    let stuck = window.stuck.as_ref()?;
    Some(need(&window.key, "stuck", NeedKind::Stuck { reason: stuck.reason }, Some(stuck.since)))
}

/// Reports the sessions that wait without it being known which window of a folder runs them: a daemon that serves
/// several windows has noted the wait.
fn of_groups(facts: &Facts<'_>) -> Vec<Need> {
    let is_shown = |session: &Untrusted| {
        facts.windows.iter().any(|window| window.session.as_ref().is_some_and(|own| own.id == *session))
    };
    let all = facts.world.bindings.all_waits().filter(|(session, _)| !is_shown(session));
    let of_session = |(session, waits): (&Untrusted, &[(&NotedWait, &Process)])| {
        let work = facts.world.snapshot.work.iter().find(|work| work.session == *session);
        let noted: Vec<&NotedWait> = waits.iter().map(|(wait, _)| *wait).collect();
        let wait = first_open(work.map(Arc::as_ref), &noted)?;
        let (_, daemon) = waits.iter().find(|(one, _)| std::ptr::eq(*one, wait))?;
        let may_be_it = |window: &&Window<'_>| {
            let cwd = window.process.details.as_ref().and_then(|details| details.cwd.as_ref());
            cwd.is_some() && cwd == wait.by.cwd.as_ref() && is_daemon_of(daemon, window, facts.world)
        };
        let pids = facts.world.windows.iter().filter(may_be_it).map(|window| window.process.id.pid);
        let pids: BTreeSet<u32> = pids.collect();
        let group =
            facts.windows.iter().filter(|window| pids.contains(&window.pid) && window.session.is_none());
        let among: Vec<Key> = group.map(|window| window.key.clone()).collect();
        let kind = NeedKind::Waits { waiting: wait.waiting.clone(), among: among.clone() };
        let since = wait.waiting.since;
        Some(need(among.first()?, &format!("waits in {}", session.raw()), kind, since))
    };
    all.filter_map(of_session).collect()
}

/// Reports an action of claimtop's own that a person should finish.
fn unfinished(facts: &Facts<'_>, finding: &Finding) -> Option<Need> {
    let entry = finding.subjects.first().filter(|_| finding.code == Code::UnfinishedAction)?;
    let action = facts.world.snapshot.unfinished.iter().find(|one| one.key() == *entry)?;
    let kind = NeedKind::Unfinished { message: finding.message.clone(), end: action.end };
    Some(need(entry, "unfinished", kind, Some(action.began_at)))
}

/// Collisions between the same windows, the worst first.
struct Between<'a> {
    windows: Vec<&'a WindowView>,
    findings: Vec<&'a Finding>,
}

/// Reports every collision; those between the same windows as one.
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
        // Of two equal ones, the one that states who is to yield.
        between.findings.sort_by_key(|finding| (harm(finding.code), finding.yields().is_empty()));
        if let Some(worst) = between.findings.first() {
            between.windows = windows_of(worst, facts);
        }
    }
    all.sort_by_key(|between| between.findings.first().map(|worst| harm(worst.code)));
    all.iter().filter_map(|between| collision(between, facts)).collect()
}

/// Ranks a need among those of other machines.
pub(crate) fn rank(need: &Need) -> (u8, u8, bool, Option<Timestamp>) {
    match &need.kind {
        NeedKind::Waits { .. } => (0, 0, need.since.is_none(), need.since),
        NeedKind::Failed { .. } | NeedKind::Stuck { .. } => (1, 0, need.since.is_none(), need.since),
        NeedKind::Unfinished { .. } => (2, 0, need.since.is_none(), need.since),
        NeedKind::Collision { code, .. } | NeedKind::Alike { code, .. } => (3, harm(*code), false, None),
        NeedKind::Died(_) => (4, 0, false, None),
        NeedKind::MoreDied { .. } => (5, 0, false, None),
        NeedKind::Done { .. } => (6, 0, need.since.is_none(), need.since),
    }
}

/// Ranks a collision of the same windows: lost work first, a merely shared place last.
pub(crate) fn harm(code: Code) -> u8 {
    if code == Code::LostEdits {
        0
    } else if code == Code::SharedSessionId {
        1
    } else if code == Code::OverlappingFiles {
        2
    } else if matches!(code, Code::SameWorktree | Code::SameFolder) {
        4
    } else {
        3
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
        subjects: worst.subjects.to_vec(),
        windows,
        also,
        files: if worst.code == Code::LostEdits {
            lost_files(worst, facts)
        } else if worst.code == Code::WillConflict {
            conflicting_files(worst, facts)
        } else {
            files_of(between, facts)
        },
    };
    let began = worst.story.as_ref().and_then(|story| story.events.last()?.at);
    Some(need(worst.subjects.first()?, &what, kind, began))
}

/// Returns the living windows that a finding is about, the oldest first and the one that is to yield last.
fn windows_of<'a>(finding: &Finding, facts: &Facts<'a>) -> Vec<&'a WindowView> {
    let window = |key: &Key| facts.index.window(key);
    let of_record = |record: &RecordView| record.window.as_ref().and_then(window);
    let of_claim = |key: &Key| {
        let claim = facts.index.claim(key)?;
        claim.window.as_ref().and_then(window).or_else(|| of_record(&claim.record))
    };
    let of = |key: &Key| match key.kind() {
        Some(KeyKind::Window) => window(key),
        Some(KeyKind::Claim) => of_claim(key),
        Some(_) | None => facts.index.record(key).and_then(|record| of_record(record)),
    };
    let yields: BTreeSet<&Key> = finding.yields().iter().filter_map(of).map(|window| &window.key).collect();
    let mut windows: Vec<&WindowView> = finding.subjects.iter().filter_map(of).collect();
    windows.sort_by_key(|window| (yields.contains(&window.key), window.start_ticks, window.pid));
    windows.dedup_by_key(|window| window.pid);
    windows
}

/// Returns the files that two working trees cannot merge.
fn conflicting_files(finding: &Finding, facts: &Facts<'_>) -> Vec<Untrusted> {
    let found = conflict_of(facts, &finding.subjects);
    found.iter().flat_map(|found| &found.forecast.conflicts).map(|one| one.path.clone()).collect()
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
        let mut records = finding.subjects.iter().filter_map(|key| facts.index.record(key));
        let Some(first) = records.next() else { continue };
        let others: Vec<&JudgedRecord> = records.collect();
        let is_shared = |file: &&Untrusted| others.iter().all(|other| other.files.contains(file));
        files.extend(first.files.iter().filter(is_shared).cloned());
    }
    files.sort();
    files.dedup();
    files
}

/// Returns the key of a finding: its code and all its subjects.
fn all_of(finding: &Finding) -> String {
    let subjects = finding.subjects.iter().map(Key::as_str);
    std::iter::once(finding.code.name()).chain(subjects).collect::<Vec<_>>().join(" ")
}

/// A dead holder's record, and the claims that it states.
struct Remnant<'a> {
    whose: &'a Untrusted,
    record: &'a JudgedRecord,
    claims: &'a [ClaimView],
}

/// A window that has gone and left something.
struct DeadWindow<'a> {
    /// How many of its edits are gone.
    lost: usize,
    remnants: &'a [Remnant<'a>],
    work: Option<&'a Work>,
    /// The processes that it left running.
    left_overs: Vec<&'a LeftOver>,
    /// The working trees that it made.
    left_trees: Vec<&'a LeftTree>,
    /// The stash entries that have its edits.
    left_stashes: Vec<&'a LeftStash>,
    since: Option<Timestamp>,
    /// Whether that is when it ended, and not when it was last heard of.
    is_end_seen: bool,
}

/// Returns what dead windows have left, in the order of their owners, except what a living window has inherited: that
/// is reported as a collision.
fn remnants<'a>(
    records: &'a [JudgedRecord],
    claims: &'a [ClaimView],
    inherited: &BTreeSet<&Key>,
) -> Vec<Remnant<'a>> {
    let is_dead =
        |record: &RecordView| record.verdict.state == VerdictState::Dead && record.lives_in.is_none();
    // A record without a PID and a heartbeat, such as a list of tasks, does not claim that anything lives.
    let says_nothing =
        |record: &RecordView| record.verdict.reason == Reason::NoPid && record.heartbeat_at.is_none();
    let living = records.iter().filter(|record| !is_dead(record) && !says_nothing(record));
    let living: HashSet<&Untrusted> = living.filter_map(|record| record.session_id.as_ref()).collect();
    // Claims stand in the order of their records.
    let mut claims = claims.chunk_by(|one, other| one.record.key == other.record.key).peekable();
    let remnant = |record: &'a JudgedRecord| {
        let is_its = |claims: &&[ClaimView]| claims.first().is_some_and(|one| one.record.key == record.key);
        let claims = claims.next_if(is_its).unwrap_or_default();
        let whose = record.session_id.as_ref().or(record.context_id.as_ref())?;
        let is_left = is_dead(record) && !living.contains(whose) && !inherited.contains(&record.key);
        is_left.then_some(Remnant { whose, record, claims })
    };
    let mut remnants = Vec::with_capacity(records.len());
    remnants.extend(records.iter().filter_map(remnant));
    remnants.sort_by_key(|remnant| remnant.whose);
    remnants
}

/// The windows that have left something: the newest of them, and how much all have left.
#[derive(Default)]
struct AllGone<'a> {
    newest: Vec<DeadWindow<'a>>,
    windows: usize,
    claims: usize,
    left_overs: usize,
}

impl<'a> AllGone<'a> {
    /// Counts one; of thousands only the newest are kept.
    fn add(&mut self, gone: DeadWindow<'a>) {
        self.windows += 1;
        self.claims += gone.claims().count();
        self.left_overs += gone.left_overs.len();
        let at = self.newest.partition_point(|other| other.since >= gone.since);
        self.newest.insert(at, gone);
        self.newest.truncate(MOST_DEAD + 1);
    }

    /// Reports the newest one by one, and the others in one sentence.
    fn needs(&self) -> Vec<Need> {
        let (shown, next) = self.newest.split_at(self.newest.len().min(MOST_DEAD));
        let mut needs: Vec<Need> = shown.iter().filter_map(DeadWindow::need).collect();
        if let Some(next) = next.first().and_then(DeadWindow::need) {
            let claims = shown.iter().map(|gone| gone.claims().count()).sum::<usize>();
            let left_overs = shown.iter().map(|gone| gone.left_overs.len()).sum::<usize>();
            let kind = NeedKind::MoreDied {
                windows: self.windows - shown.len(),
                claims: self.claims - claims,
                left_overs: self.left_overs - left_overs,
            };
            needs.push(need(&next.subject, "more", kind, next.since));
        }
        needs
    }
}

/// Reports the windows that have gone and left something, each once, however many records name it.
fn died<'a>(remnants: &'a [Remnant<'a>], facts: &Facts<'a>) -> Vec<Need> {
    let world = facts.world;
    let work: HashMap<&Untrusted, &Work> =
        world.snapshot.work.iter().map(|work| (&work.session, &**work)).collect();
    let mut running: Vec<&LeftOver> = facts.left_overs.iter().filter(|one| one.is_left()).collect();
    let mut all = AllGone::default();
    for remnants in remnants.chunk_by(|one, other| one.whose == other.whose) {
        let Some(Remnant { whose, .. }) = remnants.first() else { continue };
        let work = work.get(whose).copied();
        let records = remnants.iter().map(|remnant| remnant.record);
        let last = records.map(|record| record.heartbeat_at.unwrap_or(record.written_at)).max();
        let (since, is_end_seen) = match world.tombstone_of(whose) {
            Some(stone) if stone.seen_alive_at.is_some() => (Some(stone.proven_at), true),
            // Its end was not watched, so it may have been dead for long: its last write is its last sign of life. It
            // has not written anything after that proof.
            Some(stone) => (last.map(|last| last.min(stone.proven_at)), false),
            None => (last, false),
        };
        let left_overs = running
            .extract_if(.., |one| remnants.iter().any(|remnant| is_its(remnant.record, one)))
            .collect();
        let made = |tree: &&LeftTree| remnants.iter().any(|remnant| has_made(remnant.record, tree));
        let left_trees = facts.left_trees.iter().filter(|tree| tree.is_left()).filter(made).collect();
        let lost = facts.lost.iter().filter(|lost| lost.work.session == **whose);
        let lost = lost.flat_map(|lost| lost.work.doing.edits.iter().filter(|edit| edit.is_gone())).count();
        let left_stashes = facts.left_stashes.iter().filter(|stash| stash.session == **whose).collect();
        let gone =
            DeadWindow { remnants, work, left_overs, left_trees, left_stashes, since, is_end_seen, lost };
        if gone.has_work() || gone.claims().next().is_some() || !gone.left_overs.is_empty() {
            all.add(gone);
        }
    }
    // A window that ended cleanly leaves no record.
    running.sort_by_key(|one| (one.window_pid, one.session.as_ref()));
    for left_overs in running.chunk_by(|one, other| one.window_pid == other.window_pid) {
        let since = left_overs.iter().filter_map(|one| one.window_ended_at).max();
        let left_overs = left_overs.to_vec();
        all.add(DeadWindow {
            remnants: &[],
            work: None,
            left_overs,
            left_trees: Vec::new(),
            left_stashes: Vec::new(),
            since,
            is_end_seen: false,
            lost: 0,
        });
    }
    all.needs()
}

/// Returns whether the window of a record made a working tree: its lock is this very record, or names its
/// session or process.
fn has_made(record: &JudgedRecord, tree: &LeftTree) -> bool {
    let is_of_session = record.session_id.is_some() && record.session_id == tree.session;
    let is_lock = tree.releasable_lock.as_ref() == Some(&record.key);
    is_of_session || is_lock || (record.pid().is_some() && record.pid() == tree.window_pid)
}

impl<'a> DeadWindow<'a> {
    /// Returns the claims that can be released.
    fn claims(&self) -> impl Iterator<Item = &'a ClaimView> + use<'a> {
        self.remnants.iter().flat_map(|remnant| remnant.claims).filter(|claim| claim.is_dead())
    }

    /// Returns whether it left work that no commit has.
    fn has_work(&self) -> bool {
        uncommitted(self.work) > 0 || !self.left_stashes.is_empty()
    }

    fn need(&self) -> Option<Need> {
        // Its agent's own registry names a window best, and knows how it is resumed.
        let is_named = |record: &RecordView| {
            record.record.holder.as_ref().is_some_and(|holder| holder.binding == Binding::Registry)
        };
        let rank = |record: &&JudgedRecord| {
            (!is_named(record), record.kind != RecordKind::Session, Reverse(record.written_at))
        };
        let records = self.remnants.iter().map(|remnant| remnant.record);
        let newest = records.min_by_key(rank).map(|record| -> &RecordView { record });
        let left = Remains {
            name: newest.map(|record| record.title.clone()).or_else(|| self.name())?,
            session: newest.and_then(|record| record.session_id.clone()),
            format: newest.map_or("", |record| record.format.name()),
            cwd: newest.and_then(|record| record.cwd.as_ref()).map(|cwd| cwd.text().clone()),
            claims: self.claims().map(|claim| claim.key.clone()).collect(),
            unproven: 0,
            is_end_seen: self.is_end_seen,
            uncommitted: uncommitted(self.work),
            lost: self.lost,
            left_overs: self.left_overs.iter().map(|one| one.key.clone()).collect(),
            left_trees: self.left_trees.iter().map(|one| one.key.clone()).collect(),
            left_stashes: self.left_stashes.iter().map(|one| one.key.clone()).collect(),
        };
        let subject = newest.map(|record| &record.key).or_else(|| Some(&self.left_overs.first()?.key))?;
        Some(need(subject, "died", NeedKind::Died(left), self.since))
    }

    /// Names a window that has no record any more.
    fn name(&self) -> Option<Untrusted> {
        let one = self.left_overs.first()?;
        let agent = one.agent.as_ref().map_or("a window", Untrusted::raw);
        let pid = one.window_pid.map(|pid| format!(" (PID {pid})")).unwrap_or_default();
        one.window_name.clone().or_else(|| Some(format!("{agent}{pid}").as_str().into()))
    }
}

/// Counts the edited files that git does not have.
pub(crate) fn uncommitted(work: Option<&Work>) -> usize {
    work.into_iter().flat_map(edited::uncommitted).count()
}

/// Returns what a window waits for, from its session's own file, its agent's registry, or a hook that is not over;
/// and the call that it asks about.
pub(crate) fn waiting(
    registry: Option<&Record>,
    work: Option<&Work>,
    noted: &[&NotedWait],
) -> Option<Waiting> {
    if let Some(open) = work.and_then(question) {
        return Some(open);
    }
    let call = || work.and_then(|work| work.doing.calls.last()).cloned();
    let Some((status, waiting_for, since)) = registry.and_then(status) else {
        let Waiting { wants, call: asked, since } = first_open(work, noted)?.waiting.clone();
        return Some(Waiting { wants, call: asked.or_else(call), since });
    };
    let wants = match waiting_for.map(Untrusted::raw) {
        Some("permission prompt") => Wants::Permission,
        Some("input needed") => Wants::Answer,
        Some(other) => Wants::Other(other.into()),
        None => Wants::Answer,
    };
    // A transcript that has not been written since is older.
    (status == "waiting").then(|| Waiting { wants, call: call(), since })
}

/// Returns the earliest of the waits that hooks have noted and that is not over.
pub(crate) fn first_open<'a>(work: Option<&Work>, noted: &[&'a NotedWait]) -> Option<&'a NotedWait> {
    let open = noted.iter().filter(|wait| !work.is_some_and(|work| is_over(wait, work)));
    open.min_by_key(|wait| wait.by.since_boot_ms).copied()
}

/// Returns the open question in a session's own file, whatever its agent's registry states.
fn question(work: &Work) -> Option<Waiting> {
    if let Some(call) = work.doing.asks.first() {
        return Some(Waiting { wants: Wants::Permission, call: Some(call.clone()), since: call.since });
    }
    let asks = |call: &&Call| matches!(call.target, Some(Target::Question(_))) || call.tool.raw() == PLAN;
    let is_working = work.doing.turn.state == TurnState::Working;
    let call = work.doing.calls.iter().rev().find(asks).filter(|_| is_working)?;
    Some(Waiting { wants: Wants::Answer, call: Some(call.clone()), since: call.since })
}

/// The tool by which Claude Code asks for approval of its plan.
const PLAN: &str = "ExitPlanMode";

/// Returns the contents of a registry entry: its status, what it waits for, and since when.
fn status(registry: &Record) -> Option<(&str, Option<&Untrusted>, Option<Timestamp>)> {
    let ClaudeStatus { status, waiting_for, updated_at, .. } = registry.detail.claude_status()?;
    Some((status.as_ref()?.raw(), waiting_for.as_ref(), *updated_at))
}

/// How long after a hook its agent may still write down output from before it.
const STILL_WRITES: SignedDuration = SignedDuration::from_secs(1);

/// Returns whether a session's own file shows that a wait is over: its turn has ended, another one has begun, the
/// file that it asked about has been edited, or every call made until then has its result. A line of another call, or
/// of a command in the background, does not count. For a sub-agent's wait only the end of the turn is known there.
fn is_over(wait: &NotedWait, work: &Work) -> bool {
    let Doing { turn, calls, edits, .. } = &work.doing;
    let asked_at = wait.by.written_at;
    // Codex's script stays open while the calls in it come and go.
    let target = wait.waiting.call.as_ref().and_then(|call| call.target.as_ref());
    let is_edited = |edit: &Edit| {
        edit.at.is_some_and(|at| at > asked_at) && target == Some(&Target::File(edit.path.clone()))
    };
    if edits.iter().any(is_edited) {
        return true;
    }
    if turn.state != TurnState::Unknown && turn.since.is_some_and(|since| since > asked_at) {
        return true;
    }
    let is_older = |call: &Call| call.since.is_none_or(|since| since <= asked_at + STILL_WRITES);
    let has_gone_on = turn.state != TurnState::Finished && work.written_at > asked_at + STILL_WRITES;
    wait.sub_agent.is_none() && has_gone_on && !calls.iter().any(is_older)
}

/// Returns the notes that a window's session waits: its own process noted it, or a daemon of its agent that serves
/// several windows.
pub(crate) fn noted<'a>(window: &Window<'_>, session: &Untrusted, world: &World<'a>) -> Vec<&'a NotedWait> {
    let waits = world.bindings.waits_of(session).iter();
    let own =
        waits.filter(|(_, process)| process.id == window.process.id || is_daemon_of(process, window, world));
    own.map(|(wait, _)| *wait).collect()
}

/// Returns whether a process is a daemon of a window's agent, which may serve several windows.
fn is_daemon_of(process: &Process, window: &Window<'_>, world: &World<'_>) -> bool {
    let known = world.signatures.classify(process);
    known.is_some_and(|(agent, role)| agent.name == window.agent && role == Role::Daemon)
}
