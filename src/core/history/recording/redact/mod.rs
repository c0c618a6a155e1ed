//! Redaction: only what is on a list of harmless words and shapes stays; whatever else is text is
//! replaced, the same by the same everywhere.
//!
//! What verdicts rest on is known by its field and kept: PIDs, ticks, inodes, times, our own words.
//! Every field is named here, so that a new one is decided about before anything compiles.

pub(crate) mod cut;
pub(crate) mod names;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(crate) use self::names::Replacements;
use crate::core::history::recording::redact::names::Names;
use crate::core::judge::agent::Signatures;
use crate::core::model::{
    BoundSession, BrokenFile, Call, Database, Details, Doing, Domain, Edit, FilePath, Hindrance, Holder,
    HolderNames, HomeFolder, Host, Key, Location, NamedTexts, NotedWait, Notes, Origin, Problem, Process,
    ProcessTable, Record, RecordDetail, Repo, Resource, Row, SessionFile, Snapshot, SourceHealth,
    StatedClaim, StatedPid, SubAgent, Texts, Tie, Tombstone, Trace, UnreadWork, Untrusted, Waiting, Wants,
    Warning, Work, WorkItem, Worktree,
};

/// The facts whose values are a system's own words or numbers.
const PLAIN_FACTS: [&str; 12] = [
    "status", "source", "phase", "kind", "terminal ID", "stale when", "watches itself", "tick pid",
    "version", "colour", "entrypoint", "last start",
];

/// Replaces what could tell of a person or a machine, the same by the same.
#[derive(Debug)]
pub struct Redactor(Names);

/// How agents name the tools of MCP servers, before the server's name.
const MCP: &str = "mcp__";

impl Redactor {
    /// Makes one that leaves the words of these signatures alone.
    pub fn new(signatures: &Signatures) -> Self {
        Self(Names::new(signatures))
    }

    /// Returns what was replaced and kept since the last call.
    pub fn fresh(&mut self) -> Replacements {
        self.0.told()
    }

