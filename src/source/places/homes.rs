//! The folders of homes that are read: a person's own, and those that windows have for themselves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::geteuid;

use crate::core::model::{Details, FolderId, NamedHome, Work};
use crate::format::{Base, spec};
use crate::source::os::open::folder::look_at;
use crate::source::places::Places;
use crate::source::places::path_trust::is_steady;

/// The most folders that are read beside a person's own: sixteen homes, each with a configuration
/// and a cache.
pub(crate) const MAX_FOLLOWED: usize = 48;

/// A folder below which systems keep records of a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HomeBase {
    /// Which of a home's folders it is.
    pub(crate) base: Base,
    pub(crate) path: PathBuf,
    /// The identity of that folder; not read if no others are read beside it.
    pub(crate) id: Option<FolderId>,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Homes {
    own: Vec<HomeBase>,
    followed: Vec<HomeBase>,
    has_more: bool,
}

impl Homes {
    /// Returns a person's own folders.
    pub(crate) fn new(places: &Places) -> Self {
        let folder = |base| Some(own(base, places.folder(base)?, places.follows_homes));
        let bases = [Base::Home, Base::ClaudeConfig, Base::Cache];
        Self { own: bases.into_iter().filter_map(folder).collect(), ..Self::default() }
    }

    /// Returns a person's own folders, and those in which these sessions of this user's lie.
    pub(crate) fn of_sessions(places: &Places, works: &[Arc<Work>]) -> Self {
        let mut homes = Self::new(places);
        let uid = geteuid().as_raw();
        for work in works.iter().filter(|_| places.follows_homes) {
            let Some(transcripts) = spec(work.format).and_then(|spec| spec.transcripts) else { continue };
            let inside = Path::new(transcripts.folder);
            let all = work.path.ancestors().find(|above| above.ends_with(inside));
            let home = all.and_then(|all| all.ancestors().nth(inside.components().count()));
            let Some((path, id)) = home.and_then(|home| Some((home, identity(home, uid)?))) else { continue };
            homes.add(HomeBase { base: transcripts.base, path: path.to_path_buf(), id: Some(id) });
        }
        homes
    }

    /// Returns the folders of one sort, a person's own first.
    pub(crate) fn folders_of(&self, base: Base) -> impl Iterator<Item = &HomeBase> {
        self.own.iter().chain(&self.followed).filter(move |one| one.base == base)
    }

    /// Returns those that windows have for themselves.
    pub(crate) fn followed(&self) -> &[HomeBase] {
        &self.followed
    }

    /// Returns whether there are more of them than are read.
    pub(crate) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Follows this user's windows into their own folders, and keeps those of windows that have ended as long as the
    /// folders are the same; returns the new folders.
    pub(crate) fn follow<'a>(
        &mut self,
        places: &Places,
        windows: impl Iterator<Item = (&'a str, &'a Details)>,
        uid: u32,
    ) -> Vec<HomeBase> {
        if !places.follows_homes {
            return Vec::new();
        }
        let before = std::mem::replace(self, Self::new(places)).followed;
        for (agent, details) in windows.filter(|(_, details)| details.uid == Some(uid)) {
            self.add_of(agent, details, uid);
        }
        for one in before.iter().filter(|one| identity(&one.path, uid) == one.id) {
            self.add(one.clone());
        }
        self.followed.iter().filter(|one| !before.contains(one)).cloned().collect()
    }

    /// Adds the folders that a window names, if each is here the very folder that it is for the window.
    fn add_of(&mut self, agent: &str, details: &Details, uid: u32) {
        let Some((named, reached)) = NamedHome::from_details(details).zip(details.homes.as_ref()) else {
            return;
        };
        let config = (agent == "claude-code").then_some((Base::ClaudeConfig, named.config));
        let folders = [(Base::Home, named.home), (Base::Cache, named.cache)].into_iter().chain(config);
        for (base, path) in folders {
            let is_read = self.has_path(base, &path);
            let id = (!is_read).then(|| identity(&path, uid)).flatten();
            if let Some(id) = id.filter(|id| reached.contains(id)) {
                self.add(HomeBase { base, path, id: Some(id) });
            }
        }
    }

    fn has_path(&self, base: Base, path: &Path) -> bool {
        self.folders_of(base).any(|one| one.path == path)
    }

    /// Adds a folder, unless it is read already under any name, or there is no room.
    fn add(&mut self, one: HomeBase) {
        let is_known = self.folders_of(one.base).any(|other| other.id == one.id || other.path == one.path);
        if is_known {
            return;
        }
        if self.followed.len() < MAX_FOLLOWED {
            self.followed.push(one);
        } else {
            self.has_more = true;
        }
    }
}

