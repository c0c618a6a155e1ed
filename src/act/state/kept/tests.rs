use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::prune::{KeptLimits, prune};
use super::*;
use crate::core::model::snapshot::ledger::kept::{KeptReason, LOST};
use crate::source::repos::objects::{name_of, parse_name};

const HOUR: i64 = 3_600;

fn at(hours: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + hours * HOUR).unwrap()
}

fn files(folder: &tempfile::TempDir) -> KeptFiles {
    KeptFiles::of_tree(folder.path(), "/w")
}

fn version(path: &str, session: &str, content: &[u8], at: Timestamp) -> KeptVersion {
    KeptVersion {
        path: path.into(),
        at,
        session: session.into(),
        agent: "codex".into(),
        blob: Some(hex(&name_of(Kind::Blob, content)).into()),
        size: content.len() as u64,
        mode: 0o644,
        why: KeptReason::Edit,
        call: None,
        top: "/w".into(),
        left_out: None,
    }
}

/// Keeps a content for a file and a session, with the time of its object set to then.
fn keep(files: &KeptFiles, (path, session): (&str, &str), content: &[u8], at: Timestamp) -> Name {
    let name = name_of(Kind::Blob, content);
    keep_content(files, &name, content, at).unwrap();
    keep_content(files, &name, content, at).unwrap();
    add(files, ("/w", at), &[version(path, session, content, at)]).unwrap();
    name
}

fn limits(bytes: u64) -> KeptLimits {
    KeptLimits { bytes, age: jiff::SignedDuration::from_hours(14 * 24) }
}

/// Returns content that does not get smaller.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes().first().copied().unwrap_or_default()
    };
    (0..100_000).map(|_| next()).collect()
}

#[test]
fn what_is_kept_is_read_again_by_its_name_and_by_git() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(&folder);
    for content in [&b""[..], b"one\n", &noise(1), &vec![b'x'; 3 << 20], &noise(2).repeat(20)] {
        let name = keep(&files, ("/w/a", "s"), content, at(0));
        assert_eq!(files.content(&name).as_deref(), Some(content), "{}", content.len());
        let repo = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.arg("-C").arg(repo.path()).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", files.objects());
            command.args(arguments).output().unwrap()
        };
        assert!(git(&["init", "-q"]).status.success());
        assert_eq!(git(&["cat-file", "blob", &hex(&name)]).stdout, content, "{}", content.len());
    }
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let name = name_of(Kind::Blob, b"one\n");
    let object = crate::source::repos::objects::loose_path(&files.objects(), &name);
    assert_eq!((mode(&files.folder), mode(&files.objects()), mode(&object)), (0o700, 0o700, 0o600));
    assert_eq!(mode(&files.folder.join(list_name(at(0)))), 0o600);
    assert!(!files.has(&name_of(Kind::Blob, b"two\n")));
}

