//! The systems that write records, and by what rule claimtop lets their records go.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::core::model::own::Own;
use crate::core::model::record::kind::RecordKind;
use crate::core::model::record::let_go::LetGo;

/// The system that wrote a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Maia's active-agent session files.
    Maia,
    /// The multi-agent observability system's session-ID files.
    Observability,
    /// The entire CLI's session state.
    Entire,
    /// The LEO protocol's session files, markers, ticks and locks.
    Leo,
    /// Claude Code's own per-PID registry.
    ClaudeCode,
    /// The Obra orchestrator's SQLite database.
    Obra,
    /// Git's own locks.
    Git,
    /// The issues of beads (`bd`).
    Beads,
    /// The file reservations of mcp_agent_mail.
    AgentMail,
    /// Codex's own locks.
    Codex,
    /// Copilot CLI's own locks.
    Copilot,
    /// One that a person has described.
    Own(Own),
}

impl Format {
    /// Every format that claimtop knows by itself, in the order in which they are shown.
    pub const ALL: [Self; 11] = [
        Self::ClaudeCode,
        Self::Maia,
        Self::Observability,
        Self::Entire,
        Self::Leo,
        Self::Obra,
        Self::Git,
        Self::Beads,
        Self::AgentMail,
        Self::Codex,
        Self::Copilot,
    ];

    /// Returns the name that the interface fixes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Maia => "maia",
            Self::Observability => "observability",
            Self::Entire => "entire",
            Self::Leo => "leo",
            Self::ClaudeCode => "claude-code",
            Self::Obra => "obra",
            Self::Git => "git",
            Self::Beads => "beads",
            Self::AgentMail => "agent-mail",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Own(own) => &own.definition().name,
        }
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|format| format.name() == name);
        Ok(known.unwrap_or_else(|| Self::Own(Own::named(&name))))
    }
}

impl Format {
    /// Returns by what rule claimtop lets its records of a kind go.
    pub fn let_go(self, kind: RecordKind) -> LetGo {
        match self {
            Self::ClaudeCode if kind == RecordKind::Metadata => LetGo::Never,
            Self::Maia | Self::Observability | Self::Entire | Self::Leo | Self::ClaudeCode | Self::Obra => {
                LetGo::ByVerdict
            }
            Self::Git => LetGo::OnlyDead,
            Self::Beads | Self::AgentMail | Self::Codex | Self::Copilot => LetGo::Never,
            Self::Own(own) => own.definition().let_go,
        }
    }
}
