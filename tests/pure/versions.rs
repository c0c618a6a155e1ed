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

fn all_of(format: Format, files: &[PathBuf]) -> Vec<FileVersion> {
    files.iter().flat_map(|file| all(format, &stem(file), file)).collect()
}

#[test]
fn claude_code_is_rebuilt_from_its_copies() {
    let Some(folder) = fixtures("claude") else { return };
    let world = tempfile::tempdir().unwrap();
    let as_is = ("/home/dev", "/home/dev");
    copy(&folder, world.path(), as_is);
    let files = below(&world.path().join("projects/-home-dev-claude"), ".jsonl");
    let real = expected(&folder, "tool_use_id", as_is);
    let counts = compared(&all_of(Format::ClaudeCode, &files), &real);
    eprintln!("Claude Code with its copies: {counts:?}");
    assert_eq!((counts.partial, counts.absent, counts.wrong), (0, 0, 0));
    assert!(counts.proved >= 33);
    // The transcript alone does not show which line ends files had.
    std::fs::remove_dir_all(world.path().join("file-history")).unwrap();
    let counts = compared(&all_of(Format::ClaudeCode, &files), &real);
    eprintln!("Claude Code without copies: {counts:?}");
    assert_eq!((counts.absent, counts.wrong), (0, 0));
}

/// Runs git in a folder, at the time of the recording.
fn git(folder: &Path, arguments: &[&str]) {
    git_says(folder, arguments);
}

