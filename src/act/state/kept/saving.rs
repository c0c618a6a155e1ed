//! Copies what a session has left and nothing else has into the store, before its agent deletes the files that hold it.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use crate::act::error::ActionError;
use crate::act::state::kept::prune::{KeptLimits, prune};
use crate::act::state::kept::{add, keep_content};
use crate::core::model::snapshot::ledger::kept::{KeptReason, KeptVersion, is_secret_name};
use crate::core::model::text::hex;
use crate::core::model::{CommitState, EditFate, EditState, Sureness, Work};
use crate::source::os::open::folder::Folder;
use crate::source::own::content::FileContent;
use crate::source::own::kept::{KeptFiles, MOST_KEPT};
use crate::source::own::ledger::Tree;
use crate::source::repos::head::CommitContent;
use crate::source::repos::objects::parse_name;
use crate::source::versions::found::FoundVersion;
use crate::source::versions::search::{Search, Subject};
use crate::source::versions::stored::SessionStore;

/// How much of the lists is searched for what is kept already, in bytes.
const NEWEST: usize = 8 << 20;

/// What a person lets claimtop keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SaveRules {
    pub(crate) limits: KeptLimits,
    /// The largest file, in bytes.
    pub(crate) most: u64,
    /// Whether files that git ignores are kept too.
    pub(crate) ignored: bool,
    /// Whether files with the names of secrets are kept too.
    pub(crate) secrets: bool,
}

/// How much one round may still copy; no files once something was too much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SaveBudget {
    pub(crate) files: usize,
    pub(crate) bytes: u64,
}

/// Copies the newest version that a session has left of each file that is gone or in no commit, as far as its transcript
/// has it whole and nothing keeps it; returns how many were copied.
///
/// # Errors
/// A folder or a file of the store cannot be made or written.
pub(crate) fn save(
    work: &Arc<Work>,
    (kept, rules): (&Path, &SaveRules),
    search: &Search<'_>,
    budget: &mut SaveBudget,
) -> Result<usize, ActionError> {
    let search = Search { works: std::slice::from_ref(work), ..*search };
    let found = search.find(&Subject::all_of(work), (Vec::new(), SessionStore::default()), &[]);
    let mut saved = 0;
    for (version, fate) in found.versions.iter().filter(|(_, fate)| is_wanted(fate)) {
        let Some(tree) = version.path.parent().and_then(Tree::find) else { continue };
        let (Some(top), Some(path)) = (tree.text(), version.path.to_str()) else { continue };
        let is_left_out = matches!(version.sure, Sureness::Partial(_))
            || version.size > rules.most
            || !rules.secrets && is_secret_name(path)
            || !rules.ignored && tree.ignores(&version.path, (search.now, search.home));
        // Where git cannot say what became of it, a transcript may name any path.
        let is_anywhere = fate.state == EditState::Unknown && !tree.is_repository();
        let files = KeptFiles::of_tree(kept, top);
        if is_left_out || is_anywhere || is_kept(&files, version, path) {
            continue;
        }
        let Some(left) = budget.bytes.checked_sub(version.size).filter(|_| budget.files > 0) else {
            budget.files = 0;
            break;
        };
        let Some(bytes) = version.bytes() else { continue };
        keep_content(&files, &version.blob, &bytes, search.now)?;
        add(&files, (top, search.now), &[kept_version(version, path, top)])?;
        (budget.files, budget.bytes) = (budget.files - 1, left);
        saved += 1;
    }
    Ok(saved)
}

/// Returns whether no commit certainly has what an edit left, and no later edit has taken its place.
fn is_wanted(fate: &EditFate) -> bool {
    match fate.state {
        EditState::Gone | EditState::Stashed | EditState::Unknown => true,
        EditState::Present => fate.committed != CommitState::Yes,
        EditState::Committed | EditState::Superseded => false,
    }
}

fn is_kept(files: &KeptFiles, version: &FoundVersion, path: &str) -> bool {
    let digits = hex(&version.blob);
    let is_it = |one: &KeptVersion| one.blob.as_ref().is_some_and(|blob| blob.raw() == digits);
    files.has(&version.blob) && files.newest_of(&HashSet::from([path]), NEWEST).iter().any(is_it)
}

