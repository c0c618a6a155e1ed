//! A made-up world for tests: every state, verdict, claim status and severity.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::report::left_over::{LeftSort, Member, Port};
use crate::core::model::report::*;
use crate::core::model::{
    Binding, Cause, Certainty, ClaimStatus, ClaimView, Code, ContextId, ContextSource, Doing, Edit, Evidence,
    Expiry, Finding, Format, Generation, Holder, Keeper, Key, LeftOver, Location, Medium, Ownership,
    PlaceView, ProcessId, Reason, Record, RecordKind, RecordView, Releasable, Remedy, RepoView, Resource,
    ResourceKind, Role, SessionView, SourceHealth, SourceState, StatedClaim, StatedPid, Story, Strength,
    Surface, SurfaceState, Untrusted, Verdict, VerdictState, WindowDoing, WindowFacts, WindowState,
    WindowView, Work,
};

/// The moment at which the world was looked at.
pub(crate) fn now() -> Timestamp {
    "2026-11-20T10:00:00Z".parse().unwrap()
}

fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

pub(crate) fn key(text: &str) -> Key {
    Key::typed(text)
}

fn window(name: &str, pid: u32, agent: &str, branch: &str, age: i64) -> WindowView {
    let worktree = format!("/home/dev/src/shop-{branch}");
    WindowView::from(WindowFacts {
        key: key(&format!("w-{pid}")),
        pid,
        start_ticks: u64::from(pid) * 131,
        started_at: Some(ago(age)),
        agent: agent.into(),
        state: WindowState::Running,
        doing: Some(WindowDoing::Working),
        doing_since: None,
        is_new: false,
        stuck: None,
        context_id: ContextId {
            value: pid.to_string().into(),
            source: ContextSource::AgentPid,
            stable: true,
        },
        is_known_to_maia: false,
        session_id: Some("0b7c9c1e-5a55-4c0e-9d55-2d1f1c1f7a10".into()),
        session: Some(SessionView {
            id: "0b7c9c1e-5a55-4c0e-9d55-2d1f1c1f7a10".into(),
            strength: Strength::Exact,
            evidence: Evidence::new("registry", "PID and start are this process's", "sessions/4711.json"),
        }),
        may_run: Vec::new(),
        activity: Some("busy".into()),
        waiting: None,
        work: None,
        unread: None,
        name: (!name.is_empty()).then(|| name.into()),
        tty: Some(format!("pts/{}", pid % 10).into()),
        pane: Some(format!("%{}", pid % 7).as_str().into()),
        place: PlaceView {
            keeper: Some(Keeper::Tmux),
            session: Some("$0".into()),
            pane: Some(format!("%{}", pid % 7).as_str().into()),
            socket: Some("/tmp/tmux-1000/default".into()),
            ..PlaceView::default()
        },
        is_folder_gone: false,
        cwd: Some(worktree.as_str().into()),
        repo: Some(RepoView {
            root: "/home/dev/src/shop".into(),
            worktree: worktree.as_str().into(),
            branch: Some(format!("feature/{branch}").as_str().into()),
        }),
        processes: Vec::new(),
        more_processes: 0,
        cpu_percent: Some(3.4),
        memory_bytes: Some(412_000_000),
        records: Vec::new(),
        claims: Vec::new(),
    })
}

fn record(name: &str, format: Format, pid: u32, state: VerdictState, reason: Reason) -> RecordView {
    let path = format!("/tmp/{name}");
    let stat = format!("/proc/{pid}/stat");
    let holder = Holder::new(StatedPid::Valid(pid), Role::Agent, Binding::File);
    let (sort, location) = ((format, RecordKind::Session), Location::File(path.as_str().into()));
    let record = Record {
        variant: "session file",
        session_id: Some(format!("{name}-5a55-4c0e-9d55").as_str().into()),
        context_id: Some(pid.to_string().into()),
        title: name.into(),
        holder: Some(holder),
        heartbeat_at: Some(ago(190)),
        expiry: Some(Expiry { at: ago(-710), rule: "heartbeat older than 900 s" }),
        facts: [("persona", "reviewer".into())].into(),
        ..Record::blank(sort, location, Ownership::default(), ago(190))
    };
    RecordView {
        key: key(&format!("r-{name}")),
        evidence: record.evidence(),
        record: Arc::new(record),
        role: Role::Agent,
        verdict: Verdict {
            state,
            reason,
            in_other_namespace: false,
            evidence: [
                Evidence::new("pid", pid.to_string(), path.as_str()).dated(ago(190)),
                Evidence::new("process", "no such process", stat.as_str()).dated(now()),
            ]
            .into(),
        },
        is_stale: false,
        window: None,
        window_pid: None,
        lives_in: None,
        lives_on: None,
    }
}

