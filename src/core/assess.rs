//! Judges a snapshot: windows, verdicts, claims and findings, each with its evidence.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::core::judge::claim::{ClaimFacts, judge_claims, resumed_in};
use crate::core::judge::edited;
use crate::core::judge::left_over::left_overs;
use crate::core::judge::left_over::left_stash::left_stashes;
use crate::core::judge::left_over::owner;
use crate::core::judge::left_over::stray_tree::stray_trees;
use crate::core::judge::left_over::worktree::left_trees;
use crate::core::judge::liveness::judge;
use crate::core::judge::liveness::session::window_of_record;
use crate::core::judge::needs::{needs, noted, waiting};
use crate::core::judge::rules::facts::{Facts, Index};
use crate::core::judge::session::{may_run, session_of};
use crate::core::judge::successors::Successors;
use crate::core::judge::window::Window;
use crate::core::judge::window::agent::Signatures;
use crate::core::judge::window::below::Below;
use crate::core::judge::window::doing_now::doing_now;
use crate::core::judge::window::screens::place_of_window;
use crate::core::judge::window::stuck;
use crate::core::judge::window::whose_turn::{Signs, is_new};
use crate::core::judge::world::World;
use crate::core::judge::{rules, story};
use crate::core::model::report::SCHEMA;
use crate::core::model::report::context::{CONTEXT_VARIABLE, is_context_id};
use crate::core::model::snapshot::process::Children;
use crate::core::model::{
    Action, BrokenPath, ClaudeStatus, ContextId, ContextSource, Finding, Format, JudgedRecord, Key, KeyKind,
    Ownership, Platform, ProcessState, Record, RecordKind, RecordView, Releasable, Remedy, RepoView, Report,
    ReportHost, Role, Snapshot, Strength, UnreadWork, Untrusted, Verdict, VerdictState, WindowDoing,
    WindowFacts, WindowState, WindowView, Work,
};
use crate::core::plan::about::{ReportView, releasable};

/// The settings for judging.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The signatures of agents.
    pub signatures: Signatures,
}

/// Judges a snapshot.
pub fn assess(snapshot: &Snapshot, policy: &Policy) -> Report {
    assess_after(None, snapshot, policy)
}

/// Judges a snapshot like [`assess`]: all of it, from nothing but the snapshot. Records and findings equal to those of
/// an earlier report are then shared with it, so that consecutive reports hold them once.
pub fn assess_after(earlier: Option<&Report>, snapshot: &Snapshot, policy: &Policy) -> Report {
    let world = World::new(snapshot, &policy.signatures);
    let children = Children::new(&snapshot.processes);
    let below = Below::new(&world, &children);
    let mut windows: Vec<WindowView> =
        world.windows.iter().map(|window| view_window(window, &world, &below)).collect();
    name_lock_holders(&mut windows);
    let keys: BTreeMap<u32, Key> = windows.iter().map(|window| (window.pid, window.key.clone())).collect();
    let records = judge_records(&world, &keys, earlier.map_or(&[], |report| &report.records));
    let mut claims = judge_claims(&ClaimFacts { records: &records, world: &world, window_keys: &keys });
    claims.extend(edited::claims(&world, &windows, &records));
    let mut of_records = by_window(records.iter().map(|record| (record.window.as_ref(), &record.key)));
    let mut of_claims = by_window(claims.iter().map(|claim| (claim.window.as_ref(), &claim.key)));
    for window in &mut windows {
        window.records = of_records.remove(&window.key).unwrap_or_default();
        window.claims = of_claims.remove(&window.key).unwrap_or_default();
    }
    let mut left_overs = left_overs(&world, &children);
    owner::add_owners(&mut left_overs, &windows, &records, &world);
    let mut left_trees = left_trees(&world, &windows, &records);
    left_trees.extend(stray_trees(&world, &records));
    let lost = edited::lost_by_the_dead(&world, &windows, &records);
    let left_stashes = left_stashes(&lost, &snapshot.repos);
    let facts = Facts {
        world: &world,
        windows: &windows,
        records: &records,
        claims: &claims,
        left_overs: &left_overs,
        left_trees: &left_trees,
        left_stashes: &left_stashes,
        lost: &lost,
        successors: Successors::new(&windows, &records),
        index: Index::new(&windows, &records, &claims),
    };
    let mut findings = rules::findings(&facts, earlier.map_or(&[], |report| &report.findings));
    story::add_stories(&mut findings, &facts);
    let mut report = Report {
        schema: SCHEMA,
        taken_at: snapshot.taken_at,
        joined_at: None,
        host: ReportHost {
            name: snapshot.host.name.clone(),
            boot_id: snapshot.host.boot_id.clone(),
            pid_namespace: snapshot.host.pid_namespace,
        },
        sources: snapshot.sources.clone(),
        needs: needs(&facts, &findings),
        windows,
        records,
        claims,
        findings,
        broken: snapshot
            .broken
            .iter()
            .map(|file| BrokenPath { key: file.key(), path: file.path.clone() })
            .collect(),
        machines: Vec::new(),
        not_asked: Vec::new(),
        ended: Vec::new(),
        shown_once: Vec::new(),
        left_overs,
        left_trees,
        left_stashes,
        lost,
    };
    let known = ReportView::new(&report);
    let ways = ways_of_letting_go(&known, &report, snapshot.host.uid);
    let useless = useless_offers(&known, &report, &ways, snapshot.host.uid);
    for (claim, way) in report.claims.iter_mut().zip(ways) {
        claim.releasable = way;
    }
    for at in useless {
        if let Some(finding) = report.findings.get_mut(at) {
            Arc::make_mut(finding).remedy = Remedy::None;
        }
    }
    report
}

