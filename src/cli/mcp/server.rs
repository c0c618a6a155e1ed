//! The protocol: tools are listed and called, and everything else is answered as the crate `rmcp` does.

use std::sync::Arc;

use anyhow::anyhow;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;

use super::desk::Desk;
use super::filter::Filter;
use super::request::{Request, RequestError};
use super::tools::{INSTRUCTIONS, TOOLS, ToolText};
use super::worker::{LIMIT, Worker};
use crate::core::model::text::shown;
use crate::present::answer::AgentAnswer;

/// Answers one agent.
struct Server {
    worker: Worker<Desk>,
}

/// Serves the agent at the other end of standard input and output until that ends.
///
/// # Errors
/// The other side does not speak the protocol.
pub(super) async fn serve(worker: Worker<Desk>) -> anyhow::Result<()> {
    let Filter { input, output, written } = Filter::start(tokio::io::stdin(), tokio::io::stdout());
    let ended = match (Server { worker }).serve((input, output)).await {
        Ok(served) => served.waiting().await.map(drop).map_err(|error| anyhow!("failed to serve: {error}")),
        // The other side has gone before it asked anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(anyhow!("failed to begin: {}", shown(&error.to_string()))),
    };
    written.await.map_err(|error| anyhow!("failed to write the last answers: {error}"))?;
    ended
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("claimtop", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let request = match Request::parse(&call.name, call.arguments.unwrap_or_default()) {
            Ok(request) => request,
            Err(RequestError::UnknownTool) => {
                return Err(ErrorData::invalid_params("no tool has this name", None));
            }
            Err(RequestError::Arguments(why)) => return Err(ErrorData::invalid_params(shown(&why), None)),
        };
        let answered = self.worker.run(LIMIT, move |desk| desk.answer(&request)).await;
        Ok(match answered {
            Ok(Ok(answer)) => result(&answer)?,
            Ok(Err(error)) => refusal(&format!("{error:#}")),
            Err(error) => refusal(&error.to_string()),
        }
        .into())
    }
}

fn tool(text: &ToolText) -> Tool {
    // Nothing outside of this machine is asked, and nothing of others is changed.
    let hints = ToolAnnotations::new()
        .read_only(text.is_read_only)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(text.name, text.description, Arc::new(text.schema())).with_annotations(hints)
}

fn result(answer: &AgentAnswer) -> Result<CallToolResult, ErrorData> {
    let failed = |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
    let structured: Value = serde_json::to_value(answer).map_err(failed)?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.to_text().map_err(failed)?)]);
    result.structured_content = Some(structured);
    Ok(result)
}

/// Says that nothing was done or is known: no answer to what was asked.
fn refusal(why: &str) -> CallToolResult {
    let why = serde_json::Value::from(shown(why)).to_string();
    CallToolResult::error(vec![ContentBlock::text(format!(
        "verdict: unknown (failed)\nevidence: [{why}]\ndo: Nothing is known, nor whether anything was done: ask the person."
    ))])
}