/// States a claim in one of the records, as if that held nothing else.
fn claim(record: &str, kind: ResourceKind, id: &str, status: ClaimStatus, places: &[Surface]) -> ClaimView {
    let releasable = match status {
        ClaimStatus::Dead | ClaimStatus::Ghost | ClaimStatus::Expired => Releasable::Yes,
        ClaimStatus::Unproven | ClaimStatus::Quiet | ClaimStatus::Contested => Releasable::Confirm,
        ClaimStatus::Held => Releasable::No,
    };
    let file = [Surface { name: "file", state: SurfaceState::Agrees }];
    let surfaces = file.into_iter().chain(places.iter().cloned()).collect();
    let resource = Resource { kind, id: id.into() };
    let stated = StatedClaim { resource, since: Some(ago(4_000)), surfaces };
    let mut view = Arc::unwrap_or_clone(record_of(record));
    Arc::make_mut(&mut view.record).claims = vec![stated.clone()];
    let mut claim = ClaimView::new(&Arc::new(view), &stated, (None, status));
    (claim.key, claim.releasable) = (key(&format!("c-{id}")), releasable);
    claim
}

fn record_of(name: &str) -> Arc<RecordView> {
    let key = key(&format!("r-{name}"));
    records().into_iter().find(|record| record.key == key).unwrap()
}

fn finding(code: Code, subjects: &[&str], message: &str, remedy: Remedy) -> Finding {
    let evidence =
        Evidence::new("working directory", "/home/dev/src/shop-cart", "/proc/4711/cwd").dated(now());
    Finding::new(code, subjects.iter().map(|subject| key(subject)), message, [evidence], remedy)
}

/// Has a window edit files.
pub(crate) fn edits(window: &mut WindowView, paths: &[&str]) {
    let edit = |path: &&str| Edit::new((*path).into(), None);
    window.work = Some(Arc::new(Work {
        format: Format::ClaudeCode,
        session: "95fe798d".into(),
        path: PathBuf::from("/home/dev/.claude/95fe798d.jsonl").into(),
        medium: Medium::Local,
        written_at: now(),
        doing: Doing { edits: paths.iter().map(edit).collect(), ..Doing::default() },
        agents: Vec::new(),
        warnings: Vec::new(),
        skipped: 0,
    }));
}

pub(crate) fn source(id: &str, state: SourceState, detail: &str) -> SourceHealth {
    SourceHealth { id: id.to_owned(), state, detail: detail.into() }
}

/// A machine on which nothing runs.
pub(crate) fn quiet() -> Report {
    let host = ReportHost { name: "devbox".to_owned(), boot_id: None, pid_namespace: None };
    let sources = vec![
        source("processes", SourceState::Ok, "412 processes"),
        source("maia", SourceState::Absent, "/tmp holds none of its files"),
    ];
    Report { sources, ..Report::empty(now(), host) }
}

/// A machine with one of everything.
pub(crate) fn busy() -> Report {
    Report {
        sources: vec![
            source("processes", SourceState::Ok, "412 processes"),
            source("entire", SourceState::Failed, "permission denied"),
        ],
        windows: windows(),
        records: records(),
        claims: claims(),
        findings: findings().into_iter().map(Arc::new).collect(),
        left_overs: left_overs(),
        ..quiet()
    }
}

/// A machine on which two windows hold one thing, and the first of the list is to yield.
pub(crate) fn contested() -> Report {
    let mut report = busy();
    let held = |record: &str, name: &str, window: &str| {
        let mut claim = claim(record, ResourceKind::WorkItem, "SD-SHOP-014", ClaimStatus::Contested, &[]);
        (claim.key, claim.window) = (key(name), Some(key(window)));
        claim
    };
    report.claims = vec![held("alpha", "c-cart", "w-4711"), held("beta", "c-tests", "w-4890")];
    for record in &mut report.records {
        let record = Arc::make_mut(record);
        Arc::make_mut(&mut record.record).format = Format::Maia;
    }
    for (at, own) in [(0, "c-cart"), (1, "c-tests")] {
        report.windows[at].claims = vec![key(own)];
    }
    let mut contested = finding(
        Code::ContestedClaim,
        &["c-tests", "c-cart"],
        "SD-SHOP-014 is held by two windows",
        Remedy::Release,
    );
    contested.story = Some(Box::new(Story {
        cause: Cause::DoubleClaim,
        events: Vec::new(),
        advice: "let all but session beta release SD-SHOP-014".to_owned(),
        yields: vec![key("c-cart")],
        would_change: String::new(),
    }));
    report.findings = vec![Arc::new(contested)];
    report
}

