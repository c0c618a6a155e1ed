//! Notes of an agent's hook: this process ran this session, or the session waits for a person.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{
    Call, Evidence, Key, KeyKind, Medium, ProcessId, StatedPid, Target, Untrusted, Waiting,
};

/// The schema name of a note.
pub const SCHEMA: &str = "claimtop.binding.v1";

/// The schema name of a note about a wait.
pub(crate) const WAIT_SCHEMA: &str = "claimtop.wait.v1";

/// The schema name of a note about a context's size.
pub(crate) const CONTEXT_SCHEMA: &str = "claimtop.context.v1";

/// The plausible sizes of context windows, in tokens.
const SIZES: RangeInclusive<u64> = 1_000..=100_000_000;

/// The most bytes of a note about a wait; what it quotes is cut before it is written.
const MAX_WAIT: usize = 32 << 10;

/// One note: this session was run by this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundSession {
    /// Always [`SCHEMA`].
    pub schema: Untrusted,
    /// The agent's session ID.
    pub session_id: Untrusted,
    /// Which agent, such as `claude-code`.
    pub agent: Untrusted,
    /// The host name.
    pub host: Untrusted,
    /// The boot ID.
    pub boot_id: Untrusted,
    /// The inode of the PID namespace that `pid` counts in.
    pub pid_namespace: u64,
    /// The agent's PID.
    pub pid: u32,
    /// Its start in clock ticks since boot.
    pub start_ticks: u64,
    /// The inode of its pidfd, unique for one boot, if the kernel has it.
    pub pidfd_inode: Option<u64>,
    /// The window's context ID.
    pub context_id: Untrusted,
    /// Where the agent worked.
    pub cwd: Option<Untrusted>,
    /// When it was written, by the wall clock.
    pub written_at: Timestamp,
    /// The same in milliseconds since boot: this clock cannot be set, so it decides which of two notes about one
    /// process is newer.
    pub since_boot_ms: u64,
}

/// One note: this session waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedWait {
    /// Which session, and the process that ran the hook: its agent, or a daemon that serves several
    /// windows.
    #[serde(flatten)]
    pub by: BoundSession,
    /// What it waits for.
    pub waiting: Waiting,
    /// Its sub-agent that waits, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<Untrusted>,
}

/// One note: the capacity of this session's context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContextSize {
    /// Always [`CONTEXT_SCHEMA`].
    schema: Untrusted,
    pub(crate) session_id: Untrusted,
    /// In tokens.
    pub(crate) tokens: u64,
}

/// All notes of one look.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Notes {
    /// The notes that could be read.
    pub notes: Vec<Arc<BoundSession>>,
    /// The waits for a person; notes that make no sense are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Arc<NotedWait>>,
    /// The capacity of each session's context, in tokens.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contexts: BTreeMap<Untrusted, u64>,
    /// The sessions whose notes exist but make no sense.
    pub unreadable: Vec<Untrusted>,
    /// Why notes may be missing; `None` when all were read.
    pub partial: Option<String>,
    /// The kind of file system they are on.
    #[serde(default, skip_serializing_if = "Medium::is_local")]
    pub medium: Medium,
}

impl Notes {
    /// Returns whether every existing note was read and makes sense.
    pub fn is_whole(&self) -> bool {
        self.partial.is_none() && self.unreadable.is_empty()
    }
}

impl BoundSession {
    /// Parses a note; `None` if it is not one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        // A JSON list would also be taken for a struct.
        let is_object = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let note: Self = serde_json::from_slice(bytes).ok().filter(|_| is_object)?;
        note.is_sound(SCHEMA).then_some(note)
    }

    fn is_sound(&self, schema: &str) -> bool {
        self.schema.raw() == schema
            && is_valid_id(self.session_id.raw())
            && StatedPid::from_number(self.pid.into()).valid().is_some()
    }

    /// Returns the name of its file: one for each session and process, so that two windows never
    /// write one file.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.{}.json", self.session_id.raw(), self.pid)
    }

    /// Returns the process as its own namespace counts it.
    pub(crate) fn process(&self) -> ProcessId {
        ProcessId { pid: self.pid, start_ticks: self.start_ticks }
    }

    pub(crate) fn evidence(&self) -> Evidence {
        let value =
            format!("session {} is run by PID {}, as its own hook reported", self.session_id.raw(), self.pid);
        Evidence::new("binding", value, self.source()).dated(self.written_at)
    }

    /// Returns the note's path within claimtop's own folder.
    pub(crate) fn source(&self) -> Untrusted {
        format!("bindings/{}", self.file_name()).into()
    }
}

impl ContextSize {
    /// Creates a note of a size; `None` if the size is not plausible.
    pub(crate) fn new(session_id: Untrusted, tokens: i64) -> Option<Self> {
        let tokens = u64::try_from(tokens).ok()?;
        let note = Self { schema: Untrusted::fixed(CONTEXT_SCHEMA), session_id, tokens };
        note.is_sound().then_some(note)
    }

    /// Parses a note; `None` if it is not one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(Self::is_sound)
    }

    fn is_sound(&self) -> bool {
        self.schema.raw() == CONTEXT_SCHEMA
            && is_valid_id(self.session_id.raw())
            && SIZES.contains(&self.tokens)
    }

    /// Returns the name of its file: one for each session.
    pub(crate) fn file_name(&self) -> String {
        format!("{}{CONTEXT_END}", self.session_id.raw())
    }
}

/// The suffix of the names of notes about contexts.
pub(crate) const CONTEXT_END: &str = ".context";

impl NotedWait {
    /// Creates a note of a wait that began when `by` was written.
    pub(crate) fn new(by: BoundSession, waiting: Waiting, sub_agent: Option<Untrusted>) -> Self {
        let since = Some(by.written_at);
        Self {
            by: BoundSession { schema: Untrusted::fixed(WAIT_SCHEMA), ..by },
            waiting: Waiting { since, ..waiting },
            sub_agent,
        }
    }

    /// Parses a note, possibly of an older version; `None` if it is not one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut note: Self = (bytes.len() <= MAX_WAIT).then(|| serde_json::from_slice(bytes).ok())??;
        note.waiting.hide_secrets();
        note.by.is_sound(WAIT_SCHEMA).then_some(note)
    }

    /// Returns the name of its file.
    pub(crate) fn file_name(&self) -> String {
        wait_file_name(&self.by, self.waiting.call.as_ref(), self.sub_agent.as_ref())
    }
}

/// Returns the prefix of the names of all waits of a process for a session.
pub(crate) fn wait_file_start(by: &BoundSession) -> String {
    format!("{}.{}.", by.session_id.raw(), by.pid)
}

/// The extension of the names of notes about waits.
pub(crate) const WAIT_END: &str = "wait";

/// Returns the name of the file of a process's wait for a session: one for each call, by what it works on, since the
/// tool's name and the call's ID differ between an agent's question and its answer.
pub(crate) fn wait_file_name(
    by: &BoundSession,
    call: Option<&Call>,
    sub_agent: Option<&Untrusted>,
) -> String {
    let start = wait_file_start(by);
    let Some(call) = call else { return format!("{start}{WAIT_END}") };
    let works_on = call.target.as_ref().map_or(&call.tool, Target::text);
    let mark = Key::derive(KeyKind::Need, &[sub_agent.map_or("", Untrusted::raw), works_on.raw()]);
    format!("{start}{}.{WAIT_END}", mark.as_str())
}
