//! The versions of files that can be brought back: what hooks have kept, and what transcripts give.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::model::snapshot::ledger::kept::{KeptReason, KeptVersion};
use crate::core::model::text::diff::unified;
use crate::core::model::text::hex;
use crate::core::model::{Edit, EditFate, RescueFile, Sureness, Untrusted, Work};
use crate::format::agent::bytes::{Bounds, Bytes, FileVersion};
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::Folder;
use crate::source::own::content::FileContent;
use crate::source::own::kept::KeptFiles;
use crate::source::own::ledger::Tree;
use crate::source::repos::objects::{Kind, Name, name_of, parse_name, short};
use crate::source::versions::rebuilt;
use crate::source::versions::session::{SessionFiles, VersionsError};
use crate::source::work::committed::EditFacts;

/// The most working trees whose kept versions are read.
const MOST_TREES: usize = 1_024;

/// The largest content that is compared, in bytes.
const MOST_COMPARED: u64 = 4 << 20;

/// How many versions are compared in one look: what one look may read suffices for so many of the largest files.
const AT_ONCE: usize = 4;

/// How much later than the tool that wrote a file its transcript's line may be: 2 s. A hook has kept what a formatter made
/// of the file meanwhile.
const LATE: SignedDuration = SignedDuration::from_secs(2);

/// A version of a file that can be brought back.
pub(crate) struct FoundVersion {
    /// The file.
    pub(crate) path: PathBuf,
    /// The session that wrote it.
    pub(crate) session: Untrusted,
    /// Its agent.
    pub(crate) agent: Untrusted,
    /// When it was written.
    pub(crate) at: Timestamp,
    /// Git's name for the content.
    pub(crate) blob: Name,
    /// In bytes.
    pub(crate) size: u64,
    /// The permission bits, if they are known.
    pub(crate) mode: Option<u32>,
    /// Where it comes from.
    pub(crate) from: VersionSource,
    /// How sure it is that these were the file's bytes.
    pub(crate) sure: Sureness,
    /// What its edit began from, if that was rebuilt as well.
    pub(super) began_from: Option<Bytes>,
    content: Content,
}

/// Where a version comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum VersionSource {
    /// A hook has kept it.
    Kept,
    /// It was rebuilt from the session's transcript.
    Transcript,
}

enum Content {
    /// In the folder of what is kept of a working tree.
    Kept(PathBuf),
    Bytes(Bytes),
}

impl VersionSource {
    /// Returns its word in JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Transcript => "transcript",
        }
    }
}

impl FoundVersion {
    /// Returns by what it is newer than others: what is not proved counts as older by [`LATE`].
    fn newness(&self) -> Timestamp {
        let is_proved = self.sure == Sureness::Proved;
        if is_proved { self.at } else { self.at.checked_sub(LATE).unwrap_or(self.at) }
    }

    /// Returns its content; `None` if what was kept is not there any more, or not what its name says.
    pub(crate) fn bytes(&self) -> Option<Bytes> {
        match &self.content {
            Content::Kept(folder) => KeptFiles { folder: folder.clone() }.content(&self.blob).map(Arc::new),
            Content::Bytes(bytes) => Some(Arc::clone(bytes)),
        }
    }

    /// Returns what is brought back of a window, in its working tree.
    pub(crate) fn to_rescue(&self, whose: Untrusted, tree: &Tree) -> RescueFile {
        RescueFile {
            blob: hex(&self.blob).into(),
            size: self.size,
            mode: self.mode,
            content: self.bytes(),
            ..RescueFile::new(self.path.clone().into(), Untrusted::from_path(&tree.top), whose)
        }
    }

    pub(super) fn of_kept(kept: KeptVersion, files: &KeptFiles) -> Option<Self> {
        let blob = parse_name(kept.blob?.raw().as_bytes())?;
        let is_rebuilt = kept.why == KeptReason::Transcript;
        Some(Self {
            path: Path::new(kept.path.raw()).to_path_buf(),
            session: kept.session,
            agent: kept.agent,
            at: kept.at,
            blob,
            size: kept.size,
            mode: (!is_rebuilt).then_some(kept.mode),
            from: VersionSource::Kept,
            sure: if is_rebuilt { Sureness::Rebuilt } else { Sureness::Proved },
            began_from: None,
            content: Content::Kept(files.folder.clone()),
        })
    }

    fn of_transcript(version: FileVersion, work: &Work) -> Option<Self> {
        let bytes = version.bytes?;
        Some(Self {
            path: version.path,
            session: work.session.clone(),
            agent: work.format.name().into(),
            at: version.at?,
            blob: name_of(Kind::Blob, &bytes),
            size: u64::try_from(bytes.len()).ok()?,
            mode: None,
            from: VersionSource::Transcript,
            sure: version.sure,
            began_from: version.began_from,
            content: Content::Bytes(bytes),
        })
    }
}

/// Compares versions with their files as they are now.
#[derive(Default)]
pub(crate) struct Comparison {
    /// The last file, as versions of one follow each other.
    last: Option<(PathBuf, FileContent)>,
}

