//! Judged snapshots: the types of `claimtop.snapshot.v1`, the contract with scripts.

pub(crate) mod claim;
pub(crate) mod context;
pub(crate) mod death;
pub(crate) mod diagnosis;
pub(crate) mod evidence;
pub(crate) mod finding;
pub(crate) mod judged;
pub(crate) mod key;
pub(crate) mod left_over;
pub(crate) mod left_tree;
pub(crate) mod machine;
pub(crate) mod need;
pub(crate) mod place;
pub(crate) mod verdict;
pub(crate) mod window;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize, Serializer};

use crate::core::model::{
    ClaimView, FilePath, Finding, Household, Key, LeftOver, LeftStash, LeftTree, MachineView, Need, NotAsked,
    ProcessId, Reason, RecordShape, RecordView, SourceHealth, Untrusted, WindowState, WindowView, Work,
};

/// The name of the JSON schema.
pub const SCHEMA: &str = "claimtop.snapshot.v1";

/// For how long a change of files may be in progress, such as a rebase: 2 s.
const IN_PROGRESS: SignedDuration = SignedDuration::from_secs(2);

/// Returns whether what has changed a file may still be at work.
pub(crate) fn is_in_progress(since: Timestamp, now: Timestamp) -> bool {
    now.duration_since(since) < IN_PROGRESS
}

/// A judged snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// When the look finished.
    pub taken_at: Timestamp,
    /// When the reports of other machines were merged into it, if they were.
    pub joined_at: Option<Timestamp>,
    /// The machine.
    pub host: ReportHost,
    /// The health of each source.
    pub sources: Vec<SourceHealth>,
    /// Every running agent.
    pub windows: Vec<WindowView>,
    /// Every session record.
    pub records: Vec<Arc<RecordView>>,
    /// Every claim.
    pub claims: Vec<ClaimView>,
    /// Every finding, worst first. Consecutive reports share the unchanged ones.
    pub findings: Vec<Arc<Finding>>,
    /// What needs a person, the most harmful first.
    pub needs: Vec<Need>,
    /// The files that could not be read as records.
    pub broken: Vec<BrokenPath>,
    /// What windows have left running.
    pub left_overs: Vec<LeftOver>,
    /// The working trees that agents have made, or whose folders are gone.
    pub left_trees: Vec<LeftTree>,
    /// The stash entries that have edits of dead windows.
    pub left_stashes: Vec<LeftStash>,
    /// The other machines that are watched.
    pub machines: Vec<MachineView>,
    /// The configured sources that a person has excluded.
    pub not_asked: Vec<NotAsked>,
    /// The windows of the previous look whose process is proven to have ended since.
    pub ended: Vec<EndedWindow>,
    /// What sessions have edited, and may have lost, whose windows have died.
    pub lost: Vec<LostWork>,
    /// The windows that two machines report but that are shown once: the key that is not shown, and the one that is.
    pub shown_once: Vec<(Key, Key)>,
}

/// A window whose process is proven to have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedWindow {
    /// Its key.
    pub window: Key,
    /// What proves it.
    pub reason: Reason,
}

/// The work of a session whose window has died after it edited files.
#[derive(Clone, Debug, PartialEq)]
pub struct LostWork {
    /// The key of its newest record.
    pub key: Key,
    /// The name of its window.
    pub name: Untrusted,
    /// What it did.
    pub work: Arc<Work>,
}

/// A file that could not be read as a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenPath {
    /// The key its findings use for it.
    pub key: Key,
    /// Where it is.
    pub path: FilePath,
}

impl Report {
    /// Creates the report of a machine of which nothing is known.
    pub(crate) fn empty(taken_at: Timestamp, host: ReportHost) -> Self {
        Self {
            schema: SCHEMA,
            taken_at,
            joined_at: None,
            host,
            sources: Vec::new(),
            windows: Vec::new(),
            records: Vec::new(),
            claims: Vec::new(),
            findings: Vec::new(),
            needs: Vec::new(),
            broken: Vec::new(),
            left_overs: Vec::new(),
            left_trees: Vec::new(),
            left_stashes: Vec::new(),
            machines: Vec::new(),
            not_asked: Vec::new(),
            ended: Vec::new(),
            lost: Vec::new(),
            shown_once: Vec::new(),
        }
    }

    /// Returns the moment of its newest content.
    pub(crate) fn told_at(&self) -> Timestamp {
        self.joined_at.map_or(self.taken_at, |joined_at| joined_at.max(self.taken_at))
    }

    /// Returns the moment of the content about these things: content of other machines dates from the merge.
    pub(crate) fn moment_of(&self, things: &[Key]) -> Timestamp {
        let is_far = things.iter().any(|key| key.machine().is_some());
        if is_far { self.told_at() } else { self.taken_at }
    }

