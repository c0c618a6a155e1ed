//! Every lock of git's that is read, and the meaning of its name.

use super::*;
use crate::format::testing;

#[track_caller]
fn check(kind: Kind, path: &str, text: &str, expected: &str) -> Option<Record> {
    let mut file = testing::image("x", text.as_bytes(), 60);
    file.path = path.into();
    let parsed = testing::read(|reading| read(kind, &file, reading));
    assert_eq!(testing::summary(&parsed), expected);
    match parsed {
        FileContents::Record(record) => Some((*record).clone()),
        FileContents::Broken(_) | FileContents::Ignored => None,
    }
}

#[test]
fn a_lock_is_named_by_what_it_is_of() {
    let sheet = "Lock Current 'command lock' context - session - holder - []";
    let title = |path| check(Kind::Command, path, "", sheet).map(|record| record.title.raw().to_owned());
    assert_eq!(title("/src/shop/.git/index.lock").as_deref(), Some("index of /src/shop"));
    assert_eq!(title("/src/bare.git/HEAD.lock").as_deref(), Some("head of /src/bare.git"));
    let linked = title("/src/shop/.git/worktrees/fix/index.lock");
    assert_eq!(linked.as_deref(), Some("index fix of /src/shop"));
}

#[test]
fn whoever_has_a_lock_open_holds_it() {
    let mut file = testing::image("index.lock", b"DIRC", 60);
    file.locked_by = Some(4711);
    let held = testing::summary(&testing::read(|reading| read(Kind::Command, &file, reading)));
    assert_eq!(held, "Lock Current 'command lock' context - session - holder 4711/Unknown []");
}

#[test]
fn a_garbage_collection_names_its_process_and_host() {
    let sheet = "Lock Current 'gc lock' context - session - holder 4711/Unknown []";
    let record = check(Kind::Gc, "/src/shop/.git/gc.pid", "4711 desk", sheet);
    let host = record.and_then(|record| record.holder?.host().cloned());
    assert_eq!(host, Some("desk".into()));
    check(Kind::Gc, "/src/shop/.git/gc.pid", "", "broken: it names no PID");
}

#[test]
fn a_working_trees_lock_tells_its_reason() {
    let path = "/src/shop/.git/worktrees/fix/locked";
    let sheet = "Lock Current 'worktree lock' context - session - holder 7/Agent []";
    check(Kind::Worktree, path, "claude agent a1 (pid 7 start 5)\n", sheet);
    let sheet = "Lock Current 'worktree lock' context - session - holder - []";
    let record = check(Kind::Worktree, path, "on a portable drive", sheet);
    let fact = record.and_then(|record| record.facts.first().cloned());
    assert_eq!(fact, Some(("reason", "on a portable drive".into())));
}

#[test]
fn a_large_index_is_a_lock_all_the_same_and_a_link_is_none() {
    let mut file = testing::image("index.lock", b"", 60);
    file.content = Content::Refused(Refusal::TooBig(1 << 30));
    testing::record(testing::read(|reading| read(Kind::Command, &file, reading)));
    file.content = Content::Refused(Refusal::Special("symlink"));
    testing::broken(testing::read(|reading| read(Kind::Command, &file, reading)));
}

proptest::proptest! {
    #[test]
    fn reading_is_total(bytes: Vec<u8>) {
        let file = testing::image("index.lock", &bytes, 60);
        for kind in [Kind::Command, Kind::Gc, Kind::Worktree] {
            testing::read(|reading| read(kind, &file, reading));
        }
    }
}
