//! `guard` as a hook calls it: below a shell below an agent, which is a shell under an agent's name.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::program;
use crate::world::World;

/// A window: a shell in place of Claude Code's program, until it is dropped.
pub(crate) struct Window {
    pub(crate) child: Child,
    said: BufReader<ChildStdout>,
    pub(crate) session: String,
    pub(crate) folder: PathBuf,
    calls: u32,
}

impl Window {
    pub(crate) fn open(world: &World, session: &str, folder: &Path) -> Self {
        let program = world.path("node_modules/@anthropic-ai/claude-code/bin/claude");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        if !program.exists() {
            program::copy("/bin/sh", &program);
        }
        let script = format!(
            r##"while read -r input; do sh -c 'read -r word line < "$1"; if [ "$word" = "#run" ]; then eval "$line"; code=0; else "$0" guard --for claude < "$1"; code=$?; fi; echo; echo "code $code"' {bin} "$input"; done"##,
            bin = env!("CARGO_BIN_EXE_claimtop"),
        );
        // One for each: a shell reads its script while running it.
        let script = world.write(&format!("hooks/{session}"), &script);
        let mut command = Command::new(&program);
        command.arg(script).current_dir(folder).env_clear().env("HOME", world.path("home"));
        // A debug build beside other tests may be slower than any user's machine.
        command.env("CLAIMTOP_GUARD_MS", "20000");
        command.env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said, session: session.to_owned(), folder: folder.to_owned(), calls: 0 }
    }

    /// Lets it run its hook, and returns the output.
    pub(crate) fn ask(&mut self, world: &World, hook: &str) -> String {
        let input = world.write(&format!("hooks/{}.json", self.session), hook);
        writeln!(self.child.stdin.as_mut().unwrap(), "{}", input.display()).unwrap();
        let mut said = String::new();
        loop {
            let mut line = String::new();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "the window has ended");
            if line == "code 0\n" {
                return said.trim().to_owned();
            }
            assert!(!line.starts_with("code "), "a hook never fails its agent: {line}");
            said.push_str(&line);
        }
    }

    fn hook(&mut self, world: &World, event: &str, more: Value) -> Option<Value> {
        let mut hook = json!({"session_id": self.session, "cwd": self.folder, "hook_event_name": event});
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let said = self.ask(world, &hook.to_string());
        (!said.is_empty()).then(|| serde_json::from_str(&said).unwrap())
    }

    /// Returns the model's brief at a prompt.
    pub(crate) fn prompt(&mut self, world: &World) -> Option<String> {
        let said = self.hook(world, "UserPromptSubmit", json!({"prompt": "go on"}))?;
        let specific = &said["hookSpecificOutput"];
        assert_eq!(specific["hookEventName"], "UserPromptSubmit");
        Some(specific["additionalContext"].as_str().unwrap().to_owned())
    }

    /// Writes a file between its hooks, and returns the model's note after that.
    pub(crate) fn write(&mut self, world: &World, path: &Path, text: &str) -> Option<String> {
        let call = json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": text}});
        assert_eq!(self.hook(world, "PreToolUse", call.clone()), None, "nothing is said before an edit");
        std::fs::write(path, text).unwrap();
        let said = self.hook(world, "PostToolUse", call)?;
        Some(said["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
    }

    /// Returns why an edit is refused before it is made, if it is.
    pub(crate) fn refused(&mut self, world: &World, path: &Path) -> Option<String> {
        let call = json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}});
        let said = self.hook(world, "PreToolUse", call)?;
        Some(said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned())
    }

    /// Returns why its shell line is refused, if it is.
    pub(crate) fn line(&mut self, world: &World, line: &str) -> Option<String> {
        self.calls += 1;
        self.line_of(world, line, &format!("toolu_{}_{}", self.session, self.calls))
    }

    /// Returns what its model is told after the shell line that it has asked about last.
    pub(crate) fn after_line(&mut self, world: &World, line: &str) -> Option<String> {
        let call = self.call_of(world, line, &format!("toolu_{}_{}", self.session, self.calls));
        let said = self.hook(world, "PostToolUse", call)?;
        Some(said["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
    }

    fn call_of(&self, world: &World, line: &str, call: &str) -> Value {
        let transcript = world.path(&format!("{}.jsonl", self.session));
        json!({
            "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": call, "transcript_path": transcript
        })
    }

    fn line_of(&mut self, world: &World, line: &str, call: &str) -> Option<String> {
        let call = self.call_of(world, line, call);
        let said = self.hook(world, "PreToolUse", call)?;
        let specific = &said["hookSpecificOutput"];
        assert_eq!(specific["permissionDecision"], "deny");
        Some(specific["permissionDecisionReason"].as_str().unwrap().to_owned())
    }

    /// Writes an answer of the model into its transcript, with these calls.
    fn answers(&self, world: &World, message: &str, calls: &[&str]) {
        let path = world.path(&format!("{}.jsonl", self.session));
        let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
        for call in calls {
            let use_of_tool = json!({"type": "tool_use", "id": call, "name": "Bash"});
            let line = json!({"type": "assistant", "message": {"id": message, "content": [use_of_tool]}});
            writeln!(file, "{line}").unwrap();
        }
    }

    pub(crate) fn die(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(arguments);
    assert!(command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
}

/// Makes a repository with two files that are committed.
fn repository(world: &World) -> PathBuf {
    repository_at(&world.path("shop"))
}

pub(crate) fn repository_at(repo: &Path) -> PathBuf {
    std::fs::create_dir_all(repo.join("src")).unwrap();
    git(repo, &["init", "-q"]);
    for file in ["src/pay.rs", "src/cart.rs"] {
        std::fs::write(repo.join(file), "one\n").unwrap();
    }
    git(repo, &["add", "-A"]);
    git(repo, &["commit", "-qm", "first"]);
    repo.to_path_buf()
}

/// Opens two windows in one repository.
pub(crate) fn two_windows() -> (World, PathBuf, Window, Window) {
    let world = World::new();
    let repo = repository(&world);
    let [cart, other] = ["cart", "other"].map(|session| Window::open(&world, session, &repo));
    (world, repo, cart, other)
}

#[test]
fn a_window_is_told_in_time_what_another_has_not_committed() {
    let (world, repo, mut cart, mut other) = two_windows();
    let pay = repo.join("src/pay.rs");
    assert_eq!(other.prompt(&world), None, "nobody has edited anything");
    assert_eq!(cart.write(&world, &pay, "two\n"), None);
    let brief = other.prompt(&world).expect("a brief");
    let pid = cart.child.id();
    assert!(brief.contains(&format!("PID {pid}, alive")) && brief.contains("`src/pay.rs`"), "{brief}");
    assert!(brief.lines().count() <= 3, "{brief}");
    assert_eq!(other.prompt(&world), None, "it was told");
    let note = other.write(&world, &pay, "three\n").expect("a note");
    assert!(note.contains(&format!("PID {pid}")) && note.contains("Read the file again"), "{note}");
    assert_eq!(other.write(&world, &pay, "four\n"), None, "it was told, and nobody has edited it since");
    assert!(cart.write(&world, &pay, "five\n").is_some(), "and the first one hears of the second");
    assert_eq!(other.write(&world, &repo.join("src/cart.rs"), "two\n"), None, "another file");
    let mut stats = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    stats.env_clear().env("HOME", world.path("home")).args(["guard", "stats", "--json"]);
    let stats: Value = serde_json::from_slice(&stats.output().unwrap().stdout).unwrap();
    let count = |said: &str| {
        let found = stats["said"].as_array().unwrap().iter().find(|one| one["said"] == said);
        found.map_or(0, |one| one["count"].as_u64().unwrap())
    };
    assert_eq!(
        (count("briefed"), count("noted"), count("held-up"), count("failed")),
        (1, 2, 0, 0),
        "{stats}"
    );
}

#[test]
fn of_many_files_the_guard_says_how_many_there_are_at_least() {
    let (world, repo, mut cart, mut other) = two_windows();
    let write = |cart: &mut Window, number: usize| {
        assert_eq!(cart.write(&world, &repo.join(format!("src/new-{number}.rs")), "one\n"), None);
    };
    (0..6).for_each(|number| write(&mut cart, number));
    let brief = other.prompt(&world).expect("a brief");
    assert!(brief.contains(" and 4 more"), "{brief}");
    (6..20).for_each(|number| write(&mut cart, number));
    let brief = other.prompt(&world).expect("a brief");
    assert!(brief.contains(" and at least 14 more"), "not all are asked about: {brief}");
}

#[test]
fn what_would_take_anothers_edits_along_is_held_up_once() {
    let (world, repo, mut cart, mut other) = two_windows();
    assert_eq!(other.line(&world, "git stash"), None, "nothing is in the way");
    cart.write(&world, &repo.join("src/pay.rs"), "two\n");
    assert_eq!(cart.line(&world, "git stash"), None, "its own edits are its own");
    assert_eq!(other.line(&world, "git status && cargo test"), None);
    assert_eq!(other.line(&world, "git checkout -- src/cart.rs"), None, "a file of nobody's");
    other.answers(&world, "msg_1", &["one", "twin"]);
    let reason = other.line_of(&world, "cd src && git stash", "one").expect("a refusal");
    assert!(reason.contains("`git stash`") && reason.contains("`src/pay.rs`"), "{reason}");
    assert!(other.line_of(&world, "git reset --hard", "twin").is_some(), "it has not read the refusal yet");
    other.answers(&world, "msg_2", &["two", "three"]);
    assert_eq!(other.line_of(&world, "git stash", "two"), None, "it was told, and means it");
    let third = repo.join("src/third.rs");
    let mut last = Window::open(&world, "last", &repo);
    last.write(&world, &third, "x\n");
    git(&repo, &["checkout", "-q", "--", "."]);
    assert_eq!(other.line(&world, "git reset --hard"), None, "git does not know the new file");
    assert_eq!(other.line(&world, "git clean -n"), None, "it only says what it would do");
    assert!(other.line_of(&world, "git stash -u", "three").is_some(), "for the sake of somebody else");
}

#[test]
fn what_is_committed_or_back_as_it_was_is_in_nobodys_way() {
    let (world, repo, mut cart, mut other) = two_windows();
    let pay = repo.join("src/pay.rs");
    cart.write(&world, &pay, "two\n");
    git(&repo, &["commit", "-qam", "second"]);
    assert_eq!(other.prompt(&world), None);
    assert_eq!(other.line(&world, "git stash"), None);
    cart.write(&world, &pay, "three\n");
    cart.write(&world, &pay, "two\n");
    assert_eq!(other.prompt(&world), None);
    assert_eq!(other.write(&world, &pay, "four\n"), None);
}

#[test]
fn the_dead_warn_of_nothing_but_what_would_lose_their_bytes() {
    let (world, repo, mut cart, mut other) = two_windows();
    let pay = repo.join("src/pay.rs");
    cart.write(&world, &pay, "two\n");
    cart.die();
    let brief = other.prompt(&world).expect("a brief");
    assert!(brief.contains("has died) left uncommitted edits in `src/pay.rs`"), "{brief}");
    assert_eq!(other.prompt(&world), None, "once");
    for keeps in ["git add -A", "git commit -am x", "git checkout -b new", "sed -i s/a/b/ src/pay.rs"] {
        assert_eq!(other.line(&world, keeps), None, "{keeps}");
    }
    let reason = other.line(&world, "git checkout .").expect("a refusal");
    assert!(reason.contains("has died"), "{reason}");
    assert_eq!(other.write(&world, &pay, "three\n"), None);
}

impl Window {
    /// Lets it run a command of claimtop, as a tool's shell does.
    pub(crate) fn run(&mut self, world: &World, command: &str) -> String {
        let home = world.path("home");
        let bin = env!("CARGO_BIN_EXE_claimtop");
        let line = format!("cd {} && HOME={} {bin} {command}", self.folder.display(), home.display());
        self.ask(world, &format!("#run {line}"))
    }

    /// Returns why its edit is refused, if it is.
    fn edit(&mut self, world: &World, path: &Path) -> Option<String> {
        self.calls += 1;
        let call = json!({
            "tool_name": "Edit", "tool_input": {"file_path": path},
            "tool_use_id": format!("toolu_{}_{}", self.session, self.calls),
        });
        let said = self.hook(world, "PreToolUse", call)?;
        Some(said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned())
    }
}

#[test]
fn what_a_living_window_holds_for_itself_is_refused_by_choice_as_long_as_it_lives() {
    let (world, repo, mut cart, mut other) = two_windows();
    let pay = repo.join("src/pay.rs");
    makes(&repo, ["README.md"]);
    let config = |text: &str| {
        let file = format!("[guard]\nheld = '{text}'\n");
        world.write("home/.config/claimtop/config.toml", &file);
    };
    assert!(cart.run(&world, "hold src").contains("held by PID"), "a folder, and all below it");
    let brief = other.prompt(&world).expect("a brief");
    assert!(brief.contains("alive) holds `src` for itself"), "{brief}");
    for wanted in ["src/pay.rs", "src", "."] {
        let said = other.run(&world, &format!("hold {wanted} 2>&1; echo $?"));
        assert!(said.contains("is not held: the window `shop`") && said.ends_with('3'), "{said}");
    }
    assert!(other.run(&world, "hold README.md").contains("held by PID"), "nobody holds that");
    other.run(&world, "hold --release README.md");
    assert!(other.run(&world, "hold --release README.md").contains("was not held by PID"));
    let said = other.run(&world, "hold --release src 2>&1; echo $?");
    assert!(said.contains("nothing is freed: ") && said.ends_with('3'), "{said}");
    assert_eq!(other.prompt(&world), None, "it was told");
    assert_eq!(cart.edit(&world, &pay), None, "it is its own");
    assert_eq!(other.edit(&world, &repo.join("README.md")), None, "nobody holds that");
    config("off");
    assert_eq!(other.edit(&world, &pay), None);
    config("deny");
    for _ in 0..2 {
        let reason = other.edit(&world, &pay).expect("a refusal, again and again");
        assert!(reason.contains("the window `shop`") && reason.contains("has held `src` for "), "{reason}");
    }
    assert!(other.run(&world, "guard check src/pay.rs; echo $?").ends_with("1"));
    config("hold-up");
    assert!(other.edit(&world, &pay).is_some());
    std::thread::sleep(std::time::Duration::from_millis(2100));
    assert_eq!(other.edit(&world, &pay), None, "it is meant");
    config("deny");
    assert!(cart.run(&world, "hold --release src").contains("freed"));
    assert_eq!(other.edit(&world, &pay), None);
    cart.run(&world, "hold src/pay.rs");
    assert!(other.edit(&world, &pay).is_some());
    cart.registers(&world, "pay");
    let brief = other.prompt(&world).expect("what it holds is another thing");
    assert!(brief.contains("window `pay` (") && brief.contains("alive, busy) holds `src/pay.rs`"), "{brief}");
    cart.die();
    assert_eq!(other.edit(&world, &pay), None, "the dead hold nothing");
}

impl Window {
    /// Writes its registry entry, and begins a session file without edits.
    pub(crate) fn registers(&self, world: &World, name: &str) {
        let pid = self.child.id();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
        let entry = json!({"pid": pid, "sessionId": self.session, "cwd": self.folder, "procStart": start, "name": name, "status": "busy"});
        world.write(&format!("home/.claude/sessions/{pid}.json"), &entry.to_string());
        let prompt = json!({"type": "user", "message": {"role": "user", "content": "Fix it"}, "origin": {"kind": "human"}});
        world.write(&format!("home/.claude/projects/shop/{}.jsonl", self.session), &format!("{prompt}\n"));
    }
}

#[test]
fn what_the_guard_knows_and_said_is_told_by_the_pane() {
    let world = World::new();
    let repo = repository(&world);
    let sessions = ["95fe798d-3725-4649-974a-000000000001", "95fe798d-3725-4649-974a-000000000002"];
    let [mut cart, mut pay] = sessions.map(|session| Window::open(&world, session, &repo));
    cart.registers(&world, "cart");
    pay.registers(&world, "pay");
    let root = repo.to_str().unwrap();
    let now = |words: &[&str]| {
        let said = world.run(&[&["now", "--root", root], words].concat());
        assert_eq!(said.err, "");
        said.out
    };
    // The head of the repository has moved in this second; later edits are certain.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let file = repo.join("src/pay.rs");
    cart.write(&world, &file, "two\n");
    let alone = now(&[]);
    assert!(!alone.contains("was warned"), "{alone}");
    assert!(pay.prompt(&world).is_some());
    assert!(pay.write(&world, &file, "three\n").is_some());
    let both = now(&[]);
    let line = both.lines().find(|line| line.contains("↔")).unwrap_or_else(|| panic!("{both}"));
    assert!(line.contains("cart ↔ pay") || line.contains("pay ↔ cart"), "{both}");
    assert!(line.contains("; pay was warned") && line.contains("that cart edits src/pay.rs"), "{both}");
    let why = world.run(&["explain", "--root", root, "pay"]).out;
    assert!(why.contains("despite a warning about cart"), "{why}");
    // Restoring it from the last commit has ended the hold, whatever is written there by hand.
    pay.write(&world, &file, "one\n");
    std::fs::write(&file, "by hand\n").unwrap();
    let ended = now(&[]);
    assert!(both.contains("both edit pay.rs") && !ended.contains("both edit"), "{ended}");
}

/// Runs opencode's plugin as opencode does, and prints the result of each call.
const HOST: &str = r#"
import { ClaimtopGuard } from "./claimtop.mjs"
const [folder, file] = process.argv.slice(2)
const hooks = await ClaimtopGuard({ directory: folder })
const calls = []
const call = async (tool, args) => {
  const input = { tool, sessionID: "ses_1", callID: `call_${calls.length}` }
  calls.push(input.callID)
  try {
    await hooks["tool.execute.before"](input, { args })
  } catch (error) {
    return console.log(`refused: ${error.message}`)
  }
  const output = { output: "done" }
  await hooks["tool.execute.after"]({ ...input, args }, output)
  console.log(output.output.replaceAll("\n", " "))
}
const prompt = { id: "prt_1", type: "text", text: "Go on" }
const parts = [prompt]
await hooks["chat.message"]({ sessionID: "ses_1" }, { message: {}, parts })
console.log(parts.map(({ id, text, synthetic }) => `${id} ${synthetic} ${text}`).join(" | ").replaceAll("\n", " "))
await call("bash", { command: "git stash" })
const sent = calls.map((callID) => ({ type: "tool", callID }))
await hooks["experimental.chat.messages.transform"]({}, { messages: [{ info: {}, parts: [prompt] }, { info: {}, parts: sent }] })
await call("bash", { command: "git stash" })
await call("write", { filePath: file, content: "three" })
"#;

#[test]
fn opencode_is_asked_and_told_by_its_plugin() {
    let (world, repo, mut cart, other) = two_windows();
    drop(other);
    let pay = repo.join("src/pay.rs");
    cart.write(&world, &pay, "two\n");
    let mut print = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    let plugin = print.args(["hook", "print", "opencode"]).output().unwrap();
    world.write("plugin/claimtop.mjs", &String::from_utf8(plugin.stdout).unwrap());
    let host = world.write("plugin/host.mjs", HOST);
    let told = |path: &str| {
        let mut node = Command::new("node");
        node.arg(&host).args([&repo, &pay]).env_clear().env("HOME", world.path("home"));
        let said = node.env("PATH", path).env("CLAIMTOP_GUARD_MS", "20000").output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let without = told("/usr/bin:/bin");
    let plain = ["prt_1 undefined Go on", "done", "done", "done"];
    assert_eq!(without, plain, "it works on where claimtop is not installed");
    let bin = Path::new(env!("CARGO_BIN_EXE_claimtop")).parent().unwrap();
    let told = told(&format!("{}:/usr/bin:/bin", bin.display()));
    let [prompt, stash, again, write] = told.as_slice() else { panic!("{told:?}") };
    let brief = "prt_1 undefined Go on | prt_10 true claimtop: the window `shop`";
    assert!(prompt.starts_with(brief) && prompt.contains("`src/pay.rs`"), "{prompt}");
    assert!(stash.starts_with("refused: claimtop held this up once: `git stash`"), "{stash}");
    assert_eq!(again, "done", "the model has been sent the refusal");
    assert!(write.starts_with("done  claimtop: the window `shop`"), "{write}");
}

#[test]
fn another_working_tree_is_another_place() {
    let world = World::new();
    let repo = repository(&world);
    let linked = world.path("linked");
    git(&repo, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    let mut cart = Window::open(&world, "cart", &repo);
    let mut other = Window::open(&world, "other", &linked);
    cart.write(&world, &repo.join("src/pay.rs"), "two\n");
    assert_eq!(other.prompt(&world), None);
    assert_eq!(other.line(&world, "git stash"), None);
    assert_eq!(other.write(&world, &linked.join("src/pay.rs"), "two\n"), None);
    let there = format!("cd {} && git stash", repo.display());
    assert!(other.line(&world, &there).is_some(), "the target decides, not the folder");
    assert!(other.write(&world, &repo.join("src/pay.rs"), "three\n").is_some());
}

#[test]
fn a_guard_never_fails_its_agent() {
    let world = World::new();
    let repo = repository(&world);
    let mut window = Window::open(&world, "cart", &repo);
    let garbage =
        ["", "{", "[]", "{}", r#"{"session_id":"../x","cwd":"/","hook_event_name":"UserPromptSubmit"}"#];
    for text in garbage {
        assert_eq!(window.ask(&world, text), "", "{text}");
    }
    drop(window);
    let world = World::new();
    let repo = repository(&world);
    let mut window = Window::open(&world, "cart", &repo);
    let state = world.path("home/.local/state/claimtop");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("guard"), "no folder").unwrap();
    assert_eq!(window.write(&world, &repo.join("src/pay.rs"), "two\n"), None);
    assert_eq!(window.line(&world, "git stash"), None);
}

#[test]
fn what_is_said_is_set_for_each_working_tree() {
    let (world, repo, mut cart, mut other) = two_windows();
    let pay = repo.join("src/pay.rs");
    cart.write(&world, &pay, "two\n");
    let config = |text: &str| {
        let tree = format!("[guard]\nexempt = ['gen']\n[[guard.tree]]\npath = '{}'\n{text}", repo.display());
        world.write("home/.config/claimtop/config.toml", &tree);
    };
    config("brief = false\ngit = 'off'\n");
    assert_eq!(other.prompt(&world), None);
    assert_eq!(other.line(&world, "git stash"), None);
    config("git = 'ask'\n");
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "git stash"}});
    let asked = other.hook(&world, "PreToolUse", call).expect("a question");
    assert_eq!(asked["hookSpecificOutput"]["permissionDecision"], "ask");
    config("edit = 'hold-up'\n");
    let call = json!({"tool_name": "Edit", "tool_input": {"file_path": pay}});
    let mut third = Window::open(&world, "third", &repo);
    let refused = third.hook(&world, "PreToolUse", call).expect("a refusal");
    let reason = refused["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("this edit would affect") && reason.contains("`src/pay.rs`"), "{reason}");
    std::fs::create_dir(repo.join("gen")).unwrap();
    cart.write(&world, &repo.join("gen/x.rs"), "x\n");
    let call = json!({"tool_name": "Edit", "tool_input": {"file_path": repo.join("gen/x.rs")}});
    assert_eq!(third.hook(&world, "PreToolUse", call), None, "a person exempted it");
}

#[test]
fn a_script_asks_who_has_a_file() {
    let world = World::new();
    let repo = repository(&world);
    let pay = repo.join("src/pay.rs");
    let mut cart = Window::open(&world, "cart", &repo);
    let check = |path: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
        command.env_clear().env("HOME", world.path("home")).args(["guard", "check"]).arg(path);
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(check(&pay), (0, String::new()));
    cart.write(&world, &pay, "two\n");
    let (code, said) = check(&pay);
    assert!(code == 1 && said.contains(&format!("PID {}", cart.child.id())), "{said}");
    assert_eq!(check(&repo.join("src")).0, 1, "a folder means all that is in it");
    // The owner is unknown, which is not the same as no owner.
    let strange = std::ffi::OsStr::from_bytes(b"src/p\xffy.rs");
    assert_eq!(check(&repo.join(strange)).0, 4);
    let trees = world.path("home/.local/state/claimtop/guard/trees");
    let tree = std::fs::read_dir(&trees).unwrap().next().unwrap().unwrap().path();
    std::fs::rename(&tree, world.path("aside")).unwrap();
    std::fs::write(&tree, "no folder").unwrap();
    assert_eq!(check(&pay), (4, String::new()));
    std::fs::remove_file(&tree).unwrap();
    std::fs::rename(world.path("aside"), &tree).unwrap();
    assert_eq!(check(&repo.join("src/cart.rs")), (0, String::new()));
}

#[test]
fn the_hooks_of_each_agent_are_checked() {
    let world = World::new();
    let check = || {
        let shop = world.path("home/shop");
        let answer = world.run(&["hook", "check", "--root", &shop.to_string_lossy()]);
        assert!(answer.code <= 1, "{}", answer.err);
        (answer.code, answer.out)
    };
    std::fs::create_dir_all(world.path("home/shop")).unwrap();
    let (code, said) = check();
    assert_eq!((code, said.matches("no such file").count()), (0, 6), "{said}");
    let bin = world.path("bin/claimtop");
    std::fs::create_dir_all(bin.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_claimtop"), &bin).unwrap();
    let print = |agent: &str| {
        world.run(&["hook", "print", agent]).out.replace("claimtop ", &format!("{} ", bin.display()))
    };
    world.write("home/.claude/settings.json", &print("claude-code"));
    world.write("home/.codex/hooks.json", &print("codex"));
    world.write("home/.copilot/hooks/claimtop.json", &print("copilot"));
    world.write("home/shop/.github/hooks/claimtop.json", "{}");
    world.write("home/.gemini/settings.json", "{");
    let (code, said) = check();
    assert_eq!(code, 1, "Gemini's is broken: {said}");
    let line = |agent: &str| said.lines().find(|line| line.starts_with(agent)).unwrap().to_owned();
    assert_eq!(said.matches("Copilot CLI").count(), 2, "also what the repository has: {said}");
    let yes = line("Claude Code").split_whitespace().skip(3).take(2).collect::<Vec<_>>().join(" ");
    assert_eq!(yes, "yes yes", "{said}");
    assert_eq!(line("Copilot CLI").split_whitespace().filter(|word| *word == "yes").count(), 2, "{said}");
    assert!(line("Codex").contains("9 not trusted yet"), "{said}");
    assert!(line("Gemini CLI").contains("not read"), "{said}");
    let gemini = print("gemini");
    let copilot = print("copilot");
    for (agent, file, text) in [
        ("Gemini", "home/.gemini/settings.json", gemini),
        ("Copilot", "home/.copilot/hooks/claimtop.json", copilot),
    ] {
        for (text, is_sound) in [(text.replace(" || true", ""), false), (text, true)] {
            world.write(file, &text);
            let (_, said) = check();
            let line = said.lines().find(|line| line.starts_with(agent)).unwrap();
            assert_eq!(line.split_whitespace().filter(|word| *word == "yes").count(), 2, "{said}");
            assert_eq!(line.contains("refuses to work"), !is_sound, "{said}");
        }
    }
    for (more, expected) in [("", "yes"), ("// mine", "another version")] {
        let plugin = world.run(&["hook", "print", "opencode"]).out + more;
        world.write("home/.config/opencode/plugin/claimtop.js", &plugin);
        let (_, said) = check();
        assert!(said.lines().any(|line| line.starts_with("opencode") && line.contains(expected)), "{said}");
    }
    std::fs::remove_file(&bin).unwrap();
    assert!(check().1.contains("is not found"));
}

/// Returns the ledger of the holds taken by a window's commands.
fn held_by(world: &World, window: &Window) -> PathBuf {
    let trees = std::fs::read_dir(world.path("home/.local/state/claimtop/guard/trees")).unwrap();
    let mut files = trees.flat_map(|tree| std::fs::read_dir(tree.unwrap().path()).unwrap()).flatten();
    let begin = format!("hold-{}-", window.child.id());
    let is_its = |name: &str| name.starts_with(&begin) && name.ends_with(".jsonl");
    files.find(|file| is_its(file.file_name().to_str().unwrap())).unwrap().path()
}

/// Adds a line to it, as they write it.
fn adds(world: &World, window: &Window, line: &Value) {
    let mut file = std::fs::File::options().append(true).open(held_by(world, window)).unwrap();
    writeln!(file, "{line}").unwrap();
}

/// Makes empty files in a repository.
fn makes<'a>(repo: &Path, names: impl IntoIterator<Item = &'a str>) {
    names.into_iter().for_each(|name| std::fs::write(repo.join(name), "").unwrap());
}

#[test]
fn what_is_not_there_is_not_held() {
    let (world, repo, mut cart, _) = two_windows();
    std::os::unix::fs::symlink("nowhere", repo.join("link")).unwrap();
    for path in ["none.rs", "src/none.rs", "none/at/all", "link"] {
        let said = cart.run(&world, &format!("hold {path} 2>&1; echo $?"));
        assert!(
            said.contains("is not held: no file or folder is visible at that path") && said.ends_with('3'),
            "{said}"
        );
    }
    // A file that existed when it was taken is released all the same.
    makes(&repo, ["gone.rs"]);
    assert!(cart.run(&world, "hold gone.rs").contains("held by PID"));
    std::fs::remove_file(repo.join("gone.rs")).unwrap();
    assert!(cart.run(&world, "hold --release gone.rs").contains("freed"));
}

#[test]
fn what_a_window_holds_outlives_the_ledger_that_tells_it() {
    let (world, repo, mut cart, mut other) = two_windows();
    makes(&repo, ["a.rs", "b.rs"]);
    assert!(cart.run(&world, "hold src").contains("held by PID"));
    let is_refused = |other: &mut Window| other.run(&world, "hold src 2>&1").contains("is not held");
    let mut grows = |command: &str| {
        let file = std::fs::File::options().append(true).open(held_by(&world, &cart)).unwrap();
        file.set_len(512 << 10).unwrap();
        cart.run(&world, command)
    };
    // It is set aside twice; only one older part is kept.
    for path in ["a.rs", "b.rs"] {
        assert!(grows(&format!("hold {path}")).contains("held by PID"), "{path}");
        assert!(is_refused(&mut other), "{path}");
    }
    // A file that is released after that is not held by the part that was set aside.
    assert!(grows("hold --release src").contains("freed"));
    assert!(!is_refused(&mut other));
}

#[test]
fn more_than_a_window_can_hold_is_refused() {
    let (world, repo, mut cart, _) = two_windows();
    let paths: Vec<String> = (0..65).map(|number| format!("{number}.rs")).collect();
    makes(&repo, paths.iter().map(String::as_str));
    let said = cart.run(&world, &format!("hold {} 2>&1", paths.join(" ")));
    assert!(said.contains("at most 64 paths"), "{said}");
}

#[test]
fn what_a_window_holds_it_keeps_when_it_asks_again_beside_another() {
    let (world, repo, mut cart, mut other) = two_windows();
    makes(&repo, ["mine.rs"]);
    let [mine, wanted] = ["mine.rs", "src"].map(|path| format!("hold {path} 2>&1"));
    assert!(other.run(&world, &mine).contains("held by PID"));
    assert!(cart.run(&world, &wanted).contains("held by PID"));
    // The other one is between writing it down and looking again.
    let src = world.path("shop").canonicalize().unwrap().join("src");
    let line = json!({"holds": {"path": src, "at": "2026-11-24T00:00:00Z"}});
    adds(&world, &other, &line);
    assert!(cart.run(&world, &wanted).contains("held by PID"), "it is its own");
    adds(&world, &other, &json!({"frees": {"path": src, "at": "2026-11-24T00:00:01Z"}}));
    let said = other.run(&world, &wanted);
    assert!(said.contains("is not held: the window `shop`"), "{said}");
}

#[test]
fn of_many_windows_that_want_the_same_one_at_most_has_it_and_keeps_it() {
    let world = World::new();
    let repo = repository(&world);
    let mut windows: Vec<Window> =
        (0..6).map(|number| Window::open(&world, &format!("s{number}"), &repo)).collect();
    let mut had = 0;
    for round in 0..6 {
        let path = format!("src/{round}.rs");
        makes(&repo, [&*path]);
        let (bin, home) = (env!("CARGO_BIN_EXE_claimtop"), world.path("home"));
        let again = format!("; HOME={} {bin} hold {path} 2>/dev/null", home.display());
        let wants = format!("hold {path} 2>/dev/null{}", again.repeat(4));
        let ask = |window: &mut Window| window.run(&world, &wants).matches("is held").count();
        let answers: Vec<usize> = std::thread::scope(|scope| {
            let asked: Vec<_> = windows.iter_mut().map(|window| scope.spawn(|| ask(window))).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        let holders: Vec<usize> = (0..6).filter(|at| answers[*at] > 0).collect();
        assert!(holders.len() <= 1, "{round}: {answers:?}");
        had += holders.len();
        // The window that was granted it still has it, and no other window gets it.
        for (at, window) in windows.iter_mut().enumerate().filter(|_| holders.len() == 1) {
            let said = window.run(&world, &format!("hold {path} 2>&1"));
            assert_eq!(said.contains("is held"), holders == [at], "{round}: {answers:?} {said}");
        }
    }
    eprintln!("{had} of 6 were held by one");
}

/// A small random number generator, the same for each seed (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % most
    }
}

/// The truth about one file: whose edits are not in any commit, and which edit of each was the last.
#[derive(Clone, Default)]
struct Truth {
    head: u32,
    now: u32,
    owners: std::collections::BTreeSet<usize>,
    last: std::collections::BTreeMap<usize, u32>,
}

/// Plays windows that edit, commit, stash, die and ask in any order, and compares all that the guard says with the
/// truth.
fn play(seed: u64, steps: u32) -> [u32; 4] {
    const FILES: [&str; 5] = ["src/pay.rs", "src/cart.rs", "a.rs", "b.rs", "c d.rs"];
    let world = World::new();
    let repo = repository(&world);
    let mut files: Vec<Truth> = FILES.iter().map(|_| Truth::default()).collect();
    for file in FILES {
        std::fs::write(repo.join(file), "0\n").unwrap();
    }
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", "all"]);
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut windows: Vec<Option<Window>> =
        (0..3).map(|number| Some(Window::open(&world, &format!("s{number}"), &repo))).collect();
    let mut told: Vec<Option<Vec<(usize, usize)>>> = vec![None; 3];
    let mut said = [0; 4];
    let mut moment = 0;
    for step in 0..steps {
        let living: Vec<usize> = (0..windows.len()).filter(|at| windows[*at].is_some()).collect();
        let at = living[dice.below(living.len())];
        let mut window = windows[at].take().unwrap();
        let others_of =
            |truth: &Truth| -> Vec<usize> { truth.owners.iter().copied().filter(|one| *one != at).collect() };
        // Git's stash log counts in seconds: edits within the same second are not distinguished.
        let a_second = || std::thread::sleep(std::time::Duration::from_millis(1_100));
        let context = format!("seed {seed}, step {step}, window {at}");
        match dice.below(10) {
            0..=4 => {
                let number = dice.below(FILES.len());
                let truth = &mut files[number];
                let is_news = |other: &usize| truth.last.get(other) > truth.last.get(&at);
                let met = others_of(truth)
                    .into_iter()
                    .filter(|other| living.contains(other))
                    .any(|other| is_news(&other));
                // Now and then a file equals the last commit's.
                moment += 1;
                let text = if dice.below(5) == 0 { truth.head } else { moment };
                let note = but_losses(window.write(&world, &repo.join(FILES[number]), &format!("{text}\n")));
                assert_eq!(note.is_some(), met, "{context}: {} {note:?}", FILES[number]);
                said[0] += u32::from(note.is_some());
                truth.now = text;
                truth.last.insert(at, moment);
                truth.owners.insert(at);
                if truth.now == truth.head {
                    truth.owners.clear();
                }
            }
            5 | 6 => {
                let mut held = Vec::new();
                for (number, truth) in files.iter().enumerate() {
                    held.extend(
                        others_of(truth)
                            .into_iter()
                            .filter(|other| living.contains(other))
                            .map(|other| (other, number)),
                    );
                }
                held.sort_unstable();
                let is_new = told[at].as_ref().map_or(!held.is_empty(), |told| *told != held);
                let brief = but_losses(window.prompt(&world));
                assert_eq!(brief.is_some(), is_new && !held.is_empty(), "{context}: {held:?} {brief:?}");
                said[1] += u32::from(brief.is_some());
                if is_new {
                    told[at] = Some(held);
                }
            }
            7 => {
                let in_the_way = files.iter().any(|truth| !others_of(truth).is_empty());
                let message = format!("msg_{step}");
                let call = format!("call_{step}_");
                window.answers(&world, &message, &[&call]);
                let reason = window.line_of(&world, "git stash", &call);
                // A window that was warned a while ago of the same windows may pass at once.
                assert!(reason.is_none() || in_the_way, "{context}: {reason:?}");
                if reason.is_some() {
                    said[2] += 1;
                    let again = format!("call_{step}_again");
                    window.answers(&world, &format!("{message}_again"), &[&again]);
                    assert_eq!(window.line_of(&world, "git stash", &again), None, "{context}: it was told");
                }
                git(&repo, &["stash", "-q"]);
                a_second();
                for truth in &mut files {
                    truth.now = truth.head;
                    truth.owners.clear();
                }
            }
            8 => {
                let number = dice.below(FILES.len());
                git(&repo, &["commit", "-q", "--allow-empty", "-m", "x", "--", FILES[number]]);
                let truth = &mut files[number];
                truth.head = truth.now;
                truth.owners.clear();
            }
            _ if living.len() > 1 && windows.len() < 6 => {
                said[3] += 1;
                window.die();
                windows.push(Some(Window::open(&world, &format!("s{}", windows.len()), &repo)));
                told.push(None);
                continue;
            }
            _ => {}
        }
        windows[at] = Some(window);
    }
    said
}

/// Returns a text without what it says of the window's own edits that are gone.
fn but_losses(text: Option<String>) -> Option<String> {
    let lines = text?;
    let lines: Vec<&str> = lines.lines().filter(|line| !line.contains("your uncommitted edits of")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A file that git ignores concerns no other window, except for a call that deletes it.
#[test]
fn what_git_ignores_counts_only_where_it_is_to_go() {
    let (world, repo, mut cart, mut other) = two_windows();
    std::fs::write(repo.join(".gitignore"), "out/\n").unwrap();
    std::fs::create_dir(repo.join("out")).unwrap();
    assert_eq!(cart.write(&world, &repo.join("out/x.js"), "one\n"), None);
    assert_eq!(other.prompt(&world), None);
    assert_eq!(other.write(&world, &repo.join("out/x.js"), "two\n"), None);
    for line in ["git stash -u", "git clean -fd", "git add -A"] {
        assert_eq!(other.line(&world, line), None, "{line}");
    }
    let reason = other.line(&world, "git clean -fdx").unwrap();
    assert!(reason.contains("out/x.js"), "{reason}");
}

#[test]
fn whatever_windows_do_the_guard_says_what_is_true() {
    let seeds: u64 = std::env::var("CLAIMTOP_GUARD_SEEDS").map_or(2, |text| text.parse().unwrap());
    let said = (1..=seeds)
        .map(|seed| play(seed, 40))
        .fold([0; 4], |sum, one| std::array::from_fn(|at| sum[at] + one[at]));
    eprintln!("{seeds} seeds: notes, briefs, hold-ups, deaths: {said:?}");
    assert!(said.iter().all(|count| *count > 0), "{said:?}");
}
