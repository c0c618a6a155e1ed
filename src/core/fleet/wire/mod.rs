//! The data between two claimtops: lines, the parts in them, and both ends of the stream.

pub(crate) mod decoder;
pub(crate) mod encoder;
pub(crate) mod line;
pub(crate) mod part;
pub(crate) mod path_redaction;
pub(crate) mod sanitize;
