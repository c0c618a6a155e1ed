//! Keeps tombstones and the descents of the dead: a file each, for its owner only, replaced whole. Losing one is safe,
//! so nothing is synced to the disk, and a process that finds the lock taken keeps what it has learnt until later.

use std::ffi::OsStr;
use std::path::Path;

use rustix::io::Errno;
use serde::Serialize;

use super::bind::{open, replace};
use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Patience, Spot};
use crate::core::judge::tombstone::keeper::Lesson;
use crate::core::model::snapshot::descent;
use crate::core::model::snapshot::tombstone::merged;
use crate::core::model::text::json;
use crate::core::model::{Descent, Host, Tombstone};
use crate::source::own::descents;
use crate::source::own::tombstones::kept;

/// The lock file by which several claimtops take turns.
const LOCK: &str = "tombstones.lock";

/// Adds what was learnt to the file, removes what was wrong, and forgets other boots.
///
/// # Errors
/// The folder or the file cannot be made, or another claimtop is at it.
pub(crate) fn keep<D: Disk>(disk: &D, path: &Path, lesson: &Lesson, host: &Host) -> Result<(), ActionError> {
    if lesson.has_stones() {
        change(disk, path, || {
            let all = merged(kept(path, host)?, &lesson.learnt).into_iter();
            Ok(all.filter(|stone| !lesson.refuted.contains(&stone.id)).collect())
        })?;
    }
    if lesson.descents.is_empty() {
        return Ok(());
    }
    let path = &descents::beside(path);
    change(disk, path, || {
        let has_ended = |one: &Descent| one.counts_on(host) && lesson.ended.contains(&one.id);
        let mut all = descents::kept(path, host)?;
        all.retain(|one| !has_ended(one));
        Ok(descent::merged(all, &lesson.descents))
    })
}

/// Forgets all of them.
///
/// # Errors
/// The folder or the file cannot be made, or another claimtop is at it.
pub(crate) fn drop_all<D: Disk>(disk: &D, path: &Path) -> Result<(), ActionError> {
    change(disk, path, || Ok(Vec::<Tombstone>::new()))?;
    change(disk, &descents::beside(path), || Ok(Vec::<Descent>::new()))
}

/// Replaces a file of lines by the result of a change, under the lock of the tombstones.
///
/// # Errors
/// The folder or the file cannot be made, or another claimtop is at it.
pub(crate) fn change<D: Disk, T: Serialize>(
    disk: &D,
    path: &Path,
    all: impl FnOnce() -> Result<Vec<T>, Errno>,
) -> Result<(), ActionError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let opened = open(disk, folder)?;
    let _lock = disk
        .lock((&opened, OsStr::new(LOCK)), Patience::None)
        .map_err(ActionError::failed_at("lock", path))?;
    let all = all().map_err(ActionError::failed_at("read", path))?;
    let lines = all.iter().map(json::to_line).collect::<Result<Vec<_>, _>>();
    let lines = lines.map_err(|error| ActionError::Never(error.to_string()))?;
    let text: String = lines.into_iter().map(|line| line + "\n").collect();
    let draft = format!(".{}.{}.new", name.to_string_lossy(), std::process::id());
    write(disk, (&opened, OsStr::new(&draft)), text.as_bytes(), (&opened, name)).map_err(|errno| {
        // A leftover draft of ours is useless.
        let _ = disk.remove((&opened, OsStr::new(&draft)));
        ActionError::failed_at("write", path)(errno)
    })
}

fn write<D: Disk>(
    disk: &D,
    draft: Spot<'_, D::Folder>,
    bytes: &[u8],
    to: Spot<'_, D::Folder>,
) -> Result<(), Errno> {
    let mut file = disk.create(draft)?;
    disk.write(&mut file, bytes)?;
    replace(disk, draft, to)
}

