//! What a witness says: a whole look first, and then only what differs.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lean_string::LeanString;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::core::fleet::order::{Ask, Order, OrderReceipt, Proposal, RawPlans, Settle, Work};
use crate::core::fleet::wire::line::{Beat, Hello, Line, LookEnd, PartId, PartKind, RawPart, hashed};
use crate::core::model::text::json;
use crate::core::model::{
    Domain, ErrorKind, Finding, Holder, Key, KeyKind, Obstacle, RecordView, Report, SourceHealth, Tombstone,
    WindowView,
};

/// By how many points of a percentage the CPU use of a window may move before that alone is worth a line.
const CPU_STEP: f32 = 10.0;

/// By which part of it the memory of a window may move before that alone is worth a line.
const MEMORY_STEP: u64 = 8;

/// Remembers what it has said.
#[derive(Default)]
pub struct Encoder {
    said: HashMap<PartId, SentPart>,
    order: Vec<PartId>,
    records: HashMap<Key, Arc<RecordView>>,
    looks: u64,
}

/// What was said of one thing.
struct SentPart {
    text: Box<RawValue>,
    /// What it costs, which alone makes no news.
    cost: Cost,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cost {
    cpu: f32,
    memory: u64,
}

impl Cost {
    fn of(window: &WindowView) -> Self {
        let (cpu, memory) = (window.cpu_percent.unwrap_or_default(), window.memory_bytes.unwrap_or_default());
        Self { cpu, memory }
    }

    fn is_near(self, other: Self) -> bool {
        (self.cpu - other.cpu).abs() < CPU_STEP
            && self.memory.abs_diff(other.memory) <= self.memory.max(other.memory) / MEMORY_STEP
    }
}

impl Encoder {
    /// Says who speaks.
    ///
    /// # Errors
    /// Returns the error of serde_json, which for our own types there is none.
    pub fn hello(hello: Hello) -> serde_json::Result<String> {
        line(&Line { hello: Some(hello), ..Line::default() })
    }

    /// Says what is new since the look before, and what is there no more.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn look(&mut self, report: &Report, tombstones: &[Tombstone]) -> serde_json::Result<String> {
        let (seen, order) = (HashSet::new(), Vec::new());
        let mut look = Look { encoder: self, lines: String::new(), seen, order, counts: Vec::new() };
        for source in &report.sources {
            look.source(source)?;
        }
        for window in &report.windows {
            look.window(window)?;
        }
        for record in &report.records {
            look.record(record)?;
        }
        let records: HashSet<&Key> = report.records().map(|record| &record.key).collect();
        for claim in &report.claims {
            let record = &claim.record;
            let id = PartId { kind: PartKind::BehindClaim, id: name(&record.key) };
            if !records.contains(&record.key) && !look.seen.contains(&id) {
                look.write_part((id.kind, id.id), &*discreet(record))?;
            }
            look.write_part((PartKind::Claim, name(&claim.key)), claim)?;
        }
        for finding in &report.findings {
            look.write_part((PartKind::Finding, name_of(finding)), &**finding)?;
        }
        for need in &report.needs {
            look.say_in_order((PartKind::Need, name(&need.key)), need)?;
        }
        for left in &report.left_overs {
            look.say_in_order((PartKind::LeftOver, name(&left.key)), left)?;
        }
        for tree in &report.left_trees {
            look.write_part((PartKind::LeftTree, name(&tree.key)), tree)?;
        }
        for broken in &report.broken {
            look.write_part((PartKind::Broken, name(&broken.key)), broken)?;
        }
        for stone in tombstones {
            let id = format!("{} {}", stone.id.pid, stone.id.start_ticks);
            look.write_part((PartKind::Tombstone, id.into()), stone)?;
        }
        look.end(report)
    }