/// Adds the names of the windows whose locks others wait for.
fn name_lock_holders(windows: &mut [WindowView]) {
    let holder = |window: &WindowView| window.stuck.as_ref()?.window_pid;
    let wanted: Vec<u32> = windows.iter().filter_map(holder).collect();
    let named = windows.iter().filter(|window| wanted.contains(&window.pid));
    let names: HashMap<u32, String> = named.map(|window| (window.pid, window.title())).collect();
    for window in windows.iter_mut().filter(|window| holder(window).is_some()) {
        if let Some(stuck) = window.stuck.as_mut() {
            let name = stuck.window_pid.and_then(|pid| names.get(&pid));
            stuck.window = name.map(|name| name.as_str().into());
        }
    }
}

/// Returns how each claim may be let go of.
fn ways_of_letting_go(known: &ReportView<'_>, report: &Report, uid: u32) -> Vec<Releasable> {
    report.claims.iter().map(|claim| releasable(known, claim, claim.record.ownership.uid != uid)).collect()
}

/// Returns the indexes of findings whose remedy would be refused for all their subjects.
fn useless_offers(known: &ReportView<'_>, report: &Report, ways: &[Releasable], uid: u32) -> Vec<usize> {
    let is_refused =
        |record: &RecordView, action| known.is_refused(record, action, record.ownership.uid != uid);
    let records = || report.records.iter();
    let claims = report.claims.iter().zip(ways).filter(|(_, way)| **way == Releasable::No);
    // Few records are refused a release, and few can be migrated.
    let kept = records().filter(|record| is_refused(record, Action::Release)).map(|record| &record.key);
    let kept: HashSet<&Key> = kept.chain(claims.map(|(claim, _)| &claim.key)).collect();
    let moved = records().filter(|record| !is_refused(record, Action::Migrate)).map(|record| &record.key);
    let moved: HashSet<&Key> = moved.collect();
    // A window is only ever ended.
    let is_useless = |finding: &Arc<Finding>| match finding.remedy {
        Remedy::Release | Remedy::Park => {
            finding.subjects.iter().all(|key| key.kind() == Some(KeyKind::Window) || kept.contains(key))
        }
        Remedy::Migrate => !finding.subjects.iter().any(|key| moved.contains(key)),
        Remedy::Undo | Remedy::Stop | Remedy::Rescue | Remedy::None => false,
    };
    let all = report.findings.iter().enumerate();
    all.filter(|(_, finding)| is_useless(finding)).map(|(at, _)| at).collect()
}

/// Groups keys by the window that they belong to.
fn by_window<'a>(all: impl Iterator<Item = (Option<&'a Key>, &'a Key)>) -> HashMap<Key, Vec<Key>> {
    let mut groups: HashMap<Key, Vec<Key>> = HashMap::new();
    for (window, key) in all {
        if let Some(window) = window {
            groups.entry(window.clone()).or_default().push(key.clone());
        }
    }
    groups
}

/// Judges every record; an unchanged result is shared with the earlier report.
fn judge_records(
    world: &World<'_>,
    windows: &BTreeMap<u32, Key>,
    earlier: &[JudgedRecord],
) -> Vec<JudgedRecord> {
    let earlier: HashMap<&Key, &JudgedRecord> = earlier.iter().map(|judged| (&judged.key, judged)).collect();
    let share = |view: RecordView| match earlier.get(&view.key) {
        Some(same) if ***same == view => Arc::clone(same),
        Some(_) | None => Arc::new(view),
    };
    let mut last: Option<JudgedRecord> = None;
    let judge = |record: &Arc<Record>| {
        let verdict = judge(record, world);
        let window = window_of_record(record, &verdict, world);
        let mut view = view_record(record, (verdict, window), world, windows);
        if let Some(last) = &last {
            view.share_with(last);
        }
        Arc::clone(last.insert(share(view)))
    };
    let mut records: Vec<JudgedRecord> = world.snapshot.records.iter().map(judge).collect();
    for (at, verdict) in lent_verdicts(&records, world) {
        if let Some(companion) = records.get_mut(at) {
            *companion = share(view_record(&companion.record, verdict, world, windows));
        }
    }
    records
}

