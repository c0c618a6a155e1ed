//! The present state of one working tree as a tree of git's: what is committed, what is not, and new files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, lstat};

use super::scratch::{Access, Desk, Scratch};
use super::settings::Settings;
use crate::core::model::Untrusted;
use crate::source::git::AMID;
use crate::source::git::run::Git;
use crate::source::os::open::meta::wide;

/// The most files that may differ from the index.
const MOST_FILES: usize = 20_000;
/// The most bytes that these may have.
const MOST_BYTES: u64 = 64 << 20;

/// The present state of a working tree.
pub(super) struct State {
    pub(super) desk: Desk,
    /// The commit that is checked out.
    pub(super) head: String,
    /// The state as a tree.
    pub(super) tree: String,
    /// How many files differ from that commit.
    pub(super) uncommitted: usize,
    /// A changed file that a filter of the repository would have changed once more.
    pub(super) filtered: Option<Vec<u8>>,
    pub(super) settings: Settings,
}

/// Where a working tree is.
pub(super) struct Place {
    pub(super) tree: PathBuf,
    /// Its own git folder.
    pub(super) own: PathBuf,
    pub(super) common: PathBuf,
    pub(super) branch: Option<Untrusted>,
}

/// The files of a working tree that differ from its index.
#[derive(Default)]
struct Differences {
    /// Those that the index has, with their objects in it.
    known: Vec<(Vec<u8>, Option<String>)>,
    /// Those that it has not.
    new: Vec<Vec<u8>>,
}

impl State {
    /// Determines the state of a working tree; its error is for people.
    pub(super) fn read(scratch: &Scratch, git: &Git, place: &Place) -> Result<Self, String> {
        let amid = AMID.into_iter().find(|(name, _)| place.own.join(name).symlink_metadata().is_ok());
        if let Some((_, amid)) = amid {
            return Err(format!("a {amid} is not finished there"));
        }
        let settings = Settings::read(git)?;
        let head = git.ask(&["rev-parse", "--verify", "-q", "HEAD"]).ok_or("git did not answer in time")?;
        if head.code != 0 {
            return Err("it has no commit yet".to_owned());
        }
        let head = String::from_utf8_lossy(head.out.trim_ascii()).into_owned();
        let desk = scratch.desk(&place.tree, (&place.own, &place.common), &settings)?;
        let is_sparse = place.own.join("info/sparse-checkout").symlink_metadata().is_ok();
        if is_sparse {
            expand(scratch, &desk)?;
        }
        if let Some(file) = unwatched(scratch, &desk, is_sparse)? {
            return Err(format!("git was told not to watch some of its files, such as {file}"));
        }
        let differences = differences(scratch, &desk, &place.tree)?;
        bounded(&place.tree, &differences)?;
        let filtered = filtered(scratch, &desk, &settings, &differences)?;
        take_in(scratch, &desk, &differences)?;
        scratch.fetch_folders(&desk, &head)?;
        let tree = scratch.line(&desk, Access::Own, None, &["write-tree", "--missing-ok"])?;
        let changed = scratch.output(
            &desk,
            Access::Repository,
            None,
            &["diff-tree", "-r", "-z", "--name-only", "--no-renames", &head, &tree],
        )?;
        let uncommitted = changed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).count();
        Ok(Self { desk, head, tree, uncommitted, filtered, settings })
    }
}

/// Lists the files of an index that has only folders of what is not checked out (git-sparse-checkout(1)). Git writes
/// their trees once more for that, so it must not see those of the repository.
fn expand(scratch: &Scratch, desk: &Desk) -> Result<(), String> {
    let arguments = ["-c", "index.sparse=true", "ls-files", "--sparse", "-s", "-z"];
    let listed = scratch.output(desk, Access::Own, None, &arguments)?;
    let folder = |line: &'_ [u8]| {
        let object = line.strip_prefix(b"040000 ")?.split(|byte| *byte == b' ').next()?;
        Some([object, b"\n"].concat())
    };
    let folders: Vec<u8> = listed.split(|byte| *byte == 0).filter_map(folder).flatten().collect();
    if !folders.is_empty() {
        let arguments = ["rev-list", "--objects", "--filter=blob:none", "--stdin"];
        let trees = scratch.output(desk, Access::Repository, Some(&folders), &arguments)?;
        let trees = String::from_utf8_lossy(&trees);
        scratch.fetch(desk, trees.lines().filter_map(|line| line.split(' ').next()))?;
    }
    scratch.output(desk, Access::Own, None, &["update-index", "--force-write-index"]).map(drop)
}