fn kept_version(version: &FoundVersion, path: &str, top: &str) -> KeptVersion {
    KeptVersion {
        path: path.into(),
        at: version.at,
        session: version.session.clone(),
        agent: version.agent.clone(),
        blob: Some(hex(&version.blob).into()),
        size: version.size,
        mode: 0,
        why: KeptReason::Transcript,
        call: None,
        top: top.into(),
        left_out: None,
    }
}

/// Removes from the whole store what exceeds the limits, as long as there is time.
///
/// # Errors
/// As [`prune`]; the other working trees are pruned all the same.
pub(crate) fn prune_all(
    kept: &Path,
    (limits, now): (KeptLimits, Timestamp),
    is_in_time: impl Fn() -> bool,
) -> Result<(), ActionError> {
    let trees = Folder::open(kept).and_then(|folder| folder.entries(|_| true)).unwrap_or_default();
    let mut failure = None;
    for tree in trees.into_iter().take_while(|_| is_in_time()) {
        let files = KeptFiles { folder: kept.join(tree.name) };
        let Some(top) = files.all().first().map(|version| version.top.clone()) else { continue };
        let found = Tree::find(Path::new(top.raw()));
        let pruned = prune(&files, (top.raw(), limits, now), is_elsewhere(found.as_ref(), now), &is_in_time);
        failure = failure.or(pruned.err());
    }
    failure.map_or(Ok(()), Err)
}

