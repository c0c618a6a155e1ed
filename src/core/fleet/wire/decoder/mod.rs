//! What a witness has sent, as far as it was complete and could be parsed.

mod report;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::fleet::order::{MOST_REQUESTS, OrderReceipt, Proposal, RawPlans, read_proposal};
use crate::core::fleet::wire::line::{Hello, Line, LookEnd, PartId, SCHEMA};
use crate::core::fleet::wire::part::{Part, is_derived};
use crate::core::model::text::fixed;
use crate::core::model::text::shared::{Texts, sharing};
use crate::core::model::text::shown;
use crate::core::model::{EndedWindow, Report, Tombstone};

/// The most bytes of a line. The largest thing is a record, whose file has at most 1 MiB.
pub(crate) const LONGEST_LINE: usize = 4 << 20;

/// The most things that a machine may have.
const MOST_PARTS: usize = 50_000;

/// The most bytes in which they may be sent, including everything since the last look.
const MOST_BYTES: usize = 64 << 20;

/// How much a shell may print before the hello, in bytes: a greeting, a message of the day.
const MOST_NOISE: usize = 64 << 10;

/// How many lines in total may be unrelated.
const MOST_GARBLED: usize = 64;

/// How much of the text in place of a hello is quoted.
const QUOTED: usize = 120;

/// The result of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The machine has introduced itself.
    Hello,
    /// A look is complete.
    Look,
    /// A sign of life with this number.
    Beat(u64),
    /// An answer, which [`Decoder::answer`] gives.
    Answer,
    /// A part of a look, or nothing useful.
    Other,
}

/// Why the stream of a machine is closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// Something other than claimtop has answered.
    #[error("it does not answer as claimtop: {0}")]
    Noise(String),
    /// It uses a protocol that this version does not know.
    #[error("its claimtop {version} speaks {schema}, and this one {SCHEMA}: update the older one")]
    OtherLanguage {
        /// Its version.
        version: String,
        /// Its protocol.
        schema: String,
    },
    /// It has sent more than any machine can have.
    #[error("it sent more than a machine can have: {0}")]
    TooMuch(&'static str),
    /// Its lines cannot be parsed.
    #[error("its data is garbled: {0}")]
    Garbled(String),
}

/// A thing, and its size in bytes as sent.
type SizedPart = (Part, usize);

/// What one machine has sent since it was reached.
pub struct Decoder {
    /// Its name here.
    machine: String,
    hello: Option<Hello>,
    parts: BTreeMap<PartId, SizedPart>,
    /// The changes that the end of a look will commit; `None` for what no longer exists.
    staged: Vec<(PartId, Option<SizedPart>)>,
    order: Vec<PartId>,
    /// The size of its things in bytes, as sent.
    bytes: usize,
    /// The bytes it has sent since the last look.
    staged_bytes: usize,
    garbled: usize,
    noise: usize,
    /// How many bytes of its own words it may still add: each is kept forever.
    words_left: usize,
    not_understood: usize,
    report: Option<Arc<Report>>,
    /// A look that is complete but not yet built: when it finished, and the windows that have ended since the last
    /// one.
    ended: Option<(Timestamp, Vec<EndedWindow>)>,
    is_on_demand: bool,
    answer: Option<Answer>,
    /// The texts of a look that is not finished yet.
    texts: Texts,
}

/// A machine's answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Plans, for the question with this number.
    Plans(u64, Vec<Proposal>),
    /// The outcome of an order.
    Receipt(OrderReceipt),
}

impl Decoder {
    /// Creates a decoder for the machine of this name.
    pub fn new(machine: &str) -> Self {
        Self::again(machine, fixed::ALLOWANCE)
    }

    /// Creates a decoder for a machine that has added words of its own before.
    pub(crate) fn again(machine: &str, words_left: usize) -> Self {
        Self {
            machine: machine.to_owned(),
            hello: None,
            parts: BTreeMap::new(),
            staged: Vec::new(),
            order: Vec::new(),
            bytes: 0,
            staged_bytes: 0,
            garbled: 0,
            noise: 0,
            words_left,
            not_understood: 0,
            report: None,
            ended: None,
            is_on_demand: false,
            answer: None,
            texts: Texts::default(),
        }
    }

    /// Leaves the building of reports to [`Decoder::put_together`]: if looks come faster than they are shown, each
    /// would cost as much as the whole machine.
    pub(crate) fn on_demand(self) -> Self {
        Self { is_on_demand: true, ..self }
    }

    /// Returns the last received answer, once.
    pub fn answer(&mut self) -> Option<Answer> {
        self.answer.take()
    }

    /// Returns its introduction.
    pub fn hello(&self) -> Option<&Hello> {
        self.hello.as_ref()
    }

