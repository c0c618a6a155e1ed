//! One file of a described format, read by its description.

use jiff::Timestamp;

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{
    Binding, BrokenFile, Code, Definition, DescribedFormat, Expiry, Field, FileImage, Format, Holder,
    HolderNames, Problem, Record, RecordKind, ResourceKind, StatedClaim, StatedPid, Syntax, Untrusted,
    stated_start,
};
use crate::format::reading::json;
use crate::format::reading::json::{Object, Value};
use crate::format::reading::{FileContents, Reading};
use crate::format::reading::{draft, time};

/// How many seconds ahead of now a time may lie: clocks differ.
const AHEAD: i64 = 60;

/// The most characters of one fact that are kept.
const MOST: usize = 200;

/// Reads one file: total, for any bytes and any description.
pub fn read(own: DescribedFormat, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    json::parsed(record(own, file, reading))
}

/// The facts of a file, each as text.
struct Facts<'a> {
    content: Content<'a>,
    definition: &'static Definition,
}

enum Content<'a> {
    Json(Object<'a>),
    Text(std::borrow::Cow<'a, str>),
}

impl Facts<'_> {
    /// Returns a fact if the description names its place and the file has it.
    fn text(&self, field: Field) -> Option<String> {
        let at = self.definition.fields.get(&field)?;
        let text = match &self.content {
            Content::Json(object) => at_pointer(object, at)?,
            Content::Text(text) if self.definition.reading == Syntax::Lines => {
                let line = at.parse::<usize>().ok()?.checked_sub(1)?;
                text.lines().nth(line)?.to_owned()
            }
            Content::Text(text) => text.lines().find_map(|line| value_of(line, at))?.to_owned(),
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn shown(&self, field: Field) -> Option<Untrusted> {
        self.text(field).map(|text| crate::format::reading::excerpt::excerpt(&text, MOST))
    }

    /// Returns a fact unchanged; nothing if it is too long, as a part of it has another meaning.
    fn exact(&self, field: Field) -> Option<Untrusted> {
        self.text(field).filter(|text| text.len() <= MOST).map(Untrusted::from)
    }
}

/// Returns the value at a pointer (RFC 6901), if it is not a list or an object.
fn at_pointer(object: &Object<'_>, pointer: &str) -> Option<String> {
    let mut parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    let mut value = object.get(&parts.next()?)?;
    for part in parts {
        value = match value {
            Value::Object(object) => object.get(&part)?,
            Value::Array(list) => list.get(part.parse::<usize>().ok()?)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    match value {
        Value::String(text) => Some(text.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the value of a line that states a key, without quotes.
fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (name, value) = line.split_once(['=', ':']).filter(|_| !line.trim_start().starts_with('#'))?;
    let value = value.trim();
    let bare = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    (name.trim() == key).then(|| bare.unwrap_or(value))
}

fn record(own: DescribedFormat, file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let format = Format::Described(own);
    let definition = own.definition();
    let content = match definition.reading {
        Syntax::Json => Content::Json(json::object(format, file, reading)?),
        Syntax::KeyValue | Syntax::Lines => {
            Content::Text(String::from_utf8_lossy(json::bytes(format, file, reading)?))
        }
    };
    let facts = Facts { content, definition };
    let kind =
        if definition.claim == Some(ResourceKind::Lock) { RecordKind::Lock } else { RecordKind::Session };
    let mut record = draft::record(format, kind, file, reading);
    record.variant = &definition.title;
    record.session_id = facts.exact(Field::Session).filter(|id| is_valid_id(id.raw()));
    record.context_id = facts.exact(Field::Context);
    record.title = facts.shown(Field::Title).unwrap_or_else(|| file.name().into());
    record.cwd = facts.text(Field::Cwd).filter(|path| path.starts_with('/')).map(Into::into);
    record.holder = holder(&facts);
    record.problems = json::ownership_problems(file, reading, None);
    record.started_at = instant(&facts, Field::StartedAt, reading, &mut record);
    record.heartbeat_at = instant(&facts, Field::HeartbeatAt, reading, &mut record);
    record.expiry = expiry(&record, definition);
    record.claims = claim(&facts, &record).into_iter().collect();
    Ok(record)
}

fn holder(facts: &Facts<'_>) -> Option<Holder> {
    let pid = facts.text(Field::Pid).map(|text| match text.parse::<i128>() {
        Ok(number) => StatedPid::from_number(number),
        Err(_) => StatedPid::Bad(crate::format::reading::excerpt::excerpt(&text, 40)),
    })?;
    let mut holder = Holder::new(pid, facts.definition.role, Binding::File);
    holder.start_ticks = facts.text(Field::StartTicks).and_then(|ticks| stated_start(&ticks));
    let (boot_id, host) = (facts.exact(Field::BootId), facts.exact(Field::Host));
    holder.names = HolderNames { boot_id, host, ..Default::default() }.kept();
    Some(holder)
}

/// Reads a time: with or without a zone, or seconds or milliseconds since 1970.
fn instant(facts: &Facts<'_>, field: Field, reading: &Reading<'_>, record: &mut Record) -> Option<Timestamp> {
    let text = facts.text(field)?;
    let name = if field == Field::HeartbeatAt { "heartbeat_at" } else { "started_at" };
    let at = match text.parse::<i64>() {
        Ok(number) if number > 100_000_000_000 => time::epoch_ms(number),
        Ok(number) => number.checked_mul(1_000).and_then(time::epoch_ms),
        Err(_) if time::has_zone(&text) => time::rfc3339(&text),
        Err(_) => local(&text, name, facts, reading, record),
    };
    let shown = crate::format::reading::excerpt::excerpt(&text, 40);
    match at {
        None => {
            record.problems.push(Problem::new(Code::BadTimestamp, format!("{name} is not a time: {shown}")));
        }
        Some(at) if at > time::add_seconds(reading.now, AHEAD) => {
            let why = format!("{name} is in the future: {shown}");
            record.problems.push(Problem::new(Code::BadTimestamp, why));
        }
        Some(_) => {}
    }
    at
}

/// Reads a local time. A time that occurred twice, or was skipped, when the clocks were set is read as late as
/// possible, so that a fresh record is not called stale. But nothing was written ahead of now, so if the later reading
/// would be, the earlier one is meant.
fn local(
    text: &str,
    name: &'static str,
    facts: &Facts<'_>,
    reading: &Reading<'_>,
    record: &mut Record,
) -> Option<Timestamp> {
    let zone = facts.definition.zone.as_ref().unwrap_or(&reading.host.zone);
    let [earlier, later] = time::readings(text, zone)?;
    let at = if later > time::add_seconds(reading.now, AHEAD) { earlier } else { later };
    if earlier != later {
        let note = format!("{name} is {earlier} or {later}, because the clocks changed; taken as {at}");
        record.add_fact("ambiguous time", note);
    }
    Some(at)
}

fn expiry(record: &Record, definition: &'static Definition) -> Option<Expiry> {
    let (ttl, rule) = definition.ttl.as_ref()?;
    let last = record.heartbeat_at.unwrap_or(record.written_at);
    Some(Expiry { at: last.checked_add(*ttl).unwrap_or(Timestamp::MAX), rule })
}

fn claim(facts: &Facts<'_>, record: &Record) -> Option<StatedClaim> {
    let kind = facts.definition.claim?;
    let id = facts.exact(Field::Claim).unwrap_or_else(|| record.location.text().clone());
    Some(StatedClaim::new(kind, id, "file", record.started_at))
}
