//! What guarded windows write is kept: after an edit, before one that may empty the file, and before another window's
//! shell line.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::windows::guard::{Window, git, two_windows};
use crate::world::World;

/// Returns the folder of what is kept of the only working tree.
pub(crate) fn kept(world: &World) -> PathBuf {
    let trees = world.path("home/.local/state/claimtop/kept");
    std::fs::read_dir(trees).unwrap().next().unwrap().unwrap().path()
}

/// Returns the versions that are kept, as they were added.
pub(crate) fn versions(world: &World) -> Vec<Value> {
    let mut lists: Vec<PathBuf> =
        std::fs::read_dir(kept(world)).unwrap().map(|entry| entry.unwrap().path()).collect();
    lists.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    lists.sort();
    let text = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    let lines = lists.iter().map(text).collect::<String>();
    let values = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    values.filter(|value| value.get("path").is_some()).collect()
}

/// Reads a kept content as git does.
pub(crate) fn content(world: &World, blob: &str) -> Option<Vec<u8>> {
    let repo = world.path("empty");
    if !repo.exists() {
        std::fs::create_dir(&repo).unwrap();
        git(&repo, &["init", "-q"]);
    }
    let mut command = Command::new("git");
    command.arg("-C").arg(repo).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", kept(world).join("objects"));
    let output = command.args(["cat-file", "blob", blob]).output().unwrap();
    output.status.success().then_some(output.stdout)
}

/// Returns git's name for what a file holds.
fn blob_of(repo: &Path, file: &Path) -> String {
    let output = Command::new("git").arg("-C").arg(repo).arg("hash-object").arg(file).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns file, session, reason and content of each version.
fn told(world: &World) -> Vec<(String, String, String, String)> {
    let one = |version: Value| {
        let text = |name: &str| version[name].as_str().unwrap_or_default().to_owned();
        let path = text("path").rsplit('/').next().unwrap().to_owned();
        let content = match version["blob"].as_str() {
            Some(blob) => String::from_utf8(content(world, blob).unwrap()).unwrap(),
            None => format!("({})", version["left_out"].as_str().unwrap_or("nothing")),
        };
        (path, text("session"), text("why"), content)
    };
    versions(world).into_iter().map(one).collect()
}

fn is_told(world: &World, expected: &[(&str, &str, &str, &str)]) {
    let told = told(world);
    let told: Vec<_> =
        told.iter().map(|(a, b, c, d)| (a.as_str(), b.as_str(), c.as_str(), d.as_str())).collect();
    assert_eq!(told, expected);
}

/// Runs a hook of another agent in a window's place.
fn ask(world: &World, window: &mut Window, agent: &str, hook: &Value) -> String {
    let hook = world.write("hooks/other-agent.json", &hook.to_string());
    window.run(world, &format!("guard --for {agent} < {}", hook.display()))
}

#[test]
fn every_edit_is_kept_as_it_was_written() {
    let (world, repo, mut cart, mut other) = two_windows();
    let pay = repo.join("src/pay.rs");
    cart.write(&world, &pay, "two\n");
    std::fs::set_permissions(&pay, std::fs::Permissions::from_mode(0o755)).unwrap();
    cart.write(&world, &pay, "three\n");
    other.write(&world, &repo.join("src/new.rs"), "new\n");
    is_told(
        &world,
        &[
            ("pay.rs", "cart", "edit", "two\n"),
            ("pay.rs", "cart", "edit", "three\n"),
            ("new.rs", "other", "edit", "new\n"),
        ],
    );
    let version = &versions(&world)[1];
    assert_eq!((version["size"].as_u64(), version["mode"].as_u64()), (Some(6), Some(0o755)), "{version}");
    assert_eq!(version["top"].as_str(), repo.to_str());
    assert_eq!(version["agent"], "claude-code");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&kept(&world)), 0o700);
    let objects = kept(&world).join("objects");
    let of_one = |path: PathBuf| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = of_one(objects).flat_map(of_one).collect();
    assert_eq!(files.len(), 3);
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
}

