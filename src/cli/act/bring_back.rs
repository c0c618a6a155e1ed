//! `bring-back`: the windows that have died without being closed, and their agents' own commands to go on.

use anyhow::anyhow;
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::act::open::{executor as acting, expect_access, looking};
use crate::cli::args::Consent;
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::{Exit, Failure, Outcome, of_action};
use crate::cli::output::{Paint, print, said_yes, terminal_width};
use crate::cli::settings::Settings;
use crate::core::model::Untrusted;
use crate::core::model::text::{json, shown};
use crate::core::plan::bring_back::ClosedWindow;
use crate::present::text::tone::Tone;
use crate::present::text::{age, count};
use crate::run::bring_back::{OpenResult, Opener};

/// What is printed as JSON.
#[derive(Serialize)]
struct Output<'a> {
    schema: &'static str,
    taken_at: Timestamp,
    windows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    closed: &'a ClosedWindow,
    /// What a person's own shell runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    /// What became of it; absent where it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    opened: Option<String>,
}

/// Lists the windows that have died without being closed, and brings back those that a person named.
///
/// # Errors
/// Nothing is called so, or it is not confirmed; claimtop is read-only.
pub(crate) fn run(settings: &Settings, subjects: &[String], all: bool, consent: &Consent) -> Outcome {
    let mut executor = looking(settings)?;
    let closed = executor.closed_windows();
    let chosen = chosen(&closed, subjects, all)?;
    let environment = &settings.environment;
    let opener = Opener::of_environment(environment.is_in_tmux, environment.is_in_zellij);
    let paint = Paint::for_stdout(settings.effective.config.color);
    let now = executor.now();
    let shown: Vec<&ClosedWindow> = if chosen.is_empty() { closed.iter().collect() } else { chosen.clone() };
    if !consent.json {
        print(&listed(&shown, now, paint))?;
        print(&unlisted(settings))?;
    }
    let can_open = chosen.iter().filter(|one| one.refusal.is_none()).count();
    let is_confirmed = !consent.dry_run && can_open > 0 && {
        let question = format!("Bring back {} {}", count(can_open, "window"), opener.place_words());
        consent.yes || (!consent.json && opener != Opener::Nobody && said_yes(&question)?)
    };
    if is_confirmed {
        expect_access(settings)?;
    }
    let opened: Vec<Option<OpenResult>> = if opener == Opener::Nobody {
        chosen.iter().map(|one| Some(opener.open(one))).collect()
    } else if is_confirmed {
        // A person may have answered long after the look.
        let sessions: Vec<Untrusted> = chosen.iter().map(|one| one.session.clone()).collect();
        let opened = opener.reopen(&mut acting(settings)?, &sessions).map_err(of_action)?;
        opened.into_iter().map(Some).collect()
    } else {
        chosen.iter().map(|_| None).collect()
    };
    if consent.json {
        print_json(&shown, &chosen, &opened, now)?;
    } else {
        print(&outcomes(&chosen, &opened))?;
    }
    let is_done = match consent.dry_run {
        true => chosen.iter().all(|one| one.refusal.is_none()),
        false => opened.iter().all(|one| matches!(one, Some(OpenResult::There(_) | OpenResult::Run(_)))),
    };
    Ok(if is_done { Exit::Fine } else { Exit::Refused })
}

/// Returns the windows that are meant.
fn chosen<'a>(
    closed: &'a [ClosedWindow],
    subjects: &[String],
    all: bool,
) -> Result<Vec<&'a ClosedWindow>, Failure> {
    if all {
        return Ok(closed.iter().collect());
    }
    let mut chosen: Vec<&ClosedWindow> = Vec::new();
    for subject in subjects {
        let found: Vec<&ClosedWindow> = closed.iter().filter(|one| one.is_called(subject)).collect();
        if found.is_empty() {
            let error = anyhow!("no window that died without being closed is called {}", shown(subject));
            return Err(Failure::usage(error).hint("claimtop bring-back lists them"));
        }
        chosen.extend(found.into_iter().filter(|one| !chosen.contains(one)).collect::<Vec<_>>());
    }
    Ok(chosen)
}

fn listed(windows: &[&ClosedWindow], now: Timestamp, paint: Paint) -> String {
    if windows.is_empty() {
        return "No window has died without being closed, as far as is known.\n".to_owned();
    }
    let mut columns =
        Columns::new(&["NAME", "AGENT", "SESSION", "LAST SEEN", "FOLDER", "WAS DOING", "WHY NOT"]);
    for one in windows {
        let session: String = one.session.shown().chars().take(8).collect();
        columns.row([
            Cell::new(&one.name),
            Cell::new(one.agent),
            Cell::new(session).toned(Tone::Dim),
            Cell::new(format!("{} ago", age::label_between(now, one.last_seen_at))),
            Cell::new(one.folder_words()),
            Cell::maybe(one.doing.as_ref()),
            Cell::maybe(one.refusal.as_deref().map(shown)).toned(Tone::Notice),
        ]);
    }
    columns.laid_out(paint, terminal_width())
}

/// Names the agents that are used here and state nowhere which window runs which of their sessions.
fn unlisted(settings: &Settings) -> String {
    let home = &settings.places.home;
    let is_used = |folder: &str| home.join(folder).is_dir();
    let agents = [
        (".codex/sessions", "Codex (`codex resume` lists its sessions)"),
        (".local/share/opencode", "opencode (`opencode session list`)"),
    ];
    let used: Vec<&str> =
        agents.iter().filter(|(folder, _)| is_used(folder)).map(|(_, name)| *name).collect();
    if used.is_empty() {
        return String::new();
    }
    let which =
        "state nowhere which window runs which session, so that dead windows of theirs may be missing";
    format!("{} {which}.\n", used.join(" and "))
}

/// Says what became of each.
fn outcomes(chosen: &[&ClosedWindow], opened: &[Option<OpenResult>]) -> String {
    let lines = chosen.iter().zip(opened).filter_map(|(one, opened)| {
        Some(format!("{}: {}\n", one.name.shown(), opened.as_ref()?.outcome_words()))
    });
    let lines: String = lines.collect();
    let is_open = chosen.is_empty() || !lines.is_empty();
    if is_open { lines } else { "Nothing was opened; --yes opens them.\n".to_owned() }
}

fn print_json(
    shown: &[&ClosedWindow],
    chosen: &[&ClosedWindow],
    opened: &[Option<OpenResult>],
    taken_at: Timestamp,
) -> Result<(), Failure> {
    let windows = shown.iter().map(|closed| {
        let at = chosen.iter().position(|one| one.session == closed.session);
        let opened = at.and_then(|at| opened.get(at)?.as_ref()).map(|opened| match opened {
            OpenResult::Run(_) => "to be run by hand".to_owned(),
            OpenResult::There(_) | OpenResult::No(_) => opened.outcome_words(),
        });
        Row { closed, line: closed.line().filter(|_| closed.refusal.is_none()), opened }
    });
    let windows = windows.collect();
    let output = Output { schema: "claimtop.bring-back.v1", taken_at, windows };
    print(&format!("{}\n", json::to_string_pretty(&output)?))
}