    /// Says that it is still there.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn beat(number: u64) -> serde_json::Result<String> {
        line(&Line { beat: Some(Beat { number }), ..Line::default() })
    }

    /// Asks what would be done.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn ask(ask: Ask) -> serde_json::Result<String> {
        line(&Line { ask: Some(ask), ..Line::default() })
    }

    /// Says what would be done.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn plans(number: u64, proposals: &[Proposal]) -> serde_json::Result<String> {
        let texts = proposals.iter().map(|proposal| RawValue::from_string(json::to_line(proposal)?));
        let texts: Vec<_> = texts.collect::<serde_json::Result<_>>()?;
        let is = texts.iter().map(|text| &**text).collect();
        line(&Line { plans: Some(RawPlans { number, is }), ..Line::default() })
    }

    /// Asks to carry out a plan.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn order(order: Order) -> serde_json::Result<String> {
        line(&Line { order: Some(order), ..Line::default() })
    }

    /// Asks what has become of an order.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn settle(settle: Settle) -> serde_json::Result<String> {
        line(&Line { settle: Some(settle), ..Line::default() })
    }

    /// Answers work that is not done, for this reason.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub(crate) fn refused(work: &Work, why: &str) -> serde_json::Result<String> {
        let obstacle = || Obstacle { kind: ErrorKind::Never, text: why.to_owned() };
        match work {
            Work::Plan(ask) => {
                Self::plans(ask.number, &ask.requests.iter().map(|_| Err(obstacle())).collect::<Vec<_>>())
            }
            Work::Do(order) => Self::receipt(&OrderReceipt::refused(&order.id, ErrorKind::Never, why)),
            Work::Settle(settle) => Self::receipt(&OrderReceipt::unknown(&settle.id, why)),
        }
    }

    /// Says what has become of an order.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn receipt(receipt: &OrderReceipt) -> serde_json::Result<String> {
        let text = RawValue::from_string(json::to_line(receipt)?)?;
        line(&Line { receipt: Some(&text), ..Line::default() })
    }
}

/// One look, as far as it was told.
struct Look<'a> {
    encoder: &'a mut Encoder,
    lines: String,
    seen: HashSet<PartId>,
    order: Vec<PartId>,
    /// Sources of which only counts have changed, as they are now.
    counts: Vec<(PartId, Box<RawValue>)>,
}