    /// Returns a look in which nothing is left that could tell of a person.
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
        look
    }

    /// Keeps when it was: the offset of the zone, and not the place.
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
            clock_doubt: _,
            ticks_per_second: _,
            uid: _,
            zone,
        } = host;
        self.string(name);
        boot_id.iter_mut().chain(machine_id).for_each(|id| self.string(id));
        *zone = TimeZone::fixed(zone.to_offset(at));
    }

    fn processes(&mut self, table: &mut ProcessTable) {
        let ProcessTable { listed: _, partial, by_pid, threads: _ } = table;
        partial.iter_mut().for_each(|why| self.string(why));
        by_pid.values_mut().for_each(|process| self.process(process));
    }

    fn process(&mut self, process: &mut Process) {
        let Process {
            id: _,
            parent: _,
            state: _,
            comm,
            tty,
            session: _,
            pidfd_inode: _,
            has_exited: _,
            inner: _,
            details,
        } = process;
        self.untrusted(comm);
        tty.iter_mut().for_each(|tty| self.string(tty));
        details.iter_mut().for_each(|details| self.details(details));
    }

    fn details(&mut self, details: &mut Details) {
        let Details {
            uid: _,
            exe,
            argv,
            cwd,
            ns_pids: _,
            has_other_clock: _,
            homes: _,
            has_certain_homes: _,
            is_kernels: _,
            is_stand_in: _,
            env,
            cpu_percent: _,
            memory_bytes: _,
        } = details;
        exe.iter_mut().chain(cwd).chain(argv).chain(env.values_mut()).for_each(|text| self.untrusted(text));
    }

    fn trace(&mut self, trace: &mut Trace) {
        let Trace {
            id: _,
            group: _,
            argv,
            cwd,
            origin,
            tasks,
            adopted_by,
            seen_below: _,
            memory: _,
            cpu_time: _,
            ports: _,
            input: _,
            server,
            hindrance,
        } = trace;
        argv.iter_mut()
            .chain(cwd)
            .chain(tasks)
            .chain(server)
            .chain(adopted_by.iter_mut().flatten())
            .for_each(|text| self.untrusted(text));
        if let Some(Origin { agent: _, pid: _, session, multiplexer: _, is_unit: _ }) = origin {
            session.iter_mut().for_each(|session| self.untrusted(session));
        }
        match hindrance {
            Some(Hindrance::Locking(path)) => self.untrusted(path),
            Some(Hindrance::Nothing | Hindrance::Traced(_) | Hindrance::Waiting) | None => {}
        }
    }

    fn repo(&mut self, repo: &mut Repo) {
        let Repo { common_dir, sort: _, worktrees, entire_refs, users: _ } = repo;
        *common_dir = self.path(common_dir);
        worktrees.iter_mut().for_each(|tree| self.tree(tree));
        entire_refs.iter_mut().for_each(|name| self.string(name));
    }

    fn tree(&mut self, tree: &mut Worktree) {
        let Worktree { path, id, branch, exists: _, locked, is_gone: _, made: _ } = tree;
        *path = self.path(path);
        self.string(id);
        branch.iter_mut().chain(locked).for_each(|text| self.untrusted(text));
    }

    fn record(&mut self, record: &mut Record) {
        let Record {
            format: _,
            kind: _,
            generation: _,
            variant: _,
            session_id,
            context_id,
            title,
            location,
            holder,
            started_at: _,
            heartbeat_at: _,
            written_at: _,
            signs: _,
            expiry: _,
            deletion: _,
            claims,
            terminal_id,
            cwd,
            files,
            has_ended: _,
            has_unsaved_work: _,
            problems,
            detail,
            facts,
            ownership: _,
        } = record;
        self.untrusted(title);
        session_id.iter_mut().chain(context_id).for_each(|id| self.untrusted(id));
        terminal_id.iter_mut().for_each(|id| self.untrusted(id));
        self.location(location);
        holder.iter_mut().for_each(|holder| self.holder(holder));
        claims.iter_mut().for_each(|claim| self.claim(claim));
        *cwd = cwd.take().map(|cwd| self.path(&cwd).into());
        *files = files.iter().map(|file| self.0.text(file.raw()).into()).collect();
        problems.iter_mut().for_each(left_out);
        self.detail(detail);
        *facts = self.facts(facts);
    }

    fn location(&mut self, location: &mut Location) {
        match location {
            Location::File(path) => self.file(path),
            Location::Row(row) => {
                let (database, id) = (self.0.text(row.database.raw()), self.0.text(row.id.raw()));
                **row = Row::new(database.into(), row.table, id.into());
            }
        }
    }

    fn holder(&mut self, holder: &mut Holder) {
        let Holder { pid, role: _, binding: _, start_ticks: _, names } = holder;
        if let Some(StatedPid::Bad(text)) = pid {
            self.untrusted(text);
        }
        if let Some(names) = names {
            let HolderNames { boot_id, host, machine_id, name, domain, local_start: _ } = &mut **names;
            let machine = match domain {
                Some(Domain::Linux { machine, namespace: _ }) => machine.as_mut(),
                Some(Domain::Darwin | Domain::Other) | None => None,
            };
            boot_id
                .iter_mut()
                .chain(host)
                .chain(machine_id)
                .chain(machine)
                .chain(name)
                .for_each(|text| self.untrusted(text));
        }
    }

    fn claim(&mut self, claim: &mut StatedClaim) {
        let StatedClaim { resource: Resource { kind: _, id }, since: _, surfaces: _ } = claim;
        self.untrusted(id);
    }

    fn detail(&mut self, detail: &mut RecordDetail) {
        let Texts { words, names } = detail.texts_mut();
        words.into_iter().for_each(|word| *word = self.0.fact(word.raw()).into());
        names.into_iter().for_each(|name| self.untrusted(name));
    }

    fn facts(&mut self, facts: &[(&'static str, Untrusted)]) -> NamedTexts {
        let redacted = |(name, value): &(&'static str, Untrusted)| {
            let is_plain = PLAIN_FACTS.contains(name);
            let value = if is_plain { self.0.fact(value.raw()) } else { self.0.text(value.raw()) };
            (*name, value.into())
        };
        facts.iter().map(redacted).collect()
    }

    fn broken(&mut self, broken: &mut BrokenFile) {
        let BrokenFile { format: _, path, problem, ownership: _, written_at: _ } = broken;
        self.file(path);
        left_out(problem);
    }

    fn database(&mut self, database: &mut Database, keys: &BTreeMap<Key, Key>) {
        let Database { format: _, name, is_complete: _, opened_by: _, file: _, work } = database;
        self.untrusted(name);
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
        // A key is made of what the record is called.
        *record = record.take().and_then(|key| keys.get(&key).cloned());
        item
    }

    /// Leaves models and the agents' own tools, which say nothing of a person.
    fn work(&mut self, work: &mut Work) {
        let Work { format: _, session, path, medium: _, written_at: _, doing, agents, skipped: _, warnings } =
            work;
        for Warning { at: _, of, path, how: _ } in warnings {
            self.untrusted(of);
            path.iter_mut().for_each(|path| self.untrusted(path));
        }
        self.untrusted(session);
        self.file(path);
        let Doing {
            title,
            compacting: _,
            prompt,
            turn: _,
            calls,
            todo,
            edits,
            edits_since: _,
            taken_ports: _,
            model: _,
            context: _,
            version: _,
            mode: _,
            cwd,
        } = doing;
        *prompt = None;
        title.iter_mut().chain(todo).chain(cwd).for_each(|text| self.untrusted(text));
        calls.iter_mut().for_each(|call| self.call(call));
        for Edit { path, at: _, by, also, committed: _ } in edits {
            self.untrusted(path);
            by.iter_mut().chain(also).for_each(|by| self.untrusted(by));
        }
        for SubAgent { id, task, call, since: _ } in agents {
            self.untrusted(id);
            task.iter_mut().for_each(|task| self.untrusted(task));
            call.iter_mut().for_each(|call| self.call(call));
        }
    }

    fn call(&mut self, call: &mut Call) {
        let Call { id, tool, target, since: _ } = call;
        self.untrusted(id);
        // A server of somebody's own, and what it offers.
        if let Some(named) = tool.raw().strip_prefix(MCP) {
            *tool = format!("{MCP}{}", self.0.text(named)).into();
        }
        target.iter_mut().for_each(|target| self.untrusted(target.text_mut()));
    }

    fn notes(&mut self, notes: &mut Notes) {
        let Notes { notes, waits, contexts, unreadable, partial, medium: _ } = notes;
        notes.iter_mut().for_each(|note| self.note(Arc::make_mut(note)));
        let size = |(session, size): (&Untrusted, &u64)| (self.0.text(session.raw()).into(), *size);
        *contexts = contexts.iter().map(size).collect();
        waits.iter_mut().for_each(|wait| self.wait(Arc::make_mut(wait)));
        unreadable.iter_mut().for_each(|session| self.untrusted(session));
        partial.iter_mut().for_each(|why| self.string(why));
    }

    fn wait(&mut self, wait: &mut NotedWait) {
        let NotedWait { by, waiting: Waiting { wants, call, since: _ } } = wait;
        self.note(by);
        call.iter_mut().for_each(|call| self.call(call));
        if let Wants::Other(what) = wants {
            self.untrusted(what);
        }
    }

    fn note(&mut self, note: &mut BoundSession) {
        let BoundSession {
            schema: _,
            session_id,
            agent,
            host,
            boot_id,
            pid_namespace: _,
            pid: _,
            start_ticks: _,
            pidfd_inode: _,
            context_id,
            cwd,
            written_at: _,
            since_boot_ms: _,
        } = note;
        let texts = [session_id, agent, host, boot_id, context_id];
        texts.into_iter().chain(cwd).for_each(|text| self.untrusted(text));
    }

    fn home(&mut self, folder: &mut HomeFolder) {
        let HomeFolder { path, id: _, part: _ } = folder;
        *path = self.path(path);
    }

    fn session_file(&mut self, file: &mut SessionFile) {
        let SessionFile { agent: _, session, tie, written_at: _, path, medium: _, others: _ } = file;
        self.untrusted(session);
        self.file(path);
        match tie {
            Tie::Folder(folder) => self.untrusted(folder),
            Tie::Locked(_) | Tie::Named(_) | Tie::Opened(_) => {}
        }
    }

    fn tombstone(&mut self, mut stone: Tombstone) -> Tombstone {
        let Tombstone {
            id: _,
            pidfd_inode: _,
            host,
            boot_id,
            pid_namespace: _,
            time_namespace: _,
            session_id,
            seen_alive_at: _,
            proven_at: _,
            proven_tick: _,
            reason: _,
        } = &mut stone;
        [host, boot_id].into_iter().chain(session_id).for_each(|text| self.untrusted(text));
        stone
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

/// Leaves out a sentence that can quote a file.
fn left_out(problem: &mut Problem) {
    problem.message = "what is wrong with it is left out".into();
}
