//! Real session files, cut after a line: claimtop's view of a window that has written this much equals a person's, by
//! the table in `tests/pure/cuts.toml`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use claimtop::core::assess::assess;
use claimtop::core::model::{Call, Doing, Format, Medium, Target, Untrusted, Waiting, WindowView, Work};
use claimtop::testing::format::{Cells, doing, opencode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::common;
use crate::common::policy;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    session: Vec<Session>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    /// `None` if only its registry's entry or its hook is known.
    path: Option<String>,
    agent: String,
    folder: String,
    cuts: Vec<Cut>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cut {
    line: Option<usize>,
    at: Option<i64>,
    told: Option<String>,
    #[serde(flatten)]
    says: Says,
}

/// The reported work of a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Says {
    turn: String,
    calls: Vec<String>,
    edits: Vec<String>,
    tokens: Option<u64>,
    percent: Option<u64>,
    waits: String,
}

/// Returns the text of a real file, if it exists.
fn fixture(path: &str) -> Option<String> {
    let root = std::env::var_os("CLAIMTOP_FIXTURES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures"), PathBuf::from);
    let is_there = root.is_dir();
    is_there.then(|| std::fs::read_to_string(root.join("work").join(path)).unwrap())
}

/// The moment at which a registry's process started by its own record, in ticks and for people.
const BOOTED: &str = "2026-11-22T10:00:04.623Z";
const STARTED: &str = "tick 521704";
const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

/// Makes the world of one window that runs a session; the last argument is its registry's entry or its hook's.
fn world(session: &Session, told: Option<&str>) -> (String, String) {
    let agent = session.agent.as_str();
    let runs_as = match agent {
        "claude-code" => "name = \"claude\"".to_owned(),
        "codex" => "name = \"codex\"".to_owned(),
        "opencode" => {
            "name = \"opencode\"\nexe = \"/o/node_modules/opencode-ai/bin/opencode.exe\"".to_owned()
        }
        _ => format!("name = \"node\"\nargv = [\"/usr/bin/node\", \"/x/node_modules/.bin/{agent}\"]"),
    };
    let told: Option<Value> = told.map(|text| serde_json::from_str(text).unwrap());
    let of = |key| told.as_ref().and_then(|told| told[key].as_str());
    let id = of("sessionId").or(of("session_id")).unwrap_or(SESSION).to_owned();
    let runs = format!("pid = 29242\nstarted = \"{STARTED}\"");
    let mut text = format!(
        "title = \"a cut\"\nexpect.findings = []\n[host]\nnow = \"2026-11-22T12:00:00Z\"\nbooted = \"{BOOTED}\"\n\
         machine_id = \"{:032}\"\n         [[process]]\n{runs_as}\n{runs}\ncwd = \"{}\"\n",
        0, session.folder
    );
    let binding = format!("[[binding]]\nsession = \"{id}\"\nagent = \"{agent}\"\n{runs}\n");
    text.push_str(&binding);
    match told {
        Some(entry) if of("status").is_some() => {
            text.push_str(&format!(
                "[[file]]\npath = \"~/.claude/sessions/29242.json\"\ntext = '''{entry}'''\n"
            ));
        }
        Some(hook) => text.push_str(&format!("{binding}hook = '''{hook}'''\n")),
        None => {}
    }
    (text, id)
}

/// Returns the reported work of a window that has written this much of a session file.
fn says(session: &Session, written: Doing, told: Option<&str>) -> Says {
    let (world, id) = world(session, told);
    let mut snapshot = common::parse(&world, "a cut").snapshot();
    let format = Format::ALL.into_iter().find(|format| format.name() == session.agent).unwrap();
    snapshot.work = vec![Arc::new(Work {
        format,
        session: id.as_str().into(),
        path: PathBuf::from("/home/dev/session").into(),
        medium: Medium::Local,
        written_at: "2026-11-22T11:59:00Z".parse().unwrap(),
        // The window of this world is younger than the recorded lines.
        doing: Doing { heard_at: None, ..written },
        agents: Vec::new(),
        warnings: Vec::new(),
        skipped: 0,
    })];
    let report = assess(&snapshot, policy());
    assert_eq!(report.windows.len(), 1, "{world}");
    said(&report.windows[0], &session.folder)
}

fn said(window: &WindowView, folder: &str) -> Says {
    let doing = &window.work.as_ref().unwrap().doing;
    Says {
        turn: serde_json::to_value(doing.turn.state).unwrap().as_str().unwrap().to_owned(),
        calls: doing.calls.iter().map(|call| called(call, folder)).collect(),
        edits: doing.edits.iter().map(|edit| below(&edit.path, folder)).collect(),
        tokens: doing.context.map(|fill| fill.tokens),
        percent: doing.context.and_then(|fill| fill.percent()),
        waits: window.waiting.as_ref().map(|waiting| wait(waiting, folder)).unwrap_or_default(),
    }
}

