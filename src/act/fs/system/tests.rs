//! What the real disk never does: write over a file, follow a link, wait for a writer.

#![expect(clippy::disallowed_methods, reason = "tests make files in a temporary folder")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{XattrFlags, setxattr};
use rustix::io::{FdFlags, fcntl_getfd};
use tempfile::TempDir;

use super::*;
use crate::source::os::pipe::make_pipe;

/// A folder with one file.
struct Scene {
    temporary: TempDir,
    folder: Folder,
}

impl Scene {
    fn new() -> Self {
        let temporary = TempDir::new().unwrap();
        std::fs::write(temporary.path().join("there"), "old").unwrap();
        symlink("there", temporary.path().join("link")).unwrap();
        make_pipe(&temporary.path().join("fifo")).unwrap();
        let folder = System.folder(temporary.path()).unwrap();
        Self { temporary, folder }
    }

    fn spot<'a>(&'a self, name: &'a str) -> Spot<'a, Folder> {
        (&self.folder, OsStr::new(name))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temporary.path().join(name)
    }

    fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    fn mode(&self, name: &str) -> u32 {
        std::fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o777
    }
}

fn is_kept_from_children(fd: impl AsFd) -> bool {
    fcntl_getfd(fd).unwrap().contains(FdFlags::CLOEXEC)
}

#[test]
fn a_new_file_is_private_and_is_made_only_where_nothing_lies() {
    let scene = Scene::new();
    let file = System.create(scene.spot("new")).unwrap();
    assert!(is_kept_from_children(&file));
    assert_eq!(scene.mode("new"), 0o600);
    for name in ["there", "link", "fifo"] {
        assert_eq!(System.create(scene.spot(name)).unwrap_err(), Errno::EXIST, "{name}");
    }
    assert_eq!(scene.text("there").as_deref(), Some("old"));
}

#[test]
fn a_file_that_others_can_write_or_that_cannot_be_ours_is_not_read() {
    let scene = Scene::new();
    let file = System.create(scene.spot("huge")).unwrap();
    file.set_len(1 << 42).unwrap();
    assert_eq!(System.read_own(scene.spot("huge")).unwrap_err(), Errno::FBIG);
    file.set_permissions(Permissions::from_mode(0o622)).unwrap();
    assert_eq!(System.read_own(scene.spot("huge")).unwrap_err(), Errno::PERM);
}

#[test]
fn own_files_are_private_and_neither_links_nor_pipes() {
    let scene = Scene::new();
    let lock = System.lock(scene.spot("lock"), Patience::None).unwrap();
    assert!(is_kept_from_children(&lock));
    assert_eq!(scene.mode("lock"), 0o600);
    assert_eq!(System.lock(scene.spot("lock"), Patience::None).unwrap_err(), Errno::WOULDBLOCK);
    for name in ["link", "fifo"] {
        assert!(System.lock(scene.spot(name), Patience::None).is_err(), "{name}");
        assert!(System.read_own(scene.spot(name)).is_err(), "{name}");
        assert!(System.append(scene.spot(name), b"x", Durability::Lazy).is_err(), "{name}");
    }
    assert_eq!(scene.text("there").as_deref(), Some("old"));
}

#[test]
fn where_the_kernel_cannot_promise_it_no_name_is_taken_over_either() {
    for side in [Side::Private, Side::Public] {
        let scene = Scene::new();
        std::fs::write(scene.path("new"), "new").unwrap();
        let to_taken = rename_plainly(scene.spot("new"), scene.spot("there"), side);
        assert_eq!(to_taken, Err(Errno::EXIST), "{side:?}");
        assert_eq!((scene.text("new"), scene.text("there")), (Some("new".into()), Some("old".into())));
        rename_plainly(scene.spot("new"), scene.spot("free"), side).unwrap();
        assert_eq!((scene.text("new"), scene.text("free")), (None, Some("new".into())), "{side:?}");
    }
}

#[test]
fn only_the_time_of_the_last_change_is_set() {
    let scene = Scene::new();
    let at = "2026-11-20T10:00:00.5Z".parse().unwrap();
    System.touch(scene.spot("there"), at).unwrap();
    let image = System.image(scene.spot("there")).unwrap().unwrap();
    assert_eq!(image.meta.unwrap().modified_at, at);
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_no_plain_file_is_not_even_opened() {
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

    use crate::core::model::{Content, Refusal};
    let scene = Scene::new();
    let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
    for name in ["fifo", "there"] {
        inotify::add_watch(&watch, scene.path(name), WatchFlags::OPEN).unwrap();
    }
    let mut events = [0; 256];
    let image = System.image(scene.spot("fifo")).unwrap().unwrap();
    assert!(matches!(image.content, Content::Refused(Refusal::Special(_))), "{image:?}");
    let opened = rustix::io::read(&watch, &mut events);
    assert_eq!(opened, Err(Errno::AGAIN), "opening a pipe wakes whoever waits to write to it");
    System.image(scene.spot("there")).unwrap().unwrap();
    assert!(rustix::io::read(&watch, &mut events).is_ok());
}

#[test]
fn an_attribute_that_cannot_be_kept_is_named() {
    let (scene, memory) = (Scene::new(), Path::new("/dev/shm"));
    let Ok(other) = TempDir::new_in(memory) else { return eprintln!("skipped: no {}", memory.display()) };
    // More than a block, in which most file systems keep all attributes of a file.
    let (value, flags) = (vec![b'x'; 60_000], XattrFlags::empty());
    std::fs::write(other.path().join("large"), "").unwrap();
    let is_large = setxattr(other.path().join("large"), "user.note", &value, flags).is_ok();
    if !is_large || setxattr(scene.path("there"), "user.note", &value, flags).is_ok() {
        return eprintln!("skipped: both file systems take as much");
    }
    let folder = System.folder(other.path()).unwrap();
    let mut file = System.create(scene.spot("new")).unwrap();
    let (what, _) = System.keep((&folder, OsStr::new("large")), &mut file).unwrap_err();
    assert_eq!(what, "the attribute user.note");
}