#[cfg(test)]
mod tests {
    use std::fs::{File, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
    use std::path::PathBuf;

    use super::*;
    use crate::act::fs::system::System;
    use crate::core::model::{ProcessId, Reason, SeenBelow};
    use crate::source::os::{clock, host};

    /// A folder that does not exist yet, and the lesson of one look.
    struct Scene {
        folder: tempfile::TempDir,
        host: Host,
    }

    impl Scene {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap(), host: host::host(clock::now()) }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("claimtop/tombstones.jsonl")
        }

        fn stone(&self, pid: u32) -> Tombstone {
            Tombstone {
                id: ProcessId { pid, start_ticks: 1 },
                pidfd_inode: None,
                host: self.host.name.as_str().into(),
                boot_id: self.host.boot_id.as_deref().unwrap().into(),
                pid_namespace: 1,
                time_namespace: 1,
                session_id: Some("\u{202e}s\n".into()),
                name: None,
                seen_alive_at: None,
                proven_at: clock::now(),
                proven_tick: None,
                reason: Reason::NoProcess,
            }
        }

        fn keep(&self, learnt: &[u32], refuted: &[u32]) -> Result<(), ActionError> {
            let learnt = learnt.iter().map(|pid| self.stone(*pid)).collect();
            let refuted = refuted.iter().map(|pid| ProcessId { pid: *pid, start_ticks: 1 }).collect();
            self.keep_lesson(&Lesson { learnt, refuted, ..Lesson::default() })
        }

        /// Waits while the file is locked: a program that another test starts has the lock between its fork and its
        /// exec.
        fn keep_lesson(&self, lesson: &Lesson) -> Result<(), ActionError> {
            loop {
                match keep(&System, &self.path(), lesson, &self.host) {
                    Err(ActionError::Failed { errno: Errno::WOULDBLOCK, .. }) => std::thread::yield_now(),
                    kept => return kept,
                }
            }
        }

        /// Keeps the processes seen below the window 7, and forgets those that have ended.
        fn keep_below(&self, pids: &[u32], ended: &[u32]) {
            let id = |pid: &u32| ProcessId { pid: *pid, start_ticks: 1 };
            let Tombstone { host, boot_id, pid_namespace, time_namespace, .. } = self.stone(7);
            let descent = |pid: &u32| Descent {
                id: id(pid),
                host: host.clone(),
                boot_id: boot_id.clone(),
                pid_namespace: self.host.pid_namespace.unwrap_or(pid_namespace),
                time_namespace: self.host.time_namespace.unwrap_or(time_namespace),
                below: vec![SeenBelow { id: id(&7), agent: "claude-code".into() }],
                kept_at: clock::now(),
            };
            let descents = pids.iter().map(descent).collect();
            let lesson = Lesson { descents, ended: ended.iter().map(id).collect(), ..Lesson::default() };
            self.keep_lesson(&lesson).unwrap();
        }

        fn kept_below(&self) -> Vec<u32> {
            let kept = descents::kept(&descents::beside(&self.path()), &self.host).unwrap();
            kept.iter().map(|one| one.id.pid).collect()
        }

