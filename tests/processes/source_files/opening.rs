//! Single files: one that is not a plain file of the user's own is refused, and never waited for.

use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use claimtop::core::model::{Content, FileImage, Refusal};
use claimtop::testing::core::MAX_BYTES;
use claimtop::testing::source::{Entry, Folder, OpenError, image, make_pipe};
use rustix::fs::FileType;

use super::{SESSION, World};

/// Reads one name, both as listed and as if it had been listed as a plain file, which happens if a file is replaced at
/// that very moment.
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
    make_pipe(&folder.join("fifo.json")).unwrap();
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
    make_pipe(&world.path("fifo")).unwrap();
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
fn a_lock_that_is_held_names_its_holder() {
    let world = World::new();
    let path = world.write("home/x.lock", "");
    let file = std::fs::File::open(&path).unwrap();
    file.lock().unwrap();
    let meta = read(&world.path("home"), "x.lock").unwrap().meta.unwrap();
    let locks = claimtop::testing::source::Locks::read();
    if !Path::new("/proc/locks").exists() {
        return eprintln!("skipped: this system does not list locks");
    }
    assert_eq!(locks.holder(&meta), Some(std::process::id()));
}

#[test]
fn a_folder_is_listed_whole_each_time() {
    let world = World::new();
    for number in 0..2_000 {
        world.write(&format!("tmp/one-of-many-files-with-a-name-of-some-length-{number:04}"), "");
    }
    let folder = Folder::open(&world.path("tmp")).unwrap();
    let first = folder.entries(|_| true).unwrap();
    assert_eq!(first.len(), 2_000);
    assert_eq!(folder.entries(|_| true).unwrap(), first);
}