impl Comparison {
    /// Returns how a version differs from its file, as raw lines of a unified diff under the names of the file and of the
    /// version; `None` if its content is not there or they are not compared as text.
    pub(crate) fn diff(&mut self, version: &FoundVersion, names: [&str; 2]) -> Option<Vec<String>> {
        let then = version.bytes()?;
        let last = self.last.take().filter(|(path, _)| *path == version.path);
        let read = || (version.path.clone(), FileContent::read(&version.path, MOST_COMPARED));
        let (_, now) = self.last.insert(last.unwrap_or_else(read));
        unified((now.bytes().unwrap_or_default(), names[0]), (&then, names[1]))
    }
}

/// A version, and the edit that left it.
type VersionEdit<'a> = (&'a FoundVersion, &'a mut Edit);

/// Determines what became of versions, as of edits that left them.
pub(crate) fn fates(versions: &[FoundVersion], (now, home): (Timestamp, &Path)) -> Vec<EditFate> {
    let edit = |one: &FoundVersion| Edit::new(Untrusted::from_path(&one.path), Some(one.at));
    let mut edits: Vec<Edit> = versions.iter().map(edit).collect();
    let mut folders: HashMap<&Path, Option<Tree>> = HashMap::new();
    let mut by_tree: BTreeMap<PathBuf, (Tree, Vec<VersionEdit<'_>>)> = BTreeMap::new();
    for (version, edit) in versions.iter().zip(&mut edits) {
        let Some(folder) = version.path.parent() else { continue };
        let tree = folders.entry(folder).or_insert_with(|| Tree::find(folder));
        if let Some(tree) = tree {
            by_tree
                .entry(tree.top.clone())
                .or_insert_with(|| (tree.clone(), Vec::new()))
                .1
                .push((version, edit));
        }
    }
    for (tree, mut all) in by_tree.into_values() {
        let mut marker = tree.marker(now, home);
        for some in all.chunks_mut(AT_ONCE) {
            for (version, _) in some.iter() {
                if let Some(bytes) = version.bytes() {
                    marker.remember((&version.path, version.at), &bytes);
                }
            }
            let facts = |blob| EditFacts { held: Some(short(blob)), ..EditFacts::default() };
            marker.mark(some.iter_mut().map(|(version, edit)| (&mut **edit, facts(&version.blob))));
        }
    }
    edits.into_iter().map(|edit| edit.fate).collect()
}

/// Returns what hooks have kept, below the folder of all that is kept.
pub(crate) fn kept(all: &Path) -> Vec<FoundVersion> {
    let trees = Folder::open(all).and_then(|folder| folder.entries(|_| true)).unwrap_or_default();
    let of_tree = |files: KeptFiles| {
        let versions = files.all().into_iter();
        versions.filter_map(|version| FoundVersion::of_kept(version, &files)).collect::<Vec<_>>()
    };
    let trees = trees.into_iter().take(MOST_TREES).map(|tree| KeptFiles { folder: all.join(tree.name) });
    trees.flat_map(of_tree).collect()
}

/// Returns what the transcript of a session gives of some files.
///
/// # Errors
/// The session's file or database cannot be read, or its format keeps no content.
pub(crate) fn from_transcript(
    work: &Work,
    wanted: &[PathBuf],
    (fence, copies): (&Fence, &Copies),
) -> Result<Vec<FoundVersion>, VersionsError> {
    whole_transcript(work, Some(wanted), (fence, copies)).map(|(versions, _)| versions)
}

/// Returns what the transcript of a session gives of some files, or of all, and how many parts of it were not read as
/// they exceed a bound.
///
/// # Errors
/// As [`from_transcript`].
pub(crate) fn whole_transcript(
    work: &Work,
    wanted: Option<&[PathBuf]>,
    (fence, copies): (&Fence, &Copies),
) -> Result<(Vec<FoundVersion>, u64), VersionsError> {
    let files =
        SessionFiles { format: work.format, session: work.session.clone(), file: work.path.to_path_buf() };
    let rebuilt = rebuilt(&files, wanted, Bounds::USUAL, (fence, copies))?;
    let versions = rebuilt.versions.into_iter();
    let versions = versions.filter_map(|version| FoundVersion::of_transcript(version, work)).collect();
    Ok((versions, rebuilt.too_long))
}

/// Sorts versions by file and time, the newest of each file first, and keeps one of each content of a session: rather
/// what was kept.
pub(crate) fn sort(versions: &mut Vec<FoundVersion>) {
    versions.sort_by(|one, other| one.from.cmp(&other.from).then(other.at.cmp(&one.at)));
    let mut known: HashSet<(PathBuf, Untrusted, Name)> = HashSet::new();
    versions.retain(|one| known.insert((one.path.clone(), one.session.clone(), one.blob)));
    versions.sort_by(|one, other| one.path.cmp(&other.path).then(other.newness().cmp(&one.newness())));
}
