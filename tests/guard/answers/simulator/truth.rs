//! The truth: which bytes lie where, what the last commit contains, and whose edits it does not.
//!
//! A window holds a file from its edit until the file equals the last commit's, or is gone: even if another window has
//! edited it since, its work is in there or was overwritten, and was not committed.

use std::collections::BTreeMap;

/// When a session last edited a file, by its own tools and by other means, as increasing numbers.
#[derive(Clone, Copy, Default)]
pub(crate) struct Edited {
    pub(crate) seen: u64,
    pub(crate) unseen: u64,
}

pub(crate) type Owners = BTreeMap<usize, Edited>;

#[derive(Clone, Default)]
pub(crate) struct File {
    pub(crate) text: String,
    pub(crate) owners: Owners,
}

#[derive(Clone, Default)]
struct Commit {
    files: BTreeMap<String, String>,
    /// The owners of the edits that it took, by file.
    took: BTreeMap<String, Owners>,
    parent: Option<usize>,
}

struct Stash {
    tree: usize,
    head: usize,
    files: BTreeMap<String, File>,
}

#[derive(Default)]
pub(crate) struct Repo {
    commits: Vec<Commit>,
    pub(crate) branches: BTreeMap<String, usize>,
    stashes: Vec<Stash>,
}

pub(crate) struct Tree {
    pub(crate) name: String,
    /// None for a plain folder.
    pub(crate) repo: Option<usize>,
    pub(crate) branch: String,
    head: usize,
    pub(crate) files: BTreeMap<String, File>,
}

#[derive(Default)]
pub(crate) struct Truth {
    pub(crate) repos: Vec<Repo>,
    pub(crate) trees: Vec<Tree>,
    pub(crate) edits: u64,
}

impl Truth {
    /// Begins a folder; in a repository its files are committed at once.
    pub(crate) fn begin(&mut self, name: &str, files: &[&str], is_repo: bool) -> usize {
        let file = |path: &&str| ((*path).to_owned(), File { text: "0\n".to_owned(), ..File::default() });
        let files: BTreeMap<String, File> = files.iter().map(file).collect();
        let repo = is_repo.then(|| {
            let first = Commit { files: texts(&files), ..Commit::default() };
            let branches = BTreeMap::from([("main".to_owned(), 0)]);
            self.repos.push(Repo { commits: vec![first], branches, stashes: Vec::new() });
            self.repos.len() - 1
        });
        self.trees.push(Tree { name: name.to_owned(), repo, branch: "main".to_owned(), head: 0, files });
        self.trees.len() - 1
    }

    /// Makes a linked working tree of a new branch.
    pub(crate) fn link(&mut self, of: usize, name: &str) -> usize {
        let (repo, head) = (self.trees[of].repo.unwrap(), self.trees[of].head);
        self.repos[repo].branches.insert(name.to_owned(), head);
        let file =
            |(path, text): (&String, &String)| (path.clone(), File { text: text.clone(), ..File::default() });
        let files = self.repos[repo].commits[head].files.iter().map(file).collect();
        let (name, branch) = (name.to_owned(), name.to_owned());
        self.trees.push(Tree { name, repo: Some(repo), branch, head, files });
        self.trees.len() - 1
    }

    fn head(&self, tree: usize) -> Option<&Commit> {
        let tree = &self.trees[tree];
        Some(&self.repos[tree.repo?].commits[tree.head])
    }

    pub(crate) fn committed(&self, tree: usize, path: &str) -> Option<&String> {
        self.head(tree)?.files.get(path)
    }

    pub(crate) fn is_tracked(&self, tree: usize, path: &str) -> bool {
        self.committed(tree, path).is_some()
    }

    /// Ends the holds on files that the last commit contains now.
    fn settle(&mut self, tree: usize) {
        let has = self.head(tree).map(|head| head.files.clone()).unwrap_or_default();
        for (path, file) in &mut self.trees[tree].files {
            if has.get(path) == Some(&file.text) {
                file.owners.clear();
            }
        }
    }

