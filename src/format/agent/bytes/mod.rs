//! The bytes of each file that a session's own tools wrote, rebuilt from what its agent keeps on disk, without a hook.
//!
//! Nothing here reads a file: [`Around`] is asked for what lies outside of the session's own files. What is rebuilt is
//! called proved only where something else equals it.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod copies;
pub(crate) mod copilot;
pub(crate) mod edit;
pub(crate) mod gemini;
pub(crate) mod lines;
pub(crate) mod opencode;
pub(crate) mod patch;
pub(crate) mod qwen;
pub(crate) mod replay;
#[cfg(test)]
mod testing;
pub(crate) mod text;
pub(crate) mod version;

pub use self::text::Bytes;
pub(crate) use self::version::{Around, Ask, ExactState, Stream};
pub use self::version::{Bounds, FileVersion, Rebuilding};