        fn kept(&self) -> Vec<u32> {
            let kept = kept(&self.path(), &self.host).unwrap();
            kept.iter().map(|stone| stone.id.pid).collect()
        }
    }

    #[test]
    fn what_is_learnt_is_added_for_the_owner_only_and_what_is_refuted_goes() {
        let scene = Scene::new();
        scene.keep(&[7, 5], &[]).unwrap();
        scene.keep(&[6], &[5]).unwrap();
        assert_eq!(scene.kept(), [6, 7]);
        let meta = std::fs::metadata(scene.path()).unwrap();
        assert_eq!((meta.mode() & 0o777, meta.nlink()), (0o600, 1));
        drop_all(&System, &scene.path()).unwrap();
        assert!(scene.kept().is_empty());
        let left = std::fs::read_dir(scene.path().parent().unwrap()).unwrap().count();
        assert_eq!(left, 3, "the two files and their lock");
    }

    #[test]
    fn who_was_seen_below_the_dead_is_kept_apart_from_tombstones_until_it_ends() {
        let scene = Scene::new();
        scene.keep_below(&[70, 71], &[]);
        assert!(!scene.path().exists(), "no tombstone was learnt");
        scene.keep(&[7], &[]).unwrap();
        scene.keep_below(&[60], &[71]);
        assert_eq!((scene.kept(), scene.kept_below()), (vec![7], vec![60, 70]));
        assert_eq!(std::fs::metadata(descents::beside(&scene.path())).unwrap().mode() & 0o777, 0o600);
        std::fs::set_permissions(descents::beside(&scene.path()), Permissions::from_mode(0o666)).unwrap();
        assert_eq!(scene.kept_below(), [] as [u32; 0], "others could have written it");
        scene.keep_below(&[61], &[]);
        drop_all(&System, &scene.path()).unwrap();
        assert!(scene.kept().is_empty() && scene.kept_below().is_empty());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test writes what others may have")]
    fn torn_lines_and_other_boots_are_forgotten() {
        let scene = Scene::new();
        scene.keep(&[7], &[]).unwrap();
        let mut text = String::from_utf8(std::fs::read(scene.path()).unwrap()).unwrap();
        text.push_str(&text.replace(scene.host.boot_id.as_deref().unwrap(), "another"));
        text.push_str("{\"pid\":9,\n\u{0}\n{}\n");
        std::fs::write(scene.path(), text).unwrap();
        scene.keep(&[8], &[]).unwrap();
        assert_eq!(scene.kept(), [7, 8]);
        assert_eq!(std::fs::read(scene.path()).unwrap().iter().filter(|byte| **byte == b'\n').count(), 2);
    }

    /// A user who can write the file could bury live processes that are not visible: nothing of it is copied into a
    /// trusted file.
    #[test]
    fn what_others_could_write_is_not_taken_over() {
        let others: [fn(&Path); 2] = [
            |path| std::fs::set_permissions(path, Permissions::from_mode(0o620)).unwrap(),
            |path| chown(path, Some(61_234), None).unwrap(),
        ];
        let is_root = rustix::process::geteuid().is_root();
        for make_others in others.into_iter().take(if is_root { 2 } else { 1 }) {
            let scene = Scene::new();
            scene.keep(&[7], &[]).unwrap();
            make_others(&scene.path());
            scene.keep(&[8], &[]).unwrap();
            assert_eq!(scene.kept(), [8]);
        }
    }

    #[test]
    fn a_file_of_any_size_is_read_no_further_than_what_is_ours_can_go() {
        let scene = Scene::new();
        scene.keep(&[7], &[]).unwrap();
        let file = File::options().write(true).open(scene.path()).unwrap();
        file.set_len(1 << 42).unwrap();
        scene.keep(&[8], &[]).unwrap();
        assert_eq!(scene.kept(), [7, 8]);
        assert!(std::fs::metadata(scene.path()).unwrap().len() < 4_096);
    }

    #[test]
    fn a_link_is_not_followed_and_another_claimtop_at_it_is_no_reason_to_wait() {
        let scene = Scene::new();
        scene.keep(&[7], &[]).unwrap();
        let folder = System.folder(scene.path().parent().unwrap()).unwrap();
        let lock = System.lock((&folder, OsStr::new(LOCK)), Patience::Wait).unwrap();
        let learnt = Lesson { learnt: vec![scene.stone(8)], ..Lesson::default() };
        assert!(keep(&System, &scene.path(), &learnt, &scene.host).is_err());
        drop(lock);
        let linked = scene.path().with_file_name("linked");
        symlink(scene.path(), &linked).unwrap();
        let lesson = Lesson { refuted: vec![scene.stone(9).id], ..Lesson::default() };
        assert!(keep(&System, &linked, &lesson, &scene.host).is_err());
        assert_eq!(scene.kept(), [7]);
    }
}
