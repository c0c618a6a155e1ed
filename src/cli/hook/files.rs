//! The files in which agents have their settings, and what of claimtop belongs into each.

use std::path::{Path, PathBuf};

use crate::cli::hook::{Agent, wiring};
use crate::cli::settings::Settings;
use crate::core::model::{HookEntries, HookForm, ServerEntry, SetupWay, TextLines, TextSyntax, Wiring};
use crate::format::hook::edit::{SettingsChange, edited};

/// What a model reads of the server, wherever its agent has a file for that.
pub(crate) const LINES: &str = include_str!("../../../assets/mcp/lines.md");

/// The same as a skill.
pub(crate) const SKILL: &str = include_str!("../../../assets/claude-plugin/skills/claimtop/SKILL.md");

/// Codex's entry of the server.
const CODEX_SERVER: &str = "[mcp_servers.claimtop]\ncommand = \"claimtop\"\nargs = [\"mcp\"]\n";

/// The server in the form of most agents.
const SERVER: &str = r#"{ "command": "claimtop", "args": ["mcp"] }"#;

/// Whether this build has the server.
const HAS_SERVER: bool = cfg!(feature = "mcp");

/// One file of an agent's settings, and what belongs into it.
pub(super) struct AgentFile {
    pub(super) path: PathBuf,
    pub(super) wiring: Wiring,
}

/// Returns where an agent's hooks for all repositories lie.
pub(super) fn place(agent: Agent, settings: &Settings) -> PathBuf {
    let folder = folder(agent, settings);
    match agent {
        Agent::ClaudeCode | Agent::Gemini | Agent::Qwen => folder.join("settings.json"),
        Agent::Codex => folder.join("hooks.json"),
        Agent::Copilot => folder.join("hooks/claimtop.json"),
        Agent::Opencode => folder.join("plugin/claimtop.js"),
    }
}

/// Returns the folder in which an agent looks for its settings.
pub(super) fn folder(agent: Agent, settings: &Settings) -> PathBuf {
    let (places, named) = (&settings.places, &settings.environment.agents);
    // Another home has no variables.
    let or = |variable: &Option<PathBuf>, own: &str| match variable {
        Some(named) if places.follows_homes => named.clone(),
        Some(_) | None => places.home.join(own),
    };
    match agent {
        Agent::ClaudeCode => places.claude_config.clone(),
        Agent::Codex => or(&named.codex, ".codex"),
        Agent::Gemini => or(&named.gemini_home, "").join(".gemini"),
        Agent::Qwen => or(&named.qwen, ".qwen"),
        Agent::Copilot => or(&named.copilot, ".copilot"),
        Agent::Opencode => or(&named.config, ".config").join("opencode"),
    }
}

/// Returns the files of an agent, that of its hooks first.
pub(super) fn files(agent: Agent, settings: &Settings) -> Vec<AgentFile> {
    let folder = folder(agent, settings);
    let hooks = AgentFile { path: place(agent, settings), wiring: hooks(agent) };
    let others = match agent {
        _ if !HAS_SERVER => Vec::new(),
        Agent::ClaudeCode => vec![
            (claude_config(settings, &folder), server("mcpServers", SERVER)),
            (folder.join("skills/claimtop/SKILL.md"), Wiring::Skill(SKILL.to_owned())),
        ],
        Agent::Codex => vec![
            (folder.join("config.toml"), lines(TextSyntax::CodexToml, CODEX_SERVER)),
            (folder.join("AGENTS.md"), lines(TextSyntax::Markdown, LINES)),
        ],
        Agent::Gemini => vec![(folder.join("GEMINI.md"), lines(TextSyntax::Markdown, LINES))],
        Agent::Qwen => vec![(folder.join("QWEN.md"), lines(TextSyntax::Markdown, LINES))],
        Agent::Copilot => {
            let value = r#"{ "type": "local", "command": "claimtop", "args": ["mcp"], "tools": ["*"] }"#;
            vec![
                (folder.join("mcp-config.json"), server("mcpServers", value)),
                (folder.join("copilot-instructions.md"), lines(TextSyntax::Markdown, LINES)),
            ]
        }
        Agent::Opencode => {
            let value = r#"{ "type": "local", "command": ["claimtop", "mcp"] }"#;
            vec![
                (opencode_config(&folder), server("mcp", value)),
                (folder.join("AGENTS.md"), lines(TextSyntax::Markdown, LINES)),
            ]
        }
    };
    let others = others.into_iter().map(|(path, wiring)| AgentFile { path, wiring });
    std::iter::once(hooks).chain(others).collect()
}

