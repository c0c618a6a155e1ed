//! Looks at real files in folders of their own: hostile ones, torn ones, and repositories.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests write and replace files, and say by panicking what is wrong"
)]

use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use claimtop::core::agent::Signatures;
use claimtop::core::assess::{Policy, assess};
use claimtop::core::file::{Content, FileImage, MAX_BYTES, Refusal};
use claimtop::core::finding::Code;
use claimtop::core::record::Format;
use claimtop::core::report::VerdictState;
use claimtop::core::snapshot::{Snapshot, SourceState};
use claimtop::source::open::{Entry, Folder, OpenError, image};
use claimtop::source::{Collector, Places};
use rustix::fs::{CWD, FileType, Mode, mkfifoat};

/// A session as Maia writes it.
const SESSION: &str =
    r#"{"current_agent":"sre_agent","session_start":"2026-11-20T21:40:35.193569","version":"1.5"}"#;

/// A home and a tmp of their own.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        world.folder("home");
        world.folder("tmp");
        world
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    fn folder(&self, below: &str) -> PathBuf {
        let path = self.path(below);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        self.folder(path.parent().unwrap().to_str().unwrap());
        std::fs::write(&path, text).unwrap();
        path
    }

    fn places(&self) -> Places {
        Places {
            tmp: self.path("tmp"),
            home: self.path("home"),
            claude_config: self.path("home/.claude"),
            cache: self.path("home/.cache"),
            bindings: self.path("home/.local/state/claimtop/bindings"),
            roots: Vec::new(),
            obra_databases: Vec::new(),
            leo_database: None,
            confined: true,
        }
    }

    fn collector(&self) -> Collector {
        collector(self.places())
    }
}

fn collector(places: Places) -> Collector {
    Collector::new(places, Signatures::built_in().unwrap())
}

fn names(snapshot: &Snapshot) -> Vec<String> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    snapshot.records.iter().map(|record| name(record.location.path().unwrap())).collect()
}

#[track_caller]
fn health(snapshot: &Snapshot, id: &str) -> (SourceState, String) {
    let found = snapshot.sources.iter().find(|source| source.id == id);
    let found = found.unwrap_or_else(|| panic!("no {id} among {:?}", snapshot.sources));
    (found.state, found.detail.raw().to_owned())
}

/// Reads one name, as the listing shows it and also as if it had shown a plain file: so it is
/// when a file is replaced at that very moment.
#[track_caller]
fn check_refused(folder: &Path, name: &str, expected: &Refusal) {
    let folder = Folder::open(folder).unwrap();
    let listed = folder.entries(|listed| listed == name).unwrap();
    for sort in [listed.first().unwrap().sort, FileType::RegularFile, FileType::Unknown] {
        let entry = Entry { name: name.into(), sort };
        let found = image(&folder, &entry).unwrap_or_else(|| panic!("{name} is gone"));
        assert_eq!(found.content, Content::Refused(expected.clone()), "{name} as {sort:?}");
        assert!(found.meta.is_some());
    }
}

#[track_caller]
fn read(folder: &Path, name: &str) -> Option<FileImage> {
    image(&Folder::open(folder).unwrap(), &Entry { name: name.into(), sort: FileType::RegularFile })
}

#[test]
fn what_is_no_plain_file_is_refused_and_never_waited_for() {
    let world = World::new();
    let folder = world.path("tmp");
    mkfifoat(CWD, folder.join("fifo.json"), Mode::RUSR | Mode::WUSR).unwrap();
    symlink("/dev/zero", folder.join("zero.json")).unwrap();
    symlink("loop.json", folder.join("loop.json")).unwrap();
    world.folder("tmp/folder.json");
    let _socket = UnixListener::bind(folder.join("socket.json")).unwrap();
    for (name, sort) in [
        ("fifo.json", "fifo"),
        ("zero.json", "symlink"),
        ("loop.json", "symlink"),
        ("folder.json", "directory"),
        ("socket.json", "socket"),
    ] {
        check_refused(&folder, name, &Refusal::Special(sort));
    }
}