#[test]
fn versions_are_listed_by_day_and_a_torn_line_stays_alone() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(&folder);
    let [one, two, three] = [
        version("/w/a", "s", b"1", at(0)),
        version("/w/b\"ü", "s", b"2", at(1)),
        version("/w/a", "t", b"3", at(30)),
    ];
    assert!(add(&files, ("/w", at(0)), std::slice::from_ref(&one)).unwrap());
    let list = files.folder.join(list_name(at(0)));
    let torn = std::fs::File::options().append(true).open(&list).unwrap();
    rustix::io::write(&torn, br#"{"path":"/w/torn","at"#).unwrap();
    assert!(!add(&files, ("/w", at(1)), std::slice::from_ref(&two)).unwrap());
    assert!(add(&files, ("/w", at(30)), std::slice::from_ref(&three)).unwrap());
    assert_eq!(files.all(), [one.clone(), two.clone(), three.clone()]);
    assert_eq!(files.newest_of(&["/w/a"].into(), 1 << 20), [one, three.clone()]);
    assert_eq!(files.newest_of(&["/w/b\"ü"].into(), 1 << 20), [two]);
    let end = files.folder.join(list_name(at(30))).metadata().unwrap().len();
    assert_eq!(
        files.newest_of(&["/w/a"].into(), usize::try_from(end).unwrap()),
        [three],
        "the newest list only"
    );
    let text = crate::source::own::ledger::end_of(&list, 1 << 20).unwrap();
    assert_eq!(text.lines().next().unwrap(), r#"{"schema":"claimtop.kept.v1","tree":"/w"}"#);
}

#[test]
fn nothing_is_written_through_a_link_or_into_anothers_folder() {
    let content = b"one\n";
    let name = name_of(Kind::Blob, content);
    for link in ["", "objects", "objects/56", "list"] {
        let folder = tempfile::tempdir().unwrap();
        let (files, other) = (files(&folder), tempfile::tempdir().unwrap());
        let link = if link == "list" { list_name(at(0)) } else { link.to_owned() };
        let path = if link.is_empty() { files.folder.clone() } else { files.folder.join(&link) };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let target =
            if link.ends_with("jsonl") { other.path().join("list") } else { other.path().to_owned() };
        symlink(&target, &path).unwrap();
        let kept = keep_content(&files, &name, content, at(0)).and_then(|()| add(&files, ("/w", at(0)), &[]));
        assert!(kept.is_err(), "{link}");
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 0, "{link}");
    }
    let folder = tempfile::tempdir().unwrap();
    let files = files(&folder);
    std::fs::create_dir_all(files.objects()).unwrap();
    std::fs::set_permissions(files.objects(), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(keep_content(&files, &name, content, at(0)).is_err(), "others may write there");
}

#[test]
fn what_lies_under_a_name_is_never_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(&folder);
    let name = keep(&files, ("/w/a", "s"), b"one\n", at(0));
    let object = crate::source::repos::objects::loose_path(&files.objects(), &name);
    // Somebody has damaged it: that is reported by its reader, and repaired by no hook.
    let damaged = std::fs::File::options().write(true).open(&object).unwrap();
    damaged.set_len(3).unwrap();
    keep_content(&files, &name, b"one\n", at(1)).unwrap();
    assert_eq!((object.metadata().unwrap().len(), files.content(&name)), (3, None));
}

#[test]
fn many_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(&folder);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let files = &files;
            scope.spawn(move || {
                for round in 0..20 {
                    // Half of them are the same for all.
                    let content =
                        if round % 2 == 0 { format!("{round}") } else { format!("{number} {round}") };
                    let path = format!("/w/{number}-{round}");
                    let name = name_of(Kind::Blob, content.as_bytes());
                    keep_content(files, &name, content.as_bytes(), at(0)).unwrap();
                    add(files, ("/w", at(0)), &[version(&path, "s", content.as_bytes(), at(0))]).unwrap();
                }
            });
        }
    });
    let all = files.all();
    assert_eq!(all.len(), 160);
    for version in all {
        let name = parse_name(version.blob.unwrap().raw().as_bytes()).unwrap();
        assert!(files.content(&name).is_some());
    }
}

#[test]
fn old_versions_leave_and_what_nothing_else_has_stays() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(&folder);
    let superseded = keep(&files, ("/w/a", "s"), b"a1", at(0));
    let only = keep(&files, ("/w/a", "s"), b"a2", at(1));
    let committed = keep(&files, ("/w/b", "s"), b"b1", at(1));
    let of_another = keep(&files, ("/w/a", "t"), b"a3", at(1));
    let recent = keep(&files, ("/w/c", "s"), b"c1", at(15 * 24));
    let now = at(16 * 24);
    let is_elsewhere = |version: &KeptVersion| version.path.raw() == "/w/b";
    prune(&files, ("/w", limits(1 << 20), now), is_elsewhere, || true).unwrap();
    let has = [superseded, only, committed, of_another, recent].map(|name| files.has(&name));
    assert_eq!(has, [false, true, false, true, true]);
    assert!(!files.folder.join(list_name(at(0))).exists());
    let lost = files.list(LOST).unwrap();
    assert_eq!(lost.iter().map(|version| version.session.raw()).collect::<Vec<_>>(), ["s", "t"]);
    assert_eq!(files.all().len(), 3);
    // Once the file itself has it again it leaves that list too.
    prune(&files, ("/w", limits(1 << 20), at(17 * 24)), |version| version.session.raw() == "s", || true)
        .unwrap();
    assert_eq!(files.list(LOST).unwrap().len(), 1);
    assert!(!files.has(&only) && files.has(&of_another));
    // The last that others' lines have had kept does not make the session's own one superseded.
    let other = KeptVersion { why: KeptReason::Other, ..version("/w/a", "t", b"as in git", at(18 * 24)) };
    add(&files, ("/w", at(18 * 24)), &[other]).unwrap();
    prune(&files, ("/w", limits(0), at(60 * 24)), |_| false, || true).unwrap();
    assert!(files.has(&of_another) && files.has(&recent));
}

