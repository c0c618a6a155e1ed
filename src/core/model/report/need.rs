//! What needs a person, and what a window waits for.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::report::context::is_valid_id;
use crate::core::model::text::fixed;
use crate::core::model::text::secret::hide;
use crate::core::model::{Call, Code, Halfway, Key, Sentence, StallReason, Untrusted, Word};

/// What a window waits for, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// What kind of answer it needs.
    pub wants: Wants,
    /// The call that it asks about, if known.
    pub call: Option<Call>,
    /// Since when.
    pub since: Option<Timestamp>,
}

impl Waiting {
    /// Removes what looks like a secret from the displayed text.
    pub(crate) fn hide_secrets(&mut self) {
        self.call.iter_mut().for_each(Call::hide_secrets);
        if let Wants::Other(what) = &mut self.wants {
            hide(what);
        }
    }
}

/// What kind of answer a window waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wants {
    /// Permission to do something.
    Permission,
    /// An answer to a question.
    Answer,
    /// Something else, in its agent's own words.
    Other(Untrusted),
}

/// One thing that needs a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// Stable for as long as the thing itself exists.
    pub key: Key,
    /// Its subject: a window, a record or the key of a finding's first subject.
    pub subject: Key,
    /// What it is.
    #[serde(flatten)]
    pub kind: NeedKind,
    /// Since when, if known.
    pub since: Option<Timestamp>,
}

impl Need {
    /// Returns whether it means that a window's turn is over.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.kind, NeedKind::Done { .. })
    }

    /// Returns what a dead window left, if it is about one.
    pub(crate) fn left(&self) -> Option<&Remains> {
        match &self.kind {
            NeedKind::Died(left) => Some(left),
            NeedKind::Waits { .. }
            | NeedKind::Failed { .. }
            | NeedKind::Stuck { .. }
            | NeedKind::Done { .. }
            | NeedKind::Unfinished { .. }
            | NeedKind::Collision { .. }
            | NeedKind::Alike { .. }
            | NeedKind::MoreDied { .. } => None,
        }
    }
}

/// What needs a person, in the order of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum NeedKind {
    /// A window waits for an answer.
    Waits {
        /// For what.
        waiting: Waiting,
        /// The windows of which it is one, if it is not known which.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        among: Vec<Key>,
    },
    /// An error ended a window's turn: a limit, an expired login, a service that refused.
    Failed {
        /// What its agent recorded about it.
        error: Option<Untrusted>,
    },
    /// A window's tool call cannot end by itself; the window has the proof.
    Stuck {
        /// Why.
        reason: StallReason,
    },
    /// A window's turn is over and has not been looked at since; only an open screen knows that.
    Done {
        /// Its prompt.
        #[serde(skip)]
        asked: Option<Untrusted>,
    },
    /// One of claimtop's own actions was cut off or got stuck.
    Unfinished {
        /// The known facts.
        message: Sentence,
        /// How it ended.
        end: Halfway,
    },
    /// Windows are in each other's way.
    Collision {
        /// The finding's code; the worst, if there are several.
        code: Code,
        /// The finding's message.
        message: Sentence,
        /// All its subjects.
        subjects: Vec<Key>,
        /// The living windows involved; the one that should yield is last.
        windows: Vec<Key>,
        /// Other findings between the same windows, the worst first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<Code>,
        /// The files that they both edit; of lost edits those that have lost them, in their working tree, the one that was
        /// changed last first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<Untrusted>,
    },
    /// Several collisions of one kind; only what is shown to people has that.
    #[serde(skip)]
    Alike {
        /// The code of their findings.
        code: Code,
        /// Each of them.
        needs: Vec<Need>,
    },
    /// A window died and left something.
    Died(Remains),
    /// More windows died and left something than are reported individually.
    MoreDied {
        /// How many.
        windows: usize,
        /// How many claims they left.
        claims: usize,
        /// How many things they left running.
        #[serde(default, skip_serializing_if = "is_none")]
        left_overs: usize,
    },
}

/// What a dead window left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remains {
    /// The name of the window.
    pub name: Untrusted,
    /// Its session.
    pub session: Option<Untrusted>,
    /// The name of the format of the record.
    #[serde(deserialize_with = "fixed::word")]
    pub format: Word,
    /// The folder that it worked in.
    pub cwd: Option<Untrusted>,
    /// The dead claims, which can be released.
    pub claims: Vec<Key>,
    /// How many more claims name it as their holder but are not proven dead.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unproven: usize,
    /// Whether its end was seen; otherwise [`Need::since`] is the last sign of it.
    #[serde(default)]
    pub is_end_seen: bool,
    /// How many of the files it edited are not in git.
    pub uncommitted: usize,
    /// How many of its edits are in no file, commit or stash entry any more.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lost: usize,
    /// What it left running beyond reasonable doubt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_overs: Vec<Key>,
    /// The working trees that it made and in which no process works.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_trees: Vec<Key>,
    /// The stash entries that have its edits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_stashes: Vec<Key>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

impl Remains {
    /// Returns the last part of the folder that it worked in.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.cwd.as_ref()?.raw().rsplit('/').find(|part| !part.is_empty())
    }

    /// Returns the command that resumes its session, if its agent has one.
    pub fn resume(&self) -> Option<String> {
        resume(self.format, self.session.as_ref()?, self.cwd.as_ref())
    }
}

/// Returns the command that resumes a session of an agent, if that agent has one.
pub(crate) fn resume(agent: &str, session: &Untrusted, cwd: Option<&Untrusted>) -> Option<String> {
    let session = Some(session.raw()).filter(|id| is_valid_id(id))?;
    let resume = match agent {
        "claude-code" => format!("claude --resume {session}"),
        "codex" => format!("codex resume {session}"),
        "gemini" => format!("gemini --resume {session}"),
        "qwen" => format!("qwen --resume {session}"),
        "opencode" => format!("opencode --session {session}"),
        "copilot" => format!("copilot --resume {session}"),
        "pi" => format!("pi --session {session}"),
        "kimi" => format!("kimi --session {session}"),
        "cline" => format!("cline -i --id {session}"),
        _ => return None,
    };
    let folder = cwd.map(Untrusted::raw).filter(|cwd| cwd.starts_with('/'));
    let folder = folder.map(|cwd| format!("cd {} && ", quoted(cwd)));
    Some(folder.unwrap_or_default() + &resume)
}

/// Quotes a word for a shell if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(session: &str, cwd: &str, expected: Option<&str>) {
        let left = Remains {
            name: "w".into(),
            session: Some(session.into()),
            format: "claude-code",
            cwd: Some(cwd.into()),
            claims: Vec::new(),
            unproven: 0,
            is_end_seen: false,
            uncommitted: 0,
            lost: 0,
            left_overs: Vec::new(),
            left_trees: Vec::new(),
            left_stashes: Vec::new(),
        };
        assert_eq!(left.resume().as_deref(), expected);
    }

    #[test]
    fn the_command_that_resumes_runs_nothing_else() {
        check("a-1", "/src/a b", Some("cd '/src/a b' && claude --resume a-1"));
        check("a-1", "/it's $(x)", Some(r"cd '/it'\''s $(x)' && claude --resume a-1"));
        check("a-1", "-rf", Some("claude --resume a-1"));
        check("--dangerously-skip-permissions", "/src", None);
        check("x;y", "/src", None);
    }
}