#[test]
fn a_device_is_refused() {
    check_refused(Path::new("/dev"), "zero", &Refusal::Special("device"));
}

#[test]
fn huge_linked_and_foreign_files_are_refused() {
    let world = World::new();
    let folder = world.path("tmp");
    let tib = 1 << 40;
    std::fs::File::create(folder.join("sparse.json")).unwrap().set_len(tib).unwrap();
    check_refused(&folder, "sparse.json", &Refusal::TooBig(tib));
    let linked = world.write("tmp/linked.json", SESSION);
    std::fs::hard_link(linked, world.path("home/other")).unwrap();
    check_refused(&folder, "linked.json", &Refusal::Linked(2));
    let foreign = world.write("tmp/foreign.json", SESSION);
    match std::os::unix::fs::chown(foreign, Some(65_534), None) {
        Ok(()) => check_refused(&folder, "foreign.json", &Refusal::ForeignOwner(65_534)),
        Err(_) => eprintln!("skipped: only root can give files away"),
    }
}

#[test]
fn plain_files_are_read_up_to_the_limit() {
    let world = World::new();
    let folder = world.path("tmp");
    let limit = usize::try_from(MAX_BYTES).unwrap();
    for (name, size) in [("empty", 0), ("one", 1), ("full", limit)] {
        std::fs::write(folder.join(name), vec![b'x'; size]).unwrap();
        let found = read(&folder, name).unwrap();
        assert!(matches!(found.content, Content::Bytes(bytes) if bytes.len() == size), "{name}");
        assert_eq!(found.meta.unwrap().size, u64::try_from(size).unwrap());
    }
    std::fs::write(folder.join("over"), vec![b'x'; limit + 1]).unwrap();
    check_refused(&folder, "over", &Refusal::TooBig(MAX_BYTES + 1));
    assert_eq!(read(&folder, "vanished"), None);
}

#[test]
fn an_unreadable_file_says_so_in_the_systems_words() {
    if rustix::process::geteuid().is_root() {
        return eprintln!("skipped: root may read everything");
    }
    let world = World::new();
    let path = world.write("tmp/closed.json", SESSION);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o0)).unwrap();
    let found = read(&world.path("tmp"), "closed.json").unwrap();
    assert_eq!(found.content, Content::Failed("permission denied".to_owned()));
}

#[test]
fn a_name_that_is_no_text_is_shown_and_found_again() {
    use std::os::unix::ffi::OsStringExt;
    let world = World::new();
    let name = OsString::from_vec(b"a\xff.json".to_vec());
    let path = world.path("tmp").join(&name);
    std::fs::write(&path, "x").unwrap();
    let folder = Folder::open(&world.path("tmp")).unwrap();
    let entry = folder.entries(|_| true).unwrap().remove(0);
    let found = image(&folder, &entry).unwrap();
    assert_eq!((found.name(), &*found.path), ("a\\xFF.json", path.as_path()));
}

#[test]
fn a_folder_is_itself_and_no_link() {
    let world = World::new();
    symlink("tmp", world.path("link")).unwrap();
    world.write("file", "x");
    mkfifoat(CWD, world.path("fifo"), Mode::RUSR).unwrap();
    for (name, sort) in [("link", "symlink"), ("file", "file"), ("fifo", "fifo")] {
        let path = world.path(name);
        assert_eq!(Folder::open(&path).err(), Some(OpenError::NoFolder { path, sort }));
    }
    let path = world.path("none");
    assert_eq!(Folder::open(&path).err(), Some(OpenError::Absent { path }));
    assert!(Folder::open(&world.path("file/below")).err().is_some_and(|error| error.is_absence()));
    assert!(Folder::open(&world.path("tmp")).unwrap().enter("../home".as_ref()).is_err());
}

