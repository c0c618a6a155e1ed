//! What a witness still has to send to a database: the current state of each thing, however often it has changed
//! since.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::value::RawValue;

use crate::core::fleet::wire::line::PartKind;
use crate::core::model::text::json;

/// The kind of the row with the time of the last look that found something new, and the windows that had ended.
pub(crate) const LOOK: &str = "look";

/// The kind of the row with the display order of things.
pub(crate) const ORDER: &str = "order";

/// The most bytes of a thing, of its ID and of a tombstone, as in the schema.
const MOST: [usize; 3] = [4 << 20, 2_000, 64 << 10];

/// The unique name of a thing: its kind and its ID.
type Name = (String, String);

/// What was sent, and what remains to be sent.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    all: BTreeMap<Name, Box<RawValue>>,
    changed: BTreeSet<Name>,
    buried: BTreeMap<String, Box<RawValue>>,
    new_tombstones: BTreeSet<String>,
    is_whole: bool,
    untold: usize,
}

/// The content of one beat, in the form of its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// An array of kind, ID and payload.
    pub changes: Option<String>,
    /// Whether it is everything that exists.
    pub is_whole: bool,
    /// An array of tombstones.
    pub tombstones: Option<String>,
}

impl Outbox {
    /// Records the current state of a thing. A thing too large for any database is counted.
    pub fn put(&mut self, kind: &str, id: &str, payload: &RawValue) {
        let [most, most_of_id, _] = MOST;
        let Some(payload) = without_nul(payload.get()).filter(|text| text.get().len() <= most) else {
            self.untold += 1;
            return;
        };
        if id.len() > most_of_id {
            self.untold += 1;
            return;
        }
        let name = name(kind, id);
        self.changed.insert(name.clone());
        self.all.insert(name, payload);
    }

    /// Records that a thing no longer exists.
    pub fn remove(&mut self, kind: &str, id: &str) {
        let name = name(kind, id);
        if self.all.remove(&name).is_some() {
            self.changed.insert(name);
        }
    }

    /// Records a process that was proven dead. This is never reverted.
    pub fn bury(&mut self, id: &str, tombstone: &RawValue) {
        let [_, _, most] = MOST;
        let Some(tombstone) = without_nul(tombstone.get()).filter(|text| text.get().len() <= most) else {
            self.untold += 1;
            return;
        };
        self.new_tombstones.insert(id.to_owned());
        self.buried.insert(id.to_owned(), tombstone);
    }

    /// Returns whether a thing of this name exists now.
    pub(crate) fn has(&self, kind: &str, id: &str) -> bool {
        self.all.contains_key(&name(kind, id))
    }

    /// Marks everything to be sent again, because the database does not have it.
    pub fn tell_all(&mut self) {
        self.is_whole = true;
    }

    /// Returns whether there is nothing to send.
    pub(crate) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.new_tombstones.is_empty() && !self.is_whole
    }

    /// Returns whether a process has died since, which is urgent.
    pub fn has_deaths(&self) -> bool {
        !self.new_tombstones.is_empty()
    }

    /// Returns how many things were too large for any database.
    pub fn untold(&self) -> usize {
        self.untold
    }

    /// Returns what is to be sent, which counts as sent from now on.
    ///
    /// # Errors
    /// Returns the error of serde_json, which does not occur for our own types.
    pub fn take(&mut self) -> serde_json::Result<Batch> {
        if self.is_whole {
            self.changed = self.all.keys().cloned().collect();
            self.new_tombstones = self.buried.keys().cloned().collect();
        }
        let changes: Vec<(&str, &str, Option<&RawValue>)> = self
            .changed
            .iter()
            .map(|name| (name.0.as_str(), name.1.as_str(), self.all.get(name).map(|text| &**text)))
            .collect();
        let stones: Vec<&RawValue> =
            self.new_tombstones.iter().filter_map(|id| self.buried.get(id)).map(|text| &**text).collect();
        let batch = Batch {
            changes: text(&changes, self.is_whole)?,
            is_whole: self.is_whole,
            tombstones: text(&stones, false)?,
        };
        self.changed.clear();
        self.new_tombstones.clear();
        self.is_whole = false;
        Ok(batch)
    }
}

fn text<T: Serialize>(all: &[T], even_empty: bool) -> serde_json::Result<Option<String>> {
    (even_empty || !all.is_empty()).then(|| json::to_line(&all)).transpose()
}

fn name(kind: &str, id: &str) -> Name {
    (kind.to_owned(), id.replace('\0', "\u{fffd}"))
}

/// Returns the name of a kind, as in the stream; `None` for tombstones, which have a table of their own.
pub(crate) fn kind_name(kind: PartKind) -> Option<String> {
    let name = serde_json::to_value(kind).ok().and_then(|name| name.as_str().map(str::to_owned));
    name.filter(|_| kind != PartKind::Tombstone)
}

/// Returns JSON with the replacement character for NUL, which PostgreSQL cannot store.
fn without_nul(text: &str) -> Option<Box<RawValue>> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = if escape.starts_with("\\u0000") { 6 } else { 2 };
        let (escape, after) = escape.split_at_checked(length)?;
        out.push_str(if length == 6 { "\\ufffd" } else { escape });
        rest = after;
    }
    out.push_str(rest);
    RawValue::from_string(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn only_the_last_state_of_a_thing_is_told_and_only_once() {
        let mut outbox = Outbox::default();
        outbox.put("window", "w", &raw("1"));
        outbox.put("window", "w", &raw("2"));
        outbox.put("record", "r", &raw("3"));
        outbox.remove("record", "r");
        outbox.remove("record", "never there");
        let told = outbox.take().unwrap();
        assert_eq!(told.changes.as_deref(), Some(r#"[["record","r",null],["window","w",2]]"#));
        assert_eq!(outbox.take().unwrap(), Batch::default());
    }

    #[test]
    fn all_is_told_to_who_has_nothing_and_the_dead_stay_dead() {
        let mut outbox = Outbox::default();
        outbox.put("window", "w", &raw("1"));
        outbox.bury("5 7", &raw("{}"));
        assert!(outbox.has_deaths());
        outbox.take().unwrap();
        assert!(!outbox.has_deaths());
        outbox.tell_all();
        let whole = outbox.take().unwrap();
        assert_eq!((whole.changes.as_deref(), whole.is_whole), (Some(r#"[["window","w",1]]"#), true));
        assert_eq!(whole.tombstones.as_deref(), Some("[{}]"));
        let mut empty = Outbox::default();
        empty.tell_all();
        assert_eq!(empty.take().unwrap().changes.as_deref(), Some("[]"));
    }

    #[test]
    fn what_no_database_takes_does_not_stop_the_rest() {
        let mut outbox = Outbox::default();
        outbox.put("window", "a\0b", &raw(r#""\u0000 \\u0000 \\\u0000 \n""#));
        outbox.put("window", &"x".repeat(3_000), &raw("1"));
        let told = outbox.take().unwrap().changes.unwrap();
        assert_eq!(told, "[[\"window\",\"a\u{fffd}b\",\"\\ufffd \\\\u0000 \\\\\\ufffd \\n\"]]");
        assert_eq!(outbox.untold(), 1);
    }
}
