//! The input and the result of reading a file.

pub(crate) mod cells;
pub(crate) mod draft;
pub(crate) mod excerpt;
pub(crate) mod json;
pub(crate) mod place;
pub(crate) mod strict;
pub(crate) mod surrogates;
pub(crate) mod time;
pub(crate) mod value;

use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::{BrokenFile, Host, Record};

/// The result of reading one file.
#[derive(Clone, Debug, PartialEq)]
pub enum FileContents {
    /// A record, with its problems inside.
    Record(Arc<Record>),
    /// Nothing usable, with the problem.
    Broken(BrokenFile),
    /// A file of the system that has no meaning to claimtop.
    Ignored,
}

/// What a parser may know besides the bytes.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The machine, for zones and host names.
    pub host: &'a Host,
    /// The moment of the look.
    pub now: Timestamp,
}