/// Returns whether a folder has a repository, and not the link of another working tree.
fn has_own_store(folder: &Path) -> bool {
    lstat(folder.join(".git")).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// Returns a file that git was told not to watch (git-update-index(1)): what it has now is not known.
fn unwatched(scratch: &Scratch, desk: &Desk, is_sparse: bool) -> Result<Option<String>, String> {
    let all = scratch.output(desk, Access::Repository, None, &["ls-files", "-v", "-z"])?;
    let is_one = |line: &&[u8]| match line.first() {
        Some(b'S') => !is_sparse,
        Some(tag) => tag.is_ascii_lowercase(),
        None => false,
    };
    let found = all.split(|byte| *byte == 0).find(is_one);
    Ok(found.map(|line| String::from_utf8_lossy(line.get(2..).unwrap_or_default()).into_owned()))
}

fn differences(scratch: &Scratch, desk: &Desk, tree: &Path) -> Result<Differences, String> {
    let arguments = ["diff-files", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=dirty"];
    let raw = scratch.output(desk, Access::Repository, None, &arguments)?;
    let mut found = Differences::default();
    let mut parts = raw.split(|byte| *byte == 0);
    while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
        let head = String::from_utf8_lossy(head);
        let fields: Vec<&str> = head.split(' ').collect();
        let [mode, _, object, _, sort] = fields[..] else {
            return Err("git diff-files answered oddly".into());
        };
        if sort.starts_with('U') {
            return Err("it has files whose merge is not finished".to_owned());
        }
        let is_file = mode.starts_with(":100") || mode.starts_with(":120");
        let object = (is_file && sort != "A").then(|| object.to_owned());
        found.known.push((path.to_vec(), object));
    }
    let new =
        scratch.output(desk, Access::Repository, None, &["ls-files", "-o", "-z", "--exclude-standard"])?;
    // A name that ends so is a repository of its own, such as another working tree.
    let is_file = |name: &&[u8]| !name.is_empty() && !name.ends_with(b"/");
    let is_nested = |name: &&[u8]| name.ends_with(b"/") && has_own_store(&tree.join(OsStr::from_bytes(name)));
    if let Some(name) = new.split(|byte| *byte == 0).find(is_nested) {
        let name = String::from_utf8_lossy(name);
        return Err(format!(
            "it has a repository of its own inside, {name}, which a commit takes as one thing"
        ));
    }
    found.new = new.split(|byte| *byte == 0).filter(is_file).map(<[u8]>::to_vec).collect();
    Ok(found)
}

/// Checks that there is not too much to read.
fn bounded(tree: &Path, differences: &Differences) -> Result<(), String> {
    let count = differences.known.len() + differences.new.len();
    if count > MOST_FILES {
        return Err(format!("more than {MOST_FILES} files are not committed there"));
    }
    let size = |name: &Vec<u8>| {
        let stat = lstat(tree.join(Path::new(OsStr::from_bytes(name)))).ok()?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_file.then(|| wide(stat.st_size))
    };
    let known = differences.known.iter().map(|(name, _)| name);
    let total: u64 = known.chain(&differences.new).filter_map(size).sum();
    if total > MOST_BYTES {
        return Err(format!("more than {} MiB are not committed there", MOST_BYTES >> 20));
    }
    Ok(())
}

/// Returns a changed file that goes through a filter which runs a program.
fn filtered(
    scratch: &Scratch,
    desk: &Desk,
    settings: &Settings,
    differences: &Differences,
) -> Result<Option<Vec<u8>>, String> {
    if settings.filters.is_empty() {
        return Ok(None);
    }
    let known = differences.known.iter().map(|(name, _)| name.as_slice());
    let all = known.chain(differences.new.iter().map(Vec::as_slice));
    let has = with_attribute(scratch, desk, all, ("filter", &settings.filters))?;
    Ok(has.into_iter().next())
}

/// Returns the paths that have one of these values of an attribute.
pub(super) fn with_attribute<'a>(
    scratch: &Scratch,
    desk: &Desk,
    paths: impl Iterator<Item = &'a [u8]>,
    (attribute, values): (&str, &BTreeSet<Vec<u8>>),
) -> Result<BTreeSet<Vec<u8>>, String> {
    let input: Vec<u8> = paths.flat_map(|path| [path, &b"\0"[..]]).flatten().copied().collect();
    if input.is_empty() {
        return Ok(BTreeSet::new());
    }
    let arguments = ["check-attr", "-z", "--stdin", attribute];
    let out = scratch.output(desk, Access::Repository, Some(&input), &arguments)?;
    let parts: Vec<&[u8]> = out.split(|byte| *byte == 0).collect();
    let has = parts.chunks_exact(3).filter(|chunk| chunk.last().is_some_and(|value| values.contains(*value)));
    Ok(has.filter_map(|chunk| Some(chunk.first()?.to_vec())).collect())
}

/// Takes what differs into the index of the desk, as `git add` would without filters.
fn take_in(scratch: &Scratch, desk: &Desk, differences: &Differences) -> Result<(), String> {
    let known = differences.known.iter().map(|(name, _)| name.as_slice());
    let all = known.chain(differences.new.iter().map(Vec::as_slice));
    let input: Vec<u8> = all.flat_map(|path| [path, &b"\0"[..]]).flatten().copied().collect();
    if input.is_empty() {
        return Ok(());
    }
    // Whether line ends are converted depends on what the index has (gitattributes(5), `text=auto`).
    let objects: BTreeSet<&str> =
        differences.known.iter().filter_map(|(_, object)| object.as_deref()).collect();
    scratch.fetch(desk, objects.into_iter())?;
    let arguments = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
    let taken = scratch.output(desk, Access::Own, Some(&input), &arguments);
    taken.map(drop).map_err(|_| "a changed file could not be read, or changed at this moment".to_owned())
}
