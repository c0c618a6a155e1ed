//! The traces in a process of the window that started it.
//!
//! As measured with Claude Code 2.1.330 and opencode 1.18.33. An environment also holds tokens and keys:
//! of all its values only the few that name a process or a session leave this file.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{fstat, readlinkat};

use crate::core::model::{Multiplexer, Origin, ProcessId, ProcessState, Trace, Untrusted};
use crate::source::os::processes::linux::details;
use crate::source::os::processes::linux::proc::{Proc, Reading, is_gone, slurp, understood};

/// The most bytes of an environment that are read; a longer one may hide later variables.
const ENVIRONMENT: usize = 2 << 20;
/// The longest value that is kept.
const LONGEST: usize = 256;

/// The variables that are read.
const CLAUDE_PID: &str = "CLAUDE_PID";
const CLAUDE_SOCKET: &str = "CLAUDE_CODE_MESSAGING_SOCKET";
const CLAUDE_SESSION: &str = "CLAUDE_CODE_SESSION_ID";
const OPENCODE_PID: &str = "OPENCODE_PID";
const TMUX: &str = "TMUX";
const SCREEN: &str = "STY";
const ZELLIJ: &str = "ZELLIJ_SESSION_NAME";
const HOME: &str = "HOME";
const UNIT: &str = "SYSTEMD_EXEC_PID";
const NAMES: [&str; 9] =
    [CLAUDE_PID, CLAUDE_SOCKET, CLAUDE_SESSION, OPENCODE_PID, TMUX, SCREEN, ZELLIJ, HOME, UNIT];

/// How often to read again a process that is just becoming another program.
const TRIES: usize = 64;

/// Reads the traces of one process of this user whose home is one of these.
pub(crate) fn read(proc: &mut Proc, id: ProcessId, uid: u32, homes: &[&Path]) -> Reading<Trace> {
    let folder = match proc.folder(id.pid) {
        Ok(folder) => folder,
        Err(error) if is_gone(error) => return Reading::Gone,
        Err(_) => return Reading::Unreadable,
    };
    let (group, environment) = match settled(&folder, id) {
        Reading::Read(found) => found,
        Reading::Unreadable => return Reading::Unreadable,
        Reading::Gone => return Reading::Gone,
    };
    if !fstat(&folder).is_ok_and(|stat| stat.st_uid == uid) {
        return Reading::Unreadable;
    }
    let variables = environment.as_deref().map(variables);
    let origin = variables.map(|all| (origin(&all, id.pid), value(&all, HOME)));
    if let Some((origin, home)) = &origin {
        // A process that has erased its environment has no home either.
        let is_erased = home.is_none() && origin.pid.is_none();
        let is_ours = |home| homes.iter().any(|one| one.as_os_str().as_bytes() == home);
        if !is_erased && !home.is_some_and(is_ours) {
            return Reading::Unreadable;
        }
    }
    Reading::Read(Trace {
        group,
        cwd: details::cwd(folder.as_fd(), "cwd"),
        origin: origin.map(|(origin, _)| origin),
        tasks: tasks(&folder),
        adopted_by: Some(Vec::new()),
        ..Trace::unread(id, details::argv(folder.as_fd(), "cmdline"))
    })
}

/// Reads a process's group and its environment, if that may be read. While a process becomes another program there is
/// a moment in which it has none, and the kernel cannot report where it will be.
fn settled(folder: &OwnedFd, id: ProcessId) -> Reading<(u32, Option<Vec<u8>>)> {
    for _ in 0..TRIES {
        let mut text = Vec::new();
        let outcome = slurp(folder.as_fd(), "stat", &mut text, 4 << 10);
        let line = match understood(id.pid, outcome.map(|()| text.as_slice())) {
            Reading::Read(line) if line.process.id == id => line,
            Reading::Read(_) | Reading::Gone => return Reading::Gone,
            Reading::Unreadable => return Reading::Unreadable,
        };
        match slurp(folder.as_fd(), "environ", &mut text, ENVIRONMENT) {
            Ok(()) if text.is_empty() && line.layout.is_none() => std::thread::yield_now(),
            Ok(()) if text.len() < ENVIRONMENT => return Reading::Read((line.process.group, Some(text))),
            // A process whose first thread has ended has no memory under its own number (ESRCH on Linux 6.18), and
            // lives on in its other threads.
            Err(error) if is_gone(error) && line.process.state != ProcessState::LeaderExited => {
                return Reading::Gone;
            }
            Ok(()) | Err(_) => return Reading::Read((line.process.group, None)),
        }
    }
    Reading::Unreadable
}

