//! Every format that claimtop reads: the places of its files, and the meaning of their bytes.
//!
//! A format is a folder here with its `SPEC`, its line in [`spec()`], and its row in
//! [`Format`], which the compiler asks for.

pub(crate) mod agent;
pub(crate) mod agent_mail;
pub(crate) mod beads;
pub mod described;
pub(crate) mod entire;
pub(crate) mod git;
pub(crate) mod hook;
pub(crate) mod leo;
pub(crate) mod maia;
pub(crate) mod obra;
pub(crate) mod observability;
pub(crate) mod reading;
pub(crate) mod spec;
#[cfg(test)]
mod testing;
pub(crate) mod transcripts;
pub(crate) mod work;

use std::path::Path;

pub use self::reading::draft::Source;
pub(crate) use self::reading::place::Place;
pub use self::reading::place::{Base, FileKind};
pub use self::reading::{FileContents, Reading};
pub(crate) use self::spec::{Release, Spec};
#[cfg(test)]
pub(crate) use self::testing::fixture;
use crate::core::model::text::secret::hidden;
use crate::core::model::{Columns, FileImage, Format, Untrusted};

/// Returns how a format is read; `None` for one that a person has described.
pub(crate) fn spec(format: Format) -> Option<&'static Spec> {
    Some(match format {
        Format::ClaudeCode => &agent::claude_code::SPEC,
        Format::Maia => &maia::SPEC,
        Format::Observability => &observability::SPEC,
        Format::Entire => &entire::SPEC,
        Format::Leo => &leo::SPEC,
        Format::Obra => &obra::SPEC,
        Format::Git => &git::SPEC,
        Format::Beads => &beads::SPEC,
        Format::AgentMail => &agent_mail::SPEC,
        Format::Codex => &agent::codex::SPEC,
        Format::Copilot => &agent::copilot::SPEC,
        Format::Gemini => &agent::gemini::SPEC,
        Format::Qwen => &agent::qwen::SPEC,
        Format::OpenCode => &agent::opencode::SPEC,
        Format::Pi => &agent::pi::SPEC,
        Format::Kimi => &agent::kimi::SPEC,
        Format::Continue => &agent::continue_dev::SPEC,
        Format::Cline => &agent::cline::SPEC,
        Format::Described(_) => return None,
    })
}

/// Every folder of every format.
pub fn places() -> impl Iterator<Item = &'static Place> {
    Format::ALL.into_iter().filter_map(spec).flat_map(|spec| spec.places)
}

/// Returns a format's kind of a file, by its name and the end of its folder.
pub fn kind_at(format: Format, path: &Path) -> Option<FileKind> {
    if let Format::Described(own) = format {
        return Some(FileKind::Described(own));
    }
    // The same as in reading a folder: a name need not be UTF-8.
    let (folder, name) = (path.parent()?, Untrusted::from_path(Path::new(path.file_name()?)));
    let mut here: Vec<&'static Place> =
        places().filter(|place| place.format == format && is_in(folder, place.dir)).collect();
    // The longest folder is the right one, as every folder ends with an empty one.
    here.sort_by_key(|place| {
        std::cmp::Reverse(place.dir.split('/').count() * usize::from(!place.dir.is_empty()))
    });
    here.into_iter().find(|place| (place.recognise)(name.raw())).map(FileKind::Known)
}

/// Returns whether a system lists a folder of this name outside of repositories, or the folders in
/// it.
pub(crate) fn is_listed(folder: &Path) -> bool {
    let is_own = |place: &&Place| !matches!(place.base, Base::GitCommon | Base::Worktree);
    places().filter(is_own).filter(|place| !place.dir.is_empty()).any(|place| {
        is_in(folder, place.dir) || place.dir.strip_suffix("/*").is_some_and(|dir| is_in(folder, dir))
    })
}

/// Returns whether a folder ends with a place's parts.
fn is_in(folder: &Path, dir: &str) -> bool {
    let mut above = folder.iter().rev();
    dir.split('/')
        .filter(|part| !part.is_empty())
        .rev()
        .all(|part| above.next().is_some_and(|own| part == "*" || own == part))
}

/// Reads one file: total, for any bytes.
pub fn read(kind: FileKind, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    let parsed = match kind {
        FileKind::Known(place) => (place.read)(file, reading),
        FileKind::Described(own) => described::read(own, file, reading),
    };
    match parsed {
        FileContents::Record(record) => FileContents::Record(reading::draft::finished(record)),
        FileContents::Broken(mut broken) => {
            broken.problem.message = (*hidden(&broken.problem.message)).into();
            FileContents::Broken(broken)
        }
        FileContents::Ignored => FileContents::Ignored,
    }
}

/// Returns a row after its release by the rule of its system; `None` if it holds nothing that could be released.
pub(crate) fn released(
    format: Format,
    table: &str,
    before: &Columns,
    release: Release<'_>,
) -> Option<Columns> {
    (spec(format)?.released)(table, before, release)
}

/// Returns whether a system's database is a file, which is copied before it is changed.
pub(crate) fn is_backed_up(format: Format) -> bool {
    spec(format).is_some_and(|spec| spec.is_backed_up)
}

/// Returns the work in a whole session file; nothing if the format has no such files.
pub fn doing(format: Format, text: &str) -> Option<crate::core::model::Doing> {
    let mut draft = work::Draft::default();
    if let Some(document) = spec(format)?.document {
        (document.work)(&mut draft, &reading::json::parse(text.as_bytes()).ok()?);
        return Some(draft.doing());
    }
    let adapter = spec(format)?.transcripts?.adapter;
    text.lines().for_each(|line| draft.line(adapter, line.as_bytes()));
    Some(draft.doing())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_file_is_known_by_its_name_in_whatever_bytes_that_is() {
        let sessions = Path::new("/home/dev/.maia/sessions");
        let kind = |name: &[u8]| kind_at(Format::Maia, &sessions.join(OsStr::from_bytes(name)));
        assert!(kind(b"swarm_session_4711.json").is_some() && kind(b"swarm_session_\xff\xfe.json").is_some());
        assert!(kind(b"notes.json").is_none());
    }

    #[test]
    fn every_format_states_its_own_places_once() {
        for format in Format::ALL {
            let places = spec(format).map(|spec| spec.places).unwrap_or_default();
            for (at, place) in places.iter().enumerate() {
                assert_eq!(place.format, format, "{}", place.dir);
                assert!(!places.iter().skip(at + 1).any(|other| other == place), "{place:?}");
            }
        }
    }
}
