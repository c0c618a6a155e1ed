//! Redacts processes, the traces that they bear, and the kept data of dead ones.

use crate::core::history::recording::redact::Redactor;
use crate::core::model::{
    CallWait, Conflict, Details, Forecast, ForecastSide, Hindrance, LockHold, Origin, Process, ProcessTable,
    Tombstone, Trace, WaitSort,
};

impl Redactor {
    pub(super) fn processes(&mut self, table: &mut ProcessTable) {
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
            group: _,
            session: _,
            pidfd_inode: _,
            has_exited: _,
            inner: _,
            is_renamed: _,
            details,
        } = process;
        self.untrusted(comm);
        tty.iter_mut().for_each(|tty| self.string(tty));
        details.iter_mut().for_each(|details| self.details(details));
    }

    fn details(&mut self, details: &mut Details) {
        let Details {
            uid: _,
            credentials: _,
            exe,
            argv,
            cwd,
            cwd_here,
            ns_pids: _,
            has_other_clock: _,
            has_unread_clock: _,
            homes: _,
            has_certain_homes: _,
            is_cwd_elsewhere: _,
            is_cwd_gone: _,
            cwd_id: _,
            is_kernels: _,
            is_stand_in: _,
            env,
            cpu_percent: _,
            memory_bytes: _,
        } = details;
        exe.iter_mut()
            .chain(cwd)
            .chain(cwd_here)
            .chain(argv)
            .chain(env.values_mut())
            .for_each(|text| self.untrusted(text));
    }

    pub(super) fn trace(&mut self, trace: &mut Trace) {
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
            interaction: _,
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

    pub(super) fn call_wait(&mut self, wait: &mut CallWait) {
        let CallWait { agent: _, process: _, command, wait } = wait;
        self.untrusted(command);
        match wait {
            WaitSort::Lock(LockHold { path, holder: _, command, taken_by: _ }) => {
                path.iter_mut().for_each(|path| self.untrusted(path));
                self.untrusted(command);
            }
            WaitSort::Terminal(name) => self.untrusted(name),
            WaitSort::Output | WaitSort::Stopped | WaitSort::Child | WaitSort::Pipe(_) => {}
        }
    }

    pub(super) fn forecast(&mut self, forecast: &mut Forecast) {
        let Forecast { repository, sides, outcome: _, why, conflicts } = forecast;
        self.untrusted(repository);
        for ForecastSide { tree, branch, commits: _, uncommitted: _ } in sides {
            tree.iter_mut().chain(branch).for_each(|name| self.untrusted(name));
        }
        why.iter_mut().for_each(|why| self.untrusted(why));
        for Conflict { path, kind: _, lines: _ } in conflicts {
            self.untrusted(path);
        }
    }

    pub(super) fn tombstone(&mut self, mut stone: Tombstone) -> Tombstone {
        let Tombstone {
            id: _,
            pidfd_inode: _,
            host,
            boot_id,
            pid_namespace: _,
            time_namespace: _,
            session_id,
            name,
            seen_alive_at: _,
            proven_at: _,
            proven_tick: _,
            reason: _,
        } = &mut stone;
        [host, boot_id].into_iter().chain(session_id).chain(name).for_each(|text| self.untrusted(text));
        stone
    }
}
