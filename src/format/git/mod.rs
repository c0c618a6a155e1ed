//! Git's own locks: `index.lock` and its like, `gc.pid`, and the locks of working trees.
//!
//! A lock file does not name a process: git makes it, holds it and renames it, and a git that is killed leaves it
//! behind. Processes show which git lives (`core::liveness`). A working tree's `locked` holds a free reason
//! (git-worktree(1), `lock`), in which agents name themselves.

pub(crate) mod events;
pub(crate) mod log;
mod reason;
#[cfg(test)]
mod tests;

use crate::core::model::{
    Binding, BrokenFile, Content, FileImage, Format, GitLock, Holder, HolderNames, Record, RecordDetail,
    RecordKind, Refusal, ResourceKind, Role, StatedClaim, StatedPid, Untrusted,
};
use crate::format::reading::draft;
use crate::format::reading::json;
use crate::format::reading::json::parsed;
use crate::format::reading::place::place;
use crate::format::reading::{FileContents, Reading};
use crate::format::spec::Spec;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A lock for the length of one command: its file is the new version of what it locks.
    Command,
    /// `gc.pid`: the PID and the host of a running `git gc` (gitrepository-layout(5)).
    Gc,
    /// `worktrees/<id>/locked`: why a working tree may not be pruned, moved or removed.
    Worktree,
}

/// The locks that block processes in a tree, and what each is of.
const LOCKS: [(&str, &str); 5] = [
    ("index.lock", "index"),
    ("HEAD.lock", "head"),
    ("config.lock", "configuration"),
    ("packed-refs.lock", "packed refs"),
    ("shallow.lock", "shallow commits"),
];

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[
    place!(Git, GitCommon, "worktrees/*", in_worktree => read),
    place!(Git, GitCommon, "", in_common => read),
]);

fn in_worktree(name: &str) -> Option<Kind> {
    (name == "locked").then_some(Kind::Worktree).or(command(name))
}

fn in_common(name: &str) -> Option<Kind> {
    (name == "gc.pid").then_some(Kind::Gc).or(command(name))
}

/// Returns whether a name is of a lock that git makes for the length of one command.
pub(crate) fn is_of_command(name: &str) -> bool {
    command(name).is_some()
}

fn command(name: &str) -> Option<Kind> {
    LOCKS.iter().any(|(lock, _)| *lock == name).then_some(Kind::Command)
}

fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    parsed(match kind {
        Kind::Command => of_command(file, reading),
        Kind::Gc => gc(file, reading),
        Kind::Worktree => worktree(file, reading),
    })
}

/// Reads a lock of which only the name matters: it can be large, and half written.
fn of_command(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    if !matches!(file.content, Content::Refused(Refusal::TooBig(_))) {
        json::bytes(Format::Git, file, reading)?;
    }
    let what = LOCKS.iter().find(|(lock, _)| *lock == file.name()).map_or("lock", |(_, what)| *what);
    let mut record = lock(what, file, reading);
    record.variant = "command lock";
    record.detail = RecordDetail::Git(GitLock::Command);
    record.holder = file
        .locked_by
        .map(|pid| Holder::new(StatedPid::from_number(pid.into()), Role::Unknown, Binding::Owner));
    Ok(record)
}

/// Reads `gc.pid`, such as `4711 desk`; git takes it for stale after 12 h.
fn gc(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let bytes = json::bytes(Format::Git, file, reading)?;
    let text = String::from_utf8_lossy(bytes);
    let mut words = text.split_ascii_whitespace();
    let pid = words.next().and_then(|pid| pid.parse().ok()).map(StatedPid::from_number);
    let pid = pid.ok_or_else(|| draft::unusable(Format::Git, file, reading, "it names no PID"))?;
    let mut record = lock("garbage collection", file, reading);
    record.variant = "gc lock";
    record.detail = RecordDetail::Git(GitLock::Gc);
    let host = words.next().map(Untrusted::from);
    let names = HolderNames { host, ..Default::default() }.kept();
    record.holder = Some(Holder { names, ..Holder::new(pid, Role::Unknown, Binding::Owner) });
    Ok(record)
}

/// Reads the lock of a working tree; its reason may name the agent that wrote it.
fn worktree(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let bytes = json::bytes(Format::Git, file, reading)?;
    let text = String::from_utf8_lossy(bytes.trim_ascii_end());
    let mut record = lock("working tree", file, reading);
    record.variant = "worktree lock";
    record.detail = RecordDetail::Git(GitLock::Worktree);
    let stated = reason::parse(&text, reading.host.platform);
    record.holder = stated.holder;
    record.session_id = stated.session;
    let reason = if text.is_empty() {
        "(none given)".into()
    } else {
        crate::format::reading::excerpt::excerpt(&text, 200)
    };
    record.facts = [("reason", reason)].into();
    Ok(record)
}

/// Starts the record of a lock on something of a repository or of one of its linked trees.
fn lock(what: &str, file: &FileImage, reading: &Reading<'_>) -> Record {
    let mut record = draft::record(Format::Git, RecordKind::Lock, file, reading);
    record.title = title(what, file).into();
    // Applies to content and names: a lock can be made elsewhere and linked into its place.
    record.written_at = file.meta.map_or(reading.now, |meta| meta.touched_at());
    record.started_at = Some(record.written_at);
    let (id, since) = (record.title.clone(), record.started_at);
    record.claims = vec![StatedClaim::new(ResourceKind::Lock, id, "lock file", since)];
    record.problems = json::ownership_problems(file, reading, None);
    record
}

/// Names a lock by the thing that it locks: `index of /src/shop`, `index of tree fix of /src/shop`.
fn title(what: &str, file: &FileImage) -> String {
    let folder = file.path.parent().map(Untrusted::from_path).unwrap_or_default();
    let (common, tree) = match folder.raw().rsplit_once("/worktrees/") {
        Some((common, id)) if !id.contains('/') => (common, Some(id)),
        _ => (folder.raw(), None),
    };
    let repo = common.strip_suffix("/.git").unwrap_or(common);
    match tree {
        Some(id) => format!("{what} {id} of {repo}"),
        None => format!("{what} of {repo}"),
    }
}
