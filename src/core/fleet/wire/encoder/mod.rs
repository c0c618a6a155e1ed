//! What a witness sends: a whole look first, and then only the differences.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lean_string::LeanString;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::core::fleet::order::{Ask, Order, OrderReceipt, Proposal, RawPlans, RemoteRequest, Settle};
use crate::core::fleet::wire::line::{Beat, Hello, Line, LookEnd, PartId, PartKind, RawPart, hashed};
use crate::core::model::text::json;
use crate::core::model::{
    Domain, ErrorKind, Finding, Holder, Key, KeyKind, Obstacle, RecordView, Report, SourceHealth, Tombstone,
    WindowView,
};

/// The change of a window's CPU use, in percentage points, that alone is worth a line.
const CPU_STEP: f32 = 10.0;

/// The fraction of a window's memory by which it must change to be worth a line by itself.
const MEMORY_STEP: u64 = 8;

/// Encodes looks and remembers what it has sent.
#[derive(Default)]
pub struct Encoder {
    sent: HashMap<PartId, SentPart>,
    order: Vec<PartId>,
    records: HashMap<Key, Arc<RecordView>>,
    looks: u64,
}

/// What was sent about one thing.
struct SentPart {
    text: Box<RawValue>,
    /// Its resource use, which alone is not news.
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
    /// Returns the line that introduces the sender.
    ///
    /// # Errors
    /// Returns the error of serde_json, which does not occur for our own types.
    pub fn hello(hello: Hello) -> serde_json::Result<String> {
        line(&Line { hello: Some(hello), ..Line::default() })
    }

    /// Returns the lines for what is new since the previous look, and what no longer exists.
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

    /// Returns a sign of life.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn beat(number: u64) -> serde_json::Result<String> {
        line(&Line { beat: Some(Beat { number }), ..Line::default() })
    }

    /// Returns a question for plans.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn ask(ask: Ask) -> serde_json::Result<String> {
        line(&Line { ask: Some(ask), ..Line::default() })
    }

    /// Returns the answer with plans.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn plans(number: u64, proposals: &[Proposal]) -> serde_json::Result<String> {
        let texts = proposals.iter().map(|proposal| RawValue::from_string(json::to_line(proposal)?));
        let texts: Vec<_> = texts.collect::<serde_json::Result<_>>()?;
        let is = texts.iter().map(|text| &**text).collect();
        line(&Line { plans: Some(RawPlans { number, is }), ..Line::default() })
    }

    /// Returns an order to carry out a plan.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn order(order: Order) -> serde_json::Result<String> {
        line(&Line { order: Some(order), ..Line::default() })
    }

    /// Returns a question for the outcome of an order.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn settle(settle: Settle) -> serde_json::Result<String> {
        line(&Line { settle: Some(settle), ..Line::default() })
    }

    /// Returns the answer to work that is not done, with this reason.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub(crate) fn refused(work: &RemoteRequest, why: &str) -> serde_json::Result<String> {
        let obstacle = || Obstacle { kind: ErrorKind::Never, text: why.to_owned() };
        match work {
            RemoteRequest::Plan(ask) => {
                Self::plans(ask.number, &ask.requests.iter().map(|_| Err(obstacle())).collect::<Vec<_>>())
            }
            RemoteRequest::Do(order) => {
                Self::receipt(&OrderReceipt::refused(&order.id, ErrorKind::Never, why))
            }
            RemoteRequest::Settle(settle) => Self::receipt(&OrderReceipt::unknown(&settle.id, why)),
        }
    }

    /// Returns the outcome of an order.
    ///
    /// # Errors
    /// As [`Encoder::hello`].
    pub fn receipt(receipt: &OrderReceipt) -> serde_json::Result<String> {
        let text = RawValue::from_string(json::to_line(receipt)?)?;
        line(&Line { receipt: Some(&text), ..Line::default() })
    }
}

/// One look, as far as it was written.
struct Look<'a> {
    encoder: &'a mut Encoder,
    lines: String,
    seen: HashSet<PartId>,
    order: Vec<PartId>,
    /// The current state of sources of which only counts have changed.
    counts: Vec<(PartId, Box<RawValue>)>,
}

impl Look<'_> {
    /// Writes the health of a source. A change of only its counts, such as of processes, is not news by itself: it is
    /// sent along with any other change.
    fn source(&mut self, source: &SourceHealth) -> serde_json::Result<()> {
        let id = PartId { kind: PartKind::Source, id: source.id.as_str().into() };
        let text = RawValue::from_string(json::to_line(source)?)?;
        let sent = self.encoder.sent.get(&id).map(|sent| sent.text.get());
        if sent.is_some_and(|sent| sent != text.get() && without_digits(sent) == without_digits(text.get())) {
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
        // Two findings may have the same subjects.
        while self.seen.contains(&id) {
            id.id.push('+');
        }
        let text = RawValue::from_string(json::to_line(part)?)?;
        let is_new = self.encoder.sent.get(&id).is_none_or(|sent| sent.text.get() != text.get());
        self.say_text(id, text, Cost::default(), is_new)
    }

    /// Writes something that a look shares with the previous one if it is unchanged.
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
        let last_sent = self.encoder.sent.get(&id);
        // The resource use is repeated as last sent if it is close enough, so that it makes no difference.
        let near = last_sent
            .map(|last_sent| last_sent.cost)
            .filter(|last_sent| last_sent.is_near(cost))
            .unwrap_or(cost);
        let cpu_percent = window.cpu_percent.map(|_| near.cpu);
        let memory_bytes = window.memory_bytes.map(|_| near.memory);
        let mut sent = window.clone();
        (sent.cpu_percent, sent.memory_bytes) = (cpu_percent, memory_bytes);
        let text = json::to_line(&sent)?;
        let is_new = last_sent.is_none_or(|last_sent| last_sent.text.get() != text);
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
            self.encoder.sent.insert(id.clone(), SentPart { text, cost });
        }
        self.seen.insert(id);
        Ok(())
    }

    fn end(mut self, report: &Report) -> serde_json::Result<String> {
        let mut gone: Vec<PartId> =
            self.encoder.sent.keys().filter(|id| !self.seen.contains(*id)).cloned().collect();
        gone.sort_unstable();
        for id in gone {
            self.encoder.sent.remove(&id);
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

/// The kind of a thing and what distinguishes it from others of that kind.
type Name = (PartKind, LeanString);

/// Returns a record with a hash in place of this machine's ID, which is private.
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

/// Returns a finding's name from its subjects, whatever its current wording.
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
