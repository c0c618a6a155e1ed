//! What a person and an agent said lately in a session, and what the agent called.

use jiff::Timestamp;

use super::{FilePath, Format, Key, PlaceView, Untrusted};
use crate::core::model::text::secret::hide;

/// The most characters that are kept of one utterance.
const MOST_TEXT: usize = 16 << 10;
/// The most utterances that are kept, the newest.
const MOST: usize = 400;

/// One thing that was said or called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utterance {
    /// Whose it is, and what for.
    pub kind: UtteranceKind,
    /// Its text, without what looks like a secret.
    pub text: Untrusted,
    /// When, as its line says.
    pub at: Option<Timestamp>,
    /// The ID of its call.
    pub call: Option<Untrusted>,
    /// What a person can choose as an answer to a question.
    pub choices: Vec<Untrusted>,
}

/// What an utterance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UtteranceKind {
    /// A person's prompt.
    Prompt,
    /// A text of the agent's.
    Answer,
    /// A call of a tool.
    Call,
    /// A question to the person that waits for an answer.
    Question,
}

/// What was said lately, in the order of the session's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Talk(Vec<Utterance>);

impl Talk {
    fn add(&mut self, kind: UtteranceKind, text: &str, at: Option<Timestamp>) -> Option<&mut Utterance> {
        let end = text.char_indices().nth(MOST_TEXT).map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or_default().trim();
        if text.is_empty() {
            return None;
        }
        let mut text = Untrusted::from(text);
        hide(&mut text);
        // Some agents write an answer again once its tools have ended.
        if self.0.last().is_some_and(|last| last.kind == kind && last.text == text) {
            return None;
        }
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(Utterance { kind, text, at, call: None, choices: Vec::new() });
        self.0.last_mut()
    }

    /// Adds a person's prompt.
    pub(crate) fn prompts(&mut self, text: &str, at: Option<Timestamp>) {
        self.add(UtteranceKind::Prompt, text, at);
    }

    /// Adds a text of the agent's.
    pub(crate) fn answers(&mut self, text: &str, at: Option<Timestamp>) {
        self.add(UtteranceKind::Answer, text, at);
    }

    /// Adds a call of a tool, with what it is about.
    pub(crate) fn calls(&mut self, id: &str, text: &str, at: Option<Timestamp>) {
        if let Some(call) = self.add(UtteranceKind::Call, text, at) {
            call.call = Some(id.into());
        }
    }

    /// Adds a question to the person, with the answers that can be chosen.
    pub(crate) fn asks<'a>(
        &mut self,
        id: &str,
        (text, choices): (&str, impl Iterator<Item = &'a str>),
        at: Option<Timestamp>,
    ) {
        if let Some(question) = self.add(UtteranceKind::Question, text, at) {
            question.call = Some(id.into());
            question.choices = choices.map(Untrusted::from).collect();
            question.choices.iter_mut().for_each(hide);
        }
    }

    /// Notes that a call has its result: its question is answered.
    pub(crate) fn returns(&mut self, id: &str) {
        self.0.retain(|one| {
            one.kind != UtteranceKind::Question || one.call.as_ref().is_none_or(|call| call.raw() != id)
        });
    }

    /// Returns the last prompt.
    pub fn prompt(&self) -> Option<&Utterance> {
        self.last(UtteranceKind::Prompt)
    }

    /// Returns the questions that wait for an answer; a later prompt is one.
    pub fn questions(&self) -> impl Iterator<Item = &Utterance> {
        let prompt = self.0.iter().rposition(|one| one.kind == UtteranceKind::Prompt);
        let since = self.0.iter().skip(prompt.map_or(0, |at| at + 1));
        since.filter(|one| one.kind == UtteranceKind::Question)
    }

    /// Returns the texts of the last answer: those between which nothing else happened.
    pub fn answer(&self) -> &[Utterance] {
        let is_answer = |one: &Utterance| one.kind == UtteranceKind::Answer;
        let end = self.0.iter().rposition(is_answer).map_or(0, |at| at + 1);
        let said = self.0.get(..end).unwrap_or_default();
        let start = said.iter().rposition(|one| !is_answer(one)).map_or(0, |at| at + 1);
        said.get(start..).unwrap_or_default()
    }

    /// Returns the last calls, the newest first.
    pub fn last_calls(&self) -> impl Iterator<Item = &Utterance> {
        self.0.iter().rev().filter(|one| one.kind == UtteranceKind::Call)
    }

    fn last(&self, kind: UtteranceKind) -> Option<&Utterance> {
        self.0.iter().rev().find(|one| one.kind == kind)
    }
}

/// A look into a window, for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peek {
    /// What was said, or why that is not known.
    pub talk: Result<Talk, String>,
    /// The last lines of its pane, or why they are not known; `None` if no pane is known that can be asked.
    pub pane: Option<Result<Vec<Untrusted>, String>>,
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeekQuestion {
    /// The window.
    pub key: Key,
    /// Its session, with the file or the database that has it.
    pub session: Option<SessionPlace>,
    /// Its pane, if that is known exactly.
    pub place: Option<PlaceView>,
}

/// A session in a file or in a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPlace {
    /// Its format.
    pub format: Format,
    /// Its ID.
    pub session: Untrusted,
    /// Where it is.
    pub path: FilePath,
}
