//! The expected results of a world, and the differences from them.

use claimtop::core::model::{ClaimView, RecordView, Report};
use claimtop::testing::present::sentences;
use serde::Deserialize;

use super::plans::{self, ExpectPlan};
use super::stories::{self, ExpectFinding};

/// The expected results of a world.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    /// Every expected finding code, sorted; a code twice if it is expected twice.
    pub(crate) findings: Vec<String>,
    /// Required parts of messages.
    #[serde(default)]
    pub(crate) messages: Vec<String>,
    /// The needs in words, if they matter.
    #[serde(default)]
    pub(crate) needs: Option<Vec<String>>,
    /// Records, by the end of their path.
    #[serde(default)]
    pub(crate) record: Vec<ExpectRecord>,
    /// Claims, as `kind id`.
    #[serde(default)]
    pub(crate) claim: Vec<ExpectClaim>,
    /// All claims, as `kind id`, if they matter.
    #[serde(default)]
    pub(crate) claims: Option<Vec<String>>,
    /// Windows, by PID.
    #[serde(default)]
    pub(crate) window: Vec<ExpectWindow>,
    /// The PIDs of all windows, if they matter.
    #[serde(default)]
    pub(crate) windows: Option<Vec<u32>>,
    /// The processes that windows have left running, by PID.
    #[serde(default)]
    pub(crate) left_over: Vec<ExpectLeftOver>,
    /// The working trees that agents have made, by path.
    #[serde(default)]
    pub(crate) left_tree: Vec<ExpectLeftTree>,
    /// The windows that died without being closed, each as `NAME AGENT`, with why it is not brought back.
    pub(crate) closed: Option<Vec<String>>,
    /// The stash entries that have dead windows' edits, each as `WINDOW COMMIT FILES`.
    pub(crate) left_stashes: Option<Vec<String>>,
    /// The stories of findings.
    #[serde(default)]
    pub(crate) finding: Vec<ExpectFinding>,
    /// Available plans.
    #[serde(default)]
    pub(crate) plan: Vec<ExpectPlan>,
}

/// The expectations for one working tree.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectLeftTree {
    path: String,
    /// Its certainty, or `none` if it is not reported at all.
    certainty: String,
    /// A part of what its certainty lacks.
    #[serde(default)]
    why: String,
    /// The present or past name of its window.
    #[serde(default)]
    window: Option<String>,
    #[serde(default)]
    pid: Option<u32>,
    /// Whether its lock can be released.
    #[serde(default)]
    unlocks: Option<bool>,
}

/// The expectations for one left-over.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectLeftOver {
    pid: u32,
    /// Its certainty, or `none` if it is not a left-over.
    certainty: String,
    /// A part of what its certainty lacks.
    #[serde(default)]
    why: String,
    #[serde(default)]
    below: Vec<u32>,
    /// The present or past name of its window.
    window: Option<String>,
    /// Its name in its agent's configuration.
    name: Option<String>,
    /// A part of why it is never ended; empty if it may be ended.
    refused: Option<String>,
}

/// The expectations for one record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectRecord {
    path: String,
    /// `dead no-process` and the like.
    #[serde(default)]
    verdict: Option<String>,
    #[serde(default)]
    generation: Option<String>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    window: Option<u32>,
    #[serde(default)]
    stale: Option<bool>,
}

/// The expectations for one claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectClaim {
    resource: String,
    status: String,
    #[serde(default)]
    releasable: Option<String>,
    #[serde(default)]
    window: Option<u32>,
    /// Where it is written, as `state file agrees`.
    #[serde(default)]
    surfaces: Option<Vec<String>>,
}

/// The expectations for one window.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectWindow {
    pid: u32,
    #[serde(default)]
    agent: Option<String>,
    /// `4711 agent-pid` and the like.
    #[serde(default)]
    context: Option<String>,
    #[serde(default)]
    state: Option<String>,
    /// Whose turn it is: `working`, `your-turn`, `asks`, `stopped`, `quiet`; empty if that is not known.
    #[serde(default)]
    doing: Option<String>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    branch: Option<String>,
    /// `exact registry 95fe...` and the like: strength, evidence and session; empty for none.
    #[serde(default)]
    by: Option<String>,
    /// Where it is, in words; empty for nowhere.
    #[serde(default)]
    place: Option<String>,
    /// How full its context is: `170000 of 200000`, or tokens only.
    #[serde(default)]
    fill: Option<String>,
    /// The state of its turn.
    #[serde(default)]
    turn: Option<String>,
    /// Its processes, such as `bash 4712`; the last entry gives the number of further ones, if any.
    #[serde(default)]
    processes: Option<Vec<String>>,
}

