//! `hook print`: what to add to an agent's settings, so that its sessions are bound, their waits known and they are
//! notified in time of what other windows have not committed.

pub(crate) mod bind;
pub(crate) mod check;
pub(crate) mod files;
pub(crate) mod git_events;
pub(crate) mod input;
pub(crate) mod setup;

use super::output::print;
use crate::cli::output::failure::{Exit, Outcome};
use crate::core::model::{HookEntries, HookEntry, HookForm, TextLines, Wiring};
use crate::format::hook::edit::{by_event, entry_text};
use crate::format::hook::guard::Asker;
use crate::format::hook::settings::IN_ANY_CASE;

/// An agent whose hooks can call `claimtop bind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code
    #[value(alias = "claude")]
    ClaudeCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// Copilot CLI
    Copilot,
    /// opencode, whose hooks are a plugin
    Opencode,
}

impl Agent {
    /// Returns whether it takes a program that is not there (127) for a refusal, as Gemini CLI 0.61.0 does, or every
    /// hook that fails, as Copilot CLI 1.0.102 does.
    pub(super) fn is_stopped_by_failures(self) -> bool {
        match self {
            Self::Gemini | Self::Copilot => true,
            Self::ClaudeCode | Self::Codex | Self::Qwen | Self::Opencode => false,
        }
    }

    /// Returns whether it reads settings with comments; the others take the whole file for broken.
    pub(super) fn takes_comments(self) -> bool {
        match self {
            Self::Gemini | Self::Qwen => true,
            Self::ClaudeCode | Self::Codex | Self::Copilot | Self::Opencode => false,
        }
    }

    /// Returns whether it reads settings that begin with a byte order mark, as Claude Code 2.1.332 does.
    pub(super) fn takes_bom(self) -> bool {
        match self {
            Self::ClaudeCode => true,
            Self::Codex | Self::Gemini | Self::Qwen | Self::Copilot | Self::Opencode => false,
        }
    }

    /// Returns its name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
        }
    }

    /// Returns its name for people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Qwen => "Qwen Code",
            Self::Copilot => "Copilot CLI",
            Self::Opencode => "opencode",
        }
    }
}

/// Every agent, in the order in which they are printed.
pub(super) const ALL: [Agent; 6] =
    [Agent::ClaudeCode, Agent::Codex, Agent::Gemini, Agent::Qwen, Agent::Copilot, Agent::Opencode];

/// opencode's plugin; it asks nothing but the guard.
pub(super) const PLUGIN: &str = include_str!("../../../assets/opencode.js");

/// The events that say who runs a session, that it waits for a person, and that it goes on. Claude Code
/// writes down itself that it waits.
pub(super) fn events(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::ClaudeCode => &["SessionStart"],
        Agent::Codex => {
            &["SessionStart", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop", "Interrupt"]
        }
        Agent::Gemini => &["SessionStart", "Notification", "AfterTool", "BeforeAgent", "AfterAgent"],
        Agent::Qwen => &[
            "SessionStart", "PermissionRequest", "Notification", "PostToolUse", "PostToolUseFailure",
            "UserPromptSubmit", "Stop",
        ],
        // Under these names its hooks learn which event it is.
        Agent::Copilot => &["SessionStart", "Notification", "PostToolUse", "UserPromptSubmit", "Stop"],
        Agent::Opencode => &[],
    }
}

/// The events at which a guard is asked, each with the tools that it is for. The command lines that are printed
/// never change: Codex trusts a hook by its own.
pub(super) fn guarded(agent: Agent) -> (Asker, &'static [(&'static str, &'static str)]) {
    let claude = &[
        ("UserPromptSubmit", ""),
        ("PreToolUse", "Write|Edit|NotebookEdit|Bash|mcp__.*"),
        ("PostToolUse", "Write|Edit|NotebookEdit|Bash|mcp__.*"),
    ];
    let all = &[("UserPromptSubmit", ""), ("PreToolUse", ""), ("PostToolUse", "")];
    let gemini = &[
        ("BeforeAgent", ""),
        ("BeforeTool", "write_file|replace|run_shell_command"),
        ("AfterTool", "write_file|replace|run_shell_command"),
    ];
    let qwen = &[
        ("UserPromptSubmit", ""),
        ("PreToolUse", "write_file|edit|run_shell_command"),
        ("PostToolUse", "write_file|edit|run_shell_command"),
    ];
    match agent {
        Agent::ClaudeCode => (Asker::Claude, claude),
        Agent::Codex => (Asker::Codex, all),
        Agent::Gemini => (Asker::Gemini, gemini),
        Agent::Qwen => (Asker::Qwen, qwen),
        Agent::Copilot => (Asker::Copilot, all),
        Agent::Opencode => (Asker::Opencode, &[]),
    }
}

/// Returns what belongs into an agent's settings.
fn wiring(agent: Agent) -> Wiring {
    if agent == Agent::Opencode {
        return Wiring::Plugin(PLUGIN.to_owned());
    }
    let ends = if agent.is_stopped_by_failures() { IN_ANY_CASE } else { "" };
    let entry = |event: &str, matcher: &str, command: &str| HookEntry {
        event: event.to_owned(),
        matcher: matcher.to_owned(),
        command: format!("{command}{ends}"),
    };
    let (asker, guarded) = guarded(agent);
    let guard = format!("claimtop guard --for {}", asker.name());
    let binds = events(agent).iter().map(|event| entry(event, "", "claimtop bind"));
    let guards = guarded.iter().map(|(event, matcher)| entry(event, matcher, &guard));
    Wiring::Hooks(HookEntries {
        form: if agent == Agent::Copilot { HookForm::Flat } else { HookForm::Groups },
        hooks: binds.chain(guards).collect(),
        status_line: (agent == Agent::ClaudeCode).then(|| "claimtop statusline".to_owned()),
        server: None,
    })
}

