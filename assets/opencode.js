// claimtop's guard for opencode: ~/.config/opencode/plugin/claimtop.js
// It tells a model in time what other windows have not committed, and never fails it.
import { spawnSync } from "node:child_process"

export const ClaimtopGuard = async ({ directory }) => {
  const ask = (event, { tool, sessionID, callID }, args) => {
    try {
      const input = JSON.stringify({
        session_id: sessionID,
        cwd: directory,
        hook_event_name: event,
        tool_name: tool,
        tool_use_id: callID,
        tool_input: args,
      })
      const options = { input, encoding: "utf8", timeout: 1000, stdio: ["pipe", "pipe", "ignore"] }
      return JSON.parse(spawnSync("claimtop", ["guard", "--for", "opencode"], options).stdout || "{}")
    } catch {
      return {}
    }
  }
  return {
    "tool.execute.before": async (input, output) => {
      const { deny } = ask("PreToolUse", input, output.args)
      if (deny) throw new Error(deny)
    },
    "tool.execute.after": async (input, output) => {
      const { note } = ask("PostToolUse", input, input.args)
      if (note && typeof output.output === "string") output.output += `\n\n${note}`
    },
  }
}