/// Returns the values of each variable that is read: getenv(3) takes the first, other readers the last, so two
/// different values do not count.
fn variables(text: &[u8]) -> BTreeMap<&'static str, Vec<&[u8]>> {
    let mut all: BTreeMap<&'static str, Vec<&[u8]>> = BTreeMap::new();
    for entry in text.split(|byte| *byte == 0) {
        let value = |name: &str| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
        if let Some((name, value)) = NAMES.into_iter().find_map(|name| Some((name, value(name)?))) {
            all.entry(name).or_default().push(value);
        }
    }
    all
}

fn value<'a>(all: &BTreeMap<&'static str, Vec<&'a [u8]>>, name: &str) -> Option<&'a [u8]> {
    let (first, others) = all.get(name)?.split_first()?;
    (others.iter().all(|other| other == first) && first.len() <= LONGEST).then_some(first)
}

fn number(text: &[u8]) -> Option<u32> {
    let is_plain = text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_plain)?.parse().ok().filter(|pid| *pid > 1)
}

fn origin(all: &BTreeMap<&'static str, Vec<&[u8]>>, own_pid: u32) -> Origin {
    let marks = [
        ("claude-code", env_value(all, CLAUDE_PID, plain)),
        ("claude-code", env_value(all, CLAUDE_SOCKET, of_socket)),
        ("opencode", env_value(all, OPENCODE_PID, plain)),
    ];
    let mut windows = marks.iter().filter_map(|(agent, marks)| Some((*agent, marks.pid()?)));
    let first = windows.next();
    // If two variables differ, the process came through two windows, and neither counts.
    let is_clear = !marks.iter().any(|(_, marks)| *marks == EnvValue::Nonsense)
        && windows.all(|window| Some(window) == first);
    let (agent, pid) = first.filter(|_| is_clear).unzip();
    let is_uuid =
        |text: &&[u8]| text.len() == 36 && text.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let session = value(all, CLAUDE_SESSION).filter(is_uuid).map(Untrusted::from_bytes);
    // A process that inherited it has its parent's number there.
    let is_unit = value(all, UNIT).and_then(number) == Some(own_pid);
    Origin { agent: agent.map(Untrusted::from), pid, session, multiplexer: multiplexer(all), is_unit }
}

/// What one variable says about a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnvValue {
    Nothing,
    Pid(u32),
    /// Two values, or none that makes sense.
    Nonsense,
}

impl EnvValue {
    fn pid(self) -> Option<u32> {
        match self {
            Self::Pid(pid) => Some(pid),
            Self::Nothing | Self::Nonsense => None,
        }
    }
}

fn env_value(
    all: &BTreeMap<&'static str, Vec<&[u8]>>,
    name: &str,
    read: impl Fn(&[u8]) -> EnvValue,
) -> EnvValue {
    match all.get(name).map(|_| value(all, name)) {
        None | Some(Some(b"")) => EnvValue::Nothing,
        Some(Some(value)) => read(value),
        Some(None) => EnvValue::Nonsense,
    }
}

fn plain(text: &[u8]) -> EnvValue {
    number(text).map_or(EnvValue::Nonsense, EnvValue::Pid)
}

/// Returns the PID in `/tmp/cc-socks/<pid>.sock`; a socket elsewhere has no meaning.
fn of_socket(path: &[u8]) -> EnvValue {
    let path = Path::new(OsStr::from_bytes(path));
    let is_socket = path.extension().is_some_and(|end| end == "sock")
        && path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "cc-socks");
    path.file_stem().filter(|_| is_socket).map_or(EnvValue::Nothing, |stem| plain(stem.as_bytes()))
}

fn multiplexer(all: &BTreeMap<&'static str, Vec<&[u8]>>) -> Option<Multiplexer> {
    let named = |name| all.get(name).is_some_and(|values| values.iter().any(|value| !value.is_empty()));
    if named(SCREEN) || named(ZELLIJ) {
        return Some(Multiplexer::Unnamed);
    }
    // `<socket>,<server's PID>,<session>` (tmux(1)).
    let server = value(all, TMUX).and_then(|text| number(text.rsplitn(3, |byte| *byte == b',').nth(1)?));
    named(TMUX).then(|| server.map_or(Multiplexer::Unnamed, Multiplexer::Server))
}

