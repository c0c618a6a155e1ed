//! `setup`: what it shows, does and takes back in a home with agents' settings.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use serde_json::Value;

use crate::world::{Answer, World};

const SETTINGS: &str = "{\n  \"model\": \"opus\", // mine\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
/// The same without what Claude Code does not read.
const PLAIN: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
const CLAUDE: &str = "home/.claude/settings.json";

fn world() -> World {
    let world = World::new();
    world.write(CLAUDE, PLAIN);
    world
}

fn text(world: &World, path: &str) -> String {
    std::fs::read_to_string(world.path(path)).unwrap()
}

#[track_caller]
fn check(answer: &Answer, code: i32, contains: &[&str]) {
    assert_eq!(answer.code, code, "{answer:?}");
    for part in contains {
        assert!(answer.out.contains(part), "{part}: {answer:?}");
    }
}

#[test]
fn a_dry_run_shows_a_diff_and_changes_nothing() {
    let world = world();
    let shown = world.settled(&["setup", "--dry-run"]);
    let added = [
        "add 4 hooks and the status line",
        "+    \"SessionStart\": [",
        "+      { \"hooks\": [{ \"type\": \"command\", \"command\": \"claimtop bind\" }] }",
        "+  \"statusLine\": { \"type\": \"command\", \"command\": \"claimtop statusline\" }",
        "Without a settings folder: Codex, Gemini CLI, Qwen Code, Copilot CLI, opencode; `claimtop setup codex` makes it",
        "Nothing was changed",
    ];
    check(&shown, 0, &added);
    assert_eq!(text(&world, CLAUDE), PLAIN);
    assert!(!world.path("home/.local/state").exists() && !world.path("home/.codex").exists());
}

#[test]
fn without_a_terminal_it_needs_a_yes() {
    let world = world();
    check(&world.settled(&["setup"]), 3, &["add 4 hooks and the status line", "not done: --yes does it"]);
    assert_eq!(text(&world, CLAUDE), PLAIN);
    let shown: Value = serde_json::from_str(&world.settled(&["setup", "--json"]).out).unwrap();
    assert_eq!(
        (&shown["schema"], &shown["agents"][0]["state"]),
        (&"claimtop.setup.v1".into(), &"planned".into())
    );
}