/// How the hooks go.
const REMOVAL: &str = "\
`claimtop setup --remove` does this. By hand: remove every entry whose command begins with `claimtop bind` or `claimtop guard` from the `hooks` of
  Claude Code: ~/.claude/settings.json
  Codex:       ~/.codex/hooks.json; groups after a removed one must be trusted again
  Gemini CLI:  ~/.gemini/settings.json
  Qwen Code:   ~/.qwen/settings.json
and delete
  Copilot CLI: ~/.copilot/hooks/claimtop.json, or .github/hooks/claimtop.json of a repository
  opencode:    ~/.config/opencode/plugin/claimtop.js
`claimtop hook check` then says `no`. Their notes stay in `bindings` and `guard` of the state folder.
";

/// Prints the settings of one agent as they are, or of all with where they go.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn print_settings(agent: Option<Agent>, is_removal: bool) -> Outcome {
    if is_removal {
        print(REMOVAL)?;
        return Ok(Exit::Fine);
    }
    match agent {
        Some(agent) => print(&snippet(agent))?,
        None => {
            let all: Vec<String> =
                ALL.iter().map(|agent| format!("# {}\n{}", place(*agent), snippet(*agent))).collect();
            print(&all.join("\n"))?;
        }
    }
    Ok(Exit::Fine)
}

/// Returns the settings of an agent: in the form that Claude Code began and others took over, or in
/// Copilot CLI's own (<https://docs.github.com/en/copilot/reference/hooks-reference>).
fn snippet(agent: Agent) -> String {
    let entries = match wiring(agent) {
        Wiring::Plugin(text) | Wiring::Skill(text) | Wiring::Lines(TextLines { text, .. }) => return text,
        Wiring::Hooks(entries) => entries,
    };
    let version = if entries.form == HookForm::Flat { "  \"version\": 1,\n" } else { "" };
    let line = |(event, hooks): &(&str, Vec<&HookEntry>)| {
        let hooks: Vec<String> = hooks.iter().map(|hook| entry_text(entries.form, hook)).collect();
        format!("    \"{event}\": [{}]", hooks.join(", "))
    };
    let lines: Vec<String> = by_event(&entries.hooks).iter().map(line).collect();
    format!("{{\n{version}  \"hooks\": {{\n{}\n  }}\n}}\n", lines.join(",\n"))
}

fn place(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "Claude Code: merge into ~/.claude/settings.json",
        Agent::Codex => {
            "Codex: merge into ~/.codex/hooks.json and trust it when asked (older versions: [features] codex_hooks = true); if its daemon runs the hooks, as in 0.169, no window can be bound, as it serves several; waits are noted"
        }
        Agent::Gemini => "Gemini CLI: merge into ~/.gemini/settings.json; it runs in folders that you trust",
        Agent::Qwen => "Qwen Code: merge into ~/.qwen/settings.json",
        Agent::Copilot => {
            "Copilot CLI: save as ~/.copilot/hooks/claimtop.json; it binds if the agent passes the session to its hooks"
        }
        Agent::Opencode => "opencode: save as ~/.config/opencode/plugin/claimtop.js; it only asks the guard",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::hook::{HookReport, Over, report};
    use crate::format::reading::json;

    #[test]
    fn every_snippet_is_json_that_calls_bind_and_guard() {
        for agent in ALL.into_iter().filter(|agent| *agent != Agent::Opencode) {
            let text = snippet(agent);
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(text.matches("claimtop bind").count(), events(agent).len(), "{agent:?}");
            let (asker, all) = guarded(agent);
            let times = text.matches(&format!("claimtop guard --for {}", asker.name())).count();
            let all_pass = text.matches(IN_ANY_CASE).count() == events(agent).len() + times;
            assert_eq!(all_pass, agent.is_stopped_by_failures(), "{agent:?}");
            assert_eq!(times, all.len(), "{agent:?}");
            assert!(times >= 2, "{agent:?}");
            let groups =
                value["hooks"].as_object().unwrap().values().map(|groups| groups.as_array().unwrap().len());
            assert_eq!(groups.sum::<usize>(), events(agent).len() + times, "{agent:?}");
        }
    }

    #[test]
    fn an_agent_that_reports_waits_reports_their_ends() {
        for agent in ALL {
            let said: Vec<HookReport> = events(agent)
                .iter()
                .map(|event| {
                    let hook = format!(
                        r#"{{"hook_event_name":"{event}","notification_type":"permission_prompt","tool_name":"x"}}"#
                    );
                    report(&json::parse(hook.as_bytes()).unwrap())
                })
                .collect();
            let waits = said.iter().any(|told| matches!(told, HookReport::Waits(..)));
            let ends = |over: fn(&Over) -> bool| {
                said.iter().any(|told| matches!(told, HookReport::Over(end) if over(end)))
            };
            assert_eq!(waits, ends(|over| matches!(over, Over::Call(..))), "{agent:?}");
            assert!(!waits || ends(|over| matches!(over, Over::Turn(None))), "{agent:?}");
            assert!(waits || matches!(agent, Agent::ClaudeCode | Agent::Opencode), "{agent:?}");
        }
    }
}