fn windows() -> Vec<WindowView> {
    let mut cart = window("cart api", 4711, "claude-code", "cart", 7_300);
    cart.records = vec![key("r-alpha")];
    cart.claims = vec![key("c-SD-101")];
    let mut twin = window("cart tests", 4890, "claude-code", "cart", 1_900);
    twin.activity = Some("waiting: permission prompt".into());
    twin.doing = Some(WindowDoing::Asks);
    twin.records = vec![key("r-beta")];
    twin.claims = vec![key("c-reviewer")];
    let mut docs = window("", 5120, "codex", "docs", 300);
    docs.context_id.stable = false;
    let mut asleep = window("search index", 5333, "gemini", "search", 90_000);
    asleep.state = WindowState::Stopped;
    asleep.activity = None;
    asleep.doing = Some(WindowDoing::Stopped);
    asleep.claims = vec![key("c-search")];
    let mut gone = window("", 6001, "opencode", "fix", 40);
    gone.state = WindowState::Zombie;
    gone.doing = None;
    gone.repo = None;
    let fine = window("release notes", 6200, "claude-code", "notes", 600_000);
    vec![cart, twin, docs, asleep, gone, fine]
}

fn records() -> Vec<Arc<RecordView>> {
    let mut alpha = record("alpha", Format::ClaudeCode, 4711, VerdictState::Alive, Reason::SameProcess);
    alpha.window = Some(key("w-4711"));
    let mut beta = record("beta", Format::Maia, 4890, VerdictState::Alive, Reason::ProcessPresent);
    beta.window = Some(key("w-4890"));
    let dead = record("gamma", Format::Leo, 3999, VerdictState::Dead, Reason::NoProcess);
    let mut legacy = record("delta", Format::Maia, 2222, VerdictState::Unknown, Reason::WrongRole);
    let read = Arc::make_mut(&mut legacy.record);
    (read.generation, read.variant) = (Generation::Legacy, "G2 context_{PPID}");
    read.expiry = Some(Expiry { at: ago(103_600), rule: "file older than 24 h" });
    legacy.is_stale = true;
    let mut ended = record("epsilon", Format::Entire, 1234, VerdictState::Dead, Reason::OtherBoot);
    Arc::make_mut(&mut ended.record).has_ended = true;
    [alpha, beta, dead, legacy, ended].map(Arc::new).into()
}

fn claims() -> Vec<ClaimView> {
    let unread = Surface { name: "strategic_directives_v2.claiming_session_id", state: SurfaceState::Unread };
    let mut held = claim("alpha", ResourceKind::WorkItem, "SD-101", ClaimStatus::Contested, &[unread]);
    held.window = Some(key("w-4711"));
    let mut role = claim("beta", ResourceKind::AgentRole, "reviewer", ClaimStatus::Held, &[]);
    role.window = Some(key("w-4890"));
    let mut quiet = claim("beta", ResourceKind::Worktree, "search", ClaimStatus::Quiet, &[]);
    quiet.window = Some(key("w-5333"));
    vec![
        held,
        role,
        quiet,
        claim("gamma", ResourceKind::WorkItem, "SD-099", ClaimStatus::Dead, &[]),
        claim("gamma", ResourceKind::Branch, "feature/old", ClaimStatus::Ghost, &[]),
        claim("delta", ResourceKind::Session, "lock", ClaimStatus::Unproven, &[]),
        claim("epsilon", ResourceKind::Lock, "entire.lock", ClaimStatus::Expired, &[]),
    ]
}