#[test]
fn records_are_read_and_sources_are_told() {
    let world = World::new();
    world.write("home/.maia/sessions/swarm_session_77.json", SESSION);
    world.write("home/.maia/sessions/notes.txt", "not Maia's");
    let snapshot = world.collector().look();
    assert_eq!(names(&snapshot), ["swarm_session_77.json"]);
    assert_eq!(health(&snapshot, "maia"), (SourceState::Ok, "1 record".to_owned()));
    assert_eq!(health(&snapshot, "claude-code").0, SourceState::Absent);
    assert!(snapshot.processes.listed.contains(&std::process::id()));
}

#[test]
fn a_hostile_file_under_a_sessions_name_is_told_as_broken() {
    let world = World::new();
    let folder = world.folder("home/.maia/sessions");
    mkfifoat(CWD, folder.join("swarm_session_1.json"), Mode::RUSR | Mode::WUSR).unwrap();
    symlink("/dev/zero", folder.join("swarm_session_2.json")).unwrap();
    let snapshot = world.collector().look();
    let codes: Vec<_> = snapshot.broken.iter().map(|broken| (broken.format, broken.problem.code)).collect();
    assert_eq!(codes, [(Format::Maia, Code::SpecialFile); 2]);
    assert_eq!(health(&snapshot, "maia").1, "0 records, 2 unusable files");
}

#[test]
fn one_file_is_one_record_however_many_ways_lead_to_it() {
    let world = World::new();
    world.write("home/maia_active_swarm_session_context_77.json", SESSION);
    world.write("home/.maia/sessions/swarm_session_78.json", SESSION);
    symlink(world.path("home"), world.path("also-home")).unwrap();
    for tmp in ["home", "also-home"] {
        let places = Places { tmp: world.path(tmp), ..world.places() };
        let found = names(&collector(places).look());
        assert_eq!(found.len(), 2, "{tmp}: {found:?}");
    }
}

#[test]
fn a_folder_that_is_a_link_is_a_failure_and_one_that_is_missing_is_none() {
    let world = World::new();
    world.write("elsewhere/swarm_session_77.json", SESSION);
    world.folder("home/.maia");
    symlink(world.path("elsewhere"), world.path("home/.maia/sessions")).unwrap();
    let snapshot = world.collector().look();
    assert!(snapshot.records.is_empty());
    let (state, detail) = health(&snapshot, "maia");
    assert_eq!(state, SourceState::Partial);
    assert!(detail.ends_with(".maia/sessions: it is a symlink, not a folder"), "{detail}");
}

#[test]
fn folders_come_go_and_are_replaced_between_looks() {
    let world = World::new();
    let mut collector = world.collector();
    assert!(collector.look().records.is_empty());
    world.write("home/.maia/sessions/swarm_session_77.json", SESSION);
    assert_eq!(names(&collector.look()), ["swarm_session_77.json"]);
    std::fs::rename(world.path("home/.maia"), world.path("home/.maia-old")).unwrap();
    assert!(collector.look().records.is_empty());
    world.write("home/.maia/sessions/swarm_session_78.json", SESSION);
    assert_eq!(names(&collector.look()), ["swarm_session_78.json"]);
    assert!(collector.folders().contains(&world.path("home/.maia/sessions")));
    assert!(collector.folders().contains(&world.path("home/.maia/checkpoints/*")));
}

#[test]
fn a_file_being_written_keeps_what_it_gave_before() {
    let world = World::new();
    let mut collector = world.collector();
    let path = world.write("home/.maia/sessions/swarm_session_77.json", SESSION);
    let before = collector.look().records;
    for torn in ["", "{\"current_agent\":"] {
        std::fs::write(&path, torn).unwrap();
        // However slow this machine is, the file was written less than a second ago.
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3_600);
        std::fs::File::open(&path).unwrap().set_modified(later).unwrap();
        let snapshot = collector.look();
        assert_eq!(snapshot.records, before);
        assert_eq!(snapshot.broken.iter().map(|b| b.problem.code).collect::<Vec<_>>(), [Code::TornRecord]);
    }
    std::fs::write(&path, SESSION.replace("sre", "dba")).unwrap();
    let after = collector.look();
    assert_eq!(after.records.iter().map(|r| r.title.raw()).collect::<Vec<_>>(), ["dba_agent"]);
    std::fs::remove_file(&path).unwrap();
    assert!(collector.look().records.is_empty());
}

