//! Which processes use a repository in which a lock of git's lies: they work in it, have their root in it, or have a
//! file of it open.
//!
//! That costs a look at every open file of the machine, so it is only done while such a lock exists and no git process
//! lives. The answer is kept for as long as the lock is the same: a process that comes later has not made it.
//!

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CString, OsStr};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{CWD, Dir, readlinkat};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::core::judge::git::{lock_of, lockers};
use crate::core::model::{Format, GitLock, Ownership, ProcessTable, Record, Repo, Users};
use crate::source::os::mounts::{self, MountedFolder};
use crate::source::os::open::plain::small;
use crate::source::os::opener::{folder, other_threads};
use crate::source::os::processes::own::own_pid;

/// How long an answer is good: 2 min.
const GOOD_FOR: SignedDuration = SignedDuration::from_mins(2);

/// The most bytes of `status` that are read; it has about 1.5 KiB.
const STATUS: usize = 16 << 10;

/// Programs that may not be inspected, and that never work on files of a repository: keepers of keys, and of a
/// session's end.
const KEEPERS: [&str; 2] = ["ssh-agent", "(sd-pam)"];

/// Finds the processes that use repositories, and keeps the answers.
#[derive(Default)]
pub(crate) struct Reader {
    known: HashMap<PathBuf, UsersAnswer>,
}

/// The answer about one repository.
struct UsersAnswer {
    locks: Locks,
    users: Users,
    /// When it was determined; `None` if it is due again.
    at: Option<Timestamp>,
}

/// The locks of a repository: path, last change and owner.
type Locks = Vec<(PathBuf, Timestamp, Ownership)>;

impl Reader {
    /// Makes the next look search again.
    pub(crate) fn renew(&mut self) {
        self.known.values_mut().for_each(|known| known.at = None);
    }

    /// Adds the processes that use a repository, if a lock lies in it or did a moment ago: a lock that was just set
    /// aside is judged once more.
    pub(crate) fn fill(
        &mut self,
        repo: &mut Repo,
        records: &[Arc<Record>],
        table: &ProcessTable,
        now: Timestamp,
    ) {
        let locks = locks(repo, records);
        let known = self.known.remove(&repo.common_dir);
        let is_good =
            |known: &UsersAnswer| known.at.is_some_and(|at| now.duration_since(at).abs() < GOOD_FOR);
        let known = match known {
            Some(known) if locks.is_empty() && known.locks.is_empty() && !is_good(&known) => return,
            None if locks.is_empty() => return,
            // Git itself is recognized by its name.
            _ if lockers(table).next().is_some() => return,
            Some(known) if known.locks == locks && is_good(&known) => known,
            earlier => {
                // A lock that has just been set aside still shows its owner.
                let taken = earlier.filter(|_| locks.is_empty()).map(|earlier| earlier.locks);
                let Some(users) = users(repo, taken.as_ref().unwrap_or(&locks), table) else { return };
                UsersAnswer { locks, users, at: Some(now) }
            }
        };
        repo.users = Some(known.users.clone());
        self.known.insert(repo.common_dir.clone(), known);
    }
}

fn locks(repo: &Repo, records: &[Arc<Record>]) -> Locks {
    let records =
        records.iter().filter(|record| record.format == Format::Git && lock_of(record) == GitLock::Command);
    let lock = |record: &Arc<Record>| {
        let path = record.location.path().filter(|path| path.starts_with(&repo.common_dir))?;
        Some((path.to_path_buf(), record.written_at, record.ownership))
    };
    records.filter_map(lock).collect()
}

/// The query for every process.
struct UsersQuery {
    places: Vec<MountedFolder>,
    /// The users who can have made the locks; `None` if the file system does not show it.
    owners: Option<BTreeSet<u32>>,
    /// The names of the places in each mount namespace.
    names: HashMap<CString, Option<Vec<PathBuf>>>,
}

/// How a process uses a repository.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Here,
    Elsewhere,
    Unread,
}

