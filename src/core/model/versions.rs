//! How sure it is that bytes are those that an agent's tool wrote.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::core::model::{EditFate, Untrusted};

/// How sure it is that the bytes of a version are those that were in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sureness {
    /// Something else that was kept equals them: the next edit's old text, a copy, a hash or the present file.
    Proved,
    /// They follow from what was kept, and nothing else shows the same.
    Rebuilt,
    /// Not all is known; here is what is missing, in plain words. Bytes that are there nevertheless are the best that
    /// is known.
    Partial(&'static str),
}

impl Sureness {
    /// Returns its word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Rebuilt => "rebuilt",
            Self::Partial(_) => "partial",
        }
    }

    /// Returns what is missing, in plain words.
    pub fn missing(self) -> Option<&'static str> {
        match self {
            Self::Partial(missing) => Some(missing),
            Self::Proved | Self::Rebuilt => None,
        }
    }
}

impl Serialize for Sureness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A version of a file, as a page lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVersion {
    /// The file.
    pub(crate) path: Untrusted,
    /// The session that wrote it.
    pub(crate) session: Untrusted,
    /// The session's title, if it is known.
    pub(crate) title: Option<Untrusted>,
    /// Its agent.
    pub(crate) agent: Untrusted,
    /// When it was written.
    pub(crate) at: Timestamp,
    /// In bytes.
    pub(crate) size: u64,
    /// Where it comes from, in one word.
    pub(crate) from: &'static str,
    /// How sure it is that these were the file's bytes.
    pub(crate) sure: Sureness,
    /// What became of it.
    pub(crate) fate: EditFate,
    /// How it differs from the file as it is now, as raw lines of a unified diff; `None` if they are not compared as text.
    pub(crate) diff: Option<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sureness_is_one_word() {
        let all = [Sureness::Proved, Sureness::Rebuilt, Sureness::Partial("the base")];
        assert_eq!(serde_json::to_string(&all).unwrap(), r#"["proved","rebuilt","partial"]"#);
        assert_eq!(all.map(Sureness::missing), [None, None, Some("the base")]);
    }
}