/// Runs git in a folder, and returns what it prints.
fn git_says(folder: &Path, arguments: &[&str]) -> String {
    let at = "2026-11-28T09:00:00Z";
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=dev", "-c", "user.email=dev@example.org", "-c", "core.autocrlf=false"])
        .args(arguments)
        .current_dir(folder)
        .envs([("GIT_COMMITTER_DATE", at), ("GIT_AUTHOR_DATE", at), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
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
    let is_own = |file: &PathBuf| {
        let is_rollout = file.to_string_lossy().contains("rollout-");
        is_rollout && !std::fs::read_to_string(file).unwrap().contains("parent_thread_id")
    };
    let files: Vec<PathBuf> = below(&sessions, ".jsonl").into_iter().filter(is_own).collect();
    let versions = || -> Vec<FileVersion> {
        files.iter().flat_map(|file| all(Format::Codex, &stem(file)[28..], file)).collect()
    };
    let real = expected(&folder, "item", names);
    let counts = compared(&versions(), &real);
    eprintln!("Codex on what git has: {counts:?}");
    // The others began from files that are not among the recorded ones.
    assert_eq!((counts.absent, counts.wrong, counts.rebuilt), (0, 0, 15));
    assert!(versions().iter().any(|version| version.sub_agent.is_some()));
    // With the files as they were in the end.
    let text = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    for line in text.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let path = PathBuf::from(value["path"].as_str().unwrap().replace(names.0, names.1));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match value["bytes_b64"].as_str() {
            Some(bytes) => std::fs::write(&path, from_base64(bytes)).unwrap(),
            None => eprintln!("not recorded: {}", path.display()),
        }
    }
    let counts = compared(&versions(), &real);
    eprintln!("Codex with the present files: {counts:?}");
    assert_eq!((counts.absent, counts.wrong), (0, 0));
    assert!(counts.proved >= 7 && counts.rebuilt + counts.proved >= 26);
}

/// Decodes base64.
fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for digit in text.trim_end_matches('=').chars() {
        bits = bits << 6 | u32::try_from(DIGITS.find(digit).unwrap()).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    bytes
}

/// Counts versions by how sure they are: proved, rebuilt and partial.
fn counted(versions: &[FileVersion]) -> [usize; 3] {
    let count = |word| versions.iter().filter(|version| version.sure.word() == word).count();
    ["proved", "rebuilt", "partial"].map(count)
}

#[test]
fn gemini_and_qwen_are_rebuilt() {
    for (agent, format, plain) in [("gemini", Format::Gemini, [0, 10, 10]), ("qwen", Format::Qwen, [1, 0, 8])]
    {
        let Some(folder) = fixtures(agent) else { return };
        let world = tempfile::tempdir().unwrap();
        let tree = world.path().join("tree");
        let (old, chats) = (format!("/home/dev/{agent}"), world.path().join("projects/x/chats"));
        copy(&folder, &chats, (&old, &old));
        if agent == "qwen" {
            std::fs::rename(chats.join("file-history"), world.path().join("file-history")).unwrap();
        }
        assert_eq!(counted(&all_of(format, &below(&chats, ".jsonl"))), plain, "{agent}");
        // With what git has, the line ends and the byte order mark are known.
        let base = [
            ("sub/crlf.txt", "one\r\ntwo MARKA\r\nthree dupdup\r\nfour dupdup\r\nfive\r\n"),
            ("sub/mixed.txt", "one\r\ntwo MARKA\nthree dupdup\r\nfour dupdup\nfive\n"),
            ("sub/bom.txt", "\u{feff}one\ntwo MARKA\nthree dupdup\n"),
            ("sub/bomcrlf.txt", "\u{feff}one\r\ntwo MARKA\r\nthree dupdup\r\n"),
            ("after.txt", "after\nMARKA-1\nMARKB-2\nMARKC\n"),
        ];
        std::fs::create_dir_all(tree.join("sub")).unwrap();
        base.iter().for_each(|(name, text)| std::fs::write(tree.join(name), text).unwrap());
        git(&tree, &["init", "--quiet"]);
        git(&tree, &["add", "--all"]);
        git(&tree, &["commit", "--quiet", "--message", "base"]);
        copy(&folder, &chats, (&old, tree.to_str().unwrap()));
        let versions = all_of(format, &below(&chats, ".jsonl"));
        assert_eq!(counted(&versions)[2], 0, "{agent}: {versions:#?}");
        let of = |name: &str| {
            let version = versions.iter().find(|version| version.path.ends_with(name)).unwrap();
            String::from_utf8(version.bytes.as_ref().unwrap().to_vec()).unwrap()
        };
        let crlf = "one\r\ntwo MARKA-x\r\nthree dupdup\r\nfour dupdup\r\nfive\r\n";
        assert_eq!((of("crlf.txt"), of("mixed.txt")), (crlf.into(), crlf.into()));
        assert_eq!(of("bomcrlf.txt"), "\u{feff}one\r\ntwo MARKA-x\r\nthree dupdup\r\n");
    }
}

#[test]
fn copilot_is_rebuilt_from_its_copies() {
    let Some(folder) = fixtures("copilot") else { return };
    let world = tempfile::tempdir().unwrap();
    copy(&folder, world.path(), ("x", "x"));
    let counts: Vec<_> = below(world.path(), "")
        .iter()
        .map(|session| counted(&all(Format::Copilot, &stem(session), &session.join("events.jsonl"))))
        .collect();
    // Not whole: the file that the shell changed, the one that it moved, and one whose second edit was left out of the
    // recording.
    assert_eq!(counts, [[0, 1, 3], [3, 1, 1]]);
}

#[test]
fn opencode_is_rebuilt_from_its_trees() {
    let world = tempfile::tempdir().unwrap();
    let (tree, home) = (world.path().join("tree"), world.path().join("opencode"));
    let (a, b) = (tree.join("sub/a.txt"), tree.join("ignored.txt"));
    std::fs::create_dir_all(tree.join("sub")).unwrap();
    std::fs::write(&a, "a\r\nb\n").unwrap();
    git(&tree, &["init", "--quiet"]);
    git(&tree, &["add", "--all"]);
    git(&tree, &["commit", "--quiet", "--message", "base"]);
    // The agent's own repository has only what is new, and borrows the rest.
    let snapshot = home.join("snapshot/project/hash");
    std::fs::create_dir_all(&snapshot).unwrap();
    git(&snapshot, &["init", "--quiet", "--bare"]);
    git(&snapshot, &["config", "core.bare", "false"]);
    git(&snapshot, &["config", "core.worktree", tree.to_str().unwrap()]);
    let lent = tree.join(".git/objects").to_str().unwrap().to_owned();
    std::fs::write(snapshot.join("objects/info/alternates"), lent + "\n").unwrap();
    let written = |text: &str| {
        std::fs::write(&a, text).unwrap();
        git(&snapshot, &["add", "--all"]);
        git_says(&snapshot, &["write-tree"])
    };
    let (before, after) = (written("a\r\nb\n"), written("A\r\nb\n"));
    let database = home.join("opencode.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE session (id TEXT, directory TEXT, parent_id TEXT);
             CREATE TABLE part (id TEXT, session_id TEXT, data TEXT);",
        )
        .unwrap();
    let directory = tree.to_str().unwrap();
    for (id, parent) in [("own", None), ("sub", Some("own")), ("other", None)] {
        connection.execute("INSERT INTO session VALUES (?1, ?2, ?3)", (id, directory, parent)).unwrap();
    }
    let tool = |tool: &str, call: &str, input: serde_json::Value| {
        let state = serde_json::json!({"status": "completed", "input": input, "output": "x"});
        serde_json::json!({"type": "tool", "tool": tool, "callID": call, "state": state}).to_string()
    };
    let step = |kind: &str, tree: &str| serde_json::json!({"type": kind, "snapshot": tree}).to_string();
    let edit = serde_json::json!({"filePath": a, "oldString": "a\n", "newString": "A\n"});
    let parts = [
        ("own", step("step-start", &before)),
        ("own", tool("edit", "1", edit.clone())),
        ("own", step("step-finish", &after)),
        ("sub", tool("write", "2", serde_json::json!({"filePath": b, "content": "b\r\n"}))),
        ("other", tool("edit", "3", edit)),
    ];
    for (number, (session, data)) in parts.into_iter().enumerate() {
        let id = format!("prt_{number}");
        connection.execute("INSERT INTO part VALUES (?1, ?2, ?3)", (id, session, data)).unwrap();
    }
    std::fs::remove_file(&a).unwrap();
    let versions = all(Format::OpenCode, "own", &database);
    let shown: Vec<_> = versions
        .iter()
        .map(|version| (version.path.clone(), version.sure, version.bytes.as_ref().unwrap().to_vec()))
        .collect();
    let expected = [(a, Sureness::Proved, b"A\r\nb\n".to_vec()), (b, Sureness::Rebuilt, b"b\r\n".to_vec())];
    assert_eq!(shown, expected);
    assert_eq!(versions[0].began_from.as_ref().unwrap().as_slice(), b"a\r\nb\n");
    assert_eq!(versions[1].sub_agent.as_ref().map(Untrusted::raw), Some("sub"));
}

#[test]
fn what_is_no_plain_file_is_not_read() {
    let world = tempfile::tempdir().unwrap();
    let line = r#"{"message":{"content":[{"tool_use_id":"1"}]},"toolUseResult":{"filePath":"/w/a","content":"a","structuredPatch":[]}}"#;
    let (file, link) = (world.path().join("a.jsonl"), world.path().join("link.jsonl"));
    std::fs::write(&file, line).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let read = |file: &Path| rebuilt((Format::ClaudeCode, "a"), (file, world.path()), None);
    assert_eq!(read(&file).unwrap().versions.len(), 1);
    for (other, why) in
        [(link, "link.jsonl"), (world.path().to_owned(), ""), (world.path().join("none"), "none")]
    {
        assert!(read(&other).unwrap_err().contains(why), "{}", other.display());
    }
    assert!(rebuilt((Format::Beads, "a"), (&file, world.path()), None).is_err());
}

#[test]
fn a_line_that_is_too_long_is_left_out_and_what_is_not_proved_is_not_whole() {
    let world = tempfile::tempdir().unwrap();
    let file = world.path().join("a.jsonl");
    let line = |name: &str| {
        let result =
            serde_json::json!({"filePath": format!("/w/{name}"), "content": name, "structuredPatch": []});
        let message = serde_json::json!({"content": [{"tool_use_id": name}]});
        serde_json::json!({"message": message, "toolUseResult": result}).to_string()
    };
    let long = line(&"z".repeat(65 << 20));
    std::fs::write(&file, [line("before"), long, line("after")].join("\n")).unwrap();
    let result = rebuilt((Format::ClaudeCode, "a"), (&file, world.path()), None).unwrap();
    let paths: Vec<_> = result.versions.iter().map(|version| version.path.to_str().unwrap()).collect();
    assert_eq!((paths.as_slice(), result.left_out), (&["/w/before", "/w/after"][..], 1));
    assert_eq!(counted(&result.versions), [0, 0, 2]);
}
