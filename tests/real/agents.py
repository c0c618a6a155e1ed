"""The agents: how each is installed, set up, started, and what of its files is kept."""

import glob
import json
import os
import re
import sqlite3
import subprocess
import time

from stub import Step, shell, tool

KEY = "sk-ant-api03-no-such-account-00000000000000000000"
QUESTIONS = [{
    "question": "Which one shall it be?", "header": "Which", "multiSelect": False,
    "options": [{"label": "This", "description": "The first"}, {"label": "That", "description": "The second"}],
}]


class Agent:
    """What all have in common."""

    name = package = command = ""
    # Whose process it is, by the end of its executable or of an argument.
    process = re.compile("(?!)")
    # Whether its process is the last of a chain of such processes.
    starts_itself_again = False
    # What is kept of its files, by their paths below the home.
    kept = re.compile("(?!)")

    def environment(self, stage):
        return {}

    def prepare(self, stage):
        pass

    def trust(self, stage, folder):
        pass

    # What its screen says while it works.
    busy = "esc to (interrupt|cancel)"
    # Tables of its databases that are not kept.
    left_out = set()
    # How often the model is asked by who gives a task to a sub-agent, its end included.
    lead_asked = 5
    # What a window is started with where a scene says nothing.
    usual = ()

    def is_kept(self, path):
        return bool(self.kept.search(path)) and not re.search(r"\.(key|lock|tmp)$|\.tmp\.|/auth|credential", path)

    def is_agent(self, known):
        return bool(self.process.search(" ".join([known["exe"], *known["argv"][:3]])))

    def wait_ready(self, stage, window, pattern):
        stage.wait_screen(window.name, pattern or self.ready)

    def risky(self, command):
        """Returns a call that asks for permission."""
        return shell(command)

    def before_question(self, stage, name):
        """Prepares a window for a question."""

    # Where sessions are written, with their ID.
    transcript = re.compile("(?!)")

    def session(self, stage, window):
        """Returns the session in whose file the window's last prompt stands; of several, as forks repeat it, the first."""
        prompt = json.dumps(window.truth["prompt"] or "?").encode()
        for name, content in stage.files.held.items():
            found = self.transcript.search(name)
            if found and isinstance(content, bytes) and prompt in content:
                return found[1]
        return None

    def registered(self, stage, name):
        """Returns the session that the agent's own registry tells, where no prompt tells it yet."""

    def forked(self, stage, name):
        """Returns the session of a fork in which nothing was asked yet, where that is known."""
        return self.registered(stage, name)

    def dismiss(self, stage, name):
        """Closes what an error has opened."""

    def ask_to_edit(self, stage):
        """Lets edits be asked about, where the arguments do not."""

    def edits_seen_early(self, paths):
        """Returns which of parallel edits stand in its file while another call still runs."""
        return paths

    def resume(self, session):
        return ["--resume", session]

    def fork(self, session):
        return ["--resume", session, "--fork-session"]

    def version(self, installed):
        with open(f"{installed}/node_modules/{self.package}/package.json") as file:
            return json.load(file)["version"]

    def install(self, folder):
        words = ["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, f"{self.package}@latest"]
        subprocess.run(words, check=True, capture_output=True)


class Claude(Agent):
    name, package, command = "claude-code", "@anthropic-ai/claude-code", "claude"
    process = re.compile(r"claude(\.exe)?( |$)")
    ready = r"\? for shortcuts|❯"
    kept = re.compile(
        r"^\.claude/(sessions/[0-9]+\.json|projects/.*\.(jsonl|json)|history\.jsonl|tasks/.*\.json"
        r"|daemon\.lock|daemon/roster\.json|jobs/.*\.jsonl?|teams/.*\.json|todos/.*\.json)$"
    )

    def environment(self, stage):
        own = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": stage.stub.address}
        own |= {"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        return own | {"CLAUDE_CODE_MAX_RETRIES": "0"}

    def prepare(self, stage):
        self.projects = {}
        stage.write_home(".claude/settings.json", {"permissions": {"allow": ["Read", "Write", "Edit"]}})
        self.settle(stage)

    def settle(self, stage):
        approved = {"approved": [KEY[-20:]], "rejected": []}
        stage.write_home(".claude.json", {
            "hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": approved,
            "projects": {folder: {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True} for folder in self.projects},
        })

    def trust(self, stage, folder):
        self.projects[folder] = True
        self.settle(stage)

    def session(self, stage, window):
        """Returns the session that the model is told of with the window's last prompt."""
        prompt = window.truth["prompt"]
        for asked in reversed(stage.stub.asked):
            if prompt and prompt in json.dumps(asked["asked"].get("messages", [])[-8:], ensure_ascii=False):
                found = asked["headers"].get("x-claude-code-session-id")
                if found:
                    return found
        return None

    clear, compact = "/clear", "/compact"
    careful, careless = ("--permission-mode", "default"), ("--permission-mode", "default", "--allowedTools", "'Bash(sleep:*),Bash(echo:*),Bash(timeout:*)'")
    asking, yes, no, stop = "Do you want to", ("Enter",), ("Escape",), ("Escape",)
    question = tool("AskUserQuestion", questions=QUESTIONS)
    answer = ("Enter",)
    # What a window is started with that has sub-agents, how it gives one a task, and how it waits for it.
    leading = careful
    task = [tool("Agent", description="Edit the tax", prompt="PLAY helper", subagent_type="general-purpose")]
    limited = Step(error=(429, {"type": "error", "error": {"type": "rate_limit_error", "message": "This request would exceed your account's rate limit."}}), headers={
        "anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": "4102444800", "retry-after": "3600",
    })
    logged_out = Step(error=(401, {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}))
    refused, unknown = "API Error", "/login|Invalid API key"

    def ask_to_edit(self, stage):
        stage.write_home(".claude/settings.json", {"permissions": {"allow": ["Read"]}})

    def registry(self, stage):
        """Returns what it says of its own processes."""
        folder = f"{stage.home}/.claude/sessions"
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            if name.endswith(".json"):
                try:
                    with open(f"{folder}/{name}") as file:
                        yield json.load(file)
                except (OSError, ValueError):
                    pass

    def registered(self, stage, name):
        """Returns the session that the registry tells where no request has named it yet."""
        pid = stage.windows[name].pid
        with open(f"{stage.home}/.claude/sessions/{pid}.json") as file:
            return json.load(file)["sessionId"]


class Codex(Agent):
    name, package, command = "codex", "@openai/codex", "codex"
    process = re.compile(r"codex( |$)")
    starts_itself_again = True
    ready = r"\? for shortcuts"
    kept = re.compile(
        r"^\.codex/(sessions/.*\.jsonl|history\.jsonl|session_index\.jsonl|state_5\.sqlite|app-server-daemon/daemon\.pid)$"
    )
    clear, compact = "/clear", "/compact"
    careful, careless = ("--ask-for-approval", "on-request", "--sandbox", "read-only"), ("--dangerously-bypass-approvals-and-sandbox",)
    asking, yes, no, stop = "Would you like to", ("Enter",), ("Escape",), ("Escape",)
    question = tool("request_user_input", questions=[{
        "question": "Which one shall it be?", "header": "Which", "id": "which",
        "options": [{"label": "This", "description": "The first"}, {"label": "That", "description": "The second"}],
    }])
    answer = ("Enter",)
    leading = ()
    task = [tool("collaboration/spawn_agent", task_name="helper", message="PLAY helper", fork_turns="none"), tool("collaboration/wait_agent", timeout_ms=60000)]
    limited = Step(error=(429, {"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus", "resets_in_seconds": 3600}}))
    logged_out = Step(error=(401, {"error": {"type": "invalid_request_error", "code": "invalid_api_key", "message": "Incorrect API key provided"}}))
    refused, unknown = "usage limit", "401|Unauthorized|Incorrect API key"

    def environment(self, stage):
        return {"OPENAI_API_KEY": "none"}

    def forked(self, stage, name):
        """Returns the thread of the newest rollout: a fork writes its own at once."""
        return max(glob.glob(f"{stage.home}/.codex/sessions/*/*/*/rollout-*.jsonl"))[-42:-6]

    def prepare(self, stage):
        self.projects = []
        self.settle(stage)

    def settle(self, stage):
        lines = ["model = 'gpt-6-sol'", "model_provider = 'x'", "check_for_update_on_startup = false", "[model_providers.x]", "name = 'x'"]
        lines += [f"base_url = '{stage.stub.address}/v1'", "wire_api = 'responses'", "env_key = 'OPENAI_API_KEY'"]
        lines += ["request_max_retries = 0", "stream_max_retries = 0"]
        for folder in self.projects:
            lines += [f"[projects.'{folder}']", "trust_level = 'trusted'"]
        stage.write_home(".codex/config.toml", "\n".join(lines) + "\n")

    def trust(self, stage, folder):
        self.projects.append(folder)
        self.settle(stage)

    def is_agent(self, known):
        return super().is_agent(known) and not {"app-server", "--listen"} & set(known["argv"])

    def wait_ready(self, stage, window, pattern):
        super().wait_ready(stage, window, pattern)
        stage.wait_gone(window.name, "loading")

    def session(self, stage, window):
        """Returns the thread that the model is told of with the window's last prompt."""
        play = (window.truth["prompt"] or "").removeprefix("PLAY ")
        found = [asked["headers"].get("session-id") for asked in stage.stub.asked if asked["play"] == play]
        return found[0] if found else None

    def risky(self, command):
        given = {"cmd": command, "sandbox_permissions": "require_escalated", "justification": "May it?"}
        return tool("exec", f"const r = await tools.exec_command({json.dumps(given)}); text(r.output);")

    def before_question(self, stage, name):
        # Only who plans may ask.
        for _ in range(5):
            time.sleep(2)
            stage.press(name, "BTab")
            time.sleep(1)
            if "Plan mode" in stage.screen(name):
                return

    def resume(self, session):
        return ["resume", session]

    def fork(self, session):
        return ["fork", session]


class Qwen(Agent):
    name, package, command = "qwen", "@qwen-code/qwen-code", "qwen"
    process = re.compile(r"/\.bin/qwen|/qwen-code/")
    starts_itself_again = True
    ready = "Type your message"
    kept = re.compile(r"^\.qwen/(projects/.*\.jsonl?|sessions/[0-9]+\.json|tmp/.*/logs\.json)$")
    transcript = re.compile(r"chats/([0-9a-f-]{36})\.jsonl$")
    clear, compact = "/clear", "/compress"
    careful, careless = ("--approval-mode", "default"), ("--yolo",)
    asking, yes, no, stop = "Waiting for user confirmation", ("Enter",), ("Escape",), ("Escape",)
    question = tool("ask_user_question", questions=QUESTIONS)
    answer = ("Enter",)
    leading = ("--yolo",)
    task = [tool("agent", description="Edit the tax", prompt="PLAY helper", subagent_type="general-purpose")]
    limited = Step(error=(403, {"error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "You exceeded your current quota"}}))
    logged_out = Step(error=(401, {"error": {"type": "invalid_request_error", "code": "invalid_api_key", "message": "Incorrect API key provided"}}))
    refused, unknown = "current quota", "401|Incorrect API key"

    def environment(self, stage):
        return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{stage.stub.address}/v1", "OPENAI_MODEL": "stub-model"}

    def prepare(self, stage):
        auto = {"disableAutoUpdate": True, "enableAutoUpdate": False}
        stage.write_home(".qwen/settings.json", {"security": {"auth": {"selectedType": "openai"}}, "general": auto})

    def registered(self, stage, name):
        with open(f"{stage.home}/.qwen/sessions/{stage.windows[name].pid}.json") as file:
            return json.load(file)["sessionId"]


class Copilot(Agent):
    name, package, command = "copilot", "@github/copilot", "copilot"
    process = re.compile(r"/copilot( |$)")
    starts_itself_again = True
    ready = r"❯"
    kept = re.compile(r"^\.copilot/(session-state/.*(events\.jsonl|workspace\.yaml|\.hold)|open-sessions-state\.json)$")
    transcript = re.compile(r"session-state/([0-9a-f-]{36})/events\.jsonl$")
    clear, compact = "/clear", "/compact"
    usual = careless = leading = ("--allow-all-tools", "--allow-all-paths")
    careful = ("--no-color",)
    asking, yes, no, stop = "Do you want to", ("Enter",), ("Escape",), ("C-c",)
    question = tool("ask_user", message="Which one shall it be?", requestedSchema={
        "type": "object", "required": ["which"], "properties": {"which": {"type": "string", "title": "Which", "enum": ["This", "That"]}},
    })
    answer = ("Enter",)
    busy = "Working"
    task = [tool("task", agent_type="general-purpose", name="helper", description="Edit the tax", prompt="PLAY helper", mode="sync")]
    lead_asked = 4
    limited = Step(error=(402, {"error": {"code": "quota_exceeded", "message": "You have exceeded your current quota"}}))
    logged_out = Step(error=(401, {"error": {"code": "invalid_api_key", "message": "Incorrect API key provided"}}))
    refused, unknown = "current quota", "Authentication failed"

    def environment(self, stage):
        own = {"COPILOT_OFFLINE": "true", "COPILOT_MODEL": "gpt-4.1", "COPILOT_PROVIDER_API_KEY": "none"}
        return own | {"COPILOT_PROVIDER_BASE_URL": f"{stage.stub.address}/v1"}

    def prepare(self, stage):
        self.folders = []

    def trust(self, stage, folder):
        self.folders.append(folder)
        stage.write_home(".copilot/config.json", {"trusted_folders": self.folders})

    def resume(self, session):
        return [f"--resume={session}", *self.usual]


class OpenCode(Agent):
    name, package, command = "opencode", "opencode-ai", "opencode"
    process = re.compile(r"/opencode(\.exe)?( |$)")
    ready = r"ctrl\+p"
    kept = re.compile(r"^\.local/share/opencode/opencode\.db$")
    left_out = {"event", "event_sequence", "migration"}
    clear, compact = "/new", "/compact"
    usual = careful = careless = leading = ("--log-level", "ERROR")
    asking, yes, no, stop = "Permission required", ("Enter",), ("Escape",), ("Escape", "Escape")
    question = tool("question", questions=[{one: QUESTIONS[0][one] for one in ("question", "header", "options")}])
    answer = ("Enter",)
    busy = "esc (again to )?interrupt"
    task = [tool("task", description="Edit the tax", prompt="PLAY helper", subagent_type="general")]
    lead_asked = 4
    limited = Step(error=(402, {"error": {"code": "quota_exceeded", "message": "You have exceeded your current quota"}}))
    logged_out = Step(error=(401, {"error": {"code": "invalid_api_key", "message": "Incorrect API key provided"}}))
    refused, unknown = "current quota", "Incorrect API key"

    def environment(self, stage):
        return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}

    def prepare(self, stage):
        self.settle(stage, "allow")

    def settle(self, stage, edits):
        options = {"baseURL": f"{stage.stub.address}/v1", "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "stub", "options": options, "models": {"x": {"name": "x", "tool_call": True}}}
        permission = {"bash": {"*": "allow", "touch *": "ask"}, "edit": edits, "external_directory": "allow"}
        stage.write_home(".config/opencode/opencode.json", {
            "provider": {"stub": provider}, "model": "stub/x", "small_model": "stub/x", "autoupdate": False, "share": "disabled",
            "permission": permission,
        })

    def ask_to_edit(self, stage):
        self.settle(stage, "ask")

    def session(self, stage, window):
        """Returns the session that the model is told of with the window's last prompt."""
        play = (window.truth["prompt"] or "").removeprefix("PLAY ")
        found = [asked["headers"].get("x-session-id") for asked in stage.stub.asked if asked["play"] == play]
        return found[0] if found else None

    def forked(self, stage, name):
        """Returns the session that the database has made last: a fork copies its origin at once."""
        database = sqlite3.connect(f"file:{stage.home}/.local/share/opencode/opencode.db?mode=ro", uri=True)
        return database.execute("SELECT id FROM session ORDER BY time_created DESC LIMIT 1").fetchone()[0]

    def resume(self, session):
        return ["--session", session]

    def fork(self, session):
        return ["--session", session, "--fork"]


class Gemini(Agent):
    name, package, command = "gemini", "@google/gemini-cli", "gemini"
    process = re.compile(r"/\.bin/gemini( |$)")
    starts_itself_again = True
    ready = "Type your message"
    kept = re.compile(r"^\.gemini/(tmp/.*\.jsonl?|projects\.json)$")
    clear, compact = "/clear", "/compress"
    usual = careless = ("--yolo",)
    careful = ("--approval-mode", "default")
    asking, yes, no, stop = "Action Required|Apply this change|Allow execution", ("Enter",), ("Escape",), ("Escape",)
    question = tool("ask_user", questions=[{"type": "choice"} | {one: QUESTIONS[0][one] for one in ("question", "header", "options")}])
    answer = ("Enter",)
    limited = Step(error=(402, {"error": {"code": 402, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota"}}))
    logged_out = Step(error=(401, {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "API key not valid"}}))
    refused, unknown = "current quota", "API key not valid"

    def environment(self, stage):
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": stage.stub.address}

    def prepare(self, stage):
        self.folders = {}
        general = {"disableAutoUpdate": True, "enableAutoUpdate": False}
        # Any other model is chosen by one more request.
        stage.write_home(".gemini/settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}}, "general": general, "model": {"name": "gemini-2.5-flash"},
        })

    def trust(self, stage, folder):
        self.folders[folder] = "TRUST_FOLDER"
        stage.write_home(".gemini/trustedFolders.json", self.folders)

    def session(self, stage, window):
        """Returns the session of the chat that has the window's last prompt; of one without its first line, that of the log."""
        prompt = window.truth["prompt"]
        chats = [content for name, content in stage.files.held.items() if "/chats/" in name and json.dumps(prompt).encode() in content]
        for first in [json.loads(content.split(b"\n")[0]) for content in chats]:
            if "sessionId" in first:
                return first["sessionId"]
        for name, content in stage.files.held.items():
            for said in json.loads(content or b"[]") if name.endswith("/logs.json") else []:
                if said["message"] == prompt:
                    return said["sessionId"]
        return None

    def resume(self, session):
        return ["--resume", "latest", "--yolo"]


AGENTS = [Claude(), Codex(), Qwen(), Copilot(), OpenCode(), Gemini()]