    /// Returns the last complete look.
    pub fn report(&self) -> Option<&Arc<Report>> {
        self.report.as_ref()
    }

    /// Returns how many bytes of its own words it may still add.
    pub(crate) fn words_left(&self) -> usize {
        self.words_left
    }

    /// Returns how many things it has sent that this version does not know.
    pub fn not_understood(&self) -> usize {
        self.not_understood
    }

    /// Returns whether it has begun a look that is not complete.
    pub(crate) fn is_amid(&self) -> bool {
        !self.staged.is_empty()
    }

    /// Returns the processes it has proven dead in this boot.
    pub fn tombstones(&self) -> impl Iterator<Item = &Tombstone> {
        self.parts.values().filter_map(|(part, _)| match part {
            Part::Tombstone(stone) => Some(&**stone),
            Part::Source(_)
            | Part::Window(_)
            | Part::Record(_)
            | Part::BehindClaim(_)
            | Part::Claim(_)
            | Part::Finding(_)
            | Part::Need(_)
            | Part::LeftOver(_)
            | Part::LeftTree(_)
            | Part::Broken(_) => None,
        })
    }

    /// Processes one line.
    ///
    /// # Errors
    /// Fails if the stream must be closed.
    pub fn receive(&mut self, line: &[u8]) -> Result<Message, StreamError> {
        let text = String::from_utf8_lossy(line);
        let heard = self.read(|decoder| decoder.receive_text(&text));
        if self.staged.is_empty() || matches!(heard, Ok(Message::Answer)) {
            // Things that are read individually have hardly any texts in common.
            self.texts = Texts::default();
        }
        heard
    }

