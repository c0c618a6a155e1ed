//! Findings: stable codes, their severity, and what can be done.

use std::cmp::{Ordering, Reverse};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use lean_string::LeanStr;
use serde::{Serialize, Serializer};

use crate::core::model::code::{Code, Severity};
use crate::core::model::evidence::Evidence;
use crate::core::model::judged::RecordView;
use crate::core::model::key::Key;
use crate::core::model::shared::Shared;
use crate::core::model::story::Story;
use crate::core::model::text::Untrusted;

/// What helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
    /// Nothing that claimtop does.
    None,
}

/// One sentence for people. Thousands of findings say the same of different things: what it is about
/// and what it says are shared with the records, and are put together when somebody reads it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sentence {
    about: Option<Untrusted>,
    says: LeanStr,
}

impl Sentence {
    /// Says something about a thing: `about: says`.
    pub fn about(about: &Untrusted, says: impl Into<LeanStr>) -> Self {
        Self { about: Some(about.clone()), says: says.into() }
    }

    /// Returns it with no more of a path that it is about than the name at its end, for lists: a row
    /// that is cut off would tell where the file is, and neither which one nor what is wrong.
    pub fn brief(&self) -> String {
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

/// One detected problem. There can be thousands, nearly all of one record each: those take from the
/// record what they say when somebody reads it. Copies share the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its stable code.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What helps.
    pub remedy: Remedy,
    /// Of one that is told in full it says nothing, and takes no room.
    how: How,
    what: What,
}

/// What a finding states beside its code.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// In full.
    Told(Arc<Told>),
    /// Of one record, with these words.
    OfRecord(Arc<RecordView>, LeanStr),
}

/// A finding in full.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    subjects: Shared<Key>,
    message: Sentence,
    evidence: Shared<Evidence>,
    story: Option<Box<Story>>,
}

/// How a finding of one record is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Of the file or row; what it says there is the evidence.
    Written,
    /// Of what the record stands for; why its holder lives or not is the evidence.
    Judged,
    /// Of what the record stands for, by both.
    Both,
}

impl Finding {
    /// States a problem.
    pub fn new(
        code: Code,
        subjects: impl IntoIterator<Item = Key>,
        message: impl Into<Sentence>,
        evidence: impl Into<Shared<Evidence>>,
        remedy: Remedy,
    ) -> Self {
        let (subjects, message, evidence) = (subjects.into_iter().collect(), message.into(), evidence.into());
        let what = What::Told(Arc::new(Told { subjects, message, evidence, story: None }));
        Self { code, severity: code.severity(), remedy, how: How::Both, what }
    }

    /// States a problem of one record.
    pub fn of_record(
        code: Code,
        record: &Arc<RecordView>,
        how: How,
        says: impl Into<LeanStr>,
        remedy: Remedy,
    ) -> Self {
        let what = What::OfRecord(Arc::clone(record), says.into());
        Self { code, severity: code.severity(), remedy, how, what }
    }

    /// Returns what it is about: keys of windows, records and claims.
    pub fn subjects(&self) -> &[Key] {
        match &self.what {
            What::Told(told) => &told.subjects,
            What::OfRecord(record, _) => std::slice::from_ref(&record.key),
        }
    }

    /// Returns one sentence for people.
    pub fn message(&self) -> Sentence {
        match &self.what {
            What::Told(told) => told.message.clone(),
            What::OfRecord(record, says) => match self.how {
                How::Written => Sentence::about(record.path(), says.clone()),
                How::Judged | How::Both => Sentence::about(&record.title, says.clone()),
            },
        }
    }

    /// Returns why claimtop says so.
    pub fn evidence(&self) -> Shared<Evidence> {
        match &self.what {
            What::Told(told) => told.evidence.clone(),
            What::OfRecord(record, _) => match self.how {
                How::Written => [record.evidence()].into(),
                How::Judged => record.verdict.evidence.as_slice().into(),
                How::Both => record.all_evidence(),
            },
        }
    }

    /// Returns how it came to be, where that can be told.
    pub fn story(&self) -> Option<&Story> {
        match &self.what {
            What::Told(told) => told.story.as_deref(),
            What::OfRecord(..) => None,
        }
    }

    /// Returns the claims or records of those whom its story tells to yield.
    pub fn yields(&self) -> &[Key] {
        self.story().map_or(&[], |story| &story.yields)
    }

    /// Adds how it came to be.
    pub fn tell(&mut self, story: Story) {
        let (message, evidence) = (self.message(), self.evidence());
        let subjects = self.subjects().iter().cloned().collect();
        self.what = What::Told(Arc::new(Told { subjects, message, evidence, story: Some(Box::new(story)) }));
    }

    /// Takes back what was offered.
    pub fn offer_nothing(&mut self) {
        self.remedy = Remedy::None;
    }

    /// Returns what tells it from others, whatever its words are by now.
    pub fn identity(&self) -> (Reverse<Severity>, Code, &[Key]) {
        (Reverse(self.severity), self.code, self.subjects())
    }

    /// Compares by what comes first in a report: the worst, then by code, subjects and words.
    pub fn order(&self, other: &Self) -> Ordering {
        let words = || self.message().cmp(&other.message());
        self.identity().cmp(&other.identity()).then_with(words)
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            code: Code,
            severity: Severity,
            subjects: &'a [Key],
            message: Sentence,
            evidence: Shared<Evidence>,
            remedy: Remedy,
            #[serde(flatten)]
            story: Option<&'a Story>,
        }
        Shape {
            code: self.code,
            severity: self.severity,
            subjects: self.subjects(),
            message: self.message(),
            evidence: self.evidence(),
            remedy: self.remedy,
            story: self.story(),
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(about: &str, whole: &str, brief: &str) {
        let sentence = Sentence::about(&about.into(), "a PID only");
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
