//! The systems that write records, and their properties that judging and planning need.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::core::model::record::let_go::Refusal;
use crate::core::model::{DescribedFormat, LetGo, RecordKind};

/// The properties of a system that judging and planning need.
struct System {
    /// The name that the interface fixes.
    name: &'static str,
    agents: Agents,
    /// The rule by which its records are let go.
    let_go: LetGo,
    /// Why its records are never let go.
    refusal: Option<Refusal>,
}

/// The agents that run a system.
enum Agents {
    /// Any.
    Any,
    /// Those whose names contain this.
    Like(&'static str),
    /// The one with this name.
    Only(&'static str),
}

impl System {
    /// Describes a system whose records are let go by their verdicts.
    const fn new(name: &'static str, agents: Agents) -> Self {
        Self { name, agents, let_go: LetGo::ByVerdict, refusal: None }
    }

    /// Describes a system that must let its records go itself: why, and what to do instead.
    const fn never(name: &'static str, agents: Agents, why: &'static str, instead: &'static str) -> Self {
        Self { let_go: LetGo::Never, refusal: Some((why, instead)), ..Self::new(name, agents) }
    }
}

/// Creates a variant for each system, in display order.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $system:expr;)*) => {
        /// The system that wrote a record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Format {
            $($(#[$doc])* $format,)*
            /// A format described by a person.
            Described(DescribedFormat),
        }

        impl Format {
            /// Every built-in format, in display order.
            pub const ALL: [Self; [$(stringify!($format)),*].len()] = [$(Self::$format),*];

            /// Returns the properties of the system, or a person's description.
            fn system(self) -> Result<&'static System, DescribedFormat> {
                match self {
                    $(Self::$format => Ok(const { &$system }),)*
                    Self::Described(own) => Err(own),
                }
            }
        }
    };
}

formats! {
    /// Claude Code's own per-PID registry, its locks, task lists and teams.
    ClaudeCode = System::new("claude-code", Agents::Like("claude"));
    /// Maia's active-agent session files.
    Maia = System::new("maia", Agents::Like("claude"));
    /// The multi-agent observability system's session-ID files.
    Observability = System::new("observability", Agents::Like("claude"));
    /// The entire CLI's session state.
    Entire = System::new("entire", Agents::Any);
    /// The LEO protocol's session files, markers, ticks and locks.
    Leo = System::new("leo", Agents::Like("claude"));
    /// The Obra orchestrator's SQLite database.
    Obra = System::new("obra", Agents::Like("claude"));
    /// Git's own locks.
    Git = System { let_go: LetGo::OnlyDead, ..System::new("git", Agents::Any) };
    /// The issues of beads (`bd`).
    Beads = System::never(
        "beads",
        Agents::Any,
        "beads keeps its issues in a database of its own",
        "bd update <id> --status open releases an issue; the kernel frees a daemon's lock when it ends",
    );
    /// The file reservations of mcp_agent_mail.
    AgentMail = System::never(
        "agent-mail",
        Agents::Any,
        "mcp_agent_mail keeps its reservations in a database of its own",
        "wait until it expires, or use its tool force_release_file_reservation",
    );
    /// Codex's own locks.
    Codex = System::never("codex", Agents::Only("codex"), AGENTS_LOCK, WITH_ITS_WINDOW);
    /// Copilot CLI's own locks.
    Copilot = System::never("copilot", Agents::Only("copilot"), AGENTS_LOCK, WITH_ITS_WINDOW);
    /// Gemini CLI's own sessions.
    Gemini = System::never("gemini", Agents::Only("gemini"), AGENTS_SESSION, WITH_ITS_WINDOW);
    /// Qwen Code's own sessions.
    Qwen = System::never("qwen", Agents::Only("qwen"), AGENTS_SESSION, WITH_ITS_WINDOW);
    /// opencode's own sessions.
    OpenCode = System::never("opencode", Agents::Only("opencode"), AGENTS_SESSION, WITH_ITS_WINDOW);
    /// Pi's own sessions.
    Pi = System::never("pi", Agents::Only("pi"), AGENTS_SESSION, WITH_ITS_WINDOW);
    /// Kimi Code's own sessions.
    Kimi = System::never("kimi", Agents::Only("kimi"), AGENTS_SESSION, WITH_ITS_WINDOW);
    /// Continue's own sessions.
    Continue = System::never("continue", Agents::Only("continue"), AGENTS_SESSION, WITH_ITS_WINDOW);
    /// Cline's own sessions.
    Cline = System::never("cline", Agents::Only("cline"), AGENTS_SESSION, WITH_ITS_WINDOW);
}

const AGENTS_LOCK: &str = "only that agent releases its own lock";
const AGENTS_SESSION: &str = "a session's own file is its agent's";
const WITH_ITS_WINDOW: &str = "it goes when its window is closed; when the agent takes over that of a dead window is not known for certain";

impl Format {
    /// Returns the name that the interface fixes.
    pub fn name(self) -> &'static str {
        match self.system() {
            Ok(system) => system.name,
            Err(own) => own.name(),
        }
    }

    /// Returns whether a system works with an agent. Maia, observability and LEO are hooks of Claude
    /// Code; other agents never run them.
    pub(crate) fn runs_on(self, agent: &str) -> bool {
        self.system().ok().is_none_or(|system| match system.agents {
            Agents::Any => true,
            Agents::Like(part) => agent.contains(part),
            Agents::Only(name) => agent == name,
        })
    }

    /// Returns whether an agent itself writes its records, and no system beside it.
    pub(crate) fn is_of_an_agent(self) -> bool {
        match self {
            Self::ClaudeCode
            | Self::Codex
            | Self::Copilot
            | Self::Gemini
            | Self::Qwen
            | Self::OpenCode
            | Self::Pi
            | Self::Kimi
            | Self::Continue
            | Self::Cline => true,
            Self::Maia
            | Self::Observability
            | Self::Entire
            | Self::Leo
            | Self::Obra
            | Self::Git
            | Self::Beads
            | Self::AgentMail
            | Self::Described(_) => false,
        }
    }

    /// Returns the format in which an agent itself writes its sessions, if claimtop reads them.
    pub(crate) fn of_agent(agent: &str) -> Option<Self> {
        let own = Self::ALL.into_iter().find(|format| format.is_of_an_agent() && format.name() == agent);
        own.or_else(|| agent.contains("claude").then_some(Self::ClaudeCode))
    }

    /// Returns the rule by which claimtop lets its records of a kind go.
    pub(crate) fn let_go(self, kind: RecordKind) -> LetGo {
        match self.system() {
            Ok(_) if self == Self::ClaudeCode && kind == RecordKind::Metadata => LetGo::Never,
            Ok(system) => system.let_go,
            Err(own) => own.let_go,
        }
    }

    /// Returns why its records are never let go, and what to do instead.
    pub(crate) fn refusal(self) -> Option<Refusal> {
        self.system().ok()?.refusal
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
        Ok(known.unwrap_or_else(|| Self::Described(DescribedFormat::named(&name, LetGo::Never))))
    }
}