/// Returns the verdicts of companions, taken from the record that they belong to: they have no life of their own. A
/// companion that was written later is judged as if that record had been: its writer may live.
fn lent_verdicts(records: &[JudgedRecord], world: &World<'_>) -> Vec<(usize, (Verdict, Option<u32>))> {
    if records.iter().all(|judged| judged.record.kind != RecordKind::Companion) {
        return Vec::new();
    }
    let sessions = records.iter().filter(|judged| judged.record.kind == RecordKind::Session);
    let owners: BTreeMap<(Format, &Untrusted), &JudgedRecord> = sessions
        .filter_map(|judged| Some(((judged.record.format, judged.record.context_id.as_ref()?), judged)))
        .collect();
    let lent = |companion: &JudgedRecord| {
        let context = companion.record.context_id.as_ref()?;
        let owner = owners.get(&(companion.record.format, context))?;
        let written_at = companion.record.written_at;
        let verdict = if written_at > owner.record.written_at {
            let session_id = companion.record.session_id.clone();
            let ownership = Ownership { medium: companion.record.medium(), ..owner.record.ownership };
            let changed_at = companion.record.changed_at;
            let owner = (*owner.record).clone();
            judge(&Record { written_at, changed_at, ownership, session_id, ..owner }, world)
        } else {
            owner.verdict.clone()
        };
        Some((verdict, owner.window_pid))
    };
    let is_lent = |judged: &&JudgedRecord| {
        // A project's companions are written by every window that works in it.
        judged.record.kind == RecordKind::Companion && judged.record.format != Format::Observability
    };
    let companions = records.iter().enumerate().filter(|(_, judged)| is_lent(judged));
    companions.filter_map(|(at, companion)| Some((at, lent(companion)?))).collect()
}

fn view_window(window: &Window<'_>, world: &World<'_>, below: &Below<'_>) -> WindowView {
    let process = window.process;
    let details = process.details.clone().unwrap_or_default();
    let pid = process.id.pid;
    let host = &world.snapshot.host;
    let registry = world.sessions.get(&pid).and_then(|_| world.registered(pid).first());
    let session = session_of(window, world);
    let place = place_of_window(process, registry.copied(), world);
    let work = session.as_ref().and_then(|session| work_of(window, &session.id, world));
    let work = work.map(|work| doing_now(work, (process, registry.copied()), world));
    let waits = session.as_ref().map(|session| noted(window, &session.id, world)).unwrap_or_default();
    let (processes, more_processes) = below.processes_of(process);
    let waiting = waiting(registry.copied(), work.as_deref(), &waits);
    let unread = session.as_ref().and_then(|session| unread(window, &session.id, world));
    let may_run = if session.is_none() { may_run(window, world) } else { Vec::new() };
    let is_new = session.is_none() && may_run.is_empty() && is_new(window, world);
    let signs = Signs {
        process: process.state,
        waiting: waiting.as_ref(),
        entry: registry.copied(),
        work: work.as_deref(),
        is_new,
        processes: &processes,
        now: world.snapshot.taken_at,
    };
    let is_known = session.as_ref().is_some_and(|session| session.strength > Strength::Guess);
    let doing = signs.doing();
    let works = matches!(doing, Some((WindowDoing::Working | WindowDoing::Quiet, _)));
    let stuck = work.as_deref().filter(|_| works);
    let stuck = stuck.and_then(|work| stuck::stuck(window, work, (world, below.children)));
    let stuck_since = stuck.as_ref().map(|stuck| (WindowDoing::Stuck, Some(stuck.since)));
    let (doing, doing_since) = stuck_since.or(doing).unzip();
    let given = work.as_ref().filter(|_| is_known).and_then(|work| work.doing.name.clone());
    let exact = session.as_ref().filter(|session| session.strength == Strength::Exact);
    WindowView::from(WindowFacts {
        key: window.key(host),
        pid,
        start_ticks: process.id.start_ticks,
        started_at: world.started_at(process),
        agent: window.agent.into(),
        state: match process.state {
            ProcessState::Running | ProcessState::LeaderExited => WindowState::Running,
            ProcessState::Stopped => WindowState::Stopped,
            ProcessState::Zombie => WindowState::Zombie,
        },
        context_id: context_of(pid, details.env.get(CONTEXT_VARIABLE)),
        is_known_to_maia: host.platform == Platform::MacOs && has_maia_name(details.exe.as_ref()),
        doing,
        doing_since: doing_since.flatten(),
        is_new,
        stuck: stuck.map(Box::new),
        waiting: waiting.map(Box::new),
        work,
        unread: unread.map(Box::new),
        may_run,
        session_id: exact.map(|session| session.id.clone()),
        session,
        activity: registry.and_then(|record| activity(record)),
        name: given.or_else(|| registry.map(|record| record.title.clone())),
        tty: process.tty.as_deref().map(Untrusted::from),
        pane: place.pane.clone(),
        place,
        repo: details.folder_here().and_then(|folder| repo_of(Path::new(folder.raw()), world)),
        is_folder_gone: details.is_cwd_gone,
        cwd: details.cwd,
        processes,
        more_processes,
        cpu_percent: details.cpu_percent,
        memory_bytes: details.memory_bytes,
        records: Vec::new(),
        claims: Vec::new(),
    })
}

