//! Programs that have an agent's name, or work for one, and are not windows.

use std::collections::BTreeSet;

use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::ProcessTable;
use claimtop::testing::core::windows;

use super::{classified, process};

/// A process: the main thread's name, the executable, the arguments.
type Sample = (&'static str, &'static str, &'static [&'static str]);

const NODE: &str = "/usr/bin/node";
const CLAUDE: &str = "/opt/n/node_modules/@anthropic-ai/claude-code-linux-x64/claude";
const CODEX: &str = "/opt/n/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";

/// Editors, pagers and searches with an agent's name in their arguments.
const READERS: [Sample; 11] = [
    ("vim", "/usr/bin/vim", &["vim", "claude.md"]),
    ("nvim", "/usr/bin/nvim", &["nvim", "/home/u/.codex/config.toml"]),
    ("emacs", "/usr/bin/emacs", &["emacs", "AGENTS.md", "gemini.md"]),
    ("nano", "/usr/bin/nano", &["nano", "/home/u/.claude/settings.json"]),
    ("less", "/usr/bin/less", &["less", "/home/u/.codex/log/codex-tui.log"]),
    ("tail", "/usr/bin/tail", &["tail", "-f", "/home/u/.claude/projects/-x/s.jsonl"]),
    ("grep", "/usr/bin/grep", &["grep", "-r", "claude", "."]),
    ("rg", "/usr/bin/rg", &["rg", "codex exec"]),
    ("ps", "/usr/bin/ps", &["ps", "-C", "claude"]),
    ("pgrep", "/usr/bin/pgrep", &["pgrep", "-f", "opencode"]),
    ("git", "/usr/bin/git", &["git", "commit", "-m", "let claude and codex work"]),
];

/// Shells, wrappers and multiplexers that start an agent or run a command for one.
const WRAPPERS: [Sample; 12] = [
    ("bash", "/usr/bin/bash", &["bash", "-c", "source /home/u/.claude/shell-snapshots/s.sh; eval 'ls'"]),
    ("sh", "/usr/bin/dash", &["sh", "-c", "claude"]),
    ("npm exec claude", NODE, &["npm exec claude", ""]),
    ("npm exec @opena", NODE, &["npm exec @openai/codex", ""]),
    ("node", NODE, &["node", "/usr/lib/node_modules/npm/bin/npx-cli.js", "@google/gemini-cli"]),
    ("npm install -g", NODE, &["npm install -g @anthropic-ai/claude-code", ""]),
    ("sudo", "/usr/bin/sudo", &["sudo", "-u", "dev", "claude"]),
    ("tmux: client", "/usr/bin/tmux", &["tmux", "new", "-s", "claude", "claude"]),
    ("tmux: server", "/usr/bin/tmux", &["tmux", "new", "-s", "codex", "codex"]),
    ("docker", "/usr/bin/docker", &["docker", "exec", "-it", "box", "claude"]),
    ("ssh", "/usr/bin/ssh", &["ssh", "-t", "host", "opencode"]),
    ("mise", "/usr/bin/mise", &["mise", "exec", "--", "gemini"]),
];

/// Servers, hooks and language servers around an agent.
const SERVANTS: [Sample; 12] = [
    ("node", NODE, &["node", "/srv/mcp/claude-server.js"]),
    ("node", NODE, &["node", "/home/u/.npm/_npx/1/node_modules/.bin/mcp-server-claude"]),
    ("node", NODE, &["node", "/opt/gemini-mcp/bin/gemini-mcp-server"]),
    ("python3", "/usr/bin/python3", &["python3", "/home/u/.claude/hooks/stop.py"]),
    ("python3", "/home/u/claude/.venv/bin/python3", &["python3", "app.py"]),
    ("uv", "/usr/bin/uv", &["uv", "run", "codex-mcp"]),
    ("node", NODE, &["node", "/usr/bin/typescript-language-server", "--stdio"]),
    ("node", NODE, &["node", "/home/u/src/copilot/node_modules/.bin/vite"]),
    ("node", NODE, &["node", "/home/u/.vscode/extensions/github.copilot-1/dist/language-server.js"]),
    (
        "copilot-languag",
        "/home/u/.local/bin/copilot-language-server",
        &["copilot-language-server", "--stdio"],
    ),
    ("rust-analyzer", "/usr/bin/rust-analyzer", &["rust-analyzer"]),
    ("codex-lsp", "/home/u/.cargo/bin/codex-lsp", &["codex-lsp"]),
];

/// Desktop programs, other programs of the same name, and folders that have such a name.
const NAMESAKES: [Sample; 12] = [
    ("Claude", "/Applications/Claude.app/Contents/MacOS/Claude", &["Claude"]),
    ("Claude Helper", "/Applications/Claude.app/Contents/Frameworks/Claude Helper", &["Claude Helper"]),
    ("claude-desktop", "/usr/lib/claude-desktop/claude-desktop", &["claude-desktop"]),
    ("electron", "/usr/lib/claude-desktop/electron", &["electron", "app.asar"]),
    ("Codex", "/Applications/Codex.app/Contents/MacOS/Codex", &["Codex"]),
    ("claude", "/home/u/bin/claude", &["claude"]),
    ("amp", "/usr/bin/amp", &["amp", "notes.txt"]),
    ("gemini", "/usr/bin/gemini", &["gemini", "gemini://example.org"]),
    ("cargo", "/home/u/.cargo/bin/cargo", &["cargo", "test", "-p", "codex"]),
    ("server", "/home/u/src/codex/target/debug/server", &["server"]),
    ("chrome", "/opt/google/chrome/chrome", &["chrome", "https://gemini.google.com"]),
    ("code", "/usr/share/code/code", &["code", "/home/u/src/opencode"]),
];

