"""The agents: how each is installed, set up, started, and what of its files is kept."""

import json
import os
import re
import subprocess

from stub import Step, tool

KEY = "sk-ant-api03-no-such-account-00000000000000000000"


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

    def is_kept(self, path):
        return bool(self.kept.search(path)) and not re.search(r"\.(key|lock|tmp)$|\.tmp\.|auth|credential", path)

    def is_agent(self, known):
        return bool(self.process.search(" ".join([known["exe"], *known["argv"][:3]])))

    def wait_ready(self, stage, window, pattern):
        stage.wait_screen(window.name, pattern or self.ready)

    def session(self, stage, window):
        return None

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
    question = tool("AskUserQuestion", questions=[{
        "question": "Which one shall it be?", "header": "Which", "multiSelect": False,
        "options": [{"label": "This", "description": "The first"}, {"label": "That", "description": "The second"}],
    }])
    answer = ("Enter",)
    limited = Step(error=(429, {"type": "error", "error": {"type": "rate_limit_error", "message": "This request would exceed your account's rate limit."}}), headers={
        "anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": "4102444800", "retry-after": "3600",
    })
    logged_out = Step(error=(401, {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}))
    refused, unknown = "API Error|limit|Limit", "API Error|/login|Invalid API key"

    def dismiss(self, stage, name):
        """Closes what an error has opened."""

    def ask_to_edit(self, stage):
        stage.write_home(".claude/settings.json", {"permissions": {"allow": ["Read"]}})

    def edits_seen_early(self, paths):
        """Returns which of parallel edits stand in its file while another call still runs."""
        return paths

    def resume(self, session):
        return ["--resume", session]

    def fork(self, session):
        return ["--resume", session, "--fork-session"]

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


AGENTS = [Claude()]
