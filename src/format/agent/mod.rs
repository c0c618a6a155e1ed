//! Agents that write sessions of their own: a file or a database for each.

pub(crate) mod bytes;
pub(crate) mod claude_code;
pub(crate) mod cline;
pub(crate) mod codex;
pub(crate) mod continue_dev;
pub(crate) mod copilot;
pub(crate) mod gemini;
pub(crate) mod kimi;
pub(crate) mod opencode;
pub(crate) mod pi;
pub(crate) mod qwen;