#[test]
fn what_is_large_ignored_or_secret_is_left_out_unless_wanted() {
    let (world, repo, mut cart, _other) = two_windows();
    std::fs::write(repo.join(".gitignore"), "gen/\n*.log\n").unwrap();
    std::fs::create_dir(repo.join("gen")).unwrap();
    std::fs::write(repo.join("known.log"), "x").unwrap();
    git(&repo, &["add", "-f", "known.log"]);
    let large = "x".repeat((8 << 20) + 1);
    let all = |cart: &mut Window| {
        for (name, text) in [
            (".env", "a=1\n"),
            ("gen/a.rs", "b\n"),
            ("known.log", "c\n"),
            ("large.txt", &large),
            ("key.rs", "d\n"),
        ] {
            // A hook of such a size would not be read.
            let path = repo.join(name);
            std::fs::write(&path, text).unwrap();
            let hook = json!({"session_id": "cart", "cwd": repo, "hook_event_name": "PostToolUse",
                "tool_name": "Write", "tool_input": {"file_path": path, "content": ""}});
            assert_eq!(cart.ask(&world, &hook.to_string()), "");
        }
    };
    all(&mut cart);
    let left_out = [
        (".env", "cart", "edit", "(secret)"),
        ("a.rs", "cart", "edit", "(ignored)"),
        ("known.log", "cart", "edit", "c\n"),
        ("large.txt", "cart", "edit", "(large)"),
        ("key.rs", "cart", "edit", "d\n"),
    ];
    is_told(&world, &left_out);
    world
        .write("home/.config/claimtop/config.toml", "[keep]\nsecrets = true\nignored = true\nlarge = true\n");
    all(&mut cart);
    let told = told(&world);
    assert!(told.iter().skip(5).all(|(_, _, _, content)| !content.starts_with('(')), "{:?}", told[5]);
    assert_eq!((told.len(), told[8].3.len()), (10, large.len()));
    world.write("home/.config/claimtop/config.toml", "[keep]\nfiles = false\n");
    all(&mut cart);
    assert_eq!(versions(&world).len(), 10);
}

/// Codex, Gemini CLI, Copilot CLI and opencode empty a file before they write it.
#[test]
fn what_an_agent_empties_first_is_kept_before() {
    let (world, repo, mut cart, _other) = two_windows();
    let edits = |agent: &str, name: &str| {
        let path = repo.join(name);
        let (event, tool, input) = match agent {
            "codex" => {
                let patch = format!("*** Begin Patch\n*** Update File: {name}\n*** End Patch");
                ("PreToolUse", "apply_patch", json!({"command": patch}))
            }
            "gemini" => ("BeforeTool", "write_file", json!({"file_path": path})),
            "qwen" => ("PreToolUse", "write_file", json!({"file_path": path})),
            "copilot" => ("PreToolUse", "Write", json!({"path": path})),
            "opencode" => ("PreToolUse", "write", json!({"filePath": path})),
            _ => ("PreToolUse", "Write", json!({"file_path": path})),
        };
        json!({"session_id": "cart", "cwd": repo, "hook_event_name": event, "tool_name": tool, "tool_input": input})
    };
    // Nothing else has the first, git has the others.
    std::fs::write(repo.join("src/pay.rs"), "mine\n").unwrap();
    std::fs::write(repo.join("staged.rs"), "staged\n").unwrap();
    git(&repo, &["add", "staged.rs"]);
    let mut expected = Vec::new();
    for agent in ["claude", "qwen", "codex", "gemini", "copilot", "opencode"] {
        let own = format!("by a person before {agent}\n");
        std::fs::write(repo.join("src/pay.rs"), &own).unwrap();
        for name in ["src/pay.rs", "src/cart.rs", "staged.rs", "src/absent.rs", "src/pay.rs"] {
            assert_eq!(ask(&world, &mut cart, agent, &edits(agent, name)), "", "{agent} {name}");
        }
        if !matches!(agent, "claude" | "qwen") {
            expected.push(own);
        }
    }
    let told = told(&world);
    let found: Vec<&str> = told.iter().map(|(_, _, _, content)| content.as_str()).collect();
    assert_eq!(found, expected);
    assert!(told.iter().all(|(path, _, why, _)| path == "pay.rs" && why == "before"), "{told:?}");
    // What is kept as a window wrote it is not kept again.
    cart.write(&world, &repo.join("src/pay.rs"), "two\n");
    assert_eq!(ask(&world, &mut cart, "codex", &edits("codex", "src/pay.rs")), "");
    assert_eq!(versions(&world).len(), expected.len() + 1);
}

