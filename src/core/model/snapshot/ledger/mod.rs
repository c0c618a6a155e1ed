//! What guarded windows record: which files they have edited, and which warnings about others they received.

pub(crate) mod kept;
pub(crate) mod stash;

use std::ffi::OsStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use self::stash::StashLine;
use crate::core::model::report::context::is_valid_id;
use crate::core::model::{GitCommand, ProcessId, Untrusted};

/// The schema name of a ledger.
const SCHEMA: &str = "claimtop.ledger.v1";

/// The suffix of a file in which an open claimtop repeats what a window has recorded elsewhere.
const SEEN: &str = ".seen.jsonl";

/// One line of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LedgerLine {
    /// Its writer; the first line of each file.
    Holder(Box<LedgerHolder>),
    /// It has edited a file.
    Edited(FileMoment),
    /// The file is as in the last commit: any earlier edit is committed or gone.
    Settled(FileMoment),
    /// The file again has the content it had after an edit, so what had ended since then has not.
    Returned(Reversion),
    /// It is about to edit a file that others have edited, or that was just committed.
    Met(Encounter),
    /// The window was informed of what others hold.
    Briefed(Brief),
    /// The window was informed of whose edits its own edit met.
    Noted(Encounter),
    /// A call of its was held up.
    HeldUp(HeldUp),
    /// It repeated such a call, which went through.
    Overrode(HeldUp),
    /// It wants a path, and what lies below it, for itself.
    Holds(FileMoment),
    /// It no longer wants it.
    Frees(FileMoment),
    /// An uncommitted edit is gone: by a call of this window, or its own edit by no call that is known.
    Lost(Box<Loss>),
    /// The window was informed of such a loss, by the file and the moment of that.
    Heard(FileMoment),
    /// A shell line of its is about to change git's stash, or has; in the ledger of the repository's common folder.
    Stash(StashLine),
}

/// An uncommitted edit that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Loss {
    pub(crate) path: Untrusted,
    /// When that was found.
    pub(crate) at: Timestamp,
    /// Whose edit it was.
    pub(crate) of: Untrusted,
    /// When that session last edited the file.
    pub(crate) edited: Timestamp,
    /// The agent's name for the call that did it, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<Untrusted>,
    /// The shell line that did it, cut and without what looks like a secret; `None` if no call of a window is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<Untrusted>,
    /// Git's name for the content, if it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blob: Option<Untrusted>,
    /// The stash that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stash: Option<Untrusted>,
    /// The path to which the call has moved the file: then nothing is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) moved_to: Option<Untrusted>,
    /// The command of git's that did it, as git itself reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) git: Option<Box<GitCommand>>,
}

/// A file and a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileMoment {
    /// Its path, absolute and without links.
    pub(crate) path: Untrusted,
    pub(crate) at: Timestamp,
    /// The commit that was checked out before, if that was in the same second, which times in git's log cannot
    /// resolve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) upon: Option<Untrusted>,
    /// The first 16 digits of git's object name for its content then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) held: Option<Untrusted>,
}

impl FileMoment {
    pub(crate) fn new(path: Untrusted, at: Timestamp) -> Self {
        Self { path, at, upon: None, held: None }
    }
}

/// A file that holds again what it held before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reversion {
    pub(crate) path: Untrusted,
    pub(crate) at: Timestamp,
    /// When the edit that left this content was recorded.
    pub(crate) to: Timestamp,
}

/// An edit that met uncommitted edits of others, or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Encounter {
    pub(crate) path: Untrusted,
    /// The sessions, and when each last edited it.
    pub(crate) others: Vec<(Untrusted, Timestamp)>,
    pub(crate) at: Timestamp,
    /// The commit that was checked out before the edit, if that was in the same second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) upon: Option<Untrusted>,
    /// The agent's name for the call, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<Untrusted>,
}

/// What a window was informed of at a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Brief {
    /// All of the text.
    #[serde(flatten)]
    pub(crate) digest: Digest16,
    /// When; earlier versions did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Timestamp>,
    /// The sessions it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) others: Vec<Untrusted>,
}

/// A digest of some texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Digest16 {
    pub(crate) of: String,
}

