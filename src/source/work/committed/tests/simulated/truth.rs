//! Where the words of edits are, by bytes alone: in files, in the index, in commits and in stash entries.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use super::repository::Repository;

/// The numbers of the words in a text that were written by nobody before, such as `w17`.
pub(super) type Words = HashSet<u32>;

pub(super) fn words_of(text: &str) -> Words {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric());
    parts.filter_map(|part| part.strip_prefix('w')?.parse().ok()).collect()
}

/// Returns whether a text has most of an edit's words.
pub(super) fn has_most(text: &Words, own: &[u32]) -> bool {
    2 * own.iter().filter(|word| text.contains(word)).count() >= own.len()
}

/// Git itself, asked for objects.
struct Objects {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Objects {
    fn new(repository: &Repository, top: &Path) -> Self {
        let mut command = repository.command(top, &["cat-file", "--batch"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn read(&mut self, name: &str) -> Option<String> {
        self.input.write_all(format!("{name}\n").as_bytes()).unwrap();
        let mut head = String::new();
        self.output.read_line(&mut head).unwrap();
        let size: usize = head.trim().rsplit(' ').next()?.parse().ok()?;
        let mut bytes = vec![0; size + 1];
        self.output.read_exact(&mut bytes).unwrap();
        bytes.pop();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// What a commit has: the words of each file, and its parents.
pub(super) struct CommitText {
    pub(super) files: HashMap<&'static str, Words>,
    parents: Vec<String>,
}

pub(super) struct Truth {
    objects: Objects,
    common: PathBuf,
    paths: Vec<&'static str>,
    commits: HashMap<String, Arc<CommitText>>,
    /// The texts of each index, and when it was written.
    indexes: HashMap<PathBuf, (i64, i64, Arc<Vec<Words>>)>,
    /// The commits that can be reached, or that some head's log has.
    pub(super) all: HashMap<String, Arc<CommitText>>,
    /// The stash entries, with what they have of files unknown to git.
    pub(super) stashes: Vec<Arc<CommitText>>,
}

impl Truth {
    pub(super) fn new(repository: &Repository, top: &Path, paths: Vec<&'static str>) -> Self {
        let objects = Objects::new(repository, top);
        let common = top.join(".git");
        let (commits, indexes, all, stashes) = (HashMap::new(), HashMap::new(), HashMap::new(), Vec::new());
        Self { objects, common, paths, commits, indexes, all, stashes }
    }

    /// Reads what has changed.
    pub(super) fn renew(&mut self) {
        let mut open: Vec<String> = self.roots();
        self.all.clear();
        while let Some(name) = open.pop() {
            if self.all.contains_key(&name) {
                continue;
            }
            let Some(commit) = self.commit(&name) else { continue };
            open.extend(commit.parents.iter().cloned());
            self.all.insert(name, commit);
        }
        let stashes = names_in(&self.common.join("logs/refs/stash"));
        let mut found = Vec::new();
        for name in stashes {
            let Some(stash) = self.commit(&name) else { continue };
            found.extend(stash.parents.get(2).cloned().and_then(|beside| self.commit(&beside)));
            found.push(stash);
        }
        self.stashes = found;
    }

    /// Returns the texts that the index of a working tree has, of conflicts every version.
    pub(super) fn index_of(&mut self, top: &Path) -> Arc<Vec<Words>> {
        let own = match top.file_name().unwrap().to_str().unwrap() {
            "shop" => self.common.clone(),
            id => self.common.join("worktrees").join(id),
        };
        let Ok(meta) = std::fs::metadata(own.join("index")) else { return Arc::default() };
        if let Some((seconds, rest, known)) = self.indexes.get(top)
            && (*seconds, *rest) == (meta.ctime(), meta.ctime_nsec())
        {
            return Arc::clone(known);
        }
        let mut command = Command::new("git");
        let output = command.current_dir(top).args(["ls-files", "--stage"]).output().unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        let names = listed.lines().filter_map(|line| line.split(' ').nth(1));
        let texts: Vec<Words> = names.filter_map(|name| Some(words_of(&self.objects.read(name)?))).collect();
        let texts = Arc::new(texts);
        self.indexes.insert(top.to_path_buf(), (meta.ctime(), meta.ctime_nsec(), Arc::clone(&texts)));
        texts
    }

    fn commit(&mut self, name: &str) -> Option<Arc<CommitText>> {
        if let Some(known) = self.commits.get(name) {
            return Some(Arc::clone(known));
        }
        let text = self.objects.read(name)?;
        let parents = text.lines().map_while(|line| (!line.is_empty()).then_some(line));
        let parents = parents.filter_map(|line| line.strip_prefix("parent ")).map(str::to_owned).collect();
        let mut files = HashMap::new();
        for path in &self.paths {
            if let Some(text) = self.objects.read(&format!("{name}:{path}")) {
                files.insert(*path, words_of(&text));
            }
        }
        let commit = Arc::new(CommitText { files, parents });
        self.commits.insert(name.to_owned(), Arc::clone(&commit));
        Some(commit)
    }

    /// Returns the names in the logs of heads, and those of branches.
    fn roots(&self) -> Vec<String> {
        let below = |name: &str| std::fs::read_dir(self.common.join(name)).into_iter().flatten().flatten();
        let trees = below("worktrees").map(|tree| tree.path().join("logs/HEAD"));
        let logs = trees.chain([self.common.join("logs/HEAD")]).flat_map(|log| names_in(&log));
        let branches = below("refs/heads").filter_map(|branch| std::fs::read_to_string(branch.path()).ok());
        let packed = std::fs::read_to_string(self.common.join("packed-refs")).unwrap_or_default();
        let packed = packed.lines().filter_map(|line| Some(line.split_once(" refs/heads/")?.0));
        let packed: Vec<String> = packed.map(str::to_owned).collect();
        logs.chain(branches.map(|name| name.trim().to_owned())).chain(packed).collect()
    }
}

impl Truth {
    /// Returns the name of the newest entry of the stash.
    pub(super) fn newest_stash(&self) -> Option<String> {
        names_in(&self.common.join("logs/refs/stash")).pop()
    }
}

/// Returns the names that entered a log.
fn names_in(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().filter_map(|line| line.split(' ').nth(1)).map(str::to_owned).collect()
}
