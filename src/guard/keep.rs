//! Keeps what windows write: after an edit, before one that may empty the file, and before a shell line.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use jiff::{SignedDuration, Timestamp};

use crate::act::state::kept::prune::{KeptLimits, prune};
use crate::act::state::kept::saving::{SaveRules, is_elsewhere};
use crate::act::state::kept::{add, keep_content};
use crate::config::keep::Keep;
use crate::core::model::Untrusted;
use crate::core::model::snapshot::ledger::kept::{KeptReason, KeptVersion, LeftOut, is_secret_name};
use crate::core::model::text::hex;
use crate::format::hook::guard::Asker;
use crate::guard::query::Query;
use crate::source::os::clock;
use crate::source::own::content::FileContent;
use crate::source::own::kept::{KeptFiles, MOST_KEPT};
use crate::source::own::ledger::Tree;
use crate::source::repos::objects::Name;

/// The largest file that is kept unless a person wants larger ones too, in bytes.
const LARGE: u64 = 8 << 20;
/// How long a hook may spend on pruning: 20 ms. An open claimtop and the hooks of the next days do the rest.
const PRUNE_WITHIN: Duration = Duration::from_millis(20);
/// How much of the newest lists is read to find the last version of a file, in bytes.
pub(super) const NEWEST: usize = 2 << 20;

/// A version to keep.
pub(super) struct NewVersion<'a> {
    pub(super) path: &'a str,
    pub(super) content: &'a FileContent,
    /// The session and its agent.
    pub(super) whose: (&'a Untrusted, &'a Untrusted),
    pub(super) why: KeptReason,
    pub(super) at: Timestamp,
}