/// Compares a report with its world's expectations and returns every difference.
pub(crate) fn differences(expect: &Expect, report: &Report) -> Vec<String> {
    let mut out = Vec::new();
    let mut found: Vec<&str> = report.findings.iter().map(|finding| finding.code.name()).collect();
    found.sort_unstable();
    let mut wanted: Vec<&str> = expect.findings.iter().map(String::as_str).collect();
    wanted.sort_unstable();
    if found != wanted {
        let told: Vec<String> =
            report.findings.iter().map(|f| format!("\n    {}: {}", f.code.name(), f.message)).collect();
        out.push(format!("findings: expected {wanted:?}, found {found:?}{}", told.concat()));
    }
    for part in &expect.messages {
        if !report.findings.iter().any(|finding| finding.message.to_string().contains(part)) {
            out.push(format!("no message contains {part:?}"));
        }
    }
    same("needs", expect.needs.as_ref(), sentences(report), &mut out);
    expect.left_over.iter().for_each(|wanted| check_left_over(wanted, report, &mut out));
    let stashes = report.left_stashes.iter();
    let stashes = stashes.map(|one| format!("{} {} {}", one.window_name, one.commit, one.files)).collect();
    same("left stashes", expect.left_stashes.as_ref(), stashes, &mut out);
    expect.left_tree.iter().for_each(|wanted| check_left_tree(wanted, report, &mut out));
    expect.record.iter().for_each(|wanted| check_record(wanted, report, &mut out));
    expect.claim.iter().for_each(|wanted| check_claim(wanted, report, &mut out));
    let claims: Vec<String> = report.claims.iter().map(claim_name).collect();
    if let Some(wanted) = expect.claims.as_ref().filter(|wanted| **wanted != claims) {
        out.push(format!("claims {claims:?}, not {wanted:?}"));
    }
    expect.window.iter().for_each(|wanted| check_window(wanted, report, &mut out));
    expect.finding.iter().for_each(|wanted| stories::check_finding(wanted, report, &mut out));
    expect.plan.iter().for_each(|wanted| plans::check_plan(wanted, report, &mut out));
    if let Some(pids) = &expect.windows {
        let found: Vec<u32> = report.windows.iter().map(|window| window.pid).collect();
        same("windows", Some(pids), found, &mut out);
    }
    out
}

pub(super) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    wanted: Option<&T>,
    found: T,
    out: &mut Vec<String>,
) {
    if let Some(wanted) = wanted.filter(|wanted| **wanted != found) {
        out.push(format!("{what}: expected {wanted:?}, found {found:?}"));
    }
}

/// Returns the JSON form of a value, without quotes.
pub(crate) fn json_name<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).expect("a value").as_str().unwrap_or_default().to_owned()
}

fn check_left_over(wanted: &ExpectLeftOver, report: &Report, out: &mut Vec<String>) {
    let one = report.left_overs.iter().find(|one| one.pid == wanted.pid);
    let found = one.map_or("none", |one| one.certainty.name());
    same(&format!("left-over {}", wanted.pid), Some(&wanted.certainty), found.to_owned(), out);
    if let Some(one) = one {
        same(
            &format!("below {}", wanted.pid),
            Some(&wanted.below),
            one.descendants().iter().map(|member| member.id.pid).collect(),
            out,
        );
        let window = one.window_name.as_ref().map(|name| name.raw().to_owned()).unwrap_or_default();
        same(&format!("window of {}", wanted.pid), wanted.window.as_ref(), window, out);
        let name = one.name.as_ref().map(|name| name.raw().to_owned()).unwrap_or_default();
        same(&format!("name of {}", wanted.pid), wanted.name.as_ref(), name, out);
        let refused = one.refused.clone().unwrap_or_default();
        if wanted
            .refused
            .as_ref()
            .is_some_and(|wanted| wanted.is_empty() != refused.is_empty() || !refused.contains(wanted))
        {
            out.push(format!("left-over {} refused: {refused}", wanted.pid));
        }
        if !one.why.contains(&wanted.why) {
            out.push(format!("left-over {}: {}", wanted.pid, one.why));
        }
    }
}

fn check_left_tree(wanted: &ExpectLeftTree, report: &Report, out: &mut Vec<String>) {
    let one = report.left_trees.iter().find(|one| one.path.raw() == wanted.path);
    let name = format!("working tree {}", wanted.path);
    same(&name, Some(&wanted.certainty), one.map_or("none", |one| one.certainty.name()).to_owned(), out);
    if let Some(one) = one {
        let window = one.window_name.as_ref().map(|name| name.raw().to_owned()).unwrap_or_default();
        same(&format!("window of {name}"), wanted.window.as_ref(), window, out);
        same(&format!("PID of {name}"), wanted.pid.as_ref(), one.window_pid.unwrap_or_default(), out);
        same(&format!("lock of {name}"), wanted.unlocks.as_ref(), one.releasable_lock.is_some(), out);
        if !one.why.contains(&wanted.why) {
            out.push(format!("{name}: {}", one.why));
        }
    }
}

