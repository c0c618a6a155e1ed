//! What a witness has said, as far as it was whole and could be understood.

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

/// The most bytes of a line. The largest thing is a record, whose file has at most a mebibyte.
pub(crate) const LONGEST_LINE: usize = 4 << 20;

/// The most things that a machine may have.
const MOST_PARTS: usize = 50_000;

/// The most bytes that they may have been told in, with all that was said since the last look.
const MOST_BYTES: usize = 64 << 20;

/// How much a shell may say before the hello, in bytes: a greeting, a message of the day.
const MOST_NOISE: usize = 64 << 10;

/// How many lines in all may be none of ours.
const MOST_GARBLED: usize = 64;

/// How much of what was said instead of a hello is quoted.
const QUOTED: usize = 120;

/// What a line came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// It has said who it is.
    Hello,
    /// All of a look is there.
    Look,
    /// A sign of life with this number.
    Beat(u64),
    /// An answer, which [`Decoder::answer`] gives.
    Answer,
    /// Something of a look, or nothing of use.
    Other,
}

/// Why nothing more is heard of a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// Something else than claimtop has answered.
    #[error("it does not answer as claimtop: {0}")]
    Noise(String),
    /// It speaks a language that this version does not know.
    #[error("its claimtop {version} speaks {schema}, and this one {SCHEMA}: update the older one")]
    OtherLanguage {
        /// Its version.
        version: String,
        /// What it speaks.
        schema: String,
    },
    /// It has said more than any machine has to say.
    #[error("it says more than a machine can have: {0}")]
    TooMuch(&'static str),
    /// What it says cannot be understood.
    #[error("what it says is garbled: {0}")]
    Garbled(String),
}

/// A thing, and in how many bytes it was told.
type SizedPart = (Part, usize);

/// What one machine has said since it was reached.
pub struct Decoder {
    /// What it is called here.
    machine: String,
    hello: Option<Hello>,
    parts: BTreeMap<PartId, SizedPart>,
    /// What the end of a look will make true; `None` for what is there no more.
    staged: Vec<(PartId, Option<SizedPart>)>,
    order: Vec<PartId>,
    /// In how many bytes its things were told.
    bytes: usize,
    /// In how many it has told something since the last look.
    staged_bytes: usize,
    garbled: usize,
    noise: usize,
    /// In how many bytes it may still bring words of its own: each is kept for good.
    words_left: usize,
    not_understood: usize,
    report: Option<Arc<Report>>,
    /// A look that was told whole and not put together yet: when it was finished, and who has ended since the last one.
    told: Option<(Timestamp, Vec<EndedWindow>)>,
    is_on_demand: bool,
    answer: Option<Answer>,
    /// What was read of a look that is not finished yet.
    texts: Texts,
}

/// What a machine has answered to what was asked of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// What would be done, to the question of this number.
    Plans(u64, Vec<Proposal>),
    /// What has become of an order.
    Receipt(OrderReceipt),
}

impl Decoder {
    /// Hears nothing yet of the machine of this name.
    pub fn new(machine: &str) -> Self {
        Self::again(machine, fixed::ALLOWANCE)
    }