#[test]
fn several_agents_are_set_up_and_undone_as_one() {
    let world = world();
    let gemini = "home/.gemini/settings.json";
    world.write(gemini, SETTINGS);
    for folder in ["home/.codex", "home/.copilot", "home/.config/opencode"] {
        std::fs::create_dir_all(world.path(folder)).unwrap();
    }
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(world.path(CLAUDE), mode).unwrap();
    // All of them at once: none is too young then.
    assert_eq!(world.settled(&["setup", "--dry-run"]).code, 0);
    let done = world.run(&["setup", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    let shown: Value = serde_json::from_str(&done.out).unwrap();
    let states: Vec<&str> =
        shown["agents"].as_array().unwrap().iter().map(|agent| agent["state"].as_str().unwrap()).collect();
    let mut expected = ["done"; 15];
    expected[8] = "not-installed";
    assert_eq!(states, expected);
    assert_eq!(shown["entry"], 1);
    assert_eq!(std::fs::metadata(world.path(CLAUDE)).unwrap().mode() & 0o777, 0o600);
    assert!(text(&world, gemini).contains("\"opus\", // mine"));
    let made = [
        "home/.claude.json",
        "home/.claude/skills/claimtop/SKILL.md",
        "home/.codex/hooks.json",
        "home/.codex/config.toml",
        "home/.codex/AGENTS.md",
        "home/.gemini/GEMINI.md",
        "home/.copilot/hooks/claimtop.json",
        "home/.copilot/mcp-config.json",
        "home/.copilot/copilot-instructions.md",
        "home/.config/opencode/plugin/claimtop.js",
        "home/.config/opencode/opencode.json",
        "home/.config/opencode/AGENTS.md",
    ];
    for path in made {
        assert!(text(&world, path).contains("claimtop"), "{path}");
    }
    let checked = world.run(&["setup", "--check"]);
    assert!(checked.out.lines().filter(|line| line.contains("yes")).count() == 5, "{checked:?}");
    let again = world.settled(&["setup", "--yes"]);
    check(&again, 0, &["all of claimtop's is there already"]);
    let undone = world.settled(&["undo", "--yes"]);
    check(
        &undone,
        0,
        &["undo entry 1: set up claimtop in Claude Code, Codex, Gemini CLI, Copilot CLI and opencode"],
    );
    assert_eq!((text(&world, CLAUDE).as_str(), text(&world, gemini).as_str()), (PLAIN, SETTINGS));
    assert!(made.iter().all(|path| !world.path(path).exists()));
}

#[test]
fn servers_and_lines_go_behind_what_is_there_and_out_again() {
    let world = world();
    let own = [
        ("home/.claude.json", "{\"userID\":\"x\",\"mcpServers\":{\"a\":{\"command\":\"b\"}}}"),
        ("home/.codex/config.toml", "model = \"x\" # mine\r\n[mcp_servers.a]\r\ncommand = \"b\"\r\n"),
        ("home/.codex/AGENTS.md", "\u{FEFF}# Mine\n\nBe brief."),
        ("home/.config/opencode/opencode.jsonc", "{\n  // mine\n  \"mcp\": {}\n}\n"),
    ];
    own.iter().for_each(|(path, text)| drop(world.write(path, text)));
    let shown = world.settled(&["setup", "--dry-run"]);
    check(
        &shown,
        0,
        &["add the MCP server", "add the skill", "add the lines for the model", "+[mcp_servers.claimtop]"],
    );
    assert_eq!(world.run(&["setup", "--yes"]).code, 0);
    for (path, before) in own {
        let now = text(&world, path);
        assert!(now != before && now.contains("claimtop"), "{path}: {now}");
    }
    assert!(!world.path("home/.config/opencode/opencode.json").exists());
    assert_eq!(world.settled(&["setup", "--remove", "--dry-run"]).code, 0);
    assert_eq!(world.run(&["setup", "--remove", "--yes"]).code, 0);
    for (path, before) in own {
        assert_eq!(text(&world, path), before, "{path}");
    }
    assert!(!world.path("home/.claude/skills/claimtop/SKILL.md").exists());
}

#[test]
fn it_writes_to_the_folder_that_the_agent_reads() {
    let world = World::new();
    let named = [
        ("CLAUDE_CONFIG_DIR", "tmp/claude"),
        ("CODEX_HOME", "tmp/codex"),
        ("GEMINI_CLI_HOME", "tmp/gemini"),
        ("QWEN_HOME", "tmp/qwen"),
        ("COPILOT_HOME", "tmp/copilot"),
        ("XDG_CONFIG_HOME", "tmp/config"),
    ];
    for folder in ["claude", "codex", "gemini/.gemini", "qwen", "copilot", "config/opencode"] {
        std::fs::create_dir_all(world.path("tmp").join(folder)).unwrap();
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_claimtop"));
    command
        .env_clear()
        .env("HOME", world.path("home"))
        .envs(named.map(|(name, path)| (name, world.path(path))));
    command.args(["setup", "--yes", "--tmp"]).arg(world.path("tmp"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let made = [
        "claude/settings.json",
        "claude/.claude.json",
        "claude/skills/claimtop/SKILL.md",
        "codex/hooks.json",
        "codex/config.toml",
        "gemini/.gemini/settings.json",
        "gemini/.gemini/GEMINI.md",
        "qwen/settings.json",
        "copilot/hooks/claimtop.json",
        "copilot/mcp-config.json",
        "config/opencode/plugin/claimtop.js",
    ];
    for path in made {
        assert!(text(&world, &format!("tmp/{path}")).contains("claimtop"), "{path}");
    }
    let left: Vec<_> =
        std::fs::read_dir(world.path("home")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [".local"]);
}

#[test]
fn a_removal_leaves_the_files_as_they_were_and_can_be_undone() {
    let world = world();
    let codex = "home/.codex/hooks.json";
    assert_eq!(world.settled(&["setup", "claude-code", "codex", "--dry-run"]).code, 0);
    assert_eq!(world.run(&["setup", "claude-code", "codex", "--yes"]).code, 0);
    let with = (text(&world, CLAUDE), text(&world, codex));
    assert_eq!(world.settled(&["setup", "--remove", "--dry-run"]).code, 0);
    check(&world.run(&["setup", "--remove", "--yes"]), 0, &["remove 4 hooks and the status line"]);
    assert_eq!(text(&world, CLAUDE), PLAIN);
    assert!(!world.path(codex).exists());
    check(&world.settled(&["setup", "--remove", "--yes"]), 0, &["nothing of claimtop's is there"]);
    assert_eq!(world.settled(&["undo", "--yes"]).code, 0);
    assert_eq!((text(&world, CLAUDE), text(&world, codex)), with);
}

#[test]
fn an_undo_takes_only_its_own_out_of_what_an_agent_has_written_since() {
    let world = world();
    assert_eq!(world.settled(&["setup", "--yes"]).code, 0);
    let written = text(&world, CLAUDE).replace("opus", "haiku");
    world.write(CLAUDE, &written);
    let shown = world.settled(&["undo", "--dry-run"]);
    check(
        &shown,
        0,
        &["was written since: only claimtop's own entries are taken out", "-    \"SessionStart\": ["],
    );
    assert_eq!(text(&world, CLAUDE), written);
    let undone = world.settled(&["undo", "--yes"]);
    check(&undone, 0, &["undo entry 1: set up claimtop in Claude Code"]);
    assert_eq!(text(&world, CLAUDE), PLAIN.replace("opus", "haiku"));
    let parked = std::fs::read_dir(world.path("home/.local/state/claimtop/parked")).unwrap();
    let parked: Vec<String> =
        parked.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    assert!(parked.contains(&written) && parked.contains(&PLAIN.to_owned()), "{parked:?}");
    check(&world.run(&["setup", "--remove", "--yes"]), 0, &["nothing of claimtop's is there"]);
}

#[test]
fn an_undo_takes_its_own_out_of_a_file_that_it_has_made() {
    let world = World::new();
    let codex = "home/.codex/hooks.json";
    assert_eq!(world.settled(&["setup", "codex", "--yes"]).code, 0);
    let mut value: Value = serde_json::from_str(&text(&world, codex)).unwrap();
    value["hooks"]["Stop"].as_array_mut().unwrap().push(serde_json::json!({ "hooks": [] }));
    world.write(codex, &serde_json::to_string_pretty(&value).unwrap());
    check(&world.settled(&["undo", "--yes"]), 0, &["only claimtop's own entries are taken out"]);
    let left: Value = serde_json::from_str(&text(&world, codex)).unwrap();
    assert_eq!(left, serde_json::json!({ "hooks": { "Stop": [{ "hooks": [] }] } }));
}

#[test]
fn entries_that_a_person_has_changed_since_are_not_undone() {
    let world = world();
    assert_eq!(world.settled(&["setup", "--yes"]).code, 0);
    let written = text(&world, CLAUDE).replacen("\"claimtop bind\"", "\"claimtop bind --mine\"", 1);
    world.write(CLAUDE, &written);
    let refused = world.settled(&["undo", "--yes"]);
    check(&refused, 3, &["claimtop setup --remove takes out claimtop's entries only"]);
    assert_eq!(text(&world, CLAUDE), written);
    assert_eq!(world.settled(&["setup", "--remove", "--yes"]).code, 0);
    assert_eq!(text(&world, CLAUDE), PLAIN);
}

#[test]
fn an_agent_that_is_named_gets_its_folder() {
    let world = World::new();
    check(&world.settled(&["setup", "--yes"]), 0, &["Without a settings folder: Claude Code"]);
    check(&world.settled(&["setup", "qwen", "--yes"]), 0, &["done Qwen Code: add 10 hooks"]);
    assert!(text(&world, "home/.qwen/settings.json").contains("claimtop guard --for qwen"));
}

#[test]
fn a_link_into_a_repository_is_refused_with_the_text() {
    let world = World::new();
    world.write("home/dotfiles/.git/HEAD", "ref: refs/heads/main\n");
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(world.path("home/dotfiles/.git").join(folder)).unwrap();
    }
    let target = world.write("home/dotfiles/settings.json", PLAIN);
    std::fs::create_dir_all(world.path("home/.claude")).unwrap();
    symlink(&target, world.path(CLAUDE)).unwrap();
    let refused = world.settled(&["setup", "--yes"]);
    let expected = ["in a repository that others may share", "Add this to it yourself:", "\"claimtop bind\""];
    check(&refused, 3, &expected);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), PLAIN);
    assert!(world.path(CLAUDE).is_symlink());
}

#[test]
fn a_folder_that_is_a_link_is_refused() {
    let world = World::new();
    let target = world.write("tmp/elsewhere/settings.json", PLAIN);
    symlink(world.path("tmp/elsewhere"), world.path("home/.claude")).unwrap();
    check(
        &world.settled(&["setup", "--yes"]),
        3,
        &["leads through a link to", "claimtop writes through none"],
    );
    assert_eq!(std::fs::read_to_string(target).unwrap(), PLAIN);
}

#[test]
fn a_link_to_nothing_is_refused() {
    let world = World::new();
    std::fs::create_dir_all(world.path("home/.claude")).unwrap();
    symlink("nowhere.json", world.path(CLAUDE)).unwrap();
    check(&world.settled(&["setup", "--yes"]), 3, &["is a link that leads nowhere"]);
    assert!(!world.path("home/.claude/nowhere.json").exists());
}

#[test]
fn files_that_must_not_be_touched_are_refused() {
    let check_one = |prepare: &dyn Fn(&World), expected: &str| {
        let world = world();
        prepare(&world);
        let before = std::fs::read(world.path(CLAUDE)).ok();
        check(&world.settled(&["setup", "claude-code", "--yes"]), 3, &[expected, "Add this to it yourself"]);
        assert_eq!(std::fs::read(world.path(CLAUDE)).ok(), before);
    };
    let read_only = |world: &World| {
        let mode = std::fs::Permissions::from_mode(0o444);
        std::fs::set_permissions(world.path(CLAUDE), mode).unwrap();
    };
    check_one(&read_only, "it is read-only");
    let linked = |world: &World| {
        std::fs::hard_link(world.path(CLAUDE), world.path("home/second.json")).unwrap();
    };
    check_one(&linked, "it has 2 names");
    let folder = |world: &World| {
        std::fs::remove_file(world.path(CLAUDE)).unwrap();
        std::fs::create_dir(world.path(CLAUDE)).unwrap();
    };
    check_one(&folder, "not a plain file");
    check_one(
        &|world| drop(world.write(CLAUDE, "{\n  \"hooks\": []\n}\n")),
        "line 2, column 12: `hooks` is not an object",
    );
    check_one(
        &|world| drop(world.write(CLAUDE, "{\n  \"a\" 1\n}\n")),
        "line 2, column 7: expected `:`, found `1`",
    );
    let large = format!("{{ \"a\": \"{}\" }}", "x".repeat(2 << 20));
    check_one(&|world| drop(world.write(CLAUDE, &large)), "it is too large");
}

#[test]
fn one_that_is_refused_does_not_stop_the_others() {
    let world = world();
    let codex = "home/.codex/hooks.json";
    world.write(codex, "{\"hooks\": 5}");
    assert!(world.settled(&["setup", "claude-code", "--dry-run"]).code == 0);
    let done = world.run(&["setup", "--yes"]);
    check(&done, 3, &["line 1, column 11: `hooks` is not an object", "done Claude Code: add 4 hooks"]);
    assert_eq!(text(&world, codex), "{\"hooks\": 5}");
    assert!(text(&world, CLAUDE).contains("claimtop bind"));
}

#[test]
fn what_an_agent_cannot_read_is_said() {
    let world = World::new();
    world.write(CLAUDE, SETTINGS);
    check(
        &world.settled(&["setup", "--dry-run"]),
        0,
        &["Claude Code cannot read the file: line 2, column 20: a comment"],
    );
    world.write(CLAUDE, "\u{FEFF}{\n}\n");
    world.write("home/.gemini/settings.json", "{ // mine\n}\n");
    let shown = world.settled(&["setup", "--dry-run"]);
    assert!(shown.code == 0 && !shown.out.contains("cannot read the file"), "{shown:?}");
    assert!(!world.run(&["setup", "--check"]).out.contains("cannot read"));
    world.write("home/.gemini/settings.json", "\u{FEFF}{\n}\n");
    let shown = world.settled(&["setup", "--dry-run"]);
    check(&shown, 0, &["Gemini CLI cannot read the file: line 1, column 1: a byte order mark (BOM)"]);
    world.write(
        "home/.claude/settings.json",
        "{ \"statusLine\": { \"type\": \"command\", \"command\": \"date\" } }",
    );
    let shown = world.settled(&["setup", "--dry-run"]);
    check(
        &shown,
        0,
        &["its own status line stays; `claimtop statusline` prints claimtop's", "add 4 hooks\n"],
    );
}

#[test]
fn it_does_nothing_read_only() {
    let world = world();
    let refused = world.settled(&["setup", "--yes", "--read-only"]);
    assert_eq!((refused.code, text(&world, CLAUDE).as_str()), (3, PLAIN), "{refused:?}");
    check(&world.settled(&["setup", "--dry-run", "--read-only"]), 0, &["add 4 hooks"]);
}