/// Checks every process of a table: processes started since were born after the locks, and exited ones hold nothing.
fn users(repo: &Repo, locks: &Locks, table: &ProcessTable) -> Option<Users> {
    let trees = repo.worktrees.iter().map(|tree| tree.path.as_path());
    let place = |folder: &Path| mounts::place(&folder.canonicalize().ok()?);
    let mut places = vec![place(&repo.common_dir)?];
    places.extend(trees.filter_map(place));
    let is_true = locks.iter().all(|(_, _, owner)| owner.medium.has_true_owners());
    let owners = is_true.then(|| locks.iter().map(|(_, _, owner)| owner.uid).collect());
    Some(of_places(places, owners, table))
}

/// Checks every process of a table for places; processes that may not be inspected count only if they may be one of
/// the owners'.
pub(super) fn of_places(
    places: Vec<MountedFolder>,
    owners: Option<BTreeSet<u32>>,
    table: &ProcessTable,
) -> Users {
    let mut asked = UsersQuery { places, owners, names: HashMap::new() };
    let mut users = Users::default();
    for pid in table.listed.iter().copied().filter(|pid| *pid != own_pid()) {
        match asked.of(pid) {
            Use::Here => users.pids.push(pid),
            Use::Unread if !is_keeper(table, pid) && asked.may_own(pid) => users.unread.push(pid),
            Use::Unread | Use::Elsewhere => {}
        }
    }
    users
}

fn is_keeper(table: &ProcessTable, pid: u32) -> bool {
    table.get(pid).is_some_and(|process| KEEPERS.contains(&process.comm.raw()))
}

impl UsersQuery {
    fn of(&mut self, pid: u32) -> Use {
        let leader = format!("/proc/{pid}");
        let threads = other_threads(pid);
        let all = std::iter::once(&leader).chain(&threads);
        all.fold(Use::Elsewhere, |so_far, thread| match (so_far, self.of_thread(thread)) {
            (Use::Here, _) | (_, Use::Here) => Use::Here,
            (Use::Unread, _) | (_, Use::Unread) => Use::Unread,
            (Use::Elsewhere, Use::Elsewhere) => Use::Elsewhere,
        })
    }

    fn of_thread(&mut self, thread: &str) -> Use {
        let names = match readlinkat(CWD, format!("{thread}/ns/mnt"), Vec::new()) {
            Ok(namespace) => self.names(namespace, thread),
            Err(error) => return unread(error),
        };
        let Some(names) = names else { return Use::Unread };
        let links = ["cwd", "root"].map(|link| link_of(CWD, format!("{thread}/{link}"), names));
        if links.contains(&Use::Here) {
            return Use::Here;
        }
        let found = open_files(thread, names);
        if found == Use::Elsewhere && links.contains(&Use::Unread) { Use::Unread } else { found }
    }

    /// Returns the names of the places in a mount namespace, which is that of a thread.
    fn names(&mut self, namespace: CString, thread: &str) -> Option<&[PathBuf]> {
        let places = &self.places;
        let names = self.names.entry(namespace);
        let of = thread.trim_start_matches("/proc/");
        names.or_insert_with(|| mounts::names(of, places)).as_deref()
    }

    /// Returns whether a process that may not be inspected can have made a file of the locks' owners; root, which can
    /// give files away, counts only as their owner.
    fn may_own(&self, pid: u32) -> bool {
        let Some(owners) = &self.owners else { return true };
        let status = small(Path::new(&format!("/proc/{pid}/status")), STATUS).unwrap_or_default();
        let status = String::from_utf8_lossy(&status);
        let Some(line) = status.lines().find_map(|line| line.strip_prefix("Uid:")) else { return true };
        line.split_ascii_whitespace().any(|uid| uid.parse().is_ok_and(|uid| owners.contains(&uid)))
    }
}

/// A kernel thread has no folders, and neither has a process that has just exited.
fn unread(error: Errno) -> Use {
    match error {
        Errno::NOENT | Errno::SRCH => Use::Elsewhere,
        _ => Use::Unread,
    }
}