#[test]
fn a_corrupt_file_gives_nothing_whatever_it_gave_before() {
    let world = World::new();
    let mut collector = world.collector();
    let path = world.write("home/.maia/sessions/swarm_session_77.json", SESSION);
    assert_eq!(collector.look().records.len(), 1);
    std::fs::write(&path, "[5]").unwrap();
    // It is called corrupt when nobody has touched it for a second.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let snapshot = collector.look();
    assert!(snapshot.records.is_empty());
    assert_eq!(snapshot.broken.iter().map(|b| b.problem.code).collect::<Vec<_>>(), [Code::CorruptRecord]);
}

/// Lays out a repository with a linked working tree, as git does.
fn repository(world: &World, at: &str) -> PathBuf {
    let top = world.folder(at);
    world.folder(&format!("{at}/.git/objects"));
    world.write(&format!("{at}/.git/HEAD"), "ref: refs/heads/main\n");
    let tree = world.folder(&format!("{at}-wt"));
    let admin = format!("{at}/.git/worktrees/feature");
    world.write(&format!("{at}-wt/.git"), &format!("gitdir: {}\n", world.path(&admin).display()));
    world.write(&format!("{admin}/gitdir"), &format!("{}/.git\n", tree.display()));
    world.write(&format!("{admin}/commondir"), "../..\n");
    world.write(&format!("{admin}/HEAD"), "ref: refs/heads/feature/x\n");
    world.write(&format!("{admin}/locked"), "claude agent a1 (pid 77 start 5)\n");
    let gone = format!("{at}/.git/worktrees/gone");
    world.write(&format!("{gone}/gitdir"), "../../../../gone-wt/.git\n");
    world.write(&format!("{gone}/HEAD"), "0000000000000000000000000000000000000001\n");
    world.write(&format!("{at}/.git/refs/heads/entire/0123456-e3b0c4"), "x\n");
    world.write(&format!("{at}/.git/refs/heads/main"), "x\n");
    let packed = "# pack-refs with: peeled\n0000000000000000000000000000000000000001 refs/heads/entire/checkpoints/v1\n";
    world.write(&format!("{at}/.git/packed-refs"), packed);
    top
}

#[track_caller]
fn check_repository(world: &World, root: &str) {
    let places = Places { roots: vec![world.path(root)], ..world.places() };
    let snapshot = collector(places).look();
    let [repo] = snapshot.repos.as_slice() else { panic!("{root}: {:?}", snapshot.repos) };
    assert_eq!(repo.common_dir, world.path("home/src/app/.git"));
    let trees: Vec<_> = repo
        .worktrees
        .iter()
        .map(|tree| {
            let path = tree.path.strip_prefix(world.path("home/src")).unwrap().to_str().unwrap();
            (path, tree.id.as_str(), tree.branch.as_ref().map(|branch| branch.raw()), tree.exists)
        })
        .collect();
    assert_eq!(
        trees,
        [
            ("app", "", Some("main"), true),
            ("app-wt", "feature", Some("feature/x"), true),
            ("gone-wt", "gone", None, false),
        ],
        "{root}"
    );
    let locked =
        repo.worktrees.iter().map(|tree| tree.locked.as_ref().map(|why| why.raw())).collect::<Vec<_>>();
    assert_eq!(locked, [None, Some("claude agent a1 (pid 77 start 5)"), None]);
    assert_eq!(repo.entire_refs, ["refs/heads/entire/0123456-e3b0c4", "refs/heads/entire/checkpoints/v1"]);
    let badge = format!("repo:{}", world.path("home/src/app").display());
    assert_eq!(health(&snapshot, &badge), (SourceState::Ok, "3 working trees".to_owned()));
}

