//! Evidence: one fact, where it was read, and when.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::core::model::record::Record;
use crate::core::model::record::holder::Role;
use crate::core::model::text::Untrusted;

/// One fact that a verdict or finding rests on. Thousands of them say where a record stands and
/// which PID it states: those are put into words when somebody reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// In words of its own, which copies share.
    Told(Arc<Fact>),
    /// In our own words alone.
    Fixed(&'static Fact),
    /// A PID that a record states, and which process that is.
    Pid(u32, Role),
    /// A record: what it is and where it stands.
    Record(Arc<Record>),
}

/// What a piece of evidence states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What the fact is, such as `pid` or `process start`.
    pub fact: Untrusted,
    /// What it says.
    pub value: Untrusted,
    /// Where it was read: a path, `/proc/<pid>/stat`, or a rule.
    pub source: Untrusted,
    /// When it was read or written; `None` for a rule.
    pub at: Option<Timestamp>,
}

impl Fact {
    /// States a fact in our own words alone.
    pub const fn fixed(fact: &'static str, value: &'static str, source: &'static str) -> Self {
        Self {
            fact: Untrusted::fixed(fact),
            value: Untrusted::fixed(value),
            source: Untrusted::fixed(source),
            at: None,
        }
    }
}

impl Evidence {
    /// States a fact without a time.
    pub fn new(
        fact: impl Into<Untrusted>,
        value: impl Into<Untrusted>,
        source: impl Into<Untrusted>,
    ) -> Self {
        Self::Told(Arc::new(Fact { fact: fact.into(), value: value.into(), source: source.into(), at: None }))
    }

    /// Returns the fact with the moment at which it was read or written, where that is known.
    pub fn at(self, at: impl Into<Option<Timestamp>>) -> Self {
        Self::Told(Arc::new(Fact { at: at.into(), ..self.fact().into_owned() }))
    }

    /// Puts it into words.
    pub fn fact(&self) -> Cow<'_, Fact> {
        match self {
            Self::Told(fact) => Cow::Borrowed(fact),
            Self::Fixed(fact) => Cow::Borrowed(fact),
            Self::Pid(pid, role) => Cow::Owned(Fact {
                value: format!("{pid} ({})", role.whose()).into(),
                ..Fact::fixed("pid", "", "record")
            }),
            Self::Record(record) => Cow::Owned(Fact {
                fact: format!("{} {}", record.format.name(), record.variant).into(),
                value: record.title.clone(),
                source: record.location.text().clone(),
                at: Some(record.written_at),
            }),
        }
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fact().serialize(serializer)
    }
}