/// A call that was held up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldUp {
    /// The sessions it was held up for, sorted.
    pub(crate) others: Vec<Untrusted>,
    pub(crate) at: Timestamp,
    /// The agent's name for the call, if it has one.
    pub(crate) call: Option<Untrusted>,
    /// The sub-agent that made it, whose model alone has read the refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sub_agent: Option<Untrusted>,
    /// What was in its way: a digest of each file and its owner, sorted; one digest of all if there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) about: Vec<String>,
    /// What it would have done to that.
    #[serde(default)]
    pub(crate) harm: Harm,
}

/// What happens to the files that a call takes, the least harm first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Harm {
    /// They stay where they are, or get into a commit, or git refuses.
    #[default]
    Kept,
    /// They are stashed and can be brought back.
    Stashed,
    /// They are overwritten or removed.
    Lost,
}

/// The writer of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LedgerHolder {
    schema: Untrusted,
    pub(crate) session: Untrusted,
    /// Which agent, such as `claude-code`.
    pub(crate) agent: Untrusted,
    /// The top of the working tree, or the folder that lies in none.
    pub(crate) tree: Untrusted,
    /// Its working folder, whose last part people use as the window's name.
    pub(crate) cwd: Untrusted,
    /// Its process; none for a session that a daemon runs for several windows.
    pub(crate) process: Option<ProcessId>,
    /// The inode of the process's pidfd, if the kernel provides it.
    pub(crate) pidfd_inode: Option<u64>,
    /// The processes above it, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) above: Vec<ProcessId>,
    pub(crate) host: Untrusted,
    pub(crate) boot_id: Option<Untrusted>,
    pub(crate) pid_namespace: Option<u64>,
}

impl LedgerHolder {
    /// Creates the writer of a tree's ledger; the caller knows on which machine it is.
    pub(crate) fn new(
        (session, agent): (Untrusted, Untrusted),
        (tree, cwd): (Untrusted, Untrusted),
        process: Option<(ProcessId, Option<u64>)>,
        (host, boot_id, pid_namespace): (Untrusted, Option<Untrusted>, Option<u64>),
    ) -> Self {
        let (process, pidfd_inode) = process.map_or((None, None), |(id, inode)| (Some(id), inode));
        let (schema, above) = (Untrusted::fixed(SCHEMA), Vec::new());
        Self { schema, session, agent, tree, cwd, process, pidfd_inode, above, host, boot_id, pid_namespace }
    }

    /// Returns the name of its file: one for each session and process, so that two windows never write one, and a PID
    /// that is used again begins another.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.jsonl", self.stem())
    }

    /// Returns the name of the file in which an open claimtop repeats its entries.
    pub(crate) fn seen_name(&self) -> String {
        format!("{}{SEEN}", self.stem())
    }

    fn stem(&self) -> String {
        let process = self.process.map(|process| format!("{}.{}", process.pid, process.start_ticks));
        format!("{}.{}", self.session.raw(), process.as_deref().unwrap_or("0"))
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.schema.raw() == SCHEMA && is_valid_id(self.session.raw())
    }
}

/// Parses a line; `None` if it is torn or has another form.
pub(crate) fn parse(line: impl AsRef<[u8]>) -> Option<LedgerLine> {
    let line: LedgerLine = serde_json::from_slice(line.as_ref()).ok()?;
    let is_unsound = matches!(&line, LedgerLine::Holder(holder) if !holder.is_sound());
    (!is_unsound).then_some(line)
}

/// Returns the process whose ledger has this name.
pub(crate) fn process_of(name: &OsStr) -> Option<ProcessId> {
    let name = name.to_str()?;
    let name = name.strip_suffix(".1").unwrap_or(name);
    let stem = name.strip_suffix(SEEN).or_else(|| name.strip_suffix(".jsonl"))?;
    let mut parts = stem.rsplit('.');
    let (start_ticks, pid) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(ProcessId { pid, start_ticks })
}

/// Returns whether a file of this name was written by an open claimtop on behalf of a window.
pub(crate) fn is_seen(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(SEEN.as_bytes())
}

/// Returns the name of the folder that contains the ledgers of a working tree.
pub(crate) fn folder_name(tree: &str) -> String {
    digest(&[tree]).of
}

/// Returns the digest of some texts.
pub(crate) fn digest(parts: &[&str]) -> Digest16 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let start: [u8; 8] = hash.finalize().first_chunk().copied().unwrap_or_default();
    Digest16 { of: format!("{:016x}", u64::from_be_bytes(start)) }
}