fn wait(waiting: &Waiting, folder: &str) -> String {
    let wants = serde_json::to_value(&waiting.wants).unwrap().as_str().unwrap().to_owned();
    waiting.call.as_ref().map_or(wants.clone(), |call| format!("{wants}: {}", called(call, folder)))
}

/// Describes a call by its tool, the kind of its target, and the target: the path of a file, otherwise the first word.
fn called(call: &Call, folder: &str) -> String {
    let first = |text: &Untrusted| text.raw().split(' ').next().unwrap_or_default().to_owned();
    let (kind, target) = match &call.target {
        None => return call.tool.raw().to_owned(),
        Some(Target::File(path)) => ("file", below(path, folder)),
        Some(Target::Command(text)) => ("command", first(text)),
        Some(Target::Search(text)) => ("search", first(text)),
        Some(Target::Url(text)) => ("url", first(text)),
        Some(Target::Agent(text)) => ("agent", first(text)),
        Some(Target::Question(text)) => ("question", first(text)),
    };
    format!("{} {kind} {target}", call.tool.raw())
}

/// Returns a path relative to a folder; one outside of it stays whole, and one that is not absolute begins with a dot.
fn below(path: &Untrusted, folder: &str) -> String {
    match path.raw().strip_prefix(&format!("{folder}/")) {
        Some(below) => below.to_owned(),
        None if path.raw().starts_with('/') => path.raw().to_owned(),
        None => format!("./{}", path.raw()),
    }
}

/// Reads a text up to a line, or rows as they were at a moment.
fn written(session: &Session, cut: &Cut) -> Option<Doing> {
    let Some(path) = &session.path else { return Some(Doing::default()) };
    let text = fixture(path)?;
    if let Some(at) = cut.at {
        return Some(rows_at(&serde_json::from_str(&text).unwrap(), at));
    }
    let lines: Vec<&str> = text.lines().take(cut.line.unwrap()).collect();
    let format = Format::ALL.into_iter().find(|format| format.name() == session.agent).unwrap();
    doing(format, &lines.join("\n"))
}

/// Reads a session's rows without those written after a moment.
fn rows_at(tables: &Value, at: i64) -> Doing {
    let is_there = |row: &&Value| row["time_created"].as_i64().unwrap() <= at;
    let rows = |table: &str, rewind: fn(&mut Value, i64)| -> Vec<Cells> {
        let rows = tables[table].as_array().unwrap().iter().filter(is_there).cloned();
        rows.map(|mut row| {
            rewind(&mut row["data"], at);
            cells(&row)
        })
        .collect()
    };
    let (messages, parts) = (rows("message", reopen), rows("part", run_again));
    opencode::doing(opencode::Rows { messages: &messages, parts: &parts, ..Default::default() }).0
}

fn reopen(message: &mut Value, at: i64) {
    if message["time"]["completed"].as_i64().is_some_and(|ended| ended > at) {
        message["time"] = json!({ "created": message["time"]["created"] });
        message["finish"] = Value::Null;
        message["tokens"] = json!({ "input": 0, "cache": { "read": 0, "write": 0 } });
    }
}

fn run_again(part: &mut Value, at: i64) {
    if part["state"]["time"]["end"].as_i64().is_some_and(|ended| ended > at) {
        let runs = part["state"]["time"]["start"].as_i64().unwrap() <= at;
        part["state"]["status"] = json!(if runs { "running" } else { "pending" });
    }
}

fn cells(row: &Value) -> Cells {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Cells(row.as_object().unwrap().iter().map(|(column, value)| (column.clone(), text(value))).collect())
}

#[test]
fn what_is_said_of_a_window_is_what_a_person_reads_in_its_file() {
    let table: Table = toml::from_str(include_str!("cuts.toml")).unwrap();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for session in &table.session {
        for cut in &session.cuts {
            let told = cut.told.as_deref().map(fixture);
            let (Some(written), Some(told)) =
                (written(session, cut), told.map_or(Some(None), |it| it.map(Some)))
            else {
                return eprintln!("skipped: there is no ../shared/fixtures here");
            };
            let says = says(session, written, told.as_deref());
            checked += 1;
            if says != cut.says {
                let name = session.path.as_deref().or(cut.told.as_deref()).unwrap_or_default();
                wrong.push(format!(
                    "{name} {:?}{:?}\n  by hand {:?}\n  said    {says:?}",
                    cut.line, cut.at, cut.says
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} cuts differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked >= 200, "{checked} cuts are too few");
}