/// An agent's own program in another role, with that role.
const OTHER_ROLES: [(Sample, &str); 20] = [
    (("claude", CLAUDE, &["claude", "mcp", "serve"]), "claude-code Helper"),
    (("claude", CLAUDE, &["claude", "--version"]), "claude-code Helper"),
    (("claude", CLAUDE, &["claude", "update"]), "claude-code Helper"),
    (("claude", CLAUDE, &["claude", "agents", "--json"]), "claude-code Helper"),
    (("claude", CLAUDE, &["rg", "--files"]), "claude-code Helper"),
    (("claude", CLAUDE, &["claude", "daemon", "run"]), "claude-code Daemon"),
    (("claude", CLAUDE, &["claude", "--bg-pty-host", "/tmp/x.sock"]), "claude-code Daemon"),
    (("codex", CODEX, &["codex", "app-server"]), "codex Daemon"),
    (("codex", CODEX, &["codex", "mcp-server"]), "codex Helper"),
    (("codex", CODEX, &["codex", "login"]), "codex Helper"),
    (("codex", CODEX, &["codex-linux-sandbox", "--sandbox-policy-cwd", "/x"]), "codex Helper"),
    (
        (
            "codex",
            "/home/u/.vscode/extensions/openai.chatgpt-0.4/bin/linux-x86_64/codex",
            &["codex", "app-server"],
        ),
        "codex Daemon",
    ),
    (("node", NODE, &["node", "/usr/bin/gemini", "mcp", "list"]), "gemini Helper"),
    (("node", NODE, &["node", "/usr/bin/gemini", "--version"]), "gemini Helper"),
    (("node", NODE, &["node", "/n/.bin/qwen", "mcp", "list"]), "qwen Helper"),
    (("opencode", "/n/opencode-ai/bin/opencode.exe", &["opencode", "serve"]), "opencode Daemon"),
    (("opencode", "/n/opencode-ai/bin/opencode.exe", &["opencode", "auth", "login"]), "opencode Helper"),
    (("MainThread", "/n/@github/copilot-linux-x64/copilot", &["copilot", "--version"]), "copilot Helper"),
    (("amp", "/n/@ampcode/cli/bin/amp.exe", &["amp", "login"]), "amp Helper"),
    (("node", NODE, &["node", "/n/.bin/copilot"]), "copilot Launcher"),
];

fn strangers() -> impl Iterator<Item = Sample> {
    [&READERS[..], &WRAPPERS, &SERVANTS, &NAMESAKES].into_iter().flatten().copied()
}

#[test]
fn a_name_in_arguments_or_paths_makes_no_agent() {
    let wrong: Vec<String> = strangers()
        .map(|(comm, exe, argv)| (argv, classified(&process(7, 1, comm, exe, argv))))
        .filter(|(_, found)| found != "-")
        .map(|(argv, found)| format!("{argv:?}: {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(strangers().count() >= 40);
}

#[test]
fn an_agents_own_program_may_have_another_role() {
    for ((comm, exe, argv), expected) in OTHER_ROLES {
        assert_eq!(classified(&process(7, 1, comm, exe, argv)), expected, "{argv:?}");
    }
}

#[test]
fn none_of_them_is_a_window_even_side_by_side() {
    let all = strangers().chain(OTHER_ROLES.iter().map(|(sample, _)| *sample));
    let mut table = ProcessTable::default();
    for (pid, (comm, exe, argv)) in (100..).zip(all) {
        table.by_pid.insert(pid, process(pid, 1, comm, exe, argv));
    }
    let signatures = Signatures::built_in().unwrap();
    let found: Vec<_> = windows(&table, &signatures, &BTreeSet::new());
    assert!(found.is_empty(), "{found:?}");
}

/// Other ways of installing an agent are windows all the same.
#[test]
fn every_known_installation_is_a_window() {
    let real: [(Sample, &str); 12] = [
        (("claude", "/home/u/.local/share/claude/versions/2.1.197", &["claude"]), "claude-code Agent"),
        (("2.1.197", "/home/u/.local/share/claude/versions/2.1.197", &["claude"]), "claude-code Agent"),
        (("claude", "/opt/homebrew/Caskroom/claude-code/2.1.197/claude", &["claude"]), "claude-code Agent"),
        (
            (
                "claude",
                "/home/u/.vscode-server/extensions/anthropic.claude-code-2.1-linux-x64/resources/native-binary/claude",
                &["claude", "--output-format", "stream-json", "--resume", "x"],
            ),
            "claude-code Agent",
        ),
        (("node", NODE, &["node", "/n/@anthropic-ai/claude-code/cli.js"]), "claude-code Agent"),
        (("claude", CLAUDE, &["claude", "-p", "mcp"]), "claude-code Agent"),
        (("codex", "/usr/local/bin/codex", &["codex", "exec", "fix it"]), "codex Agent"),
        (
            ("codex", "/opt/homebrew/Caskroom/codex/0.169.0/codex-aarch64-apple-darwin", &["codex"]),
            "codex Agent",
        ),
        (("node", NODE, &["node", "/opt/homebrew/bin/gemini", "-p", "mcp"]), "gemini Agent"),
        (("opencode", "/home/u/.opencode/bin/opencode", &["opencode", "run", "x"]), "opencode Agent"),
        (("MainThread", "/n/@github/copilot-darwin-arm64/copilot", &["copilot"]), "copilot Agent"),
        (("amp", "/n/@sourcegraph/amp/bin/amp", &["amp"]), "amp Agent"),
    ];
    for ((comm, exe, argv), expected) in real {
        assert_eq!(classified(&process(7, 1, comm, exe, argv)), expected, "{exe} {argv:?}");
    }
}
