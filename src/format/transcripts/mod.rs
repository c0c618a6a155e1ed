//! Where an agent keeps the transcripts of its sessions, and how they are read.

pub(crate) mod sessions;

use std::path::{Path, PathBuf};

use crate::core::model::Untrusted;
use crate::format::reading::place::Base;
use crate::format::work::talk::ReadTalk;
use crate::format::work::{Adapter, SubAgentNote};

/// The transcripts of an agent's sessions: files of lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transcripts {
    /// How a transcript is read.
    pub(crate) adapter: Adapter,
    /// How what was said is read, line by line.
    pub(crate) talk: ReadTalk,
    /// The folder that `folder` starts from.
    pub(crate) base: Base,
    /// The folder below `base` that has all of them.
    pub(crate) folder: &'static str,
    /// Where in that folder a session's transcript is.
    pub(crate) layout: Layout,
    /// The files of sub-agents, if they have files of their own.
    pub(crate) sub_agents: Option<SubAgents>,
    /// The file that has the session's name, if that is not the transcript.
    pub(crate) name_file: Option<NameFile>,
}

/// Where in an agent's folder the transcript of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `<slug of the session's working folder>/<inner>/<session>.jsonl`.
    Folders { inner: &'static str },
    /// `<project>/<inner>/*-<first eight characters of the session>.jsonl`: every project must be searched.
    Projects { inner: &'static str },
    /// `YYYY/MM/DD/*-<session>.jsonl`, the day on which the thread was made.
    Days,
    /// `<session>/<name>`.
    Sessions { name: &'static str },
    /// `<project>/<time>_<session>.jsonl`: every project must be searched.
    Stamped,
    /// `<project>/<session>/<inner>`: every project must be searched.
    Nested { inner: &'static str },
}

/// The files of a session's sub-agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubAgents {
    /// Returns their folder, by the transcript of the session.
    pub(crate) folder: fn(transcript: &Path) -> Option<PathBuf>,
    /// Reads the note beside a sub-agent's transcript.
    pub(crate) note: fn(&[u8]) -> Option<SubAgentNote>,
}

/// The file that has the name of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameFile {
    /// Its name, beside the transcript.
    pub(crate) file: &'static str,
    /// Reads the name that a person has given.
    pub(crate) given: fn(&[u8]) -> Option<Untrusted>,
}

impl Transcripts {
    /// States transcripts without files of sub-agents and of names.
    pub(crate) const fn new(
        (adapter, talk): (Adapter, ReadTalk),
        base: Base,
        folder: &'static str,
        layout: Layout,
    ) -> Self {
        Self { adapter, talk, base, folder, layout, sub_agents: None, name_file: None }
    }
}
