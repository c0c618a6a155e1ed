//! Findings: stable codes, their severity, and remedies.

pub(crate) mod code;
pub(crate) mod story;

use std::cmp::{Ordering, Reverse};
use std::fmt;
use std::path::Path;

use lean_string::LeanStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::core::model::{Code, Evidence, Key, KeyKind, RecordView, Severity, Story, Untrusted};

/// The remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remedy {
    /// Let the claim go.
    Release,
    /// Move a legacy record to its present form.
    Migrate,
    /// Put the file aside.
    Park,
    /// Undo an earlier action.
    Undo,
    /// End the process.
    Stop,
    /// Bring back what a window wrote.
    Rescue,
    /// Nothing that claimtop can do.
    None,
}

/// One sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sentence {
    /// Its subject, which precedes it.
    pub about: Option<Untrusted>,
    /// The statement.
    pub says: LeanStr,
}

impl Sentence {
    /// Creates a sentence about a subject: `about: says`.
    pub(crate) fn with_subject(about: &Untrusted, says: impl Into<LeanStr>) -> Self {
        Self { about: Some(about.clone()), says: says.into() }
    }

    /// Returns the sentence, for lists, with only the last name of a path as its subject: otherwise a row that is cut
    /// off would show where the file is, but neither which one nor what is wrong.
    pub(crate) fn brief(&self) -> String {
        let about = self.about.as_ref().filter(|about| about.raw().starts_with('/'));
        match about.and_then(|path| Path::new(path.raw()).file_name()) {
            Some(name) => format!("{}: {}", Untrusted::from_path(Path::new(name)), self.says),
            None => self.to_string(),
        }
    }
}

impl<S: Into<LeanStr>> From<S> for Sentence {
    fn from(says: S) -> Self {
        Self { about: None, says: says.into() }
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.about {
            Some(about) => write!(f, "{about}: {}", self.says),
            None => f.write_str(&self.says),
        }
    }
}

impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sentence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(match text.split_once(": ") {
            Some((path, says)) if path.starts_with('/') => Self::with_subject(&path.into(), says),
            _ => text.into(),
        })
    }
}

/// One detected problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its stable code.
    pub code: Code,
    /// Its severity.
    pub severity: Severity,
    /// Its subjects: keys of windows, records and claims.
    pub subjects: Box<[Key]>,
    /// What is wrong.
    pub message: Sentence,
    /// The evidence for it.
    pub evidence: Box<[Evidence]>,
    /// The remedy.
    pub remedy: Remedy,
    /// The shell command that helps if claimtop does nothing itself. It is about this machine's own files, so no
    /// machine accepts one from another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Box<str>>,
    /// How it came to be, if known.
    #[serde(flatten)]
    pub story: Option<Box<Story>>,
}

impl Finding {
    /// Creates a finding.
    pub(crate) fn new(
        code: Code,
        subjects: impl IntoIterator<Item = Key>,
        message: impl Into<Sentence>,
        evidence: impl Into<Box<[Evidence]>>,
        remedy: Remedy,
    ) -> Self {
        let (subjects, message, evidence) = (subjects.into_iter().collect(), message.into(), evidence.into());
        Self {
            code,
            severity: code.severity(),
            subjects,
            message,
            evidence,
            remedy,
            command: None,
            story: None,
        }
    }

    /// Creates a finding about what one record represents.
    pub(crate) fn of_record(
        code: Code,
        record: &RecordView,
        says: impl Into<LeanStr>,
        evidence: impl Into<Box<[Evidence]>>,
        remedy: Remedy,
    ) -> Self {
        Self::new(code, [record.key.clone()], Sentence::with_subject(&record.title, says), evidence, remedy)
    }

    /// Returns whether it is a problem at all: a window without a record in any system is worth showing in that
    /// window's own view, but nothing is wrong.
    pub(crate) fn is_problem(&self) -> bool {
        self.code != Code::NoRecord
    }

    /// Returns what should yield according to its story.
    pub(crate) fn yields(&self) -> &[Key] {
        self.story.as_ref().map_or(&[], |story| &story.yields)
    }

    /// Returns the window that its story advises to close, if letting go of something is not enough.
    pub(crate) fn closes(&self) -> Option<&Key> {
        let yields = self.yields().iter().filter(|_| self.code == Code::SharedSessionId);
        yields.into_iter().find(|key| key.kind() == Some(KeyKind::Window))
    }

    /// Returns what distinguishes it from others, whatever its current wording.
    pub(crate) fn identity(&self) -> (Reverse<Severity>, Code, &[Key]) {
        (Reverse(self.severity), self.code, &self.subjects)
    }

    /// Compares by order in a report: the worst first, then by code, subjects and words.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        self.identity().cmp(&other.identity()).then_with(|| self.message.cmp(&other.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(about: &str, whole: &str, brief: &str) {
        let sentence = Sentence::with_subject(&about.into(), "a PID only");
        assert_eq!((sentence.to_string().as_str(), sentence.brief().as_str()), (whole, brief));
    }

    #[test]
    fn in_brief_only_the_name_of_a_file_is_told() {
        check("/home/dev/.maia/7.json", "/home/dev/.maia/7.json: a PID only", "7.json: a PID only");
        check("/tmp/a\u{1b}", "/tmp/a\\x1B: a PID only", "a\\x1B: a PID only");
        check("sre_agent", "sre_agent: a PID only", "sre_agent: a PID only");
        check("/", "/: a PID only", "/: a PID only");
        assert_eq!(Sentence::from("/tmp is full").brief(), "/tmp is full");
    }
}