/// Reads one link, such as a working folder.
fn link_of(at: impl AsFd, link: impl Arg, names: &[PathBuf]) -> Use {
    match readlinkat(at, link, Vec::new()) {
        Ok(target) => {
            let target = target.as_bytes();
            let target = Path::new(OsStr::from_bytes(target.strip_suffix(b" (deleted)").unwrap_or(target)));
            let is_here = names.iter().any(|name| target.starts_with(name));
            if is_here { Use::Here } else { Use::Elsewhere }
        }
        Err(error) => unread(error),
    }
}

fn open_files(thread: &str, names: &[PathBuf]) -> Use {
    let fds = match folder(&format!("{thread}/fd")) {
        Ok(fds) => fds,
        Err(error) => return unread(error),
    };
    let listing = match Dir::read_from(&fds) {
        Ok(listing) => listing,
        Err(error) => return unread(error),
    };
    let mut found = listing.filter_map(Result::ok).map(|entry| link_of(&fds, entry.file_name(), names));
    if found.any(|found| found == Use::Here) { Use::Here } else { Use::Elsewhere }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test starts whom it looks at")]

    use std::fs::File;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::core::model::Worktree;
    use crate::source::os::processes::started::spawn;

    /// A repository with one working tree, and a process that ends with its test.
    struct Stand {
        folder: tempfile::TempDir,
        child: Option<Child>,
    }

    impl Drop for Stand {
        fn drop(&mut self) {
            if let Some(child) = &mut self.child {
                child.kill().unwrap();
                child.wait().unwrap();
            }
        }
    }

    impl Stand {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for below in ["repo/.git", "repo/src", "other", "seen"] {
                std::fs::create_dir_all(folder.path().join(below)).unwrap();
            }
            Self { folder, child: None }
        }

        fn path(&self, below: &str) -> PathBuf {
            self.folder.path().join(below)
        }

        /// Repeats until the answer is as expected: a process needs a moment to get where it goes.
        #[track_caller]
        fn check(&mut self, command: &mut Command, expected: bool) {
            self.child = Some(spawn(command.stdin(Stdio::null())));
            let pid = self.child.as_ref().unwrap().id();
            let tree = Worktree { path: self.path("repo"), ..Worktree::default() };
            let common_dir = self.path("repo/.git");
            let repo = Repo { common_dir, worktrees: vec![tree], ..Repo::default() };
            let table = ProcessTable { listed: [pid].into(), ..ProcessTable::default() };
            let found = (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(if expected { 10 } else { 0 }));
                let users = users(&repo, &Vec::new(), &table).unwrap();
                assert!(users.unread.is_empty());
                users.pids == [pid]
            });
            assert_eq!(found, expected);
        }
    }

    fn sleep() -> Command {
        let mut command = Command::new("sleep");
        command.arg("600");
        command
    }

    #[test]
    fn who_works_in_a_repository_uses_it() {
        let mut stand = Stand::new();
        let (inside, outside) = (stand.path("repo/src"), stand.path("other"));
        stand.check(sleep().current_dir(inside), true);
        let mut stand = Stand::new();
        stand.check(sleep().current_dir(outside), false);
    }

    #[test]
    fn who_has_a_file_of_a_repository_open_uses_it_also_when_the_file_has_gone() {
        let mut stand = Stand::new();
        let path = stand.path("repo/.git/packed");
        let file = File::create(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        stand.check(sleep().current_dir("/").stdout(file), true);
    }

    #[test]
    fn a_repository_is_known_under_its_name_in_a_container() {
        let mut stand = Stand::new();
        let script =
            "mount --bind \"$0\" \"$1\" && mount -t tmpfs none \"$0\" && cd \"$1/src\" && exec sleep 600";
        let tried = Command::new("unshare").args(["--mount", "true"]).status();
        if !tried.is_ok_and(|status| status.success()) {
            return eprintln!("skipped: no mount namespaces");
        }
        let (repo, seen) = (stand.path("repo"), stand.path("seen"));
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]).arg(repo).arg(seen);
        stand.check(&mut command, true);
    }
}
