//! The agents of which little more is known than how their processes look: captured ones, and programs that share
//! their names.

use std::path::Path;

use super::{classified, process};

/// The processes in `processes.txt` of the fixtures, by the words before their lines.
const CAPTURED: [(&str, &str); 10] = [
    ("pi", "pi Agent"),
    ("aider", "aider Agent"),
    ("cn", "continue Agent"),
    ("grok", "-"),
    ("cline", "cline Agent"),
    ("droid", "droid Agent"),
    ("auggie", "auggie Agent"),
    ("kimi", "kimi Agent"),
    ("qoder", "qoder Agent"),
    ("amp", "amp Agent"),
];

#[test]
fn every_process_of_the_capture_is_classified_right() {
    let given = std::env::var_os("CLAIMTOP_FIXTURES").map(std::path::PathBuf::from);
    let root = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures"));
    let path = root.join("agents-2026-11/processes.txt");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: {} is not there", path.display());
        return;
    };
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((name, looks)) = line.split_once(": comm=") else { continue };
        let (comm, looks) = looks.split_once(" exe=").unwrap();
        let (exe, argv) = looks.split_once(" argv=").unwrap();
        let argv: Vec<&str> = argv.split('|').collect();
        found.push((name, classified(&process(7, 1, comm, exe, &argv))));
    }
    let found: Vec<(&str, &str)> = found.iter().map(|(name, what)| (*name, what.as_str())).collect();
    assert_eq!(found, CAPTURED);
}

/// Checks a process that is given as its executable and its arguments.
#[track_caller]
fn check(exe: &str, argv: &str, expected: &str) {
    let argv: Vec<&str> = argv.split(' ').collect();
    let name = argv[0].rsplit('/').next().unwrap();
    assert_eq!(classified(&process(7, 1, name, exe, &argv)), expected, "{exe} {argv:?}");
}

#[test]
fn agents_are_known_by_their_packages() {
    let node = "/usr/bin/node";
    for (argv, expected) in [
        ("node /n/@earendil-works/pi-coding-agent/dist/bundle/cli.js", "pi Agent"),
        ("node /n/@mariozechner/pi-coding-agent/dist/cli.js install x", "pi Helper"),
        ("node /usr/local/bin/cn", "continue Agent"),
        ("node /n/@continuedev/cli/dist/cn.js login", "continue Helper"),
        ("node /n/.bin/cline", "cline Launcher"),
        ("node /n/.bin/kimi --session x", "kimi Agent"),
        ("node /n/@moonshot-ai/kimi-code/dist/main.mjs export", "kimi Helper"),
        ("node /usr/bin/auggie", "auggie Agent"),
        ("node /usr/bin/auggie --mcp", "auggie Helper"),
        ("node /n/.bin/droid", "droid Launcher"),
        ("node /n/.bin/qodercli -p hi", "qoder Agent"),
    ] {
        check(node, argv, expected);
    }
    check("/n/@cline/cli-linux-x64/bin/cline", "cline --cline-hub-daemon", "cline Daemon");
    check("/n/@cline/cli-linux-x64/bin/cline", "cline history", "cline Helper");
    check("/n/@factory/cli-linux-x64/bin/droid", "droid exec fix", "droid Agent");
    check("/n/@factory/cli-linux-x64/bin/droid", "droid daemon", "droid Daemon");
}

#[test]
fn agents_that_were_never_run_here_are_known_by_their_documents() {
    check("/opt/homebrew/Cellar/crush/0.96.1/bin/crush", "crush", "crush Agent");
    check("/home/u/.local/bin/goose", "goose session -r", "goose Agent");
    check("/home/u/.local/bin/goose", "goose run -t hi", "goose Agent");
    check("/home/u/.local/bin/kiro-cli", "kiro-cli chat", "kiro Agent");
    let cursor = "/home/u/.local/share/cursor-agent/versions/2026.11.01/";
    check(
        &format!("{cursor}node"),
        &format!("/home/u/.local/bin/cursor-agent {cursor}index.js"),
        "cursor Agent",
    );
    check("/venv/lib/python3.12/site-packages/vibe/_bin/vibe-rs", "vibe-rs", "vibe Agent");
    check("/usr/bin/python3.12", "python /home/u/.local/bin/openhands", "openhands Agent");
    check("/home/u/.local/bin/agy", "agy", "antigravity Agent");
}

/// Other programs of the same names, and paths that only hold them.
#[test]
fn a_name_that_others_have_too_makes_no_agent() {
    for (exe, argv) in [
        ("/usr/bin/pi", "pi"),
        ("/usr/bin/python3", "python3 /usr/bin/pip install x"),
        ("/usr/bin/node", "node /srv/api/pi/index.js"),
        ("/usr/bin/node", "node /home/pi/src/server.js"),
        ("/usr/bin/node", "node /opt/pi/bin/pi"),
        ("/home/pi/bin/server", "server --pi"),
        ("/usr/bin/perl", "perl /usr/bin/pi"),
        ("/usr/bin/node", "node /srv/decline/cline.js"),
        ("/home/u/bin/cline", "cline"),
        ("/usr/bin/node", "node /srv/kimi/server.js"),
        ("/usr/bin/python3", "python3 /home/u/.local/bin/kimi"),
        ("/usr/bin/cn", "cn"),
        ("/usr/bin/bash", "bash -c continue"),
        ("/opt/android-studio/bin/droid", "droid"),
        ("/usr/bin/java", "java -jar /opt/droid/droid-command-line.jar"),
        ("/usr/bin/crush", "crush"),
        ("/home/u/go/bin/goose", "goose postgres dbname=x up"),
        ("/home/u/go/bin/goose", "goose -dir migrations status"),
        ("/home/u/go/bin/goose", "goose up"),
        ("/usr/share/cursor/cursor", "/usr/share/cursor/cursor --type=renderer"),
        ("/usr/share/kiro/kiro", "/usr/share/kiro/kiro ."),
        ("/usr/bin/node", "node /home/u/.cursor-server/bin/x/out/server-main.js"),
        ("/usr/bin/python3", "python3 /home/u/.local/bin/vibe"),
        ("/usr/bin/python3", "python3 -m pip install openhands"),
        ("/usr/share/antigravity/antigravity", "antigravity"),
        ("/usr/bin/node", "node /home/u/.vscode/extensions/continue.continue-1/out/extension.js"),
        ("/usr/bin/node", "node /home/u/qoder/server.js"),
    ] {
        check(exe, argv, "-");
    }
}

/// A program that only bears such a name is not taken for another installation of the agent either.
#[test]
fn a_name_that_others_have_too_resembles_no_agent() {
    let signatures = claimtop::core::judge::window::agent::Signatures::built_in().unwrap();
    for (comm, exe) in [
        ("cursor", "/usr/share/cursor/cursor"),
        ("pi", "/usr/bin/pi"),
        ("goose", "/home/u/go/bin/goose"),
        ("android-studio", "/opt/android-studio/bin/studio"),
        ("decline", "/usr/bin/decline"),
    ] {
        assert!(!signatures.resembles(&process(7, 1, comm, exe, &[comm])), "{exe}");
    }
    let script = "/n/@earendil-works/pi-coding-agent/dist/bundle/cli.js";
    assert!(signatures.resembles(&process(7, 1, "x", "/usr/bin/x", &["x", script])));
    assert!(signatures.resembles(&process(7, 1, "kimi", "/home/u/bin/kimi", &["kimi"])));
}
