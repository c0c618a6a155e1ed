//! Redaction: only text on a list of harmless words and shapes stays; all other text is replaced, the same by the
//! same everywhere.
//!
//! The input of verdicts is known by its field and kept: PIDs, ticks, inodes, times, our own words. Every field is
//! named here, so that the compiler requires a decision about each new one.

pub(crate) mod cut;
pub(crate) mod names;
mod process;
mod record;
pub(crate) mod words;
mod work;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(crate) use self::names::Replacements;
use crate::core::history::recording::redact::names::Names;
use crate::core::judge::window::agent::Signatures;
use crate::core::model::{
    Beginning, Database, FilePath, HomeFolder, Host, Key, NamedSession, Record, Repo, SessionFile, Snapshot,
    SourceHealth, StrayTree, Tie, UnfinishedAction, UnreadWork, Untrusted, WorkItem, Worktree,
};

/// Replaces text that could identify a person or a machine, the same by the same.
#[derive(Debug)]
pub struct Redactor(Names);

impl Redactor {
    /// Makes one that keeps the words of these signatures.
    pub fn new(signatures: &Signatures) -> Self {
        Self(Names::new(signatures))
    }

    /// Returns what was replaced and kept since the last call.
    pub fn fresh(&mut self) -> Replacements {
        self.0.take_new()
    }

    /// Returns a look without anything that could identify a person.
    pub fn look(&mut self, snapshot: &Snapshot) -> Snapshot {
        let mut look = snapshot.clone();
        let Snapshot {
            taken_at,
            host,
            processes,
            records,
            broken,
            repos,
            databases,
            sources,
            seen_agents: _,
            bound,
            homes,
            session_files,
            tombstones,
            plain_folders,
            traces,
            work,
            unread_work,
            unfinished,
            git_commands,
            call_waits,
            forecasts,
        } = &mut look;
        self.host(host, *taken_at);
        self.processes(processes);
        repos.iter_mut().for_each(|repo| self.repo(repo));
        let before: Vec<Key> = records.iter().map(|record| record_key(record)).collect();
        records.iter_mut().for_each(|record| self.record(Arc::make_mut(record)));
        let after = records.iter().map(|record| record_key(record));
        let keys: BTreeMap<Key, Key> = before.into_iter().zip(after).collect();
        broken.iter_mut().for_each(|broken| self.broken(broken));
        databases.iter_mut().for_each(|database| self.database(database, &keys));
        self.notes(bound);
        homes.iter_mut().for_each(|folder| self.home(folder));
        session_files.iter_mut().for_each(|file| self.session_file(file));
        *tombstones = tombstones.iter().map(|stone| self.tombstone(stone.clone())).collect();
        plain_folders.iter_mut().for_each(|folder| self.untrusted(folder));
        traces.iter_mut().for_each(|trace| self.trace(trace));
        sources.iter_mut().for_each(|source| self.source(source));
        work.iter_mut().for_each(|work| self.work(Arc::make_mut(work)));
        for UnreadWork { format: _, session, path, why: _ } in unread_work {
            self.untrusted(session);
            self.file(path);
        }
        for UnfinishedAction { entry: _, action: _, title, began_at: _, end: _, missing } in unfinished {
            self.untrusted(title);
            missing.iter_mut().for_each(|path| self.file(path));
        }
        git_commands.iter_mut().for_each(|command| self.git_command(command));
        call_waits.iter_mut().for_each(|wait| self.call_wait(wait));
        forecasts.iter_mut().for_each(|forecast| self.forecast(forecast));
        look
    }

    /// Keeps the time: the offset of the zone, and not the place.
    fn host(&mut self, host: &mut Host, at: Timestamp) {
        let Host {
            name,
            platform: _,
            up_by: _,
            boot_id,
            machine_id,
            pid_namespace: _,
            time_namespace: _,
            boot_at: _,
            clock: _,
            clock_doubt: _,
            ticks_per_second: _,
            uid: _,
            zone,
        } = host;
        self.string(name);
        boot_id.iter_mut().chain(machine_id).for_each(|id| self.string(id));
        *zone = TimeZone::fixed(zone.to_offset(at));
    }