#[test]
fn what_is_too_much_leaves_the_oldest_superseded_first() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(&folder);
    let names: Vec<Name> = (0..6)
        .map(|number| keep(&files, ("/w/a", "s"), &noise(number), at(i64::try_from(number).unwrap())))
        .collect();
    let committed = keep(&files, ("/w/b", "s"), &noise(9), at(0));
    let has = || names.iter().chain([&committed]).map(|name| files.has(name)).collect::<Vec<_>>();
    let is_elsewhere = |version: &KeptVersion| version.path.raw() == "/w/b";
    let run = |bytes| prune(&files, ("/w", limits(bytes), at(9)), is_elsewhere, || true).unwrap();
    run(800_000);
    assert_eq!(has(), [true; 7]);
    run(450_000);
    assert_eq!(has(), [false, false, false, true, true, true, true]);
    run(150_000);
    assert_eq!(
        has(),
        [false, false, false, false, false, true, false],
        "of the last, only what is elsewhere"
    );
    run(0);
    assert_eq!(has(), [false, false, false, false, false, true, false]);
    assert_eq!(files.all().len(), 7, "what was there is still told");
}

#[test]
fn pruning_stops_in_time_and_removes_nothing_that_it_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(&folder);
    let old = keep(&files, ("/w/a", "s"), b"a1", at(0));
    prune(&files, ("/w", limits(0), at(60 * 24)), |_| true, || false).unwrap();
    assert!(files.has(&old) && files.all().len() == 1);
    // A list that cannot be read may name it.
    let list = files.folder.join(list_name(at(24)));
    symlink("/nowhere", &list).unwrap();
    prune(&files, ("/w", limits(0), at(60 * 24)), |_| true, || true).unwrap();
    assert!(files.has(&old) && files.all().len() == 1);
    // Nor is anything removed that could not be moved first.
    std::fs::remove_file(&list).unwrap();
    std::fs::create_dir(files.folder.join(LOST)).unwrap();
    assert!(prune(&files, ("/w", limits(0), at(60 * 24)), |_| false, || true).is_ok());
    assert!(files.has(&old) && files.all().len() == 1);
    std::fs::remove_dir(files.folder.join(LOST)).unwrap();
    // One just kept, which no list names yet.
    let young = name_of(Kind::Blob, b"young");
    keep_content(&files, &young, b"young", at(60 * 24)).unwrap();
    keep_content(&files, &young, b"young", at(60 * 24)).unwrap();
    prune(&files, ("/w", limits(0), at(60 * 24)), |_| true, || true).unwrap();
    assert!(files.has(&young) && !files.has(&old) && files.all().is_empty());
    // What a hook left that was ended goes with it.
    let draft = files.objects().join("ab/.0.new");
    std::fs::create_dir_all(draft.parent().unwrap()).unwrap();
    std::fs::set_permissions(draft.parent().unwrap(), std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::File::options().create_new(true).write(true).open(&draft).unwrap();
    prune(&files, ("/w", limits(0), at(61 * 24)), |_| true, || true).unwrap();
    assert!(!files.has(&young));
    assert!(!draft.exists());
}
