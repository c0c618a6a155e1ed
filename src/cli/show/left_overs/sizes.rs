//! `leftovers --sizes`: how much lies in working trees that were left, and in the folders in which
//! agents let files pile up.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::cli::look;
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::Outcome;
use crate::cli::output::progress::Progress;
use crate::cli::output::{Shape, print, terminal_width};
use crate::core::model::text::json;
use crate::core::model::{FolderSize, Report, Untrusted};
use crate::present::text::age;
use crate::present::text::{megabytes, outside};
use crate::source::os::fence::Fence;
use crate::source::places::Places;
use crate::source::sizes::measure;

/// The name of the JSON schema of all that `leftovers` prints.
pub(crate) const SCHEMA: &str = "claimtop.leftovers.v1";

/// How long ago an old session was last written.
const OLD: SignedDuration = SignedDuration::from_hours(30 * 24);

/// What is said below the table.
const NOTHING_DONE: &str =
    "\nclaimtop parks none of these: no agent states that it never needs them again.\n";

/// What a folder lies in.
#[derive(Clone, Copy)]
enum Base {
    /// Claude Code's folder of settings.
    ClaudeConfig,
    Home,
    /// The temporary folder; its own one bears the user's number.
    Tmp,
}

/// A folder in which files pile up.
struct Growing {
    agent: &'static str,
    base: Base,
    folder: &'static str,
    /// What would be lost with it.
    lost: &'static str,
    is_session: fn(&Path) -> bool,
}

const SESSIONS: &str = "the sessions could not be resumed";

const GROWING: [Growing; 24] = [
    claudes("projects", SESSIONS, |path| has_end(path, "jsonl") && path.components().count() == 2),
    claudes("file-history", "sessions could not undo their edits", never),
    claudes("shell-snapshots", "shells of running windows lose their settings", never),
    claudes("session-env", "running windows may lose what their hooks have set", never),
    claudes("todos", "to-do lists of sessions", never),
    claudes("debug", "logs", never),
    claudes("backups", "earlier settings", never),
    claudes("jobs", "prompts and answers of background sessions", never),
    claudes("tasks", "task lists", never),
    claudes("plans", "plans of sessions", never),
    claudes("paste-cache", "what was pasted into earlier prompts", never),
    claudes("image-cache", "pictures of earlier prompts", never),
    claudes("uploads", "files given to sessions", never),
    claudes("downloads", "files fetched again", never),
    claudes("plugins/cache", "plugins, fetched again", never),
    claudes("telemetry", "usage statistics", never),
    claudes("statsig", "usage statistics", never),
    Growing {
        agent: "claude-code",
        base: Base::Tmp,
        folder: "claude-",
        lost: "output of tasks and scratch files, also of running windows",
        is_session: never,
    },
    other("playwright", ".cache/ms-playwright", "browsers, and the agents' logins in them", never),
    other("codex", ".codex/sessions", SESSIONS, |path| has_end(path, "jsonl")),
    other("codex", ".codex/log", "logs", never),
    other("gemini", ".gemini/tmp", SESSIONS, is_chat),
    other("qwen", ".qwen/projects", SESSIONS, is_chat),
    other("opencode", ".local/share/opencode", "all sessions: they are in one database", never),
];

const fn claudes(folder: &'static str, lost: &'static str, is_session: fn(&Path) -> bool) -> Growing {
    Growing { agent: "claude-code", base: Base::ClaudeConfig, folder, lost, is_session }
}

const fn other(
    agent: &'static str,
    folder: &'static str,
    lost: &'static str,
    is_session: fn(&Path) -> bool,
) -> Growing {
    Growing { agent, base: Base::Home, folder, lost, is_session }
}

fn never(_: &Path) -> bool {
    false
}

fn has_end(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|extension| extension == end)
}

fn is_chat(path: &Path) -> bool {
    let is_in_chats = path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "chats");
    is_in_chats && (has_end(path, "jsonl") || has_end(path, "json"))
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Output {
    schema: &'static str,
    taken_at: Timestamp,
    sizes: Vec<SizeRow>,
}

/// One folder and how much lies in it.
#[derive(Serialize)]
struct SizeRow {
    agent: Option<Untrusted>,
    path: Untrusted,
    #[serde(flatten)]
    size: FolderSize,
    /// What would be lost with it, in words.
    lost: &'static str,
}

/// Prints how much lies where.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn show(report: &Report, places: &Places, shape: Shape, progress: Progress) -> Outcome {
    let fence = places.fence();
    let old = report.taken_at.checked_sub(OLD).unwrap_or(Timestamp::MIN);
    let mut sizes = growing(places, &fence, old, &progress);
    sizes.extend(trees(report, &fence, old, &progress));
    drop(progress);
    let shown = Output { schema: SCHEMA, taken_at: report.taken_at, sizes };
    let text = match shape {
        Shape::Json => json::to_string_pretty(&shown)? + "\n",
        Shape::Text(_) if shown.sizes.is_empty() => "No folder of an agent was found.\n".to_owned(),
        Shape::Text(paint) => shown.table().laid_out(paint, terminal_width()) + NOTHING_DONE,
    };
    print(&text)?;
    Ok(look::exit(report))
}

impl Output {
    fn table(&self) -> Columns {
        let mut columns =
            Columns::new(&["SIZE", "FILES", "OLDEST", "SESSIONS", "OVER 30 D", "FOLDER", "WOULD BE LOST"]);
        for one in &self.sizes {
            let FolderSize { files, sessions, old_sessions, oldest, is_more } = &one.size;
            let least = if *is_more { "at least " } else { "" };
            let old = || format!("{} ({})", old_sessions.count, megabytes(old_sessions.bytes));
            columns.row([
                Cell::new(format!("{least}{}", megabytes(files.bytes))),
                Cell::new(files.count),
                Cell::maybe(oldest.map(|at| age::label_between(self.taken_at, at))),
                Cell::maybe(Some(sessions.count).filter(|count| *count > 0)),
                Cell::maybe(Some(old_sessions.count).filter(|count| *count > 0).map(|_| old())),
                Cell::new(outside(Some(&one.path))),
                Cell::new(one.lost),
            ]);
        }
        columns
    }
}

fn growing(places: &Places, fence: &Fence, old: Timestamp, progress: &Progress) -> Vec<SizeRow> {
    let sized = |one: &Growing| {
        let path: PathBuf = match one.base {
            Base::ClaudeConfig => places.claude_config.join(one.folder),
            Base::Home => places.home.join(one.folder),
            Base::Tmp => places.tmp.join(format!("{}{}", one.folder, rustix::process::geteuid().as_raw())),
        };
        progress.show(&format!("Measuring {}", Untrusted::from_path(&path)));
        let size = measure(Some(&path).filter(|path| fence.reaches(path))?, &one.is_session, old)?;
        Some(SizeRow {
            agent: Some(one.agent.into()),
            path: Untrusted::from_path(&path),
            size,
            lost: one.lost,
        })
    };
    GROWING.iter().filter_map(sized).collect()
}

fn trees(report: &Report, fence: &Fence, old: Timestamp, progress: &Progress) -> Vec<SizeRow> {
    let sized = |tree: &crate::core::model::LeftTree| {
        let path = Path::new(tree.path.raw());
        progress.show(&format!("Measuring {}", tree.path));
        let size = measure(Some(path).filter(|path| fence.reaches(path))?, &never, old)?;
        let lost = "see leftovers --trees";
        Some(SizeRow { agent: tree.agent.clone(), path: tree.path.clone(), size, lost })
    };
    report.left_trees.iter().filter_map(sized).collect()
}
