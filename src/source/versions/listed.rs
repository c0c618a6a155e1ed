//! The versions of what a session wrote, as a page lists them: its files, and what any session wrote into these.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::core::model::versions::ListedVersion;
use crate::core::model::{EditFate, Untrusted, Work};
use crate::source::places::homes::Homes;
use crate::source::versions::found::{Comparison, FoundVersion, kept};
use crate::source::versions::search::{Search, Subject};
use crate::source::versions::stored::SessionStore;

/// The most files whose versions are listed: those that are away first, then the last ones written.
const MOST_FILES: usize = 12;
/// The most versions of one file, the newest.
const MOST_VERSIONS: usize = 20;
/// The most lines of differences altogether.
const MOST_LINES: usize = 4_000;

/// Lists the versions of the files that a session wrote, file by file, the newest first.
pub(crate) fn listed(
    work: &Work,
    search: &Search<'_>,
    (all_kept, homes): (&Path, &Homes),
) -> Vec<ListedVersion> {
    let stored = SessionStore::find(homes, (search.fence, search.copies));
    let mut own =
        search.find(&Subject::all_of(work), (kept(all_kept), SessionStore::default()), &[]).versions;
    own.sort_by_key(|(one, fate)| (!fate.state.is_away(), Reverse(one.at)));
    let mut paths: Vec<PathBuf> = Vec::new();
    for (one, _) in own {
        if paths.len() < MOST_FILES && !paths.contains(&one.path) {
            paths.push(one.path);
        }
    }
    if paths.is_empty() {
        return Vec::new();
    }
    let files: Vec<Subject> = paths.iter().map(|path| Subject::File([path.clone(), path.clone()])).collect();
    let mut found = search.find(&files, (kept(all_kept), stored), &[]);
    let mut of_file: HashMap<PathBuf, usize> = HashMap::new();
    found.versions.retain(|(one, _)| {
        let number = of_file.entry(one.path.clone()).or_default();
        *number += 1;
        *number <= MOST_VERSIONS
    });
    found.versions.sort_by_key(|(one, _)| paths.iter().position(|path| *path == one.path));
    let titles = found.titles(geteuid().as_raw());
    let (mut left, mut comparison) = (MOST_LINES, Comparison::default());
    let shown = |(one, fate): (FoundVersion, EditFate)| {
        let mut diff = comparison.diff(&one, ["now", &one.at.to_string()]);
        if let Some(diff) = &mut diff {
            diff.truncate(left);
            left -= diff.len();
        }
        ListedVersion {
            path: Untrusted::from_path(&one.path),
            title: titles.get(&one.session).cloned(),
            session: one.session,
            agent: one.agent,
            at: one.at,
            size: one.size,
            from: one.from.word(),
            sure: one.sure,
            fate,
            diff,
        }
    };
    found.versions.into_iter().map(shown).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;

    use super::*;
    use crate::act::state::kept::{add, keep_content};
    use crate::core::model::Format;
    use crate::core::model::snapshot::ledger::kept::{KeptReason, KeptVersion};
    use crate::core::model::text::hex;
    use crate::source::database::sqlite::copies::Copies;
    use crate::source::os::fence::Fence;
    use crate::source::own::kept::KeptFiles;
    use crate::source::own::ledger::Tree;
    use crate::source::places::Places;
    use crate::source::repos::objects::{Kind, name_of};
    use crate::source::versions::SessionFiles;
    use crate::source::versions::session::StoredSession;

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
        let search = Search { works: &[], now: at(10), home: &top, fence: &fence, copies: &copies };
        let of = |session: &str| {
            let files = SessionFiles { format: Format::Codex, session: session.into(), file: top.clone() };
            listed(&StoredSession::new(files, at(0)).work(), &search, (&kept, &Homes::default()))
        };
        let all = of("pay");
        let diffs: Vec<Option<&[String]>> = all.iter().map(|one| one.diff.as_deref()).collect();
        assert_eq!(all.iter().map(|one| one.at).collect::<Vec<_>>(), [at(5), at(0)]);
        assert!(diffs[0].unwrap().contains(&"+two".to_owned()), "{diffs:?}");
        assert_eq!(diffs[1], Some(&[][..]));
        assert_eq!(of("cart"), []);
    }

    /// An ended session has written the file that a session of the look wrote long before the end of its transcript.
    #[test]
    fn edits_far_back_and_those_of_ended_sessions_are_listed() {
        let world = tempfile::tempdir().unwrap();
        let top = world.path().canonicalize().unwrap();
        let path = top.join("shop/pay.rs");
        std::fs::create_dir_all(top.join("shop/.git")).unwrap();
        std::fs::create_dir_all(top.join(".claude/projects/shop")).unwrap();
        let write = |session: &str, at: &str, text: &str| {
            let result = serde_json::json!({"type": "create", "filePath": path, "content": text, "structuredPatch": []});
            let line = serde_json::json!({"timestamp": at, "sessionId": session, "cwd": top.join("shop"),
                "message": {"content": [{"tool_use_id": "1", "content": "ok"}]}, "toolUseResult": result});
            let more = format!("{{\"type\":\"other\",\"text\":\"{}\"}}\n", "z".repeat(3 << 20));
            let file = top.join(format!(".claude/projects/shop/{session}.jsonl"));
            std::fs::write(&file, format!("{line}\n{more}")).unwrap();
            SessionFiles { format: Format::ClaudeCode, session: session.into(), file }
        };
        let now = Timestamp::from_second(1_796_000_000).unwrap();
        let [own, ended] = ["c1a0de00-0000-4000-8000-000000000001", "c1a0de00-0000-4000-8000-000000000002"];
        write(ended, "2026-11-29T00:00:00Z", "of the ended one\n");
        let own = write(own, "2026-11-29T00:00:05Z", "far back\n");
        let mut work = StoredSession::new(own, now).work();
        work.doing.edits_since = Some(now);
        let works = [Arc::new(work)];
        let (fence, copies) = (Fence::default(), Copies::in_folder(&top.join("copies")));
        let search = Search { works: &works, now, home: &top, fence: &fence, copies: &copies };
        let homes = Homes::new(&Places::new(top.clone(), top.join("tmp"), Vec::new()));
        let all = listed(&works[0], &search, (&top.join("kept"), &homes));
        let shown: Vec<(&str, u64)> = all.iter().map(|one| (one.session.raw(), one.size)).collect();
        assert_eq!(shown, [(works[0].session.raw(), 9), (ended, 17)]);
        assert!(
            all.iter().all(|one| one.path.raw() == path.to_str().unwrap() && one.diff.is_some()),
            "{all:?}"
        );
    }
}