    /// Hears a machine anew that has brought words of its own before.
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
            told: None,
            is_on_demand: false,
            answer: None,
            texts: Texts::default(),
        }
    }

    /// Leaves it to [`Decoder::put_together`] to make a report of what was told: where looks come faster than anybody
    /// shows them, each would cost as much as all of the machine.
    pub(crate) fn on_demand(self) -> Self {
        Self { is_on_demand: true, ..self }
    }

    /// Returns the answer that was received last, once.
    pub fn answer(&mut self) -> Option<Answer> {
        self.answer.take()
    }

    /// Returns who it has said it is.
    pub fn hello(&self) -> Option<&Hello> {
        self.hello.as_ref()
    }

    /// Returns the last look that was told whole.
    pub fn report(&self) -> Option<&Arc<Report>> {
        self.report.as_ref()
    }

    /// Returns in how many bytes it may still bring words of its own.
    pub(crate) fn words_left(&self) -> usize {
        self.words_left
    }

    /// Returns how many things it has told that this version does not know.
    pub fn not_understood(&self) -> usize {
        self.not_understood
    }

    /// Returns whether it has begun to tell a look, and not told all of it.
    pub(crate) fn is_amid(&self) -> bool {
        !self.staged.is_empty()
    }

    /// Returns whom it has proven dead in this boot.
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

    /// Hears one line.
    ///
    /// # Errors
    /// Nothing more of it is to be heard.
    pub fn receive(&mut self, line: &[u8]) -> Result<Message, StreamError> {
        let text = String::from_utf8_lossy(line);
        let heard = self.read(|decoder| decoder.receive_text(&text));
        if self.staged.is_empty() || matches!(heard, Ok(Message::Answer)) {
            // What is read one by one has hardly anything in common.
            self.texts = Texts::default();
        }
        heard
    }

    /// Reads something, together with what was read of this look already.
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

    /// Reads plans, and calls what they are about as it is called from elsewhere.
    fn proposed(&self, plans: &RawPlans<'_>) -> Answer {
        let mut proposals: Vec<Proposal> =
            plans.is.iter().take(MOST_REQUESTS).map(|text| read_proposal(text)).collect();
        for proposed in proposals.iter_mut().flatten() {
            proposed.plan.keys_mut().into_iter().for_each(|key| *key = key.there().on_machine(&self.machine));
        }
        Answer::Plans(plans.number, proposals)
    }

    /// Passes over what is none of ours: what a shell says before, or what a later version may say.
    fn ignore(&mut self, text: &str, bytes: usize) -> Result<Message, StreamError> {
        let quote = || shown(&text.chars().take(QUOTED).collect::<String>());
        if self.hello.is_none() {
            // A line of nothing is read like any other.
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
        // A line of a kind that is not known yet is JSON all the same.
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

    /// Hears a thing of a look, or by `None` that it is there no more, from somewhere that has no lines; without a
    /// kind it is of one that is not known here.
    ///
    /// # Errors
    /// Nothing more of it is to be heard.
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

    /// Reads a thing as far as it can be understood. What was known of one whose news is not understood is true no
    /// more: a record that was dead may live again, so nothing is shown of it.
    fn read_part(&mut self, id: PartId, text: &str) -> Result<(), StreamError> {
        let read = Part::read(id.kind, text, &self.machine).ok();
        if read.is_none() {
            self.pass_over(text.len())?;
        }
        self.stage(id, read.map(|read| (read, text.len())))
    }

    /// Counts what is not understood, and as much of it as anything else until the next look.
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

    fn stage(&mut self, id: PartId, told: Option<SizedPart>) -> Result<(), StreamError> {
        self.spend(id.id.len() + told.as_ref().map_or(0, |(_, bytes)| *bytes))?;
        self.staged.push((id, told));
        if self.staged.len() + self.parts.len() > 2 * MOST_PARTS {
            return Err(StreamError::TooMuch("50,000 things"));
        }
        Ok(())
    }

    /// Takes in what was told first: a map that is made of all at once has no gaps, and one that grows is half empty.
    fn begin(&mut self, staged: Vec<(PartId, Option<SizedPart>)>) {
        let last: BTreeMap<PartId, Option<SizedPart>> = staged.into_iter().collect();
        self.parts = last.into_iter().filter_map(|(id, told)| Some((id, told?))).collect();
        self.bytes = self.parts.iter().map(|(id, (_, bytes))| id.id.len() + bytes).sum();
    }

    fn change(&mut self, staged: Vec<(PartId, Option<SizedPart>)>) {
        for (id, told) in staged {
            let name = id.id.len();
            let before = match told {
                Some(told) => {
                    self.bytes += name + told.1;
                    self.parts.insert(id, told)
                }
                None => self.parts.remove(&id),
            };
            self.bytes -= before.map_or(0, |(_, bytes)| name + bytes);
        }
    }

    /// Makes true what was told since the look before.
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
        let (at, all) = self.told.get_or_insert_default();
        *at = looked.at;
        all.extend(ended);
        if !self.is_on_demand {
            self.put_together();
        }
        Ok(())
    }

    /// Makes a report of what was told whole since the last one.
    pub(crate) fn put_together(&mut self) {
        if let Some((taken_at, ended)) = self.told.take() {
            self.report = Some(Arc::new(self.report_of(taken_at, ended)));
        }
    }
}

#[cfg(test)]
mod tests;