fn own(base: Base, path: &Path, has_others: bool) -> HomeBase {
    let id = look_at(path).filter(|_| has_others).map(|meta| FolderId { dev: meta.dev, ino: meta.ino });
    HomeBase { base, path: path.to_owned(), id }
}

/// Returns the folder that a path leads to, if it is this user's and no other user can redirect the path.
fn identity(path: &Path, uid: u32) -> Option<FolderId> {
    let meta = look_at(path).filter(|meta| meta.ownership.uid == uid && is_steady(path, uid))?;
    Some(FolderId { dev: meta.dev, ino: meta.ino })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;

    struct World {
        folder: tempfile::TempDir,
        places: Places,
        uid: u32,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let home = folder.path().join("home");
            std::fs::create_dir(&home).unwrap();
            let places = Places { home, follows_homes: true, ..Places::default() };
            Self { folder, places, uid: rustix::process::getuid().as_raw() }
        }

        fn home(&self, name: &str) -> PathBuf {
            let path = self.folder.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        }

        /// Returns the details of a window that has this home, and reaches these folders.
        fn window(&self, home: &Path, reached: &[&Path]) -> Details {
            let id = |path: &&Path| identity(path, self.uid).unwrap();
            let env = [("HOME".to_owned(), home.to_str().unwrap().into())].into();
            let homes = Some(reached.iter().map(id).collect());
            Details { env, homes, uid: Some(self.uid), ..Details::default() }
        }

        fn follow(&self, homes: &mut Homes, windows: &[Details]) -> Vec<PathBuf> {
            let windows = windows.iter().map(|details| ("codex", details));
            homes.follow(&self.places, windows, self.uid);
            homes.folders_of(Base::Home).skip(1).map(|one| one.path.clone()).collect()
        }
    }

    #[test]
    fn a_window_is_followed_only_where_its_folder_is_the_same_here_and_its_users() {
        let world = World::new();
        let [one, two] = ["one", "two"].map(|name| world.home(name));
        let of = |windows: &[Details]| world.follow(&mut Homes::default(), windows);
        assert_eq!(of(&[world.window(&one, &[&one])]), std::slice::from_ref(&one));
        assert_eq!(of(&[world.window(&one, &[&two])]), [] as [PathBuf; 0], "a container's");
        let of_other = Details { uid: Some(world.uid + 1), ..world.window(&one, &[&one]) };
        assert_eq!(of(&[of_other]), [] as [PathBuf; 0], "another user's");
    }

    #[test]
    fn a_folder_is_read_once_whatever_it_is_called() {
        let world = World::new();
        let one = world.home("one");
        let [same, own] = ["same", "own"].map(|name| world.folder.path().join(name));
        std::os::unix::fs::symlink(&one, &same).unwrap();
        std::os::unix::fs::symlink(&world.places.home, &own).unwrap();
        let windows = [&one, &same, &own].map(|home| world.window(home, &[home]));
        assert_eq!(world.follow(&mut Homes::default(), &windows), [one]);
    }

    #[test]
    fn what_a_dead_window_left_is_still_read_until_its_folder_is_another() {
        let world = World::new();
        let one = world.home("one");
        let mut homes = Homes::default();
        world.follow(&mut homes, &[world.window(&one, &[&one])]);
        assert_eq!(world.follow(&mut homes, &[]), std::slice::from_ref(&one));
        std::fs::rename(&one, world.folder.path().join("moved")).unwrap();
        world.home("one");
        assert_eq!(world.follow(&mut homes, &[]), [] as [PathBuf; 0]);
    }

    #[test]
    fn there_is_an_end_to_following() {
        let world = World::new();
        let all: Vec<PathBuf> = (0..=MAX_FOLLOWED).map(|number| world.home(&number.to_string())).collect();
        let windows: Vec<Details> = all.iter().map(|home| world.window(home, &[home])).collect();
        let mut homes = Homes::default();
        assert_eq!(world.follow(&mut homes, &windows), all[..MAX_FOLLOWED]);
        assert!(homes.has_more());
        world.follow(&mut homes, &windows[..1]);
        assert!(!homes.has_more(), "who has gone is not missed");
    }
}
