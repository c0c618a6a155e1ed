//! SQLite databases of systems that only they themselves write: issues of beads, reservations of
//! mcp_agent_mail. Their rows name no process, so it does not matter when they are read.

pub(crate) mod beads;
pub(crate) mod kept;
pub(crate) mod mail;
