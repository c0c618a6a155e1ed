//! Bad input under every format's file name: it never causes a crash, a block, a wrong report or a raw byte on the
//! terminal, and always a finding that names the file and the fault.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

/// A file of each format, and a text that its system could have written there.
const FILES: [(&str, &str); 7] = [
    (
        "home/.maia/sessions/swarm_session_399991.json",
        r#"{"current_agent":"a","session_start":"2026-11-20T21:40:35"}"#,
    ),
    (
        "tmp/maia_active_swarm_session_399992.json",
        r#"{"current_agent":"a","session_start":"2026-11-20T21:40:35"}"#,
    ),
    (
        "home/.claude/sessions/399993.json",
        r#"{"pid":399993,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#,
    ),
    (
        "home/.claude-sessions/95fe798d-3725-4649-974a-0dec79220194.json",
        r#"{"session_id":"95fe798d-3725-4649-974a-0dec79220194","terminal_id":"x","pid":399994,"heartbeat_at":"2026-11-20T21:40:35Z"}"#,
    ),
    (
        "home/shop/.git/entire-sessions/95fe798d-3725-4649-974a-0dec79220195.json",
        r#"{"session_id":"95fe798d-3725-4649-974a-0dec79220195","base_commit":"3397a23560d2f07f1d894e0049da6c8fb7a9553b","phase":"idle","started_at":"2026-11-20T21:40:35Z"}"#,
    ),
    (
        "home/shop/.claude/session-identity/pid-399996.json",
        r#"{"session_id":"95fe798d-3725-4649-974a-0dec79220196","cc_pid":399996}"#,
    ),
    ("tmp/claude_session_shop", "95fe798d-3725-4649-974a-0dec79220197\n2026-11-20T21:40:35.193569\n"),
];

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for below in ["home/shop/.git/objects", "home/shop/.git/refs/heads", "tmp"] {
            std::fs::create_dir_all(world.path(below)).unwrap();
        }
        std::fs::write(world.path("home/shop/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        for (below, _) in FILES {
            std::fs::create_dir_all(world.path(below).parent().unwrap()).unwrap();
        }
        world
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    /// Puts a file under each format's name.
    fn each(&self, mut put: impl FnMut(&Path, &str)) {
        FILES.iter().for_each(|(below, text)| put(&self.path(below), text));
    }

    /// Runs the program; a run that blocks is ended and fails the test.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_claimtop"))
            .args(arguments)
            .arg("--home")
            .arg(self.path("home"))
            .arg("--tmp")
            .arg(self.path("tmp"))
            .arg("--root")
            .arg(self.path("home/shop"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        let (done, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            if ended.recv_timeout(Duration::from_secs(120)).is_err() {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        });
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let read = |mut from: Box<dyn std::io::Read + Send>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                from.read_to_end(&mut bytes).unwrap();
                bytes
            })
        };
        let (stdout, stderr) = (read(Box::new(stdout)), read(Box::new(stderr)));
        let status = child.wait().unwrap();
        let _ = done.send(());
        Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
    }

    /// Runs every looking command and checks what holds for all; returns the snapshot.
    #[track_caller]
    fn look(&self, what: &str) -> Value {
        for arguments in [&["ls", "sessions"][..], &["ls", "problems"], &["doctor"]] {
            let output = self.run(arguments);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{what}: {arguments:?}: {output:?}");
            let text = String::from_utf8(output.stdout).unwrap();
            let raw: Vec<char> =
                text.chars().filter(|c| *c != '\n' && claimtop::testing::core::is_forbidden(*c)).collect();
            assert!(raw.is_empty(), "{what}: {arguments:?} printed {raw:?}");
        }
        let output = self.run(&["ls", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{what}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let raw: Vec<char> =
            text.chars().filter(|c| *c != '\n' && claimtop::testing::core::is_forbidden(*c)).collect();
        assert!(raw.is_empty(), "{what}: JSON has {raw:?}");
        serde_json::from_str(&text).unwrap()
    }
}

/// Returns the codes of the findings that name a path.
fn codes_about(report: &Value, path: &Path) -> Vec<String> {
    let path = path.to_str().unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let about = findings.filter(|finding| {
        let names = |text: &Value| text.as_str().is_some_and(|text| text.contains(path));
        names(&finding["message"])
            || finding["evidence"].as_array().unwrap().iter().any(|e| names(&e["source"]))
    });
    about.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// Checks that the file under each name is reported with one of these codes.
#[track_caller]
fn check(what: &str, codes: &[&str], put: impl FnMut(&Path, &str)) {
    let world = World::new();
    world.each(put);
    let report = world.look(what);
    for (below, _) in FILES {
        let found = codes_about(&report, &world.path(below));
        assert!(
            found.iter().any(|code| codes.contains(&code.as_str())),
            "{what}: {below}: one of {codes:?} is not told, only {found:?}"
        );
    }
}

const TORN: &[&str] = &["torn-record", "corrupt-record", "unknown-session", "bad-timestamp"];
const CORRUPT: &[&str] = &["corrupt-record", "torn-record"];

#[test]
fn what_is_no_record_is_told() {
    let slot = |path: &Path| path.ends_with("claude_session_shop");
    check("empty", CORRUPT, |path, _| std::fs::write(path, "").unwrap());
    check("half", TORN, |path, text| std::fs::write(path, text.get(..text.len() / 3).unwrap()).unwrap());
    check("no UTF-8", &["corrupt-record", "torn-record", "unknown-session", "bad-timestamp"], |path, _| {
        std::fs::write(path, b"{\"a\":\"\xff\xfe\"}\n\xff\n").unwrap();
    });
    check("a list", TORN, |path, _| std::fs::write(path, "[5]").unwrap());
    check("too deep", TORN, |path, _| {
        std::fs::write(path, format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))).unwrap();
    });
    check("a key twice", TORN, |path, text| {
        let twice = if slot(path) { "x\n".to_owned() } else { text.replacen('{', r#"{"zz":1,"zz":2,"#, 1) };
        std::fs::write(path, twice).unwrap();
    });
    check("huge", &["special-file", "unreadable-record", "corrupt-record"], |path, _| {
        std::fs::write(path, vec![b' '; (1 << 20) + 1]).unwrap();
    });
}

#[test]
fn what_is_no_plain_file_is_told_and_never_waited_for() {
    let odd: &[&str] = &["special-file", "unreadable-record", "corrupt-record", "foreign-owner"];
    check("FIFO", odd, |path, _| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap());
    check("link", odd, |path, _| symlink("/etc/hostname", path).unwrap());
    check("link to /dev/zero", odd, |path, _| symlink("/dev/zero", path).unwrap());
    check("socket", odd, |path, _| drop(UnixListener::bind(path).unwrap()));
    check("folder", odd, |path, _| std::fs::create_dir(path).unwrap());
    check("sparse", odd, |path, _| std::fs::File::create(path).unwrap().set_len(1 << 40).unwrap());
    check("two names", odd, |path, text| {
        let other = path.with_extension("other");
        std::fs::write(&other, text).unwrap();
        std::fs::hard_link(other, path).unwrap();
    });
}

#[test]
fn devices_and_the_files_of_others_are_told() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root can make devices and give files away");
    }
    let odd: &[&str] = &["special-file", "foreign-owner"];
    let zero = rustix::fs::makedev(1, 5);
    check("device", odd, |path, _| mknodat(CWD, path, FileType::CharacterDevice, Mode::RWXU, zero).unwrap());
    check("another's", &["foreign-owner"], |path, text| {
        std::fs::write(path, text).unwrap();
        std::os::unix::fs::chown(path, Some(65_534), None).unwrap();
    });
}

