//! Rebuilds the bytes that a session's own tools wrote: reads the session's files, its agent's copies of the files that
//! it wrote, what git had of them, and what they are now.

mod around;
pub(crate) mod base;
mod files;
pub(crate) mod found;
pub(crate) mod listed;
pub(crate) mod retention;
mod rows;
pub(crate) mod search;
pub(crate) mod session;
mod sieve;
pub(crate) mod stored;
mod stored_rows;
mod trees;

use std::path::PathBuf;

pub(crate) use self::session::{SessionFiles, VersionsError};
use crate::core::model::{Format, Sureness};
use crate::format::agent::bytes::{Ask, Bounds, Rebuilding, Stream};
use crate::format::agent::bytes::{claude, codex, copilot, gemini, opencode, qwen};
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::Fence;
use crate::source::versions::around::World;
use crate::source::versions::files::{Text, texts};

/// Why versions are not whole if a part of their transcript was left out: an edit may be there.
const LEFT_OUT: &str = "a part of the transcript: a line of more than 64 MiB, or what exceeds its bounds";

/// Rebuilds the files of a session.
type Rebuild = fn(&[Stream<'_>], Ask<'_>) -> Rebuilding;

/// Rebuilds all versions of the files that a session's tools wrote, or of the wanted ones: absolute paths as the agent
/// gave them. A database that no process has open is read from a copy among `copies`.
///
/// # Errors
/// The session's file or database cannot be read, or its format keeps no content.
pub(crate) fn rebuilt(
    session: &SessionFiles,
    wanted: Option<&[PathBuf]>,
    bounds: Bounds,
    (fence, copies): (&Fence, &Copies),
) -> Result<Rebuilding, VersionsError> {
    let rebuild: Rebuild = match session.format {
        Format::ClaudeCode => claude::rebuilt,
        Format::Codex => codex::rebuilt,
        Format::Gemini => gemini::rebuilt,
        Format::Qwen => qwen::rebuilt,
        Format::OpenCode => opencode::rebuilt,
        Format::Copilot => copilot::rebuilt,
        Format::Pi
        | Format::Kimi
        | Format::Continue
        | Format::Cline
        | Format::Maia
        | Format::Observability
        | Format::Entire
        | Format::Leo
        | Format::Obra
        | Format::Git
        | Format::Beads
        | Format::AgentMail
        | Format::Described(_) => return Err(VersionsError::NotKept),
    };
    let texts = if session.format == Format::OpenCode {
        rows::texts(session, (fence, copies))?
    } else {
        texts(session, fence)?
    };
    let streams: Vec<Stream<'_>> = texts.iter().map(Text::stream).collect();
    let world = World::new(session, fence);
    let mut rebuilding = rebuild(&streams, Ask { around: &world, wanted, bounds });
    let left_out: u64 = texts.iter().map(|text| text.left_out).sum();
    if left_out > 0 {
        rebuilding.left_out += left_out;
        rebuilding.too_long = left_out;
        let unproved = rebuilding.versions.iter_mut().filter(|version| version.sure == Sureness::Rebuilt);
        unproved.for_each(|version| version.sure = Sureness::Partial(LEFT_OUT));
    }
    Ok(rebuilding)
}