    pub(crate) fn edit(
        &mut self,
        (tree, path): (usize, &str),
        text: &str,
        by: Option<usize>,
        is_seen: bool,
    ) -> u64 {
        self.edits += 1;
        let number = self.edits;
        let file = self.trees[tree].files.entry(path.to_owned()).or_default();
        file.text = text.to_owned();
        if let Some(by) = by {
            let edited = file.owners.entry(by).or_default();
            *(if is_seen { &mut edited.seen } else { &mut edited.unseen }) = number;
        }
        self.settle(tree);
        number
    }

    pub(crate) fn is_dirty(&self, tree: usize, path: &str) -> bool {
        self.trees[tree].files.get(path).map(|file| &file.text) != self.committed(tree, path)
    }

    /// Returns the files that git knows and that differ from the last commit.
    pub(crate) fn dirty(&self, tree: usize) -> Vec<String> {
        let Some(head) = self.head(tree) else { return Vec::new() };
        head.files.keys().filter(|path| self.is_dirty(tree, path)).cloned().collect()
    }

    pub(crate) fn new_files(&self, tree: usize) -> Vec<String> {
        self.trees[tree].files.keys().filter(|path| !self.is_tracked(tree, path)).cloned().collect()
    }

    fn moved(&mut self, tree: usize, commit: Commit) {
        let Tree { repo, branch, .. } = &self.trees[tree];
        let (repo, branch) = (&mut self.repos[repo.unwrap()], branch.clone());
        repo.commits.push(commit);
        let head = repo.commits.len() - 1;
        repo.branches.insert(branch, head);
        self.trees[tree].head = head;
        self.settle(tree);
    }

    /// Commits these files, as they are now.
    pub(crate) fn commit(&mut self, tree: usize, paths: &[String]) {
        let parent = Some(self.trees[tree].head);
        self.commit_upon(tree, paths, parent);
    }

    pub(crate) fn amend(&mut self, tree: usize, paths: &[String]) {
        let parent = self.head(tree).unwrap().parent;
        self.commit_upon(tree, paths, parent);
    }

    fn commit_upon(&mut self, tree: usize, paths: &[String], parent: Option<usize>) {
        let head = self.head(tree).unwrap();
        let is_amended = parent == head.parent;
        let mut next = Commit { parent, ..head.clone() };
        if !is_amended {
            next.took.clear();
        }
        for path in paths {
            match self.trees[tree].files.get(path) {
                Some(file) => {
                    next.files.insert(path.clone(), file.text.clone());
                    next.took.entry(path.clone()).or_default().extend(file.owners.clone());
                }
                None => drop(next.files.remove(path)),
            }
        }
        self.moved(tree, next);
    }

    /// Takes the last commit back: the owners of its edits hold them again.
    pub(crate) fn uncommit(&mut self, tree: usize) -> bool {
        let head = self.head(tree).unwrap().clone();
        let Some(parent) = head.parent else { return false };
        let Tree { repo, branch, .. } = &self.trees[tree];
        self.repos[repo.unwrap()].branches.insert(branch.clone(), parent);
        self.trees[tree].head = parent;
        for (path, owners) in head.took {
            if let Some(file) = self.trees[tree].files.get_mut(&path) {
                for (session, edited) in owners {
                    file.owners.entry(session).or_insert(edited);
                }
            }
        }
        self.settle(tree);
        true
    }

    /// Restores files from the last commit; those that it does not know stay.
    pub(crate) fn restore(&mut self, tree: usize, paths: &[String]) {
        for path in paths {
            if let Some(text) = self.committed(tree, path).cloned() {
                self.trees[tree].files.insert(path.clone(), File { text, ..File::default() });
            }
        }
    }

    pub(crate) fn remove(&mut self, tree: usize, paths: &[String]) {
        paths.iter().for_each(|path| drop(self.trees[tree].files.remove(path)));
    }