/// Returns what a file of its own would have, for a person who adds it.
pub(super) fn text_of(wiring: &Wiring) -> String {
    match edited(None, wiring, SetupWay::Add).map(|edited| edited.change) {
        Ok(SettingsChange::New(text)) => String::from_utf8_lossy(&text).into_owned(),
        Ok(SettingsChange::Same | SettingsChange::Gone) | Err(_) => String::new(),
    }
}

/// Returns what belongs into the file of the hooks; Gemini CLI and Qwen Code have their servers there as well.
fn hooks(agent: Agent) -> Wiring {
    let is_shared = HAS_SERVER && matches!(agent, Agent::Gemini | Agent::Qwen);
    match wiring(agent) {
        Wiring::Hooks(entries) if is_shared => {
            Wiring::Hooks(HookEntries { server: Some(entry("mcpServers", SERVER)), ..entries })
        }
        wiring @ (Wiring::Hooks(_) | Wiring::Plugin(_) | Wiring::Skill(_) | Wiring::Lines(_)) => wiring,
    }
}

fn entry(list: &str, value: &str) -> ServerEntry {
    ServerEntry { list: list.to_owned(), value: value.to_owned() }
}

fn server(list: &str, value: &str) -> Wiring {
    let server = Some(entry(list, value));
    Wiring::Hooks(HookEntries { form: HookForm::Groups, hooks: Vec::new(), status_line: None, server })
}

fn lines(syntax: TextSyntax, text: &str) -> Wiring {
    Wiring::Lines(TextLines { syntax, text: text.to_owned() })
}

/// Returns the file in which Claude Code has the servers of its user: beside `~/.claude`, or in the folder that its
/// variable names.
fn claude_config(settings: &Settings, folder: &Path) -> PathBuf {
    let is_named = settings.places.follows_homes && settings.environment.claude_config.is_some();
    if is_named { folder.join(".claude.json") } else { settings.places.home.join(".claude.json") }
}

/// Returns the file that opencode writes to: the first that is there.
fn opencode_config(folder: &Path) -> PathBuf {
    let with_comments = folder.join("opencode.jsonc");
    if with_comments.symlink_metadata().is_ok() { with_comments } else { folder.join("opencode.json") }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::cli::hook::snippet;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_plugin_for_claude_code_has_what_setup_adds() {
        let hooks = include_str!("../../../assets/claude-plugin/hooks/hooks.json");
        assert_eq!(value(hooks), value(&snippet(Agent::ClaudeCode)));
        let servers = value(include_str!("../../../assets/claude-plugin/.mcp.json"));
        assert_eq!(servers, value(&text_of(&server("mcpServers", SERVER))));
        let plugin = value(include_str!("../../../assets/claude-plugin/.claude-plugin/plugin.json"));
        assert_eq!(plugin["name"], "claimtop");
        assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(plugin["license"], env!("CARGO_PKG_LICENSE"));
    }

    #[test]
    fn the_skill_begins_as_skills_do() {
        let head = SKILL.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap().0;
        let name = head.lines().find_map(|line| line.strip_prefix("name: "));
        let about = head.lines().find_map(|line| line.strip_prefix("description: ")).unwrap();
        assert_eq!(name, Some("claimtop"));
        assert!((40..1_024).contains(&about.len()), "{about}");
    }

    #[test]
    fn a_server_is_added_in_the_form_of_each_agent() {
        assert!(text_of(&server("mcp", SERVER)).starts_with("{\n  \"mcp\": {\n    \"claimtop\": {"));
        let codex = text_of(&lines(TextSyntax::CodexToml, CODEX_SERVER));
        assert_eq!(
            codex.parse::<toml::Table>().unwrap()["mcp_servers"]["claimtop"]["args"][0].as_str(),
            Some("mcp")
        );
    }
}
