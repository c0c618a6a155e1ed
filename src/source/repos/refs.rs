//! Refs of the entire CLI and those that records claim: loose ones as files, the others in `packed-refs`
//! (gitrepository-layout(5)).

use std::io::ErrorKind;
use std::path::Path;

use rustix::fs::{FileType, stat};
use rustix::io::Errno;

use crate::core::model::{FileMeta, Untrusted};
use crate::source::os::open::error::{OpenError, errno_text};
use crate::source::os::open::folder::Folder;
use crate::source::os::open::meta::meta_of;
use crate::source::os::open::plain::small;

const BELOW: &str = "refs/heads/entire/";
/// The folder of refs in a repository that has them in tables (git-config(1), `extensions.refStorage`).
const TABLES: &str = "reftable";
/// The most refs that are read of one repository.
const MAX_REFS: usize = 4_096;
/// How deep the folders of refs are followed.
const MAX_DEPTH: usize = 8;
/// The most bytes of `packed-refs`.
const PACKED: usize = 64 << 20;

/// What `packed-refs` holds of these refs.
#[derive(Default)]
pub(crate) struct PackedRefs {
    meta: Option<FileMeta>,
    pub(crate) names: Vec<String>,
}

/// Reads the packed refs, unless the file is the one that was read before.
pub(crate) fn packed(common: &Path, before: Option<PackedRefs>, problems: &mut Vec<String>) -> PackedRefs {
    let file = common.join("packed-refs");
    let Some(meta) = stat(&file).ok().map(|stat| meta_of(&stat)) else { return PackedRefs::default() };
    if let Some(before) = before.filter(|before| before.meta == Some(meta)) {
        return before;
    }
    match small(&file, PACKED) {
        Ok(text) => PackedRefs { meta: Some(meta), names: names(&text) },
        Err(Errno::NOENT) => PackedRefs::default(),
        Err(error) => {
            problems.push(format!("failed to read {}: {}", Untrusted::from_path(&file), errno_text(error)));
            PackedRefs::default()
        }
    }
}

/// Reads the lines `<object> <ref>` of these refs.
fn names(text: &[u8]) -> Vec<String> {
    let name = |line: &[u8]| {
        let name = line.splitn(2, |byte| *byte == b' ').nth(1)?.trim_ascii_end();
        name.starts_with(BELOW.as_bytes()).then(|| Untrusted::from_bytes(name).raw().to_owned())
    };
    text.split(|byte| *byte == b'\n').filter_map(name).take(MAX_REFS).collect()
}

pub(crate) fn loose(common: &Path, problems: &mut Vec<String>) -> Vec<String> {
    let mut names = Vec::new();
    let walked = Folder::open(&common.join(BELOW.trim_end_matches('/')))
        .and_then(|folder| walk(&folder, BELOW, MAX_DEPTH, &mut names));
    if common.join(TABLES).is_dir() && common.join("entire-sessions").is_dir() {
        problems.push("its branches are kept in reftables, which are not read".to_owned());
    }
    match walked {
        Err(error) if !error.is_absence() => problems.push(error.to_string()),
        Ok(()) | Err(_) => {}
    }
    if names.len() >= MAX_REFS {
        problems.push(format!("more than {MAX_REFS} refs of entire; the others were not read"));
    }
    names
}

/// Returns whether a branch exists; `None` if that could not be read, or no branch can have the name.
pub(crate) fn has_branch(common: &Path, name: &str) -> Option<bool> {
    let is_name = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    // `HEAD` and `refs/remotes/origin/main` are not branches, but may be meant.
    if !name.split('/').all(is_name)
        || name == "HEAD"
        || name.starts_with("refs/")
        || common.join(TABLES).is_dir()
    {
        return None;
    }
    let name = format!("refs/heads/{name}");
    match common.join(&name).symlink_metadata() {
        Ok(found) => return Some(!found.is_dir()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
        Err(_) => return None,
    }
    let packed = match small(&common.join("packed-refs"), PACKED) {
        Ok(text) => text,
        Err(Errno::NOENT) => return Some(false),
        Err(_) => return None,
    };
    let is_it = |line: &[u8]| line.splitn(2, |byte| *byte == b' ').nth(1) == Some(name.as_bytes());
    Some(packed.split(|byte| *byte == b'\n').any(is_it))
}

fn walk(folder: &Folder, prefix: &str, depth: usize, names: &mut Vec<String>) -> Result<(), OpenError> {
    for entry in folder.entries(|_| true)? {
        let name = format!("{prefix}{}", Untrusted::from_path(Path::new(&entry.name)).raw());
        if names.len() >= MAX_REFS {
            return Ok(());
        }
        if entry.sort == FileType::Directory && depth > 0 {
            match folder.enter(&entry.name) {
                Ok(below) => walk(&below, &format!("{name}/"), depth - 1, names)?,
                Err(error) if error.is_absence() => {}
                Err(error) => return Err(error),
            }
        } else if entry.sort == FileType::RegularFile && !name.ends_with(".lock") {
            names.push(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_refs_of_others_and_peeled_ones_are_passed_over() {
        let text = b"# pack-refs with: peeled fully-peeled sorted \n\
            0000000000000000000000000000000000000001 refs/heads/entire/checkpoints/v1\n\
            ^0000000000000000000000000000000000000002\n\
            0000000000000000000000000000000000000003 refs/heads/main\n";
        assert_eq!(names(text), ["refs/heads/entire/checkpoints/v1"]);
    }
}
