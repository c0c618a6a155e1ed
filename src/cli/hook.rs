//! `hook print`: what to add to an agent's settings, so that its sessions are bound.

use super::failure::{Exit, Outcome};
use super::output::print;

/// An agent whose hooks can call `claimtop bind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// Copilot CLI
    Copilot,
}

/// Every agent, in the order in which they are printed.
const ALL: [Agent; 5] = [Agent::ClaudeCode, Agent::Codex, Agent::Gemini, Agent::Qwen, Agent::Copilot];

/// The form that Claude Code began and others took over.
const SESSION_START: &str = r#"{
  "hooks": {
    "SessionStart": [
      { "hooks": [{ "type": "command", "command": "claimtop bind" }] }
    ]
  }
}
"#;

/// <https://docs.github.com/en/copilot/reference/hooks-configuration>
const COPILOT: &str = r#"{
  "version": 1,
  "hooks": {
    "sessionStart": [
      { "type": "command", "bash": "claimtop bind", "timeoutSec": 5 }
    ]
  }
}
"#;

/// Prints the settings of one agent as they are, or of all with where they go.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn print_settings(agent: Option<Agent>) -> Outcome {
    match agent {
        Some(agent) => print(snippet(agent))?,
        None => {
            let all: Vec<String> =
                ALL.iter().map(|agent| format!("# {}\n{}", place(*agent), snippet(*agent))).collect();
            print(&all.join("\n"))?;
        }
    }
    Ok(Exit::Fine)
}

fn snippet(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode | Agent::Codex | Agent::Gemini | Agent::Qwen => SESSION_START,
        Agent::Copilot => COPILOT,
    }
}

fn place(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "Claude Code: merge into ~/.claude/settings.json",
        Agent::Codex => {
            "Codex: merge into ~/.codex/hooks.json and trust it when asked (older versions: [features] codex_hooks = true); where its daemon runs the hooks, as in 0.169, nothing can be bound: it serves several windows"
        }
        Agent::Gemini => "Gemini CLI: merge into ~/.gemini/settings.json; it runs in folders that you trust",
        Agent::Qwen => "Qwen Code: merge into ~/.qwen/settings.json",
        Agent::Copilot => {
            "Copilot CLI: .github/hooks/claimtop.json of a repository; it binds where the agent passes the session to its hooks"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_snippet_is_json_that_calls_bind() {
        for agent in ALL {
            let value: serde_json::Value = serde_json::from_str(snippet(agent)).unwrap();
            assert!(value["hooks"].is_object() && snippet(agent).contains("claimtop bind"), "{agent:?}");
        }
    }
}
