//! Rebuilds the bytes that a session's own tools wrote: reads the session's files, its agent's copies of the files that
//! it wrote, what git had of them, and what they are now.

mod around;
pub(crate) mod base;
mod files;
pub(crate) mod found;
pub(crate) mod listed;
mod rows;
mod session;
mod trees;

use std::path::PathBuf;

pub(crate) use self::session::{SessionFiles, VersionsError};
use crate::core::model::Format;
use crate::format::agent::bytes::{Ask, Bounds, Rebuilding, Stream};
use crate::format::agent::bytes::{claude, codex, copilot, gemini, opencode, qwen};
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::Fence;
use crate::source::versions::around::World;
use crate::source::versions::files::{Text, texts};

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
        Format::Maia
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
    Ok(rebuild(&streams, Ask { around: &world, wanted, bounds }))
}
