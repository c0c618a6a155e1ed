//! The files of a session, read whole and with care: plain files of this user's alone.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::core::model::{Format, Untrusted};
use crate::format::agent::bytes::{Bounds, Stream, claude, codex, copilot, gemini, qwen};
use crate::format::reading::surrogates::replace_lone;
use crate::format::spec;
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::plain::{open_plain, read_at};
use crate::source::versions::session::{SessionFiles, VersionsError};
use crate::source::versions::sieve::{TranscriptLines, sieved};
use crate::source::work::find::rollout;

/// How much of a transcript is read, its end, in bytes.
pub(super) const MOST: u64 = 8 << 30;
/// The largest index of copies that is read, in bytes.
const MOST_INDEX: usize = 64 << 20;
/// The most transcripts of sub-agents that are read.
const MOST_AGENTS: usize = 500;
/// The most of them altogether, in bytes.
const MOST_OF_AGENTS: u64 = 1 << 30;

/// A file of a session that was read.
pub(super) struct Text {
    /// The sub-agent that it belongs to.
    pub(super) sub_agent: Option<Untrusted>,
    pub(super) bytes: Vec<u8>,
    /// How many parts of it were left out because they exceed a bound.
    pub(super) left_out: u64,
}

impl Text {
    fn new(sub_agent: Option<Untrusted>, TranscriptLines { mut lines, left_out }: TranscriptLines) -> Self {
        // A file that was written from such a text has the replacement too.
        replace_lone(&mut lines);
        Self { sub_agent, bytes: lines, left_out }
    }

    pub(super) fn stream(&self) -> Stream<'_> {
        Stream { sub_agent: self.sub_agent.clone(), text: &self.bytes }
    }
}

/// Reads the files of a session, its own first.
pub(super) fn texts(session: &SessionFiles, fence: &Fence) -> Result<Vec<Text>, VersionsError> {
    let path = session.file.clone();
    let marks = marks(session.format);
    let bounds = (MOST, Bounds::USUAL.line);
    let own = sieved(&path, marks, bounds, fence).map_err(|source| VersionsError::File { path, source })?;
    let more = if session.format == Format::Copilot {
        index(session, fence).into_iter().collect()
    } else {
        sub_agents(session, (&own.lines, marks), fence)
    };
    let own = Text::new(None, own);
    Ok(std::iter::once(own).chain(more).collect())
}

/// Returns what the lines have that are to be read.
fn marks(format: Format) -> &'static [&'static str] {
    let all = [
        (Format::ClaudeCode, claude::LINES),
        (Format::Codex, codex::LINES),
        (Format::Gemini, gemini::LINES),
        (Format::Qwen, qwen::LINES),
        (Format::Copilot, copilot::LINES),
    ];
    all.into_iter().find(|(own, _)| *own == format).map(|(_, lines)| lines).unwrap_or_default()
}

/// Reads the index of Copilot's copies.
fn index(session: &SessionFiles, fence: &Fence) -> Option<Text> {
    let path = session.file.parent()?.join("rewind-file-snapshots/index.json");
    let bytes = bounded(&path, MOST_INDEX, fence).ok()?;
    Some(Text { sub_agent: None, bytes, left_out: 0 })
}

/// Reads a file of this user's that is no larger than a bound.
pub(super) fn bounded(path: &Path, most: usize, fence: &Fence) -> Result<Vec<u8>, Errno> {
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let bytes = up_to(path, most.saturating_add(1), fence)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= most => Ok(bytes),
        _ => Err(Errno::FBIG),
    }
}

/// Reads a file of this user's, or its end.
fn up_to(path: &Path, most: u64, fence: &Fence) -> Result<Vec<u8>, Errno> {
    if !fence.reaches(path) {
        return Err(Errno::ACCESS);
    }
    let (fd, meta) = open_plain(path)?;
    if meta.ownership.uid != rustix::process::geteuid().as_raw() {
        return Err(Errno::PERM);
    }
    let length = usize::try_from(meta.size.min(most)).map_err(|_| Errno::FBIG)?;
    read_at(&fd, meta.size.saturating_sub(most), length, 0)
}

/// Reads the transcripts of a session's sub-agents.
fn sub_agents(session: &SessionFiles, (own, marks): (&[u8], &[&'static str]), fence: &Fence) -> Vec<Text> {
    let mut left = MOST_OF_AGENTS;
    let read = |(id, path): (Untrusted, PathBuf)| {
        let text = sieved(&path, marks, (left, Bounds::USUAL.line), fence).ok()?;
        left = left.saturating_sub(path.symlink_metadata().map_or(0, |meta| meta.len()));
        Some(Text::new(Some(id), text))
    };
    let files = if session.format == Format::Codex { of_threads(session, own) } else { in_folders(session) };
    files.into_iter().take(MOST_AGENTS).filter_map(read).collect()
}

/// Finds those in folders beside the session's file, also those of its workflows.
pub(super) fn in_folders(session: &SessionFiles) -> Vec<(Untrusted, PathBuf)> {
    let agents = spec(session.format).and_then(|spec| spec.transcripts?.sub_agents);
    let Some(folder) = agents.and_then(|agents| (agents.folder)(&session.file)) else { return Vec::new() };
    let flows = names(&folder.join("workflows"), |name| name.starts_with("wf_"));
    let folders = std::iter::once(folder).chain(flows);
    let files = folders.flat_map(|folder| names(&folder, |name| id_of(name).is_some()));
    files.filter_map(|path| Some((path.file_name().and_then(OsStr::to_str).and_then(id_of)?, path))).collect()
}

/// Finds those that are threads: each has its file in the folder of the day on which it was made.
fn of_threads(session: &SessionFiles, own: &[u8]) -> Vec<(Untrusted, PathBuf)> {
    // `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`
    let Some(sessions) = session.file.ancestors().nth(4) else { return Vec::new() };
    let file = |thread: &Untrusted| rollout(sessions, thread.raw(), &format!("-{}.jsonl", thread.raw()));
    codex::threads(own).into_iter().filter_map(|thread| Some((thread.clone(), file(&thread)?))).collect()
}

fn names(folder: &Path, fits: fn(&str) -> bool) -> Vec<PathBuf> {
    let names =
        Folder::open(folder).and_then(|folder| folder.entries(|name| name.to_str().is_some_and(fits)));
    names.unwrap_or_default().into_iter().map(|entry| folder.join(entry.name)).collect()
}

fn id_of(name: &str) -> Option<Untrusted> {
    name.strip_prefix("agent-")?.strip_suffix(".jsonl").filter(|id| !id.is_empty()).map(Into::into)
}