#[test]
fn a_repository_is_found_from_its_top_from_above_from_within_and_from_its_trees() {
    let world = World::new();
    repository(&world, "home/src/app");
    world.folder("home/src/app/deep/er");
    for root in ["home/src/app", "home/src", "home", "home/src/app-wt", "home/src/app/deep/er"] {
        check_repository(&world, root);
    }
}

#[test]
fn a_record_leads_to_the_repository_it_names() {
    let world = World::new();
    let top = repository(&world, "home/src/app");
    let text = SESSION.replace(
        "\"version\"",
        &format!("\"repository\":{{\"working_directory\":\"{}/gone\"}},\"version\"", top.display()),
    );
    world.write("home/.maia/sessions/swarm_session_77.json", &text);
    let snapshot = world.collector().look();
    assert_eq!(snapshot.repos.iter().map(|repo| &repo.common_dir).collect::<Vec<_>>(), [&top.join(".git")]);
}

#[test]
fn nothing_outside_the_named_folders_is_read() {
    let world = World::new();
    let top = repository(&world, "outside/app");
    let text = SESSION.replace(
        "\"version\"",
        &format!("\"repository\":{{\"working_directory\":\"{}\"}},\"version\"", top.display()),
    );
    world.write("home/.maia/sessions/swarm_session_77.json", &text);
    assert!(world.collector().look().repos.is_empty());
    // A working tree inside, whose repository is outside: the tree alone is looked in.
    let tree = world.path("outside/app-wt");
    let places = Places { roots: vec![tree.clone()], ..world.places() };
    let snapshot = collector(places).look();
    assert!(snapshot.repos.iter().all(|repo| repo.common_dir.starts_with(&tree)));
}

#[test]
fn a_lock_that_is_held_names_its_holder() {
    let world = World::new();
    let path = world.write("home/x.lock", "");
    let file = std::fs::File::open(&path).unwrap();
    file.lock().unwrap();
    let meta = read(&world.path("home"), "x.lock").unwrap().meta.unwrap();
    let locks = claimtop::source::locks::Locks::read();
    if !Path::new("/proc/locks").exists() {
        return eprintln!("skipped: this system does not list locks");
    }
    assert_eq!(locks.holder(&meta), Some(std::process::id()));
}

#[test]
fn whoever_has_gits_lock_open_is_told_as_its_holder() {
    let world = World::new();
    let tree = repository(&world, "home/src/shop");
    let lock = world.write("home/src/shop/.git/index.lock", "DIRC");
    let mut collector = collector(Places { roots: vec![tree], ..world.places() });
    let mut holder = || {
        let snapshot = collector.look();
        let record = snapshot.records.iter().find(|record| record.format == Format::Git).unwrap();
        record.holder.as_ref().and_then(|holder| holder.pid.as_ref()?.valid())
    };
    assert_eq!(holder(), None);
    let open = std::fs::File::open(&lock).unwrap();
    let mut child = std::process::Command::new("sleep").arg("60").stdin(open).spawn().unwrap();
    let found = holder();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(found, Some(child.id()));
    assert_eq!(holder(), None);
}

#[test]
fn a_git_that_works_in_a_tree_keeps_its_lock_alive() {
    let world = World::new();
    let tree = repository(&world, "home/src/shop");
    world.write("home/src/shop/.git/index.lock", "DIRC");
    // Whatever is named git is taken for git.
    let git = world.write("home/git", "#!/bin/sh\nread -r _\n");
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o700)).unwrap();
    let waiting = std::process::Stdio::piped();
    let mut child = std::process::Command::new(&git).stdin(waiting).current_dir(&tree).spawn().unwrap();
    let mut collector = collector(Places { roots: vec![tree], ..world.places() });
    let snapshot = collector.look();
    let report = assess(&snapshot, &Policy { signatures: Signatures::built_in().unwrap() });
    child.kill().unwrap();
    child.wait().unwrap();
    let lock = report.records.iter().find(|record| record.title.raw().starts_with("index of")).unwrap();
    assert_eq!(lock.verdict.state, VerdictState::Alive, "{:?}", lock.verdict);
}
