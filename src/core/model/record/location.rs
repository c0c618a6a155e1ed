//! Where a record was read.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::core::model::text::fixed;
use crate::core::model::{FilePath, Untrusted, Word};

/// Where a record was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Location {
    /// A file.
    File(FilePath),
    /// A row of a database.
    Row(Box<Row>),
}

/// Where a row is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RowParts")]
pub struct Row {
    /// The database: its path, or its URL without a password.
    pub database: Untrusted,
    /// The table.
    pub table: Word,
    /// The primary key as text.
    pub id: Untrusted,
    #[serde(skip_serializing)]
    text: Untrusted,
}

#[derive(Deserialize)]
struct RowParts {
    database: Untrusted,
    #[serde(deserialize_with = "fixed::word")]
    table: Word,
    id: Untrusted,
}

impl From<RowParts> for Row {
    fn from(parts: RowParts) -> Self {
        Self::new(parts.database, parts.table, parts.id)
    }
}

impl Row {
    /// Creates the location of a row.
    pub(crate) fn new(database: Untrusted, table: &'static str, id: Untrusted) -> Self {
        let text = Untrusted::new(format!("{}:{table}:{}", database.raw(), id.raw()));
        Self { database, table, id, text }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.text()),
            Self::Row(row) => write!(f, "{} {} {}", row.database, row.table, row.id),
        }
    }
}

impl Location {
    /// Returns the path of a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Row(_) => None,
        }
    }

    pub(crate) fn is(&self, path: &Path) -> bool {
        self.path() == Some(path)
    }

    /// Returns what distinguishes it from all other places: for a file the bytes of its path.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::File(path) => path.bytes(),
            Self::Row(row) => row.text.raw().as_bytes(),
        }
    }

    /// Returns it as text.
    pub fn text(&self) -> &Untrusted {
        match self {
            Self::File(path) => path.text(),
            Self::Row(row) => &row.text,
        }
    }
}