    pub(crate) fn stash(&mut self, tree: usize, with_new: bool) -> bool {
        let (dirty, new) = (self.dirty(tree), self.new_files(tree));
        let taken: Vec<&String> = dirty.iter().chain(new.iter().filter(|_| with_new)).collect();
        let here = &self.trees[tree];
        // A deleted file cannot be restored to; that is left out here.
        if taken.is_empty() || dirty.iter().any(|path| !here.files.contains_key(path)) {
            return false;
        }
        let files = taken.iter().map(|path| ((*path).clone(), here.files[*path].clone())).collect();
        let stash = Stash { tree, head: here.head, files };
        let repo = here.repo.unwrap();
        self.repos[repo].stashes.push(stash);
        self.restore(tree, &dirty);
        if with_new {
            self.remove(tree, &new);
        }
        true
    }

    pub(crate) fn pop(&mut self, tree: usize) -> bool {
        let Some(repo) = self.trees[tree].repo else { return false };
        let Some(last) = self.repos[repo].stashes.last() else { return false };
        let here = &self.trees[tree];
        let is_free = |path: &String| self.is_tracked(tree, path) || !here.files.contains_key(path);
        let fits = last.tree == tree && last.head == here.head && last.files.keys().all(is_free);
        if !fits || !self.dirty(tree).is_empty() {
            return false;
        }
        let stash = self.repos[repo].stashes.pop().unwrap();
        self.trees[tree].files.extend(stash.files);
        true
    }

    pub(crate) fn branch(&mut self, tree: usize, name: &str) {
        let (repo, head) = (self.trees[tree].repo.unwrap(), self.trees[tree].head);
        self.repos[repo].branches.insert(name.to_owned(), head);
        self.trees[tree].branch = name.to_owned();
    }

    /// Checks another commit out, if nothing uncommitted is in its way.
    fn go_to(&mut self, tree: usize, to: usize) -> bool {
        let Tree { repo, head, files, .. } = &self.trees[tree];
        let commits = &self.repos[repo.unwrap()].commits;
        let (old, new) = (commits[*head].files.clone(), commits[to].files.clone());
        let changed: Vec<&String> =
            old.keys().chain(new.keys()).filter(|path| old.get(*path) != new.get(*path)).collect();
        let is_clean = |path: &&String| files.get(*path).map(|file| &file.text) == old.get(*path);
        if !changed.iter().all(is_clean) {
            return false;
        }
        let changed: Vec<String> = changed.into_iter().cloned().collect();
        self.trees[tree].head = to;
        for path in changed {
            match new.get(&path) {
                Some(_) => self.restore(tree, &[path]),
                None => drop(self.trees[tree].files.remove(&path)),
            }
        }
        self.settle(tree);
        true
    }

    pub(crate) fn switch(&mut self, tree: usize, branch: &str) -> bool {
        let repo = self.trees[tree].repo;
        let is_elsewhere = self.trees.iter().any(|other| other.repo == repo && other.branch == branch);
        let to = self.repos[repo.unwrap()].branches[branch];
        if is_elsewhere || !self.go_to(tree, to) {
            return false;
        }
        self.trees[tree].branch = branch.to_owned();
        true
    }

    /// Takes over a branch's commits, which are all ahead.
    pub(crate) fn merge(&mut self, tree: usize, branch: &str) -> bool {
        let Tree { repo, head, branch: own, .. } = &self.trees[tree];
        let (repo, head, own) = (repo.unwrap(), *head, own.clone());
        let commits = &self.repos[repo].commits;
        let to = self.repos[repo].branches[branch];
        let mut above = std::iter::successors(Some(to), |at| commits[*at].parent);
        if to == head || !above.any(|at| at == head) || !self.go_to(tree, to) {
            return false;
        }
        self.repos[repo].branches.insert(own, to);
        true
    }
}

fn texts(files: &BTreeMap<String, File>) -> BTreeMap<String, String> {
    files.iter().map(|(path, file)| (path.clone(), file.text.clone())).collect()
}
