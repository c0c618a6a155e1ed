//! The processes of a world.

use claimtop::core::model::{
    Credentials, Details, FolderId, InnerPids, Process, ProcessId, ProcessState, ProcessTable, Untrusted,
};
use claimtop::testing::core::stand_in;

use super::spec::ProcessSpec;
use super::{WorldFile, homes};

impl WorldFile {
    pub(super) fn table(&self) -> ProcessTable {
        let mut table = ProcessTable { partial: self.host.partial_scan.clone(), ..ProcessTable::default() };
        for spec in self.process.iter().filter(|spec| spec.state != "dead") {
            table.listed.insert(spec.pid);
            table.listed.extend(&spec.threads);
            table.threads.extend(spec.threads.iter().map(|thread| (*thread, spec.pid)));
            if !spec.hidden {
                table.by_pid.insert(spec.pid, self.process(spec));
            }
        }
        stand_in::mark(&mut table, None);
        table
    }

    fn credentials(&self, spec: &ProcessSpec) -> Credentials {
        let users = match spec.users.as_slice() {
            [] => vec![spec.uid.unwrap_or(self.host.uid); 4],
            users => users.to_vec(),
        };
        let has_capabilities = spec.capable || users.contains(&0);
        Credentials { users, has_capabilities, is_mapped: spec.mapped }
    }

    fn process(&self, spec: &ProcessSpec) -> Process {
        let exe = spec.exe.clone().unwrap_or_else(|| match spec.name.as_str() {
            _ if spec.unreadable => String::new(),
            "claude" => "/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe".to_owned(),
            "codex" => "/opt/node_modules/@openai/codex-linux-x64/vendor/x/bin/codex".to_owned(),
            name => format!("/usr/bin/{name}"),
        });
        let argv = if spec.argv.is_empty() { vec![spec.name.clone()] } else { spec.argv.clone() };
        let ns_pids = spec.ns_pids.clone().unwrap_or_else(|| vec![spec.pid]);
        Process {
            id: ProcessId { pid: spec.pid, start_ticks: self.ticks(&spec.started) },
            parent: spec.parent,
            state: match spec.state.as_str() {
                "running" => ProcessState::Running,
                "stopped" => ProcessState::Stopped,
                "zombie" => ProcessState::Zombie,
                "leader-exited" => ProcessState::LeaderExited,
                other => panic!("unknown state {other}"),
            },
            comm: spec.name.as_str().into(),
            tty: spec.tty.clone(),
            group: spec.group.unwrap_or(0),
            session: spec.session.unwrap_or(spec.pid),
            pidfd_inode: spec.pidfd_inode,
            has_exited: spec.exited,
            inner: InnerPids::from_ns_pids(&ns_pids),
            is_renamed: spec.renamed,
            details: (!spec.unread).then(|| Details {
                uid: Some(spec.uid.unwrap_or(self.host.uid)),
                credentials: Some(self.credentials(spec)),
                exe: (!spec.unreadable).then(|| exe.into()),
                argv: arguments(&argv),
                cwd: spec.cwd.as_deref().map(Untrusted::from),
                is_cwd_elsewhere: spec.elsewhere,
                is_cwd_gone: spec.folder_gone,
                cwd_here: spec.cwd_here.as_deref().map(Untrusted::from),
                cwd_id: spec.cwd_inode.map(|ino| FolderId { dev: 99, ino }),
                ns_pids,
                has_other_clock: spec.other_clock,
                has_unread_clock: spec.unread_clock,
                homes: spec
                    .home
                    .as_deref()
                    .map(|home| homes::of_process(home, spec.config.as_deref(), &spec.sees)),
                env: spec
                    .env
                    .iter()
                    .chain(&spec.homes())
                    .map(|(k, v)| (k.clone(), v.as_str().into()))
                    .collect(),
                has_certain_homes: spec.home.is_some() && !spec.stacked,
                is_kernels: spec.kernels,
                is_stand_in: false,
                cpu_percent: None,
                memory_bytes: None,
            }),
        }
    }
}

/// Returns arguments as they are read from a process.
fn arguments(argv: &[String]) -> Vec<Untrusted> {
    let mut arguments: Vec<Untrusted> = argv.iter().map(|text| text.as_str().into()).collect();
    claimtop::testing::core::hide_in_arguments(&mut arguments);
    arguments
}