#[test]
fn before_any_shell_line_what_others_have_is_kept_as_it_is() {
    let (world, repo, mut cart, mut other) = two_windows();
    let [pay, basket] = ["src/pay.rs", "src/cart.rs"].map(|name| repo.join(name));
    cart.write(&world, &pay, "two\n");
    cart.write(&world, &repo.join("src/gone.rs"), "gone\n");
    other.write(&world, &basket, "own\n");
    let before = versions(&world).len();
    assert_eq!(other.line(&world, "make"), None);
    assert_eq!(versions(&world).len(), before, "all is as it was kept");
    // A formatter of the window's own, which no hook sees, and a person.
    std::fs::write(&pay, "three\n").unwrap();
    std::fs::remove_file(repo.join("src/gone.rs")).unwrap();
    std::fs::write(&basket, "by a person\n").unwrap();
    for _ in 0..2 {
        assert_eq!(other.line(&world, "python3 fix.py"), None);
        let told = told(&world);
        let mut new: Vec<_> = told.iter().skip(before).cloned().collect();
        new.sort();
        let text = |parts: [&str; 4]| parts.map(str::to_owned).into();
        let expected: [(String, String, String, String); 2] =
            [text(["gone.rs", "cart", "other", "(nothing)"]), text(["pay.rs", "cart", "other", "three\n"])];
        assert_eq!(new, expected, "its own files are its own affair");
    }
    assert_eq!(cart.line(&world, "cd /tmp && ls"), None);
    let told = told(&world);
    assert_eq!(told.last().unwrap().3, "by a person\n", "as the window works there");
}

/// A store that cannot be written fails no hook, hides no edit from others, and is counted.
#[test]
fn what_cannot_be_kept_is_counted_and_nothing_else_changes() {
    let (world, repo, mut cart, mut other) = two_windows();
    let pay = repo.join("src/pay.rs");
    let state = world.path("home/.local/state/claimtop");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("kept"), "no folder").unwrap();
    assert_eq!(cart.write(&world, &pay, "two\n"), None);
    assert!(other.prompt(&world).unwrap().contains("src/pay.rs"));
    assert!(other.write(&world, &pay, "three\n").is_some());
    let stats: Value = serde_json::from_str(&world.run(&["guard", "stats", "--json"]).out).unwrap();
    assert_eq!(stats["keep_failed"], 2, "{stats}");
    let text = world.run(&["guard", "stats"]).out;
    assert!(text.contains("2 times what a window wrote could not be kept"), "{text}");
    std::fs::remove_file(state.join("kept")).unwrap();
    cart.write(&world, &pay, "four\n");
    is_told(&world, &[("pay.rs", "cart", "edit", "four\n")]);
}