/// Returns the sessions to whose task output it writes, `<project>/<session>/tasks/<task>.output`.
fn tasks(folder: &OwnedFd) -> Vec<Untrusted> {
    let session = |descriptor: &str| {
        let target = readlinkat(folder, descriptor, Vec::new()).ok()?;
        let path = Path::new(OsStr::from_bytes(target.as_bytes()));
        let tasks = path.parent().filter(|_| path.extension().is_some_and(|end| end == "output"))?;
        let tasks = tasks.file_name().is_some_and(|name| name == "tasks").then_some(tasks)?;
        Some(Untrusted::from_path(Path::new(tasks.parent()?.file_name()?)))
    };
    let mut all: Vec<Untrusted> = ["fd/1", "fd/2"].into_iter().filter_map(session).collect();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::fixture;
    use crate::source::os::processes::started::spawn;

    const SESSION: &str = "048d840c-ce95-46c1-9e3a-791d9f7aeaad";

    fn read(text: &str) -> Origin {
        origin(&variables(text.replace('\n', "\0").as_bytes()), 4711)
    }

    #[track_caller]
    fn check(text: &str, pid: Option<u32>, session: Option<&str>) {
        let origin = read(text);
        assert_eq!((origin.pid, origin.session), (pid, session.map(Untrusted::from)), "{text}");
    }

    #[test]
    fn an_environment_says_which_window_started_its_process() {
        let all = format!(
            "CLAUDE_PID=17795\nCLAUDE_CODE_SESSION_ID={SESSION}\nCLAUDE_CODE_MESSAGING_SOCKET=/tmp/cc-socks/17795.sock"
        );
        check(&all, Some(17795), Some(SESSION));
        check("CLAUDE_CODE_MESSAGING_SOCKET=/tmp/cc-socks/17795.sock\n", Some(17795), None);
        check("OPENCODE_PID=77", Some(77), None);
        assert_eq!(read("OPENCODE_PID=77").agent, Some("opencode".into()));
        check("", None, None);
    }

    #[test]
    fn what_makes_no_sense_or_contradicts_itself_counts_for_nothing() {
        check("CLAUDE_PID=1\nCLAUDE_CODE_SESSION_ID=../../etc", None, None);
        check("CLAUDE_PID=+17\n", None, None);
        check("CLAUDE_PID=99999999999", None, None);
        check("XCLAUDE_PID=17", None, None);
        check("CLAUDE_PID=17\nCLAUDE_PID=18", None, None);
        check("CLAUDE_PID=17\nCLAUDE_PID=17", Some(17), None);
        check("CLAUDE_PID=17\nCLAUDE_CODE_MESSAGING_SOCKET=/tmp/cc-socks/18.sock", None, None);
        check("CLAUDE_PID=17\nOPENCODE_PID=18", None, None);
        check("CLAUDE_CODE_MESSAGING_SOCKET=/tmp/other/17.sock", None, None);
        check(&format!("CLAUDE_CODE_SESSION_ID={}", "a".repeat(1 << 20)), None, None);
        check(
            &format!("CLAUDE_PID=17\nCLAUDE_CODE_SESSION_ID={SESSION}\nCLAUDE_CODE_SESSION_ID=x"),
            Some(17),
            None,
        );
        // One variable does not count if another is not a number, or is there twice.
        for pid in [
            "CLAUDE_PID=1", "CLAUDE_PID=x", "CLAUDE_PID=-17", "CLAUDE_PID=17\nCLAUDE_PID=18",
            "OPENCODE_PID=0",
        ] {
            check(&format!("{pid}\nCLAUDE_CODE_MESSAGING_SOCKET=/tmp/cc-socks/17.sock"), None, None);
            check(&format!("CLAUDE_CODE_MESSAGING_SOCKET=/tmp/cc-socks/17.sock\n{pid}"), None, None);
        }
        for socket in [
            "/tmp/cc-socks/x.sock",
            "/tmp/cc-socks/1.sock",
            "/tmp/cc-socks/17.sock\nCLAUDE_CODE_MESSAGING_SOCKET=/y",
        ] {
            check(&format!("CLAUDE_PID=17\nCLAUDE_CODE_MESSAGING_SOCKET={socket}"), None, None);
        }
    }

    #[test]
    fn what_is_empty_or_of_another_shape_says_nothing() {
        check("CLAUDE_PID=\nCLAUDE_CODE_MESSAGING_SOCKET=/tmp/cc-socks/17.sock", Some(17), None);
        check("CLAUDE_PID=17\nCLAUDE_CODE_MESSAGING_SOCKET=/run/user/1000/claude.sock", Some(17), None);
        check("CLAUDE_PID=17\nOPENCODE_PID=", Some(17), None);
        check("CLAUDE_PID\nCLAUDE_PIDS=18\n=17\n", None, None);
    }

    #[test]
    fn a_long_environment_is_read_to_its_end_also_without_a_last_nul() {
        let filler = format!("FILLER={}\n", "x".repeat(200 << 10));
        check(&format!("{filler}CLAUDE_PID=17"), Some(17), None);
        check(&format!("CLAUDE_PID=17\n{filler}CLAUDE_PID=18"), None, None);
    }

    #[test]
    fn the_main_process_of_a_unit_is_told_from_what_it_started() {
        assert!(read("SYSTEMD_EXEC_PID=4711").is_unit);
        assert!(!read("SYSTEMD_EXEC_PID=4710").is_unit);
        assert!(!read("").is_unit);
    }

    #[test]
    fn a_multiplexer_is_noticed_whatever_names_it() {
        assert_eq!(read("TMUX=/tmp/tmux-1000/a,b,17660,0").multiplexer, Some(Multiplexer::Server(17660)));
        for text in ["STY=1.pts-0.host", "ZELLIJ_SESSION_NAME=x", "TMUX=x", "TMUX=/a,1,2\nTMUX=/a,3,4"] {
            assert_eq!(read(text).multiplexer, Some(Multiplexer::Unnamed), "{text}");
        }
        assert_eq!(read("TMUX=").multiplexer, None);
    }

    /// Starts a process with this environment, and reads its traces.
    #[expect(clippy::disallowed_methods, reason = "the test starts a process")]
    fn started(variables: impl Iterator<Item = (String, String)>) -> Reading<Trace> {
        use std::process::{Command, Stdio};

        let mut sleep = Command::new("/bin/sleep");
        sleep.arg("600").env_clear().env("HOME", "/home/nobody").stdin(Stdio::null());
        let mut child = spawn(sleep.envs(variables));
        let mut proc = Proc::open().unwrap();
        let Reading::Read(line) = proc.process(child.id()) else { panic!("it runs") };
        let uid = rustix::process::getuid().as_raw();
        let read = super::read(&mut proc, line.process.id, uid, &[Path::new("/home/nobody")]);
        let other = ProcessId { start_ticks: line.process.id.start_ticks + 1, ..line.process.id };
        assert!(matches!(super::read(&mut proc, other, uid, &[]), Reading::Gone));
        assert!(matches!(super::read(&mut proc, line.process.id, uid + 1, &[]), Reading::Unreadable));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(matches!(super::read(&mut proc, line.process.id, uid, &[]), Reading::Gone));
        read
    }

    #[test]
    fn the_environment_of_a_real_process_is_read_also_where_it_is_long() {
        for number in [0, 2] {
            let names = (0..number).map(|at| format!("FILLER_{at}"));
            // One value has fewer than 128 KiB (execve(2)).
            let filler = names.map(|name| (name, "x".repeat(100 << 10)));
            let Reading::Read(trace) = started(filler.chain([("CLAUDE_PID".into(), "17".into())])) else {
                panic!("it is ours");
            };
            assert_eq!(trace.origin.unwrap().pid, Some(17));
        }
    }

    #[test]
    fn real_left_overs_name_their_windows() {
        let cases = [
            ("01-mcp-behind-sh-after-exit", Some(11_223)),
            ("07-setsid-daemon", Some(17_795)),
            ("22-TRAP-user-pane-inherits-dead-ids", Some(17_795)),
            ("35-gemini-mcp-after-quit", None),
        ];
        for (name, pid) in cases {
            let Some(text) = fixture(&format!("leftovers/{name}/environ")) else { return };
            let all = variables(&text);
            let origin = origin(&all, 4711);
            assert_eq!(origin.pid, pid, "{name}");
            let kept = format!("{origin:?}");
            assert!(!kept.contains("FAKE") && !kept.contains("/home"), "{name}: {kept}");
        }
    }
}
