//! Real sessions, with the real bytes of each file after each step beside them: what is rebuilt equals them, and what
//! is called proved is never wrong.

use std::path::{Path, PathBuf};

use claimtop::core::model::{Format, Sureness, Untrusted};
use claimtop::testing::source::versions::{FileVersion, rebuilt};
use sha2::{Digest, Sha256};

/// Returns the folder of an agent's real sessions.
fn fixtures(agent: &str) -> Option<PathBuf> {
    let root = std::env::var_os("CLAIMTOP_FIXTURES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures"), PathBuf::from);
    let folder = root.join("bytes").join(agent);
    if !folder.is_dir() {
        eprintln!("skipped: there is no {}", folder.display());
    }
    folder.is_dir().then_some(folder)
}

/// Copies a folder, with one text in its files replaced.
fn copy(from: &Path, to: &Path, (old, new): (&str, &str)) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to, (old, new));
        } else {
            let bytes = std::fs::read(from).unwrap();
            let text = std::str::from_utf8(&bytes).map(|text| text.replace(old, new).into_bytes());
            std::fs::write(to, text.unwrap_or(bytes)).unwrap();
        }
    }
}

fn below(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.to_string_lossy().ends_with(end));
    all.sort();
    all
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the versions of a call and a path are worth.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    proved: usize,
    rebuilt: usize,
    partial: usize,
    absent: usize,
    /// Rebuilt and not equal.
    wrong: usize,
}

/// Compares versions with the real bytes, which were read when the model was asked next: of several steps of one file
/// in between, only after the last.
fn compared(versions: &[FileVersion], expected: &[(String, PathBuf, String)]) -> Counts {
    let mut counts = Counts::default();
    for (number, (call, path, hash)) in expected.iter().enumerate() {
        let is_it = |version: &&FileVersion| {
            version.path == *path && version.call.as_ref().map(Untrusted::raw) == Some(call)
        };
        let Some(version) = versions.iter().find(is_it) else {
            eprintln!("absent: {call} {}", path.display());
            counts.absent += 1;
            continue;
        };
        let is_equal = version.bytes.as_ref().is_some_and(|bytes| sha256(bytes) == *hash);
        let is_observed =
            !expected[number + 1..].iter().any(|(_, other, same)| other == path && same == hash);
        match version.sure {
            Sureness::Proved if is_equal || !is_observed => counts.proved += 1,
            Sureness::Proved => panic!("proved and wrong: {version:?}"),
            Sureness::Rebuilt if is_equal || !is_observed => counts.rebuilt += 1,
            Sureness::Rebuilt => {
                eprintln!("wrong: {call} {}", path.display());
                counts.wrong += 1;
            }
            Sureness::Partial(why) => {
                eprintln!("partial: {call} {}: {why}; equal: {is_equal}", path.display());
                counts.partial += 1;
            }
        }
    }
    counts
}

/// Reads the real bytes after each step: the call, the path and the hash of the content.
fn expected(folder: &Path, call: &str, (old, new): (&str, &str)) -> Vec<(String, PathBuf, String)> {
    let text = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let read = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| value[name].as_str().unwrap().to_owned();
        (field(call), PathBuf::from(field("path").replace(old, new)), field("sha256"))
    };
    text.lines().map(read).collect()
}