    fn repo(&mut self, repo: &mut Repo) {
        let Repo { common_dir, sort: _, worktrees, strays, entire_refs, claimed_branches, users: _ } = repo;
        *common_dir = self.path(common_dir);
        worktrees.iter_mut().for_each(|tree| self.tree(tree));
        for StrayTree { path, sort: _, branch } in strays {
            *path = self.path(path);
            branch.iter_mut().for_each(|branch| self.untrusted(branch));
        }
        entire_refs.iter_mut().for_each(|name| self.string(name));
        let claimed = std::mem::take(claimed_branches);
        *claimed_branches = claimed
            .into_iter()
            .map(|(mut name, is_there)| {
                self.string(&mut name);
                (name, is_there)
            })
            .collect();
    }

    fn tree(&mut self, tree: &mut Worktree) {
        let Worktree { path, id, branch, exists: _, locked, is_gone: _, made: _ } = tree;
        *path = self.path(path);
        self.string(id);
        branch.iter_mut().chain(locked).for_each(|text| self.untrusted(text));
    }

    fn database(&mut self, database: &mut Database, keys: &BTreeMap<Key, Key>) {
        let Database { format: _, name, is_complete: _, opened_by: _, file, work } = database;
        self.untrusted(name);
        for NamedSession { id, status, is_open: _, ended_at: _ } in
            file.iter_mut().flat_map(|file| &mut file.named.rows)
        {
            self.untrusted(id);
            self.untrusted(status);
        }
        *work = work.iter().map(|item| self.item(item.clone(), keys)).collect::<Vec<_>>().into();
    }

    fn item(&mut self, mut item: WorkItem, keys: &BTreeMap<Key, Key>) -> WorkItem {
        let WorkItem {
            key,
            table: _,
            status,
            stage: _,
            owner,
            mirrors,
            parent,
            has_result: _,
            changed_at: _,
            record,
        } = &mut item;
        self.untrusted(key);
        *status = self.0.fact(status.raw()).into();
        owner.iter_mut().chain(mirrors).chain(parent).for_each(|text| self.untrusted(text));
        // A key is made of the record's name.
        *record = record.take().and_then(|key| keys.get(&key).cloned());
        item
    }

    fn home(&mut self, folder: &mut HomeFolder) {
        let HomeFolder { path, id: _, part: _ } = folder;
        *path = self.path(path);
    }

    fn session_file(&mut self, file: &mut SessionFile) {
        let SessionFile { agent: _, session, tie, written_at: _, path, medium: _, others: _, beginning } =
            file;
        let Beginning { at: _, is_fork: _, cleared } = beginning;
        cleared.iter_mut().for_each(|session| self.untrusted(session));
        self.untrusted(session);
        self.file(path);
        match tie {
            Tie::Folder(folder) => self.untrusted(folder),
            Tie::Locked(_) | Tie::Named(_) | Tie::Stated(_) | Tie::Opened(_) => {}
        }
    }

    fn source(&mut self, source: &mut SourceHealth) {
        let SourceHealth { id, state: _, detail } = source;
        self.string(id);
        self.untrusted(detail);
    }

    fn string(&mut self, text: &mut String) {
        *text = self.0.text(text);
    }

    fn untrusted(&mut self, text: &mut Untrusted) {
        *text = self.0.text(text.raw()).into();
    }

    fn file(&mut self, path: &mut FilePath) {
        *path = PathBuf::from(self.0.text(path.text().raw())).into();
    }

    fn path(&mut self, path: &Path) -> PathBuf {
        self.0.text(Untrusted::from_path(path).raw()).into()
    }
}

fn record_key(record: &Record) -> Key {
    record.key()
}