    /// Runs `read` with the texts already read for this look.
    fn read<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, StreamError>) -> Result<T, StreamError> {
        let (mut texts, mut words_left) = (std::mem::take(&mut self.texts), self.words_left);
        let heard = fixed::read_bounded(&mut words_left, || sharing(&mut texts, || read(self)));
        (self.texts, self.words_left) = (texts, words_left);
        heard
    }

    fn receive_text(&mut self, text: &str) -> Result<Message, StreamError> {
        let parsed = serde_json::from_str::<Line<'_>>(text).ok();
        let Some(line) = parsed.filter(|line| self.hello.is_some() || line.hello.is_some()) else {
            return self.ignore(text.trim(), text.len() + 1);
        };
        if let Some(hello) = line.hello {
            return self.greet(hello);
        }
        if let Some(part) = line.part {
            self.read_part(PartId { kind: part.kind, id: part.id }, part.is.get())?;
            return Ok(Message::Other);
        }
        if let Some(gone) = line.gone {
            self.stage(gone, None)?;
            return Ok(Message::Other);
        }
        if let Some(looked) = line.look {
            self.commit(looked)?;
            return Ok(Message::Look);
        }
        if let Some(beat) = line.beat {
            return Ok(Message::Beat(beat.number));
        }
        let receipt = line.receipt.map(OrderReceipt::read);
        self.answer = match (line.plans, receipt) {
            (Some(plans), _) => Some(self.proposed(&plans)),
            (None, Some(Ok(receipt))) => Some(Answer::Receipt(receipt)),
            (None, Some(Err(_))) => {
                self.pass_over(text.len())?;
                None
            }
            (None, None) => None,
        };
        Ok(if self.answer.is_some() { Message::Answer } else { Message::Other })
    }

    /// Parses plans, with the keys of their subjects as used from elsewhere.
    fn proposed(&self, plans: &RawPlans<'_>) -> Answer {
        let mut proposals: Vec<Proposal> =
            plans.is.iter().take(MOST_REQUESTS).map(|text| read_proposal(text)).collect();
        for proposed in proposals.iter_mut().flatten() {
            proposed.plan.keys_mut().into_iter().for_each(|key| *key = key.there().on_machine(&self.machine));
        }
        Answer::Plans(plans.number, proposals)
    }

    /// Skips unrelated text: the output of a shell before the hello, or lines of a later version.
    fn ignore(&mut self, text: &str, bytes: usize) -> Result<Message, StreamError> {
        let quote = || shown(&text.chars().take(QUOTED).collect::<String>());
        if self.hello.is_none() {
            // An empty line counts like any other.
            self.noise += bytes;
            return if self.noise > MOST_NOISE {
                Err(StreamError::Noise(quote()))
            } else {
                Ok(Message::Other)
            };
        }
        if text.is_empty() {
            return Ok(Message::Other);
        }
        // A line of an unknown kind is still JSON.
        if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
            self.pass_over(bytes)?;
        } else {
            self.garbled += 1;
        }
        if self.garbled > MOST_GARBLED { Err(StreamError::Garbled(quote())) } else { Ok(Message::Other) }
    }

    fn greet(&mut self, hello: Hello) -> Result<Message, StreamError> {
        if hello.schema != SCHEMA {
            let (version, schema) = (shown(&hello.version), shown(&hello.schema));
            return Err(StreamError::OtherLanguage { version, schema });
        }
        if self.hello.is_some() {
            return Err(StreamError::Garbled("a second hello".to_owned()));
        }
        self.hello = Some(hello);
        Ok(Message::Hello)
    }

    /// Processes a thing of a look, or with `None` that it no longer exists, from a source without lines; without an
    /// ID its kind is not known here.
    ///
    /// # Errors
    /// Fails if the stream must be closed.
    #[cfg(feature = "postgres")]
    pub(crate) fn receive_part(&mut self, id: Option<PartId>, is: Option<&str>) -> Result<(), StreamError> {
        let Some(id) = id else {
            return self.pass_over(is.map_or(0, str::len));
        };
        self.read(|decoder| match is {
            Some(text) => decoder.read_part(id, text),
            None => decoder.stage(id, None),
        })
    }

    /// Parses a thing as far as possible. If a change of a thing is not understood, its earlier state is no longer
    /// true: a record that was dead may live again, so nothing is shown of it.
    fn read_part(&mut self, id: PartId, text: &str) -> Result<(), StreamError> {
        let read = Part::read(id.kind, text, &self.machine).ok();
        if read.is_none() {
            self.pass_over(text.len())?;
        }
        self.stage(id, read.map(|read| (read, text.len())))
    }

    /// Counts a thing that is not understood, with its size like any other until the next look.
    fn pass_over(&mut self, bytes: usize) -> Result<(), StreamError> {
        self.not_understood += 1;
        self.spend(bytes)
    }

    fn spend(&mut self, bytes: usize) -> Result<(), StreamError> {
        self.staged_bytes += bytes;
        match self.bytes + self.staged_bytes {
            0..=MOST_BYTES => Ok(()),
            _ => Err(StreamError::TooMuch("64 MiB")),
        }
    }

    fn stage(&mut self, id: PartId, part: Option<SizedPart>) -> Result<(), StreamError> {
        self.spend(id.id.len() + part.as_ref().map_or(0, |(_, bytes)| *bytes))?;
        self.staged.push((id, part));
        if self.staged.len() + self.parts.len() > 2 * MOST_PARTS {
            return Err(StreamError::TooMuch("50,000 things"));
        }
        Ok(())
    }

    /// Applies the first look: a map that is built at once has no gaps, and one that grows is half empty.
    fn begin(&mut self, staged: Vec<(PartId, Option<SizedPart>)>) {
        let last: BTreeMap<PartId, Option<SizedPart>> = staged.into_iter().collect();
        self.parts = last.into_iter().filter_map(|(id, part)| Some((id, part?))).collect();
        self.bytes = self.parts.iter().map(|(id, (_, bytes))| id.id.len() + bytes).sum();
    }

    fn change(&mut self, staged: Vec<(PartId, Option<SizedPart>)>) {
        for (id, part) in staged {
            let name = id.id.len();
            let before = match part {
                Some(part) => {
                    self.bytes += name + part.1;
                    self.parts.insert(id, part)
                }
                None => self.parts.remove(&id),
            };
            self.bytes -= before.map_or(0, |(_, bytes)| name + bytes);
        }
    }

    /// Commits what was sent since the previous look.
    fn commit(&mut self, looked: LookEnd) -> Result<(), StreamError> {
        let staged = std::mem::take(&mut self.staged);
        if self.parts.is_empty() {
            self.begin(staged);
        } else {
            self.change(staged);
        }
        self.staged_bytes = 0;
        if self.parts.len() > MOST_PARTS {
            return Err(StreamError::TooMuch("50,000 things"));
        }
        if let Some(order) = looked.order {
            self.order = order;
        }
        let ended = looked.ended.into_iter().filter(|ended| is_derived(&ended.window));
        let ended =
            ended.map(|ended| EndedWindow { window: ended.window.on_machine(&self.machine), ..ended });
        let (at, all) = self.ended.get_or_insert_default();
        *at = looked.at;
        all.extend(ended);
        if !self.is_on_demand {
            self.put_together();
        }
        Ok(())
    }

    /// Builds a report from what was completed since the last one.
    pub(crate) fn put_together(&mut self) {
        if let Some((taken_at, ended)) = self.ended.take() {
            self.report = Some(Arc::new(self.report_of(taken_at, ended)));
        }
    }
}

#[cfg(test)]
mod tests;