impl Look<'_> {
    /// Says how a source fares. That it counts more or fewer things, such as processes, is no news by itself: it is
    /// said along with whatever is.
    fn source(&mut self, source: &SourceHealth) -> serde_json::Result<()> {
        let id = PartId { kind: PartKind::Source, id: source.id.as_str().into() };
        let text = RawValue::from_string(json::to_line(source)?)?;
        let said = self.encoder.said.get(&id).map(|said| said.text.get());
        if said.is_some_and(|said| said != text.get() && without_digits(said) == without_digits(text.get())) {
            self.seen.insert(id.clone());
            self.counts.push((id, text));
            return Ok(());
        }
        self.write_part((id.kind, id.id), source)
    }

    fn say_in_order<T: Serialize>(&mut self, name: Name, part: &T) -> serde_json::Result<()> {
        let (kind, id) = name.clone();
        self.order.push(PartId { kind, id });
        self.write_part(name, part)
    }

    fn write_part<T: Serialize>(&mut self, (kind, id): Name, part: &T) -> serde_json::Result<()> {
        let mut id = PartId { kind, id };
        // Two findings may be about the same.
        while self.seen.contains(&id) {
            id.id.push('+');
        }
        let text = RawValue::from_string(json::to_line(part)?)?;
        let is_new = self.encoder.said.get(&id).is_none_or(|said| said.text.get() != text.get());
        self.say_text(id, text, Cost::default(), is_new)
    }

    /// Says something that a look shares with the one before where it is the same.
    fn record(&mut self, record: &Arc<RecordView>) -> serde_json::Result<()> {
        let known = self.encoder.records.get(&record.key);
        if known.is_some_and(|known| Arc::ptr_eq(known, record)) {
            self.seen.insert(PartId { kind: PartKind::Record, id: name(&record.key) });
            return Ok(());
        }
        self.encoder.records.insert(record.key.clone(), Arc::clone(record));
        self.write_part((PartKind::Record, name(&record.key)), &*discreet(record))
    }

    fn window(&mut self, window: &WindowView) -> serde_json::Result<()> {
        let id = PartId { kind: PartKind::Window, id: name(&window.key) };
        let cost = Cost::of(window);
        self.order.push(id.clone());
        let said = self.encoder.said.get(&id);
        // What it costs is told as it was, where that is near enough: so it makes no difference.
        let near = said.map(|said| said.cost).filter(|said| said.is_near(cost)).unwrap_or(cost);
        let cpu_percent = window.cpu_percent.map(|_| near.cpu);
        let memory_bytes = window.memory_bytes.map(|_| near.memory);
        let mut told = window.clone();
        (told.cpu_percent, told.memory_bytes) = (cpu_percent, memory_bytes);
        let text = json::to_line(&told)?;
        let is_new = said.is_none_or(|said| said.text.get() != text);
        self.say_text(id, RawValue::from_string(text)?, near, is_new)
    }

    fn say_text(
        &mut self,
        id: PartId,
        text: Box<RawValue>,
        cost: Cost,
        is_new: bool,
    ) -> serde_json::Result<()> {
        if is_new {
            let part = RawPart { kind: id.kind, id: id.id.clone(), is: &text };
            self.lines.push_str(&line(&Line { part: Some(part), ..Line::default() })?);
            self.encoder.said.insert(id.clone(), SentPart { text, cost });
        }
        self.seen.insert(id);
        Ok(())
    }

    fn end(mut self, report: &Report) -> serde_json::Result<String> {
        let mut gone: Vec<PartId> =
            self.encoder.said.keys().filter(|id| !self.seen.contains(*id)).cloned().collect();
        gone.sort_unstable();
        for id in gone {
            self.encoder.said.remove(&id);
            self.encoder.records.remove(&Key::typed(&id.id));
            self.lines.push_str(&line(&Line { gone: Some(id), ..Line::default() })?);
        }
        let moved = (self.order != self.encoder.order).then(|| self.order.clone());
        let is_news = !self.lines.is_empty() || moved.is_some() || !report.ended.is_empty();
        for (id, text) in std::mem::take(&mut self.counts).into_iter().filter(|_| is_news) {
            self.say_text(id, text, Cost::default(), true)?;
        }
        if is_news || self.encoder.looks == 0 {
            let look = LookEnd { at: report.taken_at, order: moved, ended: report.ended.clone() };
            self.lines.push_str(&line(&Line { look: Some(look), ..Line::default() })?);
        }
        self.encoder.looks += 1;
        self.encoder.order = self.order;
        Ok(self.lines)
    }
}

/// The kind of a thing and what tells it from others of that kind.
type Name = (PartKind, LeanString);

/// Returns a record without this machine's ID, which is nobody's business: its hash stands for it.
fn discreet(record: &Arc<RecordView>) -> Cow<'_, RecordView> {
    let domain = record.holder.as_ref().and_then(Holder::domain);
    if !matches!(domain, Some(Domain::Linux { machine: Some(_), .. })) {
        return Cow::Borrowed(record);
    }
    let mut view = (**record).clone();
    let names = Arc::make_mut(&mut view.record).holder.as_mut().and_then(|holder| holder.names.as_mut());
    if let Some(Domain::Linux { machine: Some(machine), .. }) = names.and_then(|names| names.domain.as_mut())
    {
        *machine = hashed(machine.raw()).into();
    }
    Cow::Owned(view)
}

/// Names a finding by what it is about, whatever its words are by now.
fn name_of(finding: &Finding) -> LeanString {
    let subjects = finding.subjects.iter().map(Key::as_str);
    let parts: Vec<&str> = [finding.code.name()].into_iter().chain(subjects).collect();
    name(&Key::derive(KeyKind::Finding, &parts))
}

fn name(key: &Key) -> LeanString {
    key.as_str().into()
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn line(line: &Line<'_>) -> serde_json::Result<String> {
    Ok(json::to_line(line)? + "\n")
}

#[cfg(test)]
mod tests;
