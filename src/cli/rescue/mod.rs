//! `rescue`: what windows wrote and is gone, from what hooks have kept and from transcripts.

mod bring;
pub(crate) mod keep;
mod out;
pub(crate) mod select;

use anyhow::anyhow;
use jiff::Timestamp;
use serde::Serialize;

use self::select::{Candidate, select};
use crate::cli::args::{Consent, RescueArguments};
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::progress::Progress;
use crate::cli::output::{Paint, Shape, print, terminal_width};
use crate::cli::settings::Settings;
use crate::core::assess::assess;
use crate::core::model::text::{hex, json};
use crate::core::model::{CommitState, EditState, Untrusted};
use crate::observe::Observer;
use crate::present::text::{age, safe};
use crate::present::versions::{source_words, state_words};

/// The name of the JSON schema.
const SCHEMA: &str = "claimtop.rescue.v1";

/// Looks once and shows, prints or writes the versions that are asked for.
///
/// # Errors
/// Nothing is known of what is asked for, a file to be written exists already, or the output cannot be written.
pub(crate) fn run(
    settings: &Settings,
    observer: &mut Observer,
    asked: &RescueArguments,
    shape: Shape,
) -> Outcome {
    let progress = Progress::begin(&settings.environment, "Looking at windows and their files");
    let snapshot = observer.look();
    let report = assess(&snapshot, observer.policy());
    progress.show("Reading transcripts and kept copies");
    let selected = select(settings, (&snapshot, &report), &asked.subjects)?;
    drop(progress);
    if asked.print {
        let newest: Vec<&Candidate> = selected.newest().collect();
        return match newest.as_slice() {
            [one] => out::print_bytes(&one.version),
            many => {
                let error = anyhow!("--print: {} files are selected, name one", many.len());
                Err(Failure::usage(error))
            }
        };
    }
    if let Some(folder) = &asked.to {
        return out::write_below(folder, &selected);
    }
    if asked.diff {
        print(&out::diffs(&selected))?;
        return Ok(Exit::Fine);
    }
    let Consent { dry_run, yes, confirm, .. } = &asked.consent;
    if *dry_run || *yes || confirm.is_some() || asked.beside || asked.merge {
        return bring::bring_back(settings, (&snapshot, &selected), asked);
    }
    match shape {
        Shape::Json => {
            let versions = selected.versions.iter().map(ShownVersion::of).collect();
            let shown =
                Output { schema: SCHEMA, taken_at: report.taken_at, versions, unread: &selected.unread };
            print(&format!("{}\n", json::to_string_pretty(&shown)?))?;
        }
        Shape::Text(paint) => print(&text(&selected, report.taken_at, paint))?,
    }
    Ok(Exit::Fine)
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Output<'a> {
    schema: &'static str,
    taken_at: Timestamp,
    versions: Vec<ShownVersion<'a>>,
    /// Why the transcripts of some sessions gave nothing.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unread: &'a [String],
}

/// One version.
#[derive(Serialize)]
struct ShownVersion<'a> {
    path: Untrusted,
    session: &'a Untrusted,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ended: bool,
    agent: &'a Untrusted,
    at: Timestamp,
    blob: String,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    from: &'static str,
    sure: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'static str>,
    state: EditState,
    committed: CommitState,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stash: Option<&'a Untrusted>,
}

impl<'a> ShownVersion<'a> {
    fn of(Candidate { version, label, fate }: &'a Candidate) -> Self {
        Self {
            path: Untrusted::from_path(&version.path),
            session: &version.session,
            window: label.who.as_deref(),
            title: label.title.as_deref(),
            ended: label.has_ended,
            agent: &version.agent,
            at: version.at,
            blob: hex(&version.blob),
            size: version.size,
            mode: version.mode,
            from: version.from.word(),
            sure: version.sure.word(),
            missing: version.sure.missing(),
            state: fate.state,
            committed: fate.committed,
            since: fate.since,
            stash: fate.stash.as_ref(),
        }
    }
}

/// Describes the versions to a person.
fn text(selected: &select::Selection, now: Timestamp, paint: Paint) -> String {
    if selected.versions.is_empty() {
        let mut text = String::from(
            "Nothing is known to be gone. Name a file, a session or a window to see its versions.\n",
        );
        selected.unread.iter().for_each(|why| text.push_str(&format!("{}\n", safe(why))));
        return text;
    }
    let mut table = Columns::new(&["FILE", "WINDOW", "WRITTEN", "SIZE", "FROM", "NOW"]);
    for Candidate { version, label, fate } in &selected.versions {
        let who = label.text(&version.session);
        let from = source_words(version.from.word(), version.sure);
        let (tone, state) = state_words(fate, now);
        table.row([
            Cell::new(Untrusted::from_path(&version.path).to_string()),
            Cell::new(safe(&who)),
            Cell::new(format!("{} ago", age::label_between(now, version.at))),
            Cell::new(format!("{} B", version.size)),
            Cell::new(from),
            Cell::new(state).toned(tone),
        ]);
    }
    let mut text = table.laid_out(paint, terminal_width());
    selected.unread.iter().for_each(|why| text.push_str(&format!("{}\n", safe(why))));
    text.push_str("\n--yes puts what is gone back in its place, --dry-run shows that plan; --beside writes it beside the file, --merge merges it; \
         --diff shows what differs; --print writes one file to the standard output, --to DIR all of them below a folder.\n");
    text
}