    /// Returns the working trees in which living windows of this machine work, by the main tree of their repository.
    pub(crate) fn working_trees(&self) -> BTreeMap<&Untrusted, BTreeSet<&Untrusted>> {
        let is_living = |window: &&WindowView| window.state != WindowState::Zombie;
        let here = self.windows.iter().filter(|window| window.key.machine().is_none());
        let mut trees: BTreeMap<&Untrusted, BTreeSet<&Untrusted>> = BTreeMap::new();
        for repo in here.filter(is_living).filter_map(|window| window.repo.as_ref()) {
            trees.entry(&repo.root).or_default().insert(&repo.worktree);
        }
        trees
    }

    /// Returns the window of this key.
    pub(crate) fn window(&self, key: &Key) -> Option<&WindowView> {
        self.windows.iter().find(|window| window.key == *key)
    }

    /// Returns what distinguishes the processes of a window, or of a left-over, from all others.
    pub(crate) fn household(&self, key: &Key) -> Option<Household> {
        // PIDs of another machine mean other processes here.
        if key.machine().is_some() {
            return None;
        }
        let window = self.window(key).map(|window| (window.pid, window.start_ticks, window.started_at));
        let left = self.left_overs.iter().find(|left| left.key == *key);
        let left = left.map(|left| (left.pid, left.start_ticks, left.started_at));
        let (pid, start_ticks, started_at) = window.or(left)?;
        let here = self.windows.iter().filter(|window| window.key.machine().is_none());
        let others = here.map(|other| other.pid).filter(|other| *other != pid);
        let id = ProcessId { pid, start_ticks };
        Some(Household { key: key.clone(), id, started_at, others: others.collect() })
    }

    /// Returns the name and the work of a window, or of a dead one that has edited files, by any of its records.
    pub(crate) fn owner_of_edits(&self, key: &Key) -> Option<(Untrusted, &Arc<Work>)> {
        let living =
            self.window(key).and_then(|window| Some((window.title().as_str().into(), window.work.as_ref()?)));
        let session = || self.records.iter().find(|record| record.key == *key)?.session_id.as_ref();
        let dead = || self.lost.iter().find(|lost| session() == Some(&lost.work.session));
        living.or_else(|| dead().map(|lost| (lost.name.clone(), &lost.work)))
    }

    /// Returns whether edits are gone since so short a time that it is not reported yet.
    pub(crate) fn has_recent_loss(&self) -> bool {
        let works = self.windows.iter().filter_map(|window| window.work.as_deref());
        let all = works.chain(self.lost.iter().map(|lost| &*lost.work));
        let mut gone = all.flat_map(|work| &work.doing.edits).filter(|edit| edit.is_gone());
        gone.any(|edit| edit.fate.since.is_some_and(|since| is_in_progress(since, self.taken_at)))
    }

    /// Returns the report without the prompts of windows and the tasks of sub-agents.
    pub(crate) fn without_prompts(&self) -> Self {
        let mut report = self.clone();
        let works = report.windows.iter_mut().filter_map(|window| window.work.as_mut());
        for work in works {
            let work = Arc::make_mut(work);
            work.doing.prompt = None;
            // An agent writes these tasks from the prompt.
            work.agents.iter_mut().for_each(|agent| agent.task = None);
        }
        report
    }

    /// Returns every record.
    pub fn records(&self) -> impl Iterator<Item = &RecordView> {
        self.records.iter().map(Arc::as_ref)
    }

    /// Returns the findings that are problems. A window without a record is not one: an agent without any system works
    /// well. Its code is the last, so these findings come last.
    pub(crate) fn problems(&self) -> &[Arc<Finding>] {
        let end = self.findings.partition_point(|finding| finding.is_problem());
        self.findings.get(..end).unwrap_or_default()
    }

    /// Returns every finding, worst first.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().map(Arc::as_ref)
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            schema: &'static str,
            taken_at: Timestamp,
            host: &'a ReportHost,
            sources: &'a [SourceHealth],
            windows: &'a [WindowView],
            records: Vec<RecordShape<'a>>,
            claims: &'a [ClaimView],
            findings: &'a [Arc<Finding>],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            machines: &'a [MachineView],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            not_asked: &'a [NotAsked],
        }
        let Self {
            schema,
            taken_at,
            joined_at: _,
            host,
            sources,
            windows,
            records,
            claims,
            findings,
            machines,
            not_asked,
            needs: _,
            broken: _,
            left_overs: _,
            left_trees: _,
            left_stashes: _,
            ended: _,
            lost: _,
            shown_once: _,
        } = self;
        let records = records.iter().map(|record| record.shape(*taken_at)).collect();
        let (schema, taken_at) = (*schema, *taken_at);
        Shape { schema, taken_at, host, sources, windows, records, claims, findings, machines, not_asked }
            .serialize(serializer)
    }
}

/// The machine, in the form of the interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportHost {
    /// The host name.
    pub name: String,
    /// The boot ID.
    pub boot_id: Option<String>,
    /// The inode of the PID namespace.
    pub pid_namespace: Option<u64>,
}
