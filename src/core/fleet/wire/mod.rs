//! What travels between two claimtops: lines, the parts that they carry, and both ends of the stream.

pub(crate) mod decoder;
pub(crate) mod encoder;
pub(crate) mod line;
pub(crate) mod part;
pub(crate) mod path_redaction;
pub(crate) mod sanitize;