/// Whatever call of the system fails, and wherever the hook is ended: what the list names is there and whole.
#[test]
fn at_every_call_to_the_disk_what_is_listed_is_whole() {
    let is_there = Command::new("strace").args(["-o", "/dev/null", "true"]).status();
    if !is_there.is_ok_and(|status| status.success()) {
        return eprintln!("skipped: nothing can be traced here (strace)");
    }
    let (world, repo, mut cart, mut other) = two_windows();
    cart.write(&world, &repo.join("src/pay.rs"), "two\n");
    let log = world.path("trace");
    let (mut edits, mut hits) = (0, 0);
    for way in ["signal=KILL", "error=ENOSPC", "error=EIO"] {
        for call in ["openat", "write", "renameat2", "mkdir", "mkdirat", "utimensat"] {
            for number in 1..80 {
                edits += 1;
                let file = repo.join(format!("src/{edits}.rs"));
                let text = format!("text {edits}\n");
                std::fs::write(&file, &text).unwrap();
                // The loader of programs opens files too.
                let objects = kept(&world).join("objects");
                let folder = objects.join(&blob_of(&repo, &file)[..2]);
                let list = format!("{}.jsonl", jiff::Timestamp::now().strftime("%Y-%m-%d"));
                let paths = [kept(&world), objects, folder, kept(&world).join(list)];
                let paths: String = paths.iter().map(|path| format!(" -P {}", path.display())).collect();
                let paths = if call == "openat" { paths } else { String::new() };
                let hook = json!({"session_id": "cart", "cwd": repo, "hook_event_name": "PostToolUse",
                    "tool_name": "Write", "tool_input": {"file_path": file, "content": ""}});
                let hook = world.write("hooks/fault.json", &hook.to_string());
                let answer = cart.run(&world, &format!(
                    "--version >/dev/null; HOME={} strace -f -qq -o {}{paths} -e trace={call} -e inject={call}:{way}:when={number} {} guard --for claude < {}; echo \"ended $?\"",
                    world.path("home").display(), log.display(), env!("CARGO_BIN_EXE_claimtop"), hook.display()
                ));
                let traced = std::fs::read_to_string(&log).unwrap();
                let is_hit = traced.contains("(INJECTED)") || traced.contains("killed by SIGKILL");
                hits += u32::from(is_hit);
                let is_fine = answer.ends_with("ended 0") || is_hit && way == "signal=KILL";
                assert!(is_fine, "{call} {number} {way}: {answer}");
                if !is_hit {
                    break;
                }
            }
        }
    }
    assert!(hits > 30, "{hits}");
    let kept = versions(&world);
    assert!(kept.len() > 10, "{}", kept.len());
    for version in &kept {
        let content = content(&world, version["blob"].as_str().unwrap());
        assert_eq!(content.map(|content| content.len() as u64), version["size"].as_u64(), "{version}");
    }
    // The windows go on.
    assert_eq!(cart.write(&world, &repo.join("src/last.rs"), "last\n"), None);
    assert_eq!(versions(&world).last().unwrap()["size"], 5);
    assert!(other.prompt(&world).is_some());
}

/// On a full disk the ledger says who has edited what, as before.
#[test]
fn on_a_full_disk_only_the_keeping_ends() {
    let (world, repo, mut cart, mut other) = two_windows();
    cart.write(&world, &repo.join("src/pay.rs"), "two\n");
    let store = world.path("home/.local/state/claimtop/kept");
    let mut noise = 1_u64;
    let hooks: Vec<String> = (0..40)
        .map(|number| {
            let file = repo.join(format!("src/{number}.rs"));
            let text: String = (0..4_000)
                .map(|_| {
                    noise =
                        noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    char::from(b'!' + u8::try_from((noise >> 33) % 90).unwrap())
                })
                .collect();
            std::fs::write(&file, text).unwrap();
            let hook = json!({"session_id": "cart", "cwd": repo, "hook_event_name": "PostToolUse",
                "tool_name": "Write", "tool_input": {"file_path": file, "content": ""}});
            world.write(&format!("hooks/full-{number}.json"), &hook.to_string()).display().to_string()
        })
        .collect();
    let script = format!(
        r#"export HOME={home}
        mount -t tmpfs -o size=128k,mode=700 none {store} || {{ echo skipped; exit; }}
        for hook in {hooks}; do {bin} guard --for claude < $hook || echo "failed $?"; done
        cp -a {store} {copy}"#,
        home = world.path("home").display(),
        store = store.display(),
        copy = world.path("copy").display(),
        bin = env!("CARGO_BIN_EXE_claimtop"),
        hooks = hooks.join(" "),
    );
    let script = world.write("script", &script);
    let said = cart.run(&world, &format!("--version >/dev/null; unshare -m sh {} 2>&1", script.display()));
    if said.contains("skipped") || said.contains("unshare") {
        return eprintln!("skipped: nothing can be mounted here: {said}");
    }
    assert_eq!(said, "");
    std::fs::rename(&store, world.path("before")).unwrap();
    std::fs::rename(world.path("copy"), &store).unwrap();
    let kept = versions(&world);
    assert!((5..40).contains(&kept.len()), "{}", kept.len());
    for version in &kept {
        assert!(content(&world, version["blob"].as_str().unwrap()).is_some(), "{version}");
    }
    let stats: Value = serde_json::from_str(&world.run(&["guard", "stats", "--json"]).out).unwrap();
    let failed = stats["keep_failed"].as_u64().unwrap();
    assert!(failed > 5 && failed + kept.len() as u64 >= 40, "{stats}");
    assert!(other.prompt(&world).unwrap().contains("more"), "all of them are told");
}
