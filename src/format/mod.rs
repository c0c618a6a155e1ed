//! Every format that claimtop reads: where its files are, and what their bytes mean.
//!
//! Adding a format is one file here and its line in [`places`], [`FileKind`] and [`read`].

pub mod agent_locks;
pub mod agent_mail;
pub mod beads;
pub mod cells;
pub mod claude_code;
mod draft;
pub mod entire;
pub mod git;
pub mod json;
pub mod leo;
pub mod maia;
pub mod obra;
pub mod observability;
pub mod own;
mod strict;
pub mod time;
pub mod value;

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

pub use self::draft::Source;
use crate::core::model::file::FileImage;
use crate::core::model::host::Host;
use crate::core::model::own::Own;
use crate::core::model::record::Record;
use crate::core::model::record::format::Format;
use crate::core::model::row::Columns;
use crate::core::model::secret::hidden;
use crate::core::model::snapshot::BrokenFile;

/// A folder that formats keep their files in; the collector knows where each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The temporary folder.
    Tmp,
    /// The home.
    Home,
    /// Claude Code's configuration folder (`$CLAUDE_CONFIG_DIR`, else `~/.claude`).
    ClaudeConfig,
    /// The cache folder (`$XDG_CACHE_HOME`, else `~/.cache`).
    Cache,
    /// The git common directory of each repository.
    GitCommon,
    /// Every working tree of each repository.
    Worktree,
}

/// One folder to list, and which of its files matter.
pub struct Place {
    /// The system that keeps files there.
    pub format: Format,
    /// The folder that `dir` starts from.
    pub base: Base,
    /// The folder below `base`; empty for `base` itself; a part may be `*`.
    pub dir: &'static str,
    /// Tells what a file is by its name; `None` for files that are not this format's.
    pub recognise: fn(name: &str) -> Option<FileKind>,
}

/// What a file is, by its place and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// One of Maia's.
    Maia(maia::Kind),
    /// One of the observability system's.
    Observability(observability::Kind),
    /// One of the entire CLI's.
    Entire(entire::Kind),
    /// One of LEO's.
    Leo(leo::Kind),
    /// One of Claude Code's.
    ClaudeCode(claude_code::Kind),
    /// One of git's.
    Git(git::Kind),
    /// One of beads'.
    Beads(beads::Kind),
    /// A file reservation of mcp_agent_mail's.
    AgentMail,
    /// A lock of Codex's or Copilot's.
    AgentLock(agent_locks::Kind),
    /// One of a format that a person has described.
    Own(Own),
}

/// Every folder of every format.
pub fn places() -> impl Iterator<Item = &'static Place> {
    [
        maia::PLACES,
        observability::PLACES,
        entire::PLACES,
        leo::PLACES,
        claude_code::PLACES,
        git::PLACES,
        beads::PLACES,
        agent_mail::PLACES,
        agent_locks::PLACES,
    ]
    .into_iter()
    .flatten()
}

/// Returns what a format takes a file for, by its name and the end of its folder.
pub fn kind_at(format: Format, path: &Path) -> Option<FileKind> {
    if let Format::Own(own) = format {
        return Some(FileKind::Own(own));
    }
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let mut here: Vec<&Place> =
        places().filter(|place| place.format == format && is_in(folder, place.dir)).collect();
    // The longest folder is the one that is meant: every folder ends with none.
    here.sort_by_key(|place| {
        std::cmp::Reverse(place.dir.split('/').count() * usize::from(!place.dir.is_empty()))
    });
    here.into_iter().find_map(|place| (place.recognise)(name))
}

/// Returns whether a system lists a folder of this name outside of repositories, or the folders in
/// it.
pub fn is_listed(folder: &Path) -> bool {
    let is_own = |place: &&Place| !matches!(place.base, Base::GitCommon | Base::Worktree);
    places().filter(is_own).filter(|place| !place.dir.is_empty()).any(|place| {
        is_in(folder, place.dir) || place.dir.strip_suffix("/*").is_some_and(|dir| is_in(folder, dir))
    })
}

/// Returns whether a folder ends with a place's parts.
fn is_in(folder: &Path, dir: &str) -> bool {
    let mut above = folder.iter().rev();
    dir.split('/')
        .filter(|part| !part.is_empty())
        .rev()
        .all(|part| above.next().is_some_and(|own| part == "*" || own == part))
}

/// What one file gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// A record, with its problems inside.
    Record(Arc<Record>),
    /// Nothing usable: what is wrong.
    Broken(BrokenFile),
    /// A file of the system that means nothing to claimtop.
    Ignored,
}

/// What a parser may know besides the bytes.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The machine, for zones and host names.
    pub host: &'a Host,
    /// The moment of the look.
    pub now: Timestamp,
}

/// Reads one file: total, for any bytes.
pub fn read(kind: FileKind, file: &FileImage, reading: &Reading<'_>) -> Parsed {
    match parsed(kind, file, reading) {
        Parsed::Record(record) => Parsed::Record(draft::finished(Arc::unwrap_or_clone(record))),
        Parsed::Broken(mut broken) => {
            broken.problem.message = (*hidden(&broken.problem.message)).into();
            Parsed::Broken(broken)
        }
        Parsed::Ignored => Parsed::Ignored,
    }
}

fn parsed(kind: FileKind, file: &FileImage, reading: &Reading<'_>) -> Parsed {
    match kind {
        FileKind::Maia(kind) => maia::read(kind, file, reading),
        FileKind::Observability(kind) => observability::read(kind, file, reading),
        FileKind::Entire(kind) => entire::read(kind, file, reading),
        FileKind::Leo(kind) => leo::read(kind, file, reading),
        FileKind::ClaudeCode(kind) => claude_code::read(kind, file, reading),
        FileKind::Git(kind) => git::read(kind, file, reading),
        FileKind::Beads(kind) => beads::read(kind, file, reading),
        FileKind::AgentMail => agent_mail::read(file, reading),
        FileKind::AgentLock(kind) => agent_locks::read(kind, file, reading),
        FileKind::Own(own) => own::read(own, file, reading),
    }
}

/// A release as its rows are to tell of it.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// The moment.
    pub at: Timestamp,
    /// Why, in words.
    pub why: &'a str,
}

/// Returns what a row is after its release by the rule of its system; `None` when it holds
/// nothing that could be let go.
pub fn released(format: Format, table: &str, before: &Columns, release: Release<'_>) -> Option<Columns> {
    match format {
        Format::Obra => obra::released(table, before, release),
        Format::Leo => leo::database::released(table, before, release.why),
        Format::Maia
        | Format::Observability
        | Format::Entire
        | Format::ClaudeCode
        | Format::Git
        | Format::Beads
        | Format::AgentMail
        | Format::Codex
        | Format::Copilot
        | Format::Own(_) => None,
    }
}

/// Returns whether a system's database is a file, which is copied before it is changed.
pub fn is_backed_up(format: Format) -> bool {
    format == Format::Obra
}
