//! The versions of some files, as a page lists them: those that hooks have kept and those that transcripts give.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::text::diff::unified;
use crate::core::model::versions::ListedVersion;
use crate::core::model::{EditFate, Untrusted, Work};
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::Fence;
use crate::source::own::content::FileContent;
use crate::source::own::kept::KeptFiles;
use crate::source::own::ledger::Tree;
use crate::source::versions::found::{FoundVersion, fates, from_transcript, sort};

/// The most versions of one file, the newest.
const MOST_VERSIONS: usize = 20;
/// The largest content that is compared, in bytes.
const MOST_COMPARED: u64 = 4 << 20;
/// The most lines of differences altogether.
const MOST_LINES: usize = 4_000;

/// Lists the versions of files that sessions wrote, file by file in the given order, the newest first.
pub(crate) fn listed(
    works: &[Arc<Work>],
    paths: &[PathBuf],
    kept: &Path,
    (now, home): (Timestamp, &Path),
    (fence, copies): (&Fence, &Copies),
) -> Vec<ListedVersion> {
    let mut all: Vec<FoundVersion> = paths.iter().flat_map(|path| of_kept(kept, path)).collect();
    for work in works {
        let is_its = |path: &&PathBuf| {
            let edits = &work.doing.edits;
            edits.iter().any(|edit| Path::new(edit.path.raw()) == path.as_path())
        };
        let wanted: Vec<PathBuf> = paths.iter().filter(is_its).cloned().collect();
        if !wanted.is_empty() {
            // What one transcript does not tell does not hide the others.
            all.extend(from_transcript(work, &wanted, (fence, copies)).unwrap_or_default());
        }
    }
    sort(&mut all);
    let mut of_file: HashMap<PathBuf, usize> = HashMap::new();
    all.retain(|one| {
        let number = of_file.entry(one.path.clone()).or_default();
        *number += 1;
        *number <= MOST_VERSIONS
    });
    let place = |one: &FoundVersion| paths.iter().position(|path| *path == one.path);
    all.sort_by_key(place);
    let fates = fates(&all, (now, home));
    let (mut left, mut present) = (MOST_LINES, HashMap::new());
    let shown = |(one, fate): (&FoundVersion, EditFate)| {
        let now =
            present.entry(one.path.clone()).or_insert_with(|| FileContent::read(&one.path, MOST_COMPARED));
        let mut diff = one.bytes().and_then(|then| {
            let then_name = one.at.to_string();
            unified((now.bytes().unwrap_or_default(), "now"), (&then, &then_name))
        });
        if let Some(diff) = &mut diff {
            diff.truncate(left);
            left -= diff.len();
        }
        ListedVersion {
            path: Untrusted::from_path(&one.path),
            session: one.session.clone(),
            at: one.at,
            size: one.size,
            from: one.from.word(),
            sure: one.sure,
            fate,
            diff,
        }
    };
    all.iter().zip(fates).map(shown).collect()
}

/// Returns what hooks have kept of a file.
fn of_kept(kept: &Path, path: &Path) -> Vec<FoundVersion> {
    let files =
        path.parent().and_then(Tree::find).and_then(|tree| Some(KeptFiles::of_tree(kept, tree.text()?)));
    let (Some(files), Some(path)) = (files, path.to_str()) else { return Vec::new() };
    let found = files.of_file(path).into_iter();
    found.filter_map(|version| FoundVersion::of_kept(version, &files)).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;
    use crate::act::state::kept::{add, keep_content};
    use crate::core::model::snapshot::ledger::kept::{KeptReason, KeptVersion};
    use crate::core::model::text::hex;
    use crate::source::repos::objects::{Kind, name_of};

    #[test]
    fn what_hooks_have_kept_is_listed_the_newest_first_with_what_differs() {
        let world = tempfile::tempdir().unwrap();
        let top = world.path().canonicalize().unwrap();
        let (tree, kept) = (top.join("shop"), top.join("kept"));
        std::fs::create_dir_all(tree.join(".git")).unwrap();
        let path = tree.join("pay.rs");
        std::fs::write(&path, "one\n").unwrap();
        let found = Tree::find(&tree).unwrap();
        let name = found.text().unwrap();
        let files = KeptFiles::of_tree(&kept, name);
        let at = |seconds: i64| Timestamp::from_second(1_796_000_000 + seconds).unwrap();
        std::fs::create_dir(&kept).unwrap();
        for (seconds, text) in [(0, "one\n"), (5, "one\ntwo\n")] {
            let blob = name_of(Kind::Blob, text.as_bytes());
            keep_content(&files, &blob, text.as_bytes(), at(seconds)).unwrap();
            let version = KeptVersion {
                path: Untrusted::from_path(&path),
                at: at(seconds),
                session: "pay".into(),
                agent: "codex".into(),
                blob: Some(hex(&blob).into()),
                size: text.len() as u64,
                mode: 0o644,
                why: KeptReason::Edit,
                call: None,
                top: name.into(),
                left_out: None,
            };
            add(&files, (name, at(seconds)), &[version]).unwrap();
        }
        let (fence, copies) = (Fence::default(), Copies::in_folder(&top.join("copies")));
        let of = |paths: &[PathBuf]| listed(&[], paths, &kept, (at(10), &top), (&fence, &copies));
        let all = of(std::slice::from_ref(&path));
        let diffs: Vec<Option<&[String]>> = all.iter().map(|one| one.diff.as_deref()).collect();
        assert_eq!(all.iter().map(|one| one.at).collect::<Vec<_>>(), [at(5), at(0)]);
        assert!(diffs[0].unwrap().contains(&"+two".to_owned()), "{diffs:?}");
        assert_eq!(diffs[1], Some(&[][..]));
        assert_eq!(of(&[tree.join("other.rs")]), []);
    }
}
