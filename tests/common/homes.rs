//! The folders of homes in a world, identified by their paths.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use claimtop::core::model::FolderId;
use claimtop::testing::core::{HomeFolder, HomePart};
use claimtop::testing::format::{self, Base};

use super::files::HOME;

/// Returns the folders of homes in which records are searched.
pub(super) fn of_records() -> Vec<HomeFolder> {
    let home = Path::new(HOME);
    let stores = below(home, &home.join(".claude")).map(|path| (path, HomePart::Store));
    let folders = stores.chain([(home.to_owned(), HomePart::Whole)]);
    folders.map(|(path, part)| HomeFolder { id: id(&path), path, part }).collect()
}

/// Returns the folders that a process may keep records in.
pub(super) fn of_process(home: &str, config: Option<&str>, sees: &[String]) -> BTreeSet<FolderId> {
    let home = Path::new(home);
    let config = config.map_or_else(|| home.join(".claude"), PathBuf::from);
    let own = below(home, &config).chain([home.to_owned(), config.clone()]);
    own.chain(sees.iter().map(PathBuf::from)).map(|path| id(&path)).collect()
}

fn below(home: &Path, config: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let (home, config) = (home.to_owned(), config.to_owned());
    format::places().filter_map(move |place| {
        let base = match place.base {
            Base::Home => home.clone(),
            Base::ClaudeConfig => config.clone(),
            Base::Cache => home.join(".cache"),
            Base::Tmp | Base::GitCommon | Base::Worktree => return None,
        };
        Some(base.join(place.dir.split('*').next().unwrap_or_default().trim_end_matches('/')))
    })
}

fn id(path: &Path) -> FolderId {
    let mut hasher = DefaultHasher::new();
    path.components().collect::<PathBuf>().hash(&mut hasher);
    FolderId { dev: 1, ino: hasher.finish() }
}
