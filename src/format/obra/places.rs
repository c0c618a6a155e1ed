//! The places of Obra's database, and the signs of its processes.

/// The places of the database below a home or a working directory: Obra's own defaults, its author's set-up and its
/// migration script.
pub(crate) const COMMON: [&str; 4] =
    ["orchestrator.db", "data/orchestrator.db", "obra-runtime/data/orchestrator.db", "runtime/obra.db"];

/// The places of its configuration below such a folder.
pub(crate) const SETTINGS: [&str; 2] = ["config/config.yaml", "config/default_config.yaml"];

/// The settings of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Configuration {
    /// The path of the database, which may be relative to the folder that Obra is started in.
    pub(crate) database: Option<String>,
    /// Whether the agents run on another host, by ssh.
    pub(crate) is_remote: bool,
}

/// Reads the two settings that matter, `database.url` and `agent.type`, of a YAML file in the
/// form that Obra writes: blocks of indented keys.
pub(crate) fn settings(text: &str) -> Configuration {
    let mut configured = Configuration::default();
    let mut block = "";
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        if !key.starts_with(char::is_whitespace) {
            block = key.trim();
        } else if (block, key.trim()) == ("database", "url") {
            configured.database = value.strip_prefix("sqlite:///").map(str::to_owned);
        } else if (block, key.trim()) == ("agent", "type") {
            configured.is_remote = value == "claude_code_ssh";
        }
    }
    configured
}

/// Returns whether arguments are those of Obra: its program, or Python with its script or module.
pub(crate) fn is_runner<'a>(argv: impl IntoIterator<Item = &'a str>) -> bool {
    let name = |argument: &'a str| argument.rsplit('/').next().unwrap_or_default();
    let mut argv = argv.into_iter();
    let program = argv.next().map(name).unwrap_or_default();
    let is_own = |argument: &'a str| {
        name(argument) == "obra" || argument == "src.cli" || argument.ends_with("src/cli.py")
    };
    let is_python = program.starts_with("python") || program.starts_with("pypy");
    program == "obra" || (is_python && argv.take(5).any(is_own))
}
