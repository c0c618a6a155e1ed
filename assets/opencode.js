// claimtop's guard for opencode: ~/.config/opencode/plugin/claimtop.js
// It tells a model in time what other windows have not committed, and never fails it.
import { spawnSync } from "node:child_process"

export const ClaimtopGuard = async ({ directory }) => {
  // The calls that were refused, and those of them whose refusal the model has been sent.
  const refused = new Set()
  const read = new Set()
  const ask = (event, sessionID, more) => {
    try {
      const input = JSON.stringify({ session_id: sessionID, cwd: directory, hook_event_name: event, ...more })
      const options = { input, encoding: "utf8", timeout: 1000, stdio: ["pipe", "pipe", "ignore"] }
      return JSON.parse(spawnSync("claimtop", ["guard", "--for", "opencode"], options).stdout || "{}")
    } catch {
      return {}
    }
  }
  const call = ({ tool, callID }, args) => ({ tool_name: tool, tool_use_id: callID, tool_input: args })
  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      const prompt = parts?.find(({ type }) => type === "text")
      const { note } = prompt ? ask("UserPromptSubmit", sessionID, {}) : {}
      if (note) parts.push({ ...prompt, id: `${prompt.id}0`, text: note, synthetic: true })
    },
    "experimental.chat.messages.transform": async (_, { messages }) => {
      const sent = messages?.flatMap(({ parts }) => parts.map(({ callID }) => callID)) ?? []
      for (const id of sent) if (refused.has(id)) read.add(id)
    },
    "tool.execute.before": async (input, output) => {
      const more = { ...call(input, output.args), read_refusals: [...read] }
      const { deny } = ask("PreToolUse", input.sessionID, more)
      if (!deny) return
      refused.add(input.callID)
      throw new Error(deny)
    },
    "tool.execute.after": async (input, output) => {
      const { note } = ask("PostToolUse", input.sessionID, call(input, input.args))
      if (note && typeof output.output === "string") output.output += `\n\n${note}`
    },
  }
}