#[test]
fn a_number_that_can_be_no_pid_is_no_proof() {
    for pid in ["0", "1", "-1", "18446744073709551616", "\"4711\"", "1.5", "null", "[1]"] {
        let world = World::new();
        world.each(|path, text| {
            let text =
                text.replace("399993,", &format!("{pid},")).replace("399994", pid).replace("399996", pid);
            std::fs::write(path, text).unwrap();
        });
        let report = world.look(pid);
        for record in report["records"].as_array().unwrap() {
            let is_of_pid = record["holder"]["pid"].as_u64().is_none() && !record["holder"].is_null();
            let verdict = &record["verdict"];
            assert!(!is_of_pid || verdict["state"] != "dead", "{pid}: {record}");
        }
    }
}

#[test]
fn text_that_steers_terminals_is_shown_and_never_written() {
    let world = World::new();
    let nasty = "\\u001b[31m\\u0007\\u009b2J\\u202e\\u2066\\u200b\\ufeff\\u00ad\\u2028";
    let marks = "\u{301}".repeat(5_000);
    world.each(|path, text| {
        // Every string that is not a number, time or UUID becomes hostile.
        let text =
            text.replace("\"a\"", &format!("\"{nasty}{marks}\"")).replace("\"x\"", &format!("\"{nasty}\""));
        let text = text.replace("\"idle\"", &format!("\"{nasty}\"")).replace("193569\n", "193569\u{1b}[2J\n");
        std::fs::write(path, text).unwrap();
    });
    for name in ["swarm_session_\u{1b}[2J.json", "swarm_session_\u{202e}gpj.json", "swarm_session_a\nb.json"]
    {
        std::fs::write(world.path("home/.maia/sessions").join(name), "{}").unwrap();
    }
    world.look("hostile text");
}

#[test]
fn a_folder_in_the_place_of_a_folder_is_no_trap() {
    let world = World::new();
    for below in ["home/.maia", "home/.claude", "home/.claude-sessions"] {
        let path = world.path(below);
        std::fs::remove_dir_all(&path).unwrap();
        symlink("/", &path).unwrap();
    }
    std::fs::remove_dir_all(world.path("home/shop/.git/entire-sessions")).unwrap();
    mknodat(CWD, world.path("home/shop/.git/entire-sessions"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let report = world.look("links in place of folders");
    assert!(report["sources"].as_array().unwrap().iter().any(|source| source["state"] != "ok"));
}

#[test]
#[should_panic(expected = "is not told")]
fn the_check_itself_can_fail() {
    check("valid", CORRUPT, |path, text| std::fs::write(path, text).unwrap());
}