fn check_record(wanted: &ExpectRecord, report: &Report, out: &mut Vec<String>) {
    let json = |record: &RecordView| serde_json::to_value(record.shape(report.taken_at)).expect("json");
    let path = |record: &RecordView| {
        let location = &json(record)["location"];
        let part = |name: &str| location[name].as_str().unwrap_or_default().to_owned();
        if location["path"].is_null() { format!("{} {}", part("table"), part("id")) } else { part("path") }
    };
    let Some(record) = report.records().find(|record| path(record).ends_with(&wanted.path)) else {
        return out.push(format!("no record at {}", wanted.path));
    };
    let name = &wanted.path;
    let verdict = format!("{} {}", json_name(&record.verdict.state), record.verdict.reason.name());
    same(&format!("{name} verdict"), wanted.verdict.as_ref(), verdict, out);
    same(&format!("{name} generation"), wanted.generation.as_ref(), json_name(&record.generation), out);
    let session = record.session_id.as_ref().map(|id| id.raw().to_owned()).unwrap_or_default();
    same(&format!("{name} session"), wanted.session.as_ref(), session, out);
    let role = record.holder_view().map(|holder| json_name(&holder.role)).unwrap_or_default();
    same(&format!("{name} role"), wanted.role.as_ref(), role, out);
    same(&format!("{name} stale"), wanted.stale.as_ref(), record.is_stale, out);
    let window = report.windows.iter().find(|window| Some(&window.key) == record.window.as_ref());
    same(&format!("{name} window"), wanted.window.as_ref(), window.map_or(0, |window| window.pid), out);
}

fn claim_name(claim: &ClaimView) -> String {
    format!("{} {}", claim.resource.kind.name(), claim.resource.id.raw())
}

fn check_claim(wanted: &ExpectClaim, report: &Report, out: &mut Vec<String>) {
    let Some(claim) = report.claims.iter().find(|claim| claim_name(claim) == wanted.resource) else {
        return out.push(format!("no claim {}", wanted.resource));
    };
    let what = &wanted.resource;
    same(&format!("{what} status"), Some(&wanted.status), json_name(&claim.status), out);
    same(&format!("{what} releasable"), wanted.releasable.as_ref(), json_name(&claim.releasable), out);
    let window = report.windows.iter().find(|window| Some(&window.key) == claim.window.as_ref());
    same(&format!("{what} window"), wanted.window.as_ref(), window.map_or(0, |window| window.pid), out);
    let surfaces = claim.surfaces.iter();
    let surfaces = surfaces.map(|one| format!("{} {}", one.name, json_name(&one.state))).collect();
    same(&format!("{what} surfaces"), wanted.surfaces.as_ref(), surfaces, out);
}

fn check_window(wanted: &ExpectWindow, report: &Report, out: &mut Vec<String>) {
    let Some(window) = report.windows.iter().find(|window| window.pid == wanted.pid) else {
        return out.push(format!("no window {}", wanted.pid));
    };
    let name = wanted.pid;
    same(&format!("{name} agent"), wanted.agent.as_ref(), window.agent.raw().to_owned(), out);
    let context = format!("{} {}", window.context_id.value.raw(), json_name(&window.context_id.source));
    same(&format!("{name} context"), wanted.context.as_ref(), context, out);
    same(&format!("{name} state"), wanted.state.as_ref(), json_name(&window.state), out);
    let doing = window.doing.as_ref().map(json_name).unwrap_or_default();
    same(&format!("{name} doing"), wanted.doing.as_ref(), doing, out);
    let session = window.session_id.as_ref().map(|id| id.raw().to_owned()).unwrap_or_default();
    same(&format!("{name} session"), wanted.session.as_ref(), session, out);
    let by = window
        .session
        .as_ref()
        .map(|session| format!("{} {} {}", json_name(&session.strength), session.evidence.fact, session.id));
    same(&format!("{name} by"), wanted.by.as_ref(), by.unwrap_or_default(), out);
    same(&format!("{name} place"), wanted.place.as_ref(), window.place.to_text().unwrap_or_default(), out);
    let context = window.work.as_ref().and_then(|work| work.doing.context);
    let fill = context.map(|fill| match fill.window {
        Some(size) => format!("{} of {size}", fill.tokens),
        None => fill.tokens.to_string(),
    });
    same(&format!("{name} fill"), wanted.fill.as_ref(), fill.unwrap_or_default(), out);
    let turn = window.work.as_ref().map(|work| json_name(&work.doing.turn.state)).unwrap_or_default();
    same(&format!("{name} turn"), wanted.turn.as_ref(), turn, out);
    let mut processes: Vec<String> =
        window.processes.iter().map(|process| format!("{} {}", process.name, process.pid)).collect();
    if window.more_processes > 0 {
        processes.push(format!("{} more", window.more_processes));
    }
    same(&format!("{name} processes"), wanted.processes.as_ref(), processes, out);
    let branch = window.repo.as_ref().and_then(|repo| repo.branch.as_ref()).map(|b| b.raw().to_owned());
    same(&format!("{name} branch"), wanted.branch.as_ref(), branch.unwrap_or_default(), out);
}