/// Makes what a window has left running: a process of so many MB, and where it listens.
fn left_over(command: &str, pid: u32, certainty: Certainty, memory: u64, ports: &[u16]) -> LeftOver {
    let port = |number: &u16| Port { number: *number, address: [127, 0, 0, 1].into(), clients: Some(0) };
    let (id, folder) = (ProcessId { pid, start_ticks: u64::from(pid) * 131 }, "/home/dev/src/shop-search");
    let member = Member {
        id,
        parent: 1,
        started_at: Some(ago(9_000)),
        command: command.into(),
        folder: Some(folder.into()),
        memory: Some(memory * 1_000_000),
        cpu_time: Some(4_200),
        ports: ports.iter().map(port).collect(),
    };
    let held = certainty == Certainty::Held;
    LeftOver {
        key: key(&format!("l-{pid}")),
        pid,
        start_ticks: id.start_ticks,
        started_at: Some(ago(9_000)),
        tree: vec![member],
        sort: if ports.is_empty() { LeftSort::Process } else { LeftSort::Server },
        name: None,
        command: command.into(),
        folder: Some(folder.into()),
        agent: Some("claude-code".into()),
        window_pid: Some(if held { 4711 } else { 3999 }),
        window_name: Some(if held { "cart api" } else { "gamma" }.into()),
        window_ended_at: (!held).then(|| ago(7_300)),
        session: Some("0b7c9c1e-5a55-4c0e-9d55-2d1f1c1f7a10".into()),
        certainty,
        why: if certainty == Certainty::Exact {
            String::new()
        } else {
            "its window, PID 4711, is alive".to_owned()
        },
        refused: None,
        evidence: vec![Evidence::new("started by", "PID 3999", format!("/proc/{pid}/environ"))],
    }
}

fn left_overs() -> Vec<LeftOver> {
    vec![
        left_over("node worker.js", 7003, Certainty::Held, 90, &[]),
        left_over("rsync -a /a /b", 7002, Certainty::Guess, 4, &[]),
        left_over("idle --forever", 7004, Certainty::Exact, 2, &[]),
        left_over("node dev.js", 7001, Certainty::Exact, 210, &[3000]),
    ]
}

fn findings() -> Vec<Finding> {
    vec![
        finding(
            Code::SameWorktree,
            &["w-4711", "w-4890"],
            "two live windows work in /home/dev/src/shop-cart: cart api (PID 4711) and cart tests (PID 4890)",
            Remedy::None,
        ),
        finding(
            Code::ContestedClaim,
            &["c-SD-101", "r-alpha"],
            "SD-101 has two live holders: PID 4711 and PID 4890",
            Remedy::None,
        ),
        finding(
            Code::DeadHolder,
            &["r-gamma", "c-SD-099"],
            "PID 3999 is gone since 3 min and still holds SD-099",
            Remedy::Release,
        ),
        finding(
            Code::LegacyRecord,
            &["r-delta"],
            "the record is in a place that only older versions of Maia write",
            Remedy::Migrate,
        ),
        finding(Code::SuspendedHolder, &["w-5333"], "PID 5333 is stopped and keeps its claims", Remedy::None),
        finding(Code::NoRecord, &["w-6200"], "no system knows this live window", Remedy::None),
    ]
}

/// The busy machine with hostile text in every place that outside text can reach.
pub(crate) fn hostile() -> Report {
    let nasty: Untrusted = format!(
        "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{200b}\u{feff}\u{e0041}\u{2028}a{}日本\n\t\u{7f}",
        "\u{301}".repeat(5_000)
    )
    .into();
    let mut report = busy();
    for window in &mut report.windows {
        window.name = Some(nasty.clone());
        window.activity = Some(nasty.clone());
        window.context_id.value = nasty.clone();
        window.pane = Some(nasty.clone());
        window.tty = Some(nasty.clone());
        window.agent = nasty.clone();
        window.cwd = Some(nasty.clone());
        window.repo =
            Some(RepoView { root: nasty.clone(), worktree: nasty.clone(), branch: Some(nasty.clone()) });
    }
    for record in &mut report.records {
        let record = Arc::make_mut(record);
        let read = Arc::make_mut(&mut record.record);
        read.title = nasty.clone();
        read.session_id = Some(nasty.clone());
        read.location = Location::File(nasty.raw().into());
        read.add_fact("nasty", nasty.clone());
        record.verdict.evidence = [Evidence::new("nasty", nasty.clone(), nasty.clone())].into();
    }
    for one in &mut report.left_overs {
        one.command = nasty.clone();
        one.name = Some(nasty.clone());
        one.window_name = Some(nasty.clone());
        one.folder = Some(nasty.clone());
        one.why = nasty.raw().to_owned();
        for member in &mut one.tree {
            member.command = nasty.clone();
            member.folder = Some(nasty.raw().into());
        }
    }
    for claim in &mut report.claims {
        Arc::make_mut(&mut Arc::make_mut(&mut claim.record).record).title = nasty.clone();
        claim.resource.id = nasty.clone();
    }
    for finding in &mut report.findings {
        let finding = Arc::make_mut(finding);
        finding.message = nasty.raw().into();
        finding.story = None;
    }
    report.host.name = nasty.raw().to_owned();
    for source in &mut report.sources {
        source.detail = nasty.clone();
        source.id = nasty.raw().to_owned();
        source.state = SourceState::Partial;
    }
    report
}