/// Rebuilds a session, of which every line must be understood.
fn all(format: Format, session: &str, file: &Path) -> Vec<FileVersion> {
    let copies = tempfile::tempdir().unwrap();
    let result = rebuilt((format, session), (file, copies.path()), None).unwrap();
    assert_eq!(result.left_out, 0, "{}", file.display());
    result.versions
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn claude_code_is_rebuilt_from_its_copies() {
    let Some(folder) = fixtures("claude") else { return };
    let world = tempfile::tempdir().unwrap();
    let as_is = ("/home/dev", "/home/dev");
    copy(&folder, world.path(), as_is);
    let files = below(&world.path().join("projects/-home-dev-claude"), ".jsonl");
    let versions: Vec<_> = files.iter().flat_map(|file| all(Format::ClaudeCode, &stem(file), file)).collect();
    let counts = compared(&versions, &expected(&folder, "tool_use_id", as_is));
    assert_eq!(counts, Counts { proved: 33, rebuilt: 6, partial: 1, absent: 0, wrong: 0 });
    // Without copies nothing shows which line ends files had.
    std::fs::remove_dir_all(world.path().join("file-history")).unwrap();
    let versions: Vec<_> = files.iter().flat_map(|file| all(Format::ClaudeCode, &stem(file), file)).collect();
    let counts = compared(&versions, &expected(&folder, "tool_use_id", as_is));
    assert_eq!((counts.absent, counts.wrong), (0, 0), "{counts:?}");
    eprintln!("without copies: {counts:?}");
}

/// Runs git in a folder, at the time of the recording.
fn git(folder: &Path, arguments: &[&str]) {
    let at = "2026-11-28T09:00:00Z";
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=dev", "-c", "user.email=dev@example.org", "-c", "core.autocrlf=false"])
        .args(arguments)
        .current_dir(folder)
        .envs([("GIT_COMMITTER_DATE", at), ("GIT_AUTHOR_DATE", at), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn codex_is_rebuilt_from_what_git_has() {
    let Some(folder) = fixtures("codex") else { return };
    let world = tempfile::tempdir().unwrap();
    let (tree, sessions) = (world.path().join("tree"), world.path().join("sessions/2026/11/28"));
    let names = ("/home/dev/codex", tree.to_str().unwrap());
    copy(&folder.join("base-HEAD"), &tree, names);
    git(&tree, &["init", "--quiet"]);
    git(&tree, &["add", "--all"]);
    git(&tree, &["commit", "--quiet", "--message", "base"]);
    copy(&folder, &sessions, names);
    let is_own = |file: &&PathBuf| !std::fs::read_to_string(file).unwrap().contains("parent_thread_id");
    let files = below(&sessions, ".jsonl");
    let files = files.iter().filter(|file| file.to_string_lossy().contains("rollout-")).filter(is_own);
    let versions: Vec<_> = files.flat_map(|file| all(Format::Codex, &stem(file)[28..], file)).collect();
    let counts = compared(&versions, &expected(&folder, "item", names));
    eprintln!("codex: {counts:?}");
    assert_eq!((counts.absent, counts.wrong), (0, 0), "{counts:?}");
    assert!(versions.iter().any(|version| version.sub_agent.is_some()));
}

#[test]
fn gemini_qwen_and_copilot_are_rebuilt() {
    for (agent, format) in [("gemini", Format::Gemini), ("qwen", Format::Qwen)] {
        let Some(folder) = fixtures(agent) else { return };
        let world = tempfile::tempdir().unwrap();
        let chats = world.path().join("projects/x/chats");
        copy(&folder, &chats, ("x", "x"));
        if agent == "qwen" {
            std::fs::rename(chats.join("file-history"), world.path().join("file-history")).unwrap();
        }
        for file in below(&chats, ".jsonl") {
            for version in all(format, &stem(&file), &file) {
                let bytes = version.bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
                let bytes = bytes.map(|text| text.chars().take(40).collect::<String>());
                eprintln!("{} {:?} {bytes:?}", version.path.display(), version.sure);
            }
        }
    }
    let Some(folder) = fixtures("copilot") else { return };
    let world = tempfile::tempdir().unwrap();
    copy(&folder, world.path(), ("x", "x"));
    for entry in std::fs::read_dir(world.path()).unwrap() {
        let file = entry.unwrap().path().join("events.jsonl");
        for version in all(Format::Copilot, "x", &file) {
            eprintln!("{} {:?}", version.path.display(), version.sure);
        }
    }
}