/// Returns what a session does, from its agent's file.
fn work_of<'a>(window: &Window<'_>, session: &Untrusted, world: &World<'a>) -> Option<&'a Arc<Work>> {
    let is_its = |work: &&Arc<Work>| work.session == *session && work.format.runs_on(window.agent);
    world.snapshot.work.iter().find(is_its)
}

/// Returns the file of a session that was found but not read.
fn unread(window: &Window<'_>, session: &Untrusted, world: &World<'_>) -> Option<UnreadWork> {
    let is_its = |file: &&UnreadWork| file.session == *session && file.format.runs_on(window.agent);
    world.snapshot.unread_work.iter().find(is_its).cloned()
}

/// Returns a window's context ID: from its environment, or else its own PID.
fn context_of(pid: u32, given: Option<&Untrusted>) -> ContextId {
    match given.filter(|id| is_context_id(id.raw())) {
        Some(id) => ContextId { value: id.clone(), source: ContextSource::Env, stable: true },
        None => ContextId { value: pid.to_string().into(), source: ContextSource::AgentPid, stable: true },
    }
}

/// Returns whether an executable has the name that Maia looks for in `ps -o comm=`, which on macOS shows the whole
/// path.
fn has_maia_name(exe: Option<&Untrusted>) -> bool {
    exe.is_some_and(|exe| exe.raw().to_lowercase().contains("claude") && exe.raw().contains("native-binary"))
}

/// Returns the agent's own status, such as `waiting: permission prompt`.
fn activity(record: &Record) -> Option<Untrusted> {
    let ClaudeStatus { status, waiting_for, .. } = record.detail.claude_status()?;
    let status = status.as_ref()?;
    Some(match waiting_for {
        Some(what) => format!("{}: {}", status.raw(), what.raw()).into(),
        None => status.clone(),
    })
}

fn repo_of(folder: &Path, world: &World<'_>) -> Option<RepoView> {
    let (repo, worktree) = world.worktree_of(folder)?;
    let root = repo.worktrees.first().unwrap_or(worktree);
    Some(RepoView {
        root: Untrusted::from_path(&root.path),
        worktree: Untrusted::from_path(&worktree.path),
        branch: worktree.branch.clone(),
    })
}

fn view_record(
    record: &Arc<Record>,
    (verdict, window_pid): (Verdict, Option<u32>),
    world: &World<'_>,
    windows: &BTreeMap<u32, Key>,
) -> RecordView {
    let now = world.snapshot.taken_at;
    RecordView {
        key: record.key(),
        record: Arc::clone(record),
        role: role_of(record, window_pid),
        evidence: record.evidence(),
        lives_in: resumed_in(record, world).filter(|_| verdict.state == VerdictState::Dead),
        lives_on: None,
        verdict,
        is_stale: record.expiry.as_ref().is_some_and(|expiry| expiry.at <= now),
        window: window_pid.and_then(|pid| windows.get(&pid).cloned()),
        window_pid,
    }
}

/// Returns which process the PID is, if the living process shows more than the format.
fn role_of(record: &Record, window: Option<u32>) -> Role {
    let stated = record.holder.as_ref().map_or(Role::Unknown, |holder| holder.role);
    match (stated, window) {
        (Role::Unknown | Role::Shell, Some(window)) if record.pid() == Some(window) => Role::Agent,
        (Role::Unknown, Some(_)) => Role::Shell,
        (Role::Agent | Role::Shell | Role::Hook | Role::Daemon | Role::Unknown, _) => stated,
    }
}
