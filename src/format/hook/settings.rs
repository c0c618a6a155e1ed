//! The hooks in an agent's settings, in the form that Claude Code began and others took over.

use serde_json::Value;

/// The end of a command line that succeeds whatever its program returns.
pub(crate) const IN_ANY_CASE: &str = " || true";

/// One hook that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstalledHook {
    /// The event at which it runs, such as `PreToolUse`.
    pub(crate) event: String,
    /// Its place among the groups of the event, and within its group: Codex trusts it by these.
    pub(crate) place: (usize, usize),
    /// Its command line.
    pub(crate) command: String,
}

/// Returns the hooks in some settings.
///
/// # Errors
/// They are not a JSON object.
pub(crate) fn installed(text: &[u8]) -> Result<Vec<InstalledHook>, serde_json::Error> {
    let settings: serde_json::Map<String, Value> = serde_json::from_slice(text)?;
    let events = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let mut found = Vec::new();
    for (event, groups) in events {
        for (group, value) in groups.as_array().into_iter().flatten().enumerate() {
            let hooks = value.get("hooks").and_then(Value::as_array);
            // Copilot CLI has no groups.
            let flat = std::slice::from_ref(value);
            for (at, hook) in hooks.map_or(flat, Vec::as_slice).iter().enumerate() {
                let command = hook.get("command").or_else(|| hook.get("bash")).and_then(Value::as_str);
                if let Some(command) = command {
                    let command = command.to_owned();
                    found.push(InstalledHook { event: event.clone(), place: (group, at), command });
                }
            }
        }
    }
    Ok(found)
}

impl InstalledHook {
    /// Returns whether it runs this command of claimtop, wherever the program is installed.
    pub(crate) fn runs(&self, command: &str) -> bool {
        let line = self.command.strip_suffix(IN_ANY_CASE).unwrap_or(&self.command);
        let mut words = line.split_whitespace();
        let program = words.next().unwrap_or_default();
        is_claimtop(program) && words.eq(command.split_whitespace())
    }

    /// Returns whether it runs any command of claimtop.
    pub(crate) fn runs_claimtop(&self) -> bool {
        is_claimtop(self.program())
    }

    /// Returns the program that it runs.
    pub(crate) fn program(&self) -> &str {
        self.command.split_whitespace().next().unwrap_or_default()
    }

    /// Returns the name under which Codex's configuration trusts it, if its settings have this path.
    pub(crate) fn trust_key(&self, settings: &str) -> String {
        let mut event = String::new();
        for c in self.event.chars() {
            if c.is_ascii_uppercase() && !event.is_empty() {
                event.push('_');
            }
            event.push(c.to_ascii_lowercase());
        }
        let (group, at) = self.place;
        format!("{settings}:{event}:{group}:{at}")
    }
}

/// Returns whether a program is claimtop, wherever it is installed.
pub(crate) fn is_claimtop(program: &str) -> bool {
    program.rsplit('/').next() == Some("claimtop")
}

/// Returns whether Codex's configuration trusts a hook; only Codex knows whether with its present command line.
pub(crate) fn is_trusted(config: &str, key: &str) -> bool {
    let Ok(config) = config.parse::<toml::Table>() else { return false };
    let state = config.get("hooks").and_then(|hooks| hooks.get("state")).and_then(|state| state.get(key));
    state.is_some_and(|state| state.get("trusted_hash").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_found_in_either_form() {
        let text = br#"{"model":"x","hooks":{
            "PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]},
                          {"hooks":[{"type":"command","command":"/usr/bin/claimtop  guard --for codex"}]}],
            "SessionStart":[{"type":"command","bash":"claimtop bind"}], "Stop": 5}}"#;
        let found = installed(text).unwrap();
        let commands: Vec<&str> = found.iter().map(|one| one.command.as_str()).collect();
        assert_eq!(commands, ["true", "/usr/bin/claimtop  guard --for codex", "claimtop bind"]);
        let guard = found.get(1).unwrap();
        let in_any_case = InstalledHook { command: "claimtop bind || true".to_owned(), ..guard.clone() };
        assert!(in_any_case.runs("bind") && !in_any_case.runs("bind || true"));
        assert!(guard.runs("guard --for codex") && !guard.runs("guard --for claude") && !guard.runs("bind"));
        assert_eq!(guard.trust_key("/h/.codex/hooks.json"), "/h/.codex/hooks.json:pre_tool_use:1:0");
        assert!(installed(b"[]").is_err() && installed(b"").is_err());
        assert_eq!(installed(b"{}").unwrap(), []);
    }

    #[test]
    fn trust_is_read_from_codex_own_configuration() {
        let config =
            "[hooks.state]\n[hooks.state.\"/h/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n";
        assert!(is_trusted(config, "/h/hooks.json:stop:0:0"));
        assert!(!is_trusted(config, "/h/hooks.json:stop:0:1") && !is_trusted("[", "x"));
    }
}