/// Returns whether the file itself or the commit that is checked out has a version's content.
pub(crate) fn is_elsewhere(tree: Option<&Tree>, now: Timestamp) -> impl FnMut(&KeptVersion) -> bool {
    let mut commit = tree.and_then(Tree::checked_out);
    move |version| {
        let path = Path::new(version.path.raw());
        let name = version.blob.as_ref().and_then(|blob| parse_name(blob.raw().as_bytes()));
        let inside = tree.and_then(|tree| path.strip_prefix(&tree.top).ok());
        let had = commit.as_mut().zip(inside).map(|(commit, inside)| commit.held(inside, now));
        name.is_some_and(|name| {
            had == Some(CommitContent::File(name)) || FileContent::read(path, MOST_KEPT).name() == Some(&name)
        })
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files, and runs git")]
mod tests {
    use std::process::Command;
    use std::time::{Duration, SystemTime};

    use jiff::SignedDuration;
    use serde_json::json;

    use super::*;
    use crate::core::model::Format;
    use crate::source::database::sqlite::copies::Copies;
    use crate::source::os::fence::Fence;
    use crate::source::versions::SessionFiles;
    use crate::source::versions::found::kept;
    use crate::source::versions::retention::first_deleted_at;
    use crate::source::versions::session::StoredSession;

    const SESSION: &str = "c1a0de00-0000-4000-8000-000000000001";
    const RULES: SaveRules = SaveRules {
        limits: KeptLimits { bytes: 1 << 20, age: SignedDuration::from_hours(24 * 14) },
        most: 1 << 20,
        ignored: false,
        secrets: false,
    };

    fn now() -> Timestamp {
        Timestamp::try_from(SystemTime::now()).unwrap()
    }

    /// A repository with a committed file, and a session that wrote that and others.
    struct World(tempfile::TempDir);

    impl World {
        fn new() -> Self {
            let world = Self(tempfile::tempdir().unwrap());
            for below in [".claude/projects/shop", "shop/src"] {
                std::fs::create_dir_all(world.path(below)).unwrap();
            }
            std::fs::write(world.path("shop/src/done.rs"), "done\n").unwrap();
            std::fs::write(world.path("shop/.gitignore"), "*.log\n").unwrap();
            for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "first"]] {
                let mut git = Command::new("git");
                git.arg("-C").arg(world.path("shop")).args(["-c", "user.name=x", "-c", "user.email=x@x"]);
                assert!(
                    git.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").status().unwrap().success()
                );
            }
            let at = now() - SignedDuration::from_secs(60);
            let line = |name: &str, text: &str| {
                let result = json!({"type": "create", "filePath": world.path("shop/src").join(name), "content": text, "structuredPatch": []});
                let line = json!({"timestamp": at.to_string(), "sessionId": SESSION, "cwd": world.path("shop"),
                    "message": {"content": [{"tool_use_id": name, "content": "ok"}]}, "toolUseResult": result});
                format!("{line}\n")
            };
            let files =
                [("lost.rs", "lost\n"), ("done.rs", "done\n"), ("x.log", "log\n"), ("a.pem", "secret\n")];
            let text: String = files.iter().map(|(name, text)| line(name, text)).collect();
            std::fs::write(world.transcript(), text).unwrap();
            world
        }

        fn path(&self, below: &str) -> std::path::PathBuf {
            self.0.path().canonicalize().unwrap().join(below)
        }

        fn transcript(&self) -> std::path::PathBuf {
            self.path(&format!(".claude/projects/shop/{SESSION}.jsonl"))
        }

        fn work(&self) -> Arc<Work> {
            let files =
                SessionFiles { format: Format::ClaudeCode, session: SESSION.into(), file: self.transcript() };
            Arc::new(StoredSession::new(files, now()).work())
        }

        fn save(&self, rules: &SaveRules, mut budget: SaveBudget) -> usize {
            let (fence, copies) = (Fence::default(), Copies::in_folder(&self.path("copies")));
            let home = self.path("");
            let search = Search { works: &[], now: now(), home: &home, fence: &fence, copies: &copies };
            save(&self.work(), (&self.path("kept"), rules), &search, &mut budget).unwrap()
        }

        fn kept(&self) -> Vec<(String, Sureness, Option<u32>)> {
            let name = |one: &FoundVersion| one.path.file_name().unwrap().to_str().unwrap().to_owned();
            kept(&self.path("kept")).iter().map(|one| (name(one), one.sure, one.mode)).collect()
        }
    }

    const MUCH: SaveBudget = SaveBudget { files: 10, bytes: 1 << 20 };

    #[test]
    fn what_nothing_else_has_is_copied_once_and_stays_rebuilt() {
        let world = World::new();
        assert_eq!(world.save(&RULES, SaveBudget { files: 0, ..MUCH }), 0);
        assert_eq!(world.save(&RULES, SaveBudget { bytes: 4, ..MUCH }), 0);
        assert_eq!(world.kept(), []);
        assert_eq!((world.save(&RULES, MUCH), world.save(&RULES, MUCH)), (1, 0));
        // Without the transcript it is still there.
        std::fs::remove_file(world.transcript()).unwrap();
        let all = kept(&world.path("kept"));
        assert_eq!(world.kept(), [("lost.rs".to_owned(), Sureness::Rebuilt, None)]);
        assert_eq!(all[0].bytes().unwrap().as_slice(), b"lost\n");
        let limits = KeptLimits { bytes: 0, age: SignedDuration::ZERO };
        prune_all(&world.path("kept"), (limits, now()), || true).unwrap();
        assert_eq!(world.kept().len(), 1, "the last copy stays");
    }

    #[test]
    fn what_a_person_lets_be_kept_is_copied_too() {
        let world = World::new();
        assert_eq!(world.save(&SaveRules { ignored: true, secrets: true, ..RULES }, MUCH), 3);
        assert_eq!(World::new().save(&SaveRules { most: 4, ..RULES }, MUCH), 0);
    }

    #[test]
    fn each_file_of_a_session_has_its_own_time() {
        let world = World::new();
        let days = |days: u64| Duration::from_secs(24 * 3_600 * days);
        let age = |path: &Path, old: u64| {
            std::fs::File::open(path).unwrap().set_modified(SystemTime::now() - days(old)).unwrap();
        };
        let left = || {
            let until = first_deleted_at(&world.work()).unwrap().duration_since(now());
            until.as_hours().div_euclid(24) + 1
        };
        assert_eq!(left(), 30);
        age(&world.transcript(), 20);
        assert_eq!(left(), 10);
        let copies = world.path(&format!(".claude/file-history/{SESSION}"));
        std::fs::create_dir_all(&copies).unwrap();
        age(&copies, 29);
        assert_eq!(left(), 1);
        std::fs::write(world.path(".claude/settings.json"), r#"{"cleanupPeriodDays": 99}"#).unwrap();
        assert_eq!(left(), 70);
    }
}