impl Query<'_> {
    /// Reads a file, as far as it may be kept; nothing if nothing is kept.
    pub(super) fn content_of(&self, path: &str) -> Option<FileContent> {
        let keep = self.scope.keep;
        let most = save_rules(keep).most;
        keep.files.then(|| FileContent::read(Path::new(path), most))
    }

    /// Returns what is kept of a working tree.
    pub(super) fn kept_of(&self, tree: &Tree) -> Option<KeptFiles> {
        let top = tree.text().filter(|_| self.scope.keep.files)?;
        Some(KeptFiles::of_tree(&self.scope.kept, top))
    }

    /// Keeps what a call has just written.
    pub(super) fn keep_edits(&self, tree: &Tree, at: Timestamp, read: &[(&String, Option<FileContent>)]) {
        let whose = (&self.question.session, &self.machine.agent);
        let found = read.iter().filter_map(|(path, content)| {
            let content = content.as_ref()?;
            Some(NewVersion { path, content, whose, why: KeptReason::Edit, at })
        });
        self.keep(tree, &found.collect::<Vec<_>>());
    }

    /// Keeps what files hold before an agent writes into them that empties them first: if it is ended right then,
    /// nothing else has that. What git or an earlier list has is not kept again.
    pub(super) fn keep_before(&self, asker: Asker, tree: &Tree, paths: &[String]) {
        let Some(files) = self.kept_of(tree).filter(|_| writes_in_place(asker)) else { return };
        let is_listed = |path: &str, name: &Name| {
            let digits = hex(name);
            let is_it = |one: &KeptVersion| one.blob.as_ref().is_some_and(|blob| blob.raw() == digits);
            files.has(name) && files.newest_of(&[path].into(), NEWEST).iter().any(is_it)
        };
        let read = |path: &'_ String| {
            let content = self.content_of(path)?;
            let name = content.name()?;
            let is_known = is_listed(path, name) || tree.has_content(Path::new(path), name, self.now);
            (!is_known).then_some((path.clone(), content))
        };
        let read: Vec<(String, FileContent)> = paths.iter().filter_map(read).collect();
        let whose = (&self.question.session, &self.machine.agent);
        let (why, at) = (KeptReason::Before, self.now);
        let found = read.iter().map(|(path, content)| NewVersion { path, content, whose, why, at });
        self.keep(tree, &found.collect::<Vec<_>>());
    }

    /// Keeps versions of files. A failure is only counted: it is no reason to fail the agent.
    pub(super) fn keep(&self, tree: &Tree, found: &[NewVersion<'_>]) {
        if !self.scope.keep.files || found.is_empty() {
            return;
        }
        if let Err(error) = self.try_keep(tree, found) {
            tracing::debug!("guard: {error:#}");
            self.keep_failed.set(self.keep_failed.get().saturating_add(1));
        }
    }

    fn try_keep(&self, tree: &Tree, found: &[NewVersion<'_>]) -> anyhow::Result<()> {
        let top = tree.text().context("the working tree's name is not UTF-8")?;
        let files = KeptFiles::of_tree(&self.scope.kept, top);
        let keep = |name: &Name, bytes: &[u8]| keep_content(&files, name, bytes, self.now);
        let (mut versions, mut failure) = (Vec::new(), None);
        for one in found {
            let version = self.version(tree, top, one);
            match (&version.blob, one.content) {
                (Some(_), FileContent::Whole(_, bytes, name)) => match keep(name, bytes) {
                    Ok(()) => versions.push(version),
                    Err(error) => failure = Some(error),
                },
                (_, FileContent::Unread) => {}
                (_, _) => versions.push(version),
            }
        }
        if versions.is_empty() {
            return failure.map_or(Ok(()), |error| Err(error.into()));
        }
        let is_first = add(&files, (top, self.now), &versions)?;
        for one in found {
            // It may have been pruned before the list named it.
            if let FileContent::Whole(_, bytes, name) = one.content
                && versions.iter().any(|version| version.blob.is_some() && version.path.raw() == one.path)
                && !files.has(name)
            {
                keep(name, bytes)?;
            }
        }
        if is_first {
            self.prune(tree, &files)?;
        }
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Describes a version, and whether its content is to be kept.
    fn version(&self, tree: &Tree, top: &str, found: &NewVersion<'_>) -> KeptVersion {
        let keep = self.scope.keep;
        let path = Path::new(found.path);
        let is_ignored = || !keep.ignored && tree.ignores(path, (self.now, &self.scope.home));
        let (meta, name) = match found.content {
            FileContent::Whole(meta, _, name) => (Some(meta), Some(name)),
            FileContent::Large(meta) => (Some(meta), None),
            FileContent::Absent | FileContent::Unread => (None, None),
        };
        let left_out = match (meta, name) {
            (None, _) => None,
            (Some(_), _) if !keep.secrets && is_secret_name(found.path) => Some(LeftOut::Secret),
            (Some(_), None) => Some(LeftOut::Large),
            (Some(_), Some(_)) => is_ignored().then_some(LeftOut::Ignored),
        };
        let (session, agent) = found.whose;
        KeptVersion {
            path: found.path.into(),
            at: found.at,
            session: session.clone(),
            agent: agent.clone(),
            blob: name.filter(|_| left_out.is_none()).map(|name| hex(name).into()),
            size: meta.map_or(0, |meta| meta.size),
            mode: meta.map_or(0, |meta| meta.ownership.mode.into()),
            why: found.why,
            call: self.question.call.clone().filter(|_| found.why != KeptReason::Other),
            top: top.into(),
            left_out,
        }
    }

    /// Removes what exceeds the limits, on the first version of a day, for a short time.
    fn prune(&self, tree: &Tree, files: &KeptFiles) -> anyhow::Result<()> {
        let top = tree.text().context("the working tree's name is not UTF-8")?;
        let limits = save_rules(self.scope.keep).limits;
        let is_elsewhere = is_elsewhere(Some(tree), self.now);
        let began = clock::steady();
        prune(files, (top, limits, self.now), is_elsewhere, || began.elapsed() < PRUNE_WITHIN)?;
        Ok(())
    }
}

/// Returns what a person lets claimtop keep.
pub(crate) fn save_rules(keep: Keep) -> SaveRules {
    let age = SignedDuration::from_hours(24 * i64::from(keep.days.max(1)));
    SaveRules {
        limits: KeptLimits { bytes: u64::from(keep.mib) << 20, age },
        most: if keep.large { MOST_KEPT } else { LARGE },
        ignored: keep.ignored,
        secrets: keep.secrets,
    }
}

/// Returns whether an agent empties a file before it writes it, so that its end in between leaves nothing (measured:
/// Codex, Gemini CLI, Copilot CLI and opencode write into the same inode; Claude Code and Qwen Code rename).
fn writes_in_place(asker: Asker) -> bool {
    match asker {
        Asker::Codex | Asker::Gemini | Asker::Copilot | Asker::Opencode => true,
        Asker::Claude | Asker::Qwen => false,
    }
}
