"""A model that answers as a scene has laid down, in the forms of four services.

A prompt that holds `PLAY name` is answered by the steps of that name, one for each request. A step may wait until the
scene lets it go, and may fail.
"""

import gzip
import json
import re
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PLAY = re.compile(r"\bPLAY ([a-z0-9]+)")
# What repeats a prompt and is none.
NO_PROMPT = re.compile(r"\W*(<system-reminder>|generate a .{0,40}title)", re.I)
# What agents call the same thing, the likeliest first.
SHELL = ["Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell"]
WRITE = ["Write", "write", "write_file", "create"]
EDIT = ["Edit", "edit", "replace"]
READ = ["Read", "read", "read_file", "view"]
PATH = ["file_path", "filePath", "path", "absolute_path"]


class Step:
    """One answer: blocks, and before it a hold, or an error instead of it."""

    def __init__(self, *blocks, hold=None, error=None, headers=None):
        self.blocks = list(blocks)
        self.hold = hold
        self.error = error
        self.headers = headers or {}


def text(words):
    return {"text": words}


def write(path, content):
    return {"write": (path, content)}


def edit(path, old, new):
    return {"edit": (path, old, new)}


def shell(command):
    return {"shell": command}


def read(path):
    return {"read": path}


def tool(name, script=None, /, **given):
    return {"tool": (name, given if script is None else script)}


def ask(name, **given):
    """A call of a tool of an MCP server, whatever the agent puts before its name."""
    return {"ask": (name, given)}


def over(name):
    return f"Over with {name}."


DONE = text("All done.")


class Stub:
    """The server and what it knows: the steps, and every request in short."""

    def __init__(self):
        self.plans, self.asked = {}, []
        self.reached, self.open = {}, {}
        self.lock = threading.Lock()
        stub = self

        class Handler(Answers):
            pass

        Handler.stub = stub
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        for gate in self.open.values():
            gate.set()
        self.server.shutdown()
        self.server.server_close()

    def plan(self, name, *steps):
        self.plans[name] = list(steps)
        for step in steps:
            # The last words of each are its own, so that they are known when they are written.
            step.blocks = [text(over(name)) if block == DONE else block for block in step.blocks]
            if step.hold:
                self.reached[step.hold] = threading.Event()
                self.open[step.hold] = threading.Event()

    def release(self, hold):
        self.open[hold].set()

    def times_asked(self, play):
        with self.lock:
            return sum(1 for asked in self.asked if asked["play"] == play)


def pick(tools, names):
    for name in names:
        for one in tools:
            if one["name"] == name:
                return one
    return None


def fill(one, *given):
    """Gives a tool its parameters by whichever of their names it knows, and whatever else it must have."""
    properties = (one["schema"] or {}).get("properties") or {}
    out = {}
    for names, value in given:
        for name in names:
            if name in properties:
                out[name] = value
                break
    plain = {"string": "x", "boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}
    for name in (one["schema"] or {}).get("required") or []:
        if name not in out:
            kind = properties.get(name, {})
            out[name] = kind["enum"][0] if kind.get("enum") else plain.get(kind.get("type"), "x")
    return out


def patch_of(block):
    if "write" in block:
        path, content = block["write"]
        lines = "\n".join("+" + line for line in content.rstrip("\n").split("\n"))
        return f"*** Begin Patch\n*** Add File: {path}\n{lines}\n*** End Patch\n"
    path, old, new = block["edit"]
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"


def in_script(block):
    """Codex's code mode has one tool, whose input is a script."""
    if "ask" in block:
        name, given = block["ask"]
        return f"const r = await tools.mcp__claimtop__{name}({json.dumps(given)}); text(JSON.stringify(r));"
    if "shell" in block:
        return f"const r = await tools.exec_command({{cmd: {json.dumps(block['shell'])}}}); text(r.output);"
    if "read" in block:
        return f"const r = await tools.exec_command({{cmd: {json.dumps('cat ' + block['read'])}}}); text(r.output);"
    return f"const r = await tools.apply_patch({json.dumps(patch_of(block))}); text(r);"


def call_of(block, tools):
    """Returns the text, or the tool and its input, that a block comes to for an agent with these tools."""
    if "text" in block:
        return ("text", block["text"], None)
    if "tool" in block:
        return ("call", *block["tool"])
    names = [one["name"] for one in tools]
    if pick(tools, ["exec"]) and not pick(tools, ["exec_command", "apply_patch"]):
        return ("call", "exec", in_script(block))
    if "ask" in block:
        name, given = block["ask"]
        for own in names:
            if own == name or re.search(rf"(_|/|-){name}$", own):
                return ("call", own, given)
    if "shell" in block:
        one = pick(tools, SHELL)
        if one:
            given = (["command", "cmd"], block["shell"]), (["description"], "run it")
            return ("call", one["name"], fill(one, *given))
    if "read" in block:
        one = pick(tools, READ)
        if one:
            return ("call", one["name"], fill(one, (PATH, block["read"])))
        return call_of({"shell": "cat " + block["read"]}, tools)
    if "write" in block:
        one = pick(tools, WRITE)
        if one:
            path, content = block["write"]
            return ("call", one["name"], fill(one, (PATH, path), (["content", "file_text"], content)))
    if "edit" in block:
        one = pick(tools, EDIT)
        if one:
            path, old, new = block["edit"]
            given = (PATH, path), (["old_string", "oldString", "old_str"], old)
            return ("call", one["name"], fill(one, *given, (["new_string", "newString", "new_str"], new)))
    if pick(tools, ["apply_patch"]) and ("write" in block or "edit" in block):
        return ("call", "apply_patch", patch_of(block))
    return ("text", f"There is no tool for {sorted(block)} among {names}", None)


class Answers(BaseHTTPRequestHandler):
    """Reads a request in any of four forms, and answers it in the same."""

    protocol_version = "HTTP/1.1"
    stub = None

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.whole({})

    def do_GET(self):
        if self.path.split("?")[0].rstrip("/").endswith("/models"):
            known = [{"id": name, "object": "model", "owned_by": "x"} for name in ("stub-model", "gpt-5.5", "gpt-4.1")]
            return self.whole({"object": "list", "data": known, "models": [], "has_more": False})
        return self.whole({})

    def whole(self, answer, status=200, headers=None):
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            return json.loads(raw)
        except ValueError:
            return {}

    def do_POST(self):
        asked, path = self.body(), self.path.split("?")[0]
        if path.endswith("/messages"):
            form, (play, step, tools) = self.as_messages, of_messages(asked)
        elif path.endswith("/responses"):
            form, (play, step, tools) = self.as_responses, of_responses(asked)
        elif "enerateContent" in path:
            form, (play, step, tools) = self.as_gemini, of_gemini(asked)
        elif path.endswith("/completions"):
            form, (play, step, tools) = self.as_chat, of_chat(asked)
        else:
            return self.whole({"input_tokens": 10, "totalTokens": 100})
        stub = self.stub
        steps = stub.plans.get(play) if tools else None
        said = Step()
        if steps and step < len(steps):
            said = steps[step]
        elif steps and steps[-1].error:
            # Who tries again is refused again.
            said = steps[-1]
        with stub.lock:
            note = {"at": time.time(), "play": play if steps else None, "step": step, "path": self.path}
            note["tools"] = [one["name"] for one in tools]
            note["headers"] = {name.lower(): value for name, value in self.headers.items() if "ession" in name}
            note["metadata"] = asked.get("metadata") or asked.get("prompt_cache_key")
            note["asked"] = asked
            stub.asked.append(note)
        if said.hold:
            stub.reached[said.hold].set()
            stub.open[said.hold].wait(120)
        if said.error:
            status, answer = said.error
            return self.whole(answer, status, said.headers)
        calls = [call_of(block, tools) for block in said.blocks] or [("text", "All done.", None)]
        try:
            form(asked, calls)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.close_connection = True

    def stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()

    def event(self, kind, what):
        what["type"] = kind
        self.wfile.write(f"event: {kind}\ndata: {json.dumps(what)}\n\n".encode())
        self.wfile.flush()

    def as_messages(self, asked, calls):
        stop = "tool_use" if any(call[0] == "call" for call in calls) else "end_turn"
        blocks = []
        for kind, name, given in calls:
            if kind == "text":
                blocks.append({"type": "text", "text": name})
            else:
                blocks.append({"type": "tool_use", "id": "toolu_" + uuid.uuid4().hex[:24], "name": name, "input": given})
        usage = {"input_tokens": 10, "output_tokens": 20}
        usage |= {"cache_creation_input_tokens": 1200, "cache_read_input_tokens": 30000}
        message = {"id": "msg_" + uuid.uuid4().hex[:24], "type": "message", "role": "assistant"}
        message |= {"model": asked.get("model", "x"), "content": [], "stop_reason": None, "stop_sequence": None}
        message["usage"] = usage
        if not asked.get("stream"):
            return self.whole(message | {"content": blocks, "stop_reason": stop})
        self.stream()
        self.event("message_start", {"message": message})
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                begun, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                begun = block | {"input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            self.event("content_block_start", {"index": index, "content_block": begun})
            self.event("content_block_delta", {"index": index, "delta": delta})
            self.event("content_block_stop", {"index": index})
        self.event("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage})
        return self.event("message_stop", {})

    def as_responses(self, asked, calls):
        id_of = lambda kind: f"{kind}_{uuid.uuid4().hex}"
        items = []
        for kind, name, given in calls:
            if kind == "text":
                content = [{"type": "output_text", "text": name, "annotations": []}]
                items.append({"type": "message", "id": id_of("msg"), "role": "assistant", "status": "completed", "content": content})
            elif isinstance(given, str):
                items.append({"type": "custom_tool_call", "id": id_of("ctc"), "call_id": id_of("call"), "name": name, "input": given, "status": "completed"})
            else:
                item = {"type": "function_call", "id": id_of("fc"), "call_id": id_of("call"), "name": name, "arguments": json.dumps(given), "status": "completed"}
                if "/" in name:
                    item["namespace"], item["name"] = name.split("/", 1)
                items.append(item)
        usage = {"input_tokens": 21000, "input_tokens_details": {"cached_tokens": 18000}, "output_tokens": 120}
        usage |= {"output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 21120}
        head = {"id": id_of("resp"), "object": "response", "created_at": int(time.time()), "model": asked.get("model")}
        done = head | {"status": "completed", "output": items, "usage": usage}
        if not asked.get("stream"):
            return self.whole(done)
        self.stream()
        self.event("response.created", {"response": head | {"status": "in_progress", "output": []}})
        for index, item in enumerate(items):
            begun = item | ({"content": []} if item["type"] == "message" else {})
            self.event("response.output_item.added", {"output_index": index, "item": begun})
            if item["type"] == "message":
                words = item["content"][0]["text"]
                self.event("response.output_text.delta", {"item_id": item["id"], "output_index": index, "content_index": 0, "delta": words})
            self.event("response.output_item.done", {"output_index": index, "item": item})
        return self.event("response.completed", {"response": done})

    def as_gemini(self, asked, calls):
        part = lambda call: {"text": call[1]} if call[0] == "text" else {"functionCall": {"name": call[1], "args": call[2], "id": "fc" + uuid.uuid4().hex[:8]}}
        content = {"role": "model", "parts": [part(call) for call in calls]}
        answer = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "modelVersion": "x"}
        answer["usageMetadata"] = {"promptTokenCount": 21000, "cachedContentTokenCount": 18000, "candidatesTokenCount": 120, "thoughtsTokenCount": 20, "totalTokenCount": 21140}
        if "stream" not in self.path:
            return self.whole(answer)
        self.stream()
        return self.wfile.write(f"data: {json.dumps(answer)}\r\n\r\n".encode())

    def as_chat(self, asked, calls):
        words = "".join(name for kind, name, _ in calls if kind == "text")
        made = [(name, given) for kind, name, given in calls if kind == "call"]
        tools = [{"index": index, "id": "call_" + uuid.uuid4().hex[:20], "type": "function", "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)}} for index, (name, given) in enumerate(made)]
        finish = "tool_calls" if tools else "stop"
        usage = {"prompt_tokens": 21000, "completion_tokens": 120, "total_tokens": 21120, "prompt_tokens_details": {"cached_tokens": 18000}}
        head = {"id": "cc" + uuid.uuid4().hex[:8], "created": int(time.time()), "model": asked.get("model")}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": words} | ({"tool_calls": tools} if tools else {})
            return self.whole(head | {"object": "chat.completion", "choices": [{"index": 0, "finish_reason": finish, "message": message}], "usage": usage})
        self.stream()

        def chunk(delta, ended=None, **more):
            choice = {"index": 0, "delta": delta, "finish_reason": ended}
            what = head | {"object": "chat.completion.chunk", "choices": [choice]} | more
            self.wfile.write(f"data: {json.dumps(what)}\n\n".encode())

        chunk({"role": "assistant", "content": words})
        if tools:
            chunk({"tool_calls": tools})
        chunk({}, finish)
        chunk({}, choices=[], usage=usage)
        self.wfile.write(b"data: [DONE]\n\n")
        return self.wfile.flush()


class Reader:
    """Finds the newest prompt that names steps, and how many answers it has had."""

    def __init__(self):
        self.play, self.step = None, 0

    def prompt(self, words):
        found = PLAY.findall(words or "")
        if found and not NO_PROMPT.match(words):
            self.play, self.step = found[-1], 0

    def answer(self):
        if self.play:
            self.step += 1


def texts(content):
    if isinstance(content, str):
        return [content]
    return [part.get("text") or "" for part in content or [] if isinstance(part, dict)]


def of_messages(asked):
    reader = Reader()
    for message in asked.get("messages") or []:
        if message.get("role") == "assistant":
            reader.answer()
        elif message.get("role") == "user":
            for words in texts(message.get("content")):
                reader.prompt(words)
    tools = [{"name": one.get("name"), "schema": one.get("input_schema")} for one in asked.get("tools") or []]
    return reader.play, reader.step, tools


def of_responses(asked):
    reader, was_call = Reader(), False
    for item in asked.get("input") or []:
        is_call = item.get("type") in ("function_call", "custom_tool_call", "local_shell_call")
        is_said = item.get("type") == "message" and item.get("role") == "assistant"
        # Parallel calls are items of one answer.
        if (is_call or is_said) and not was_call:
            reader.answer()
        was_call = is_call or is_said
        if item.get("type", "message") == "message" and item.get("role") == "user":
            for words in texts(item.get("content")):
                reader.prompt(words)
        elif item.get("type") == "agent_message":
            # A task of a sub-agent, which a service would have encrypted.
            for part in item.get("content") or []:
                reader.prompt(part.get("encrypted_content"))
    given = list(asked.get("tools") or [])
    for item in asked.get("input") or []:
        # In code mode Codex tells them here.
        given += item.get("tools") or [] if item.get("type") == "additional_tools" else []
    return reader.play, reader.step, [tool for one in given for tool in named(one)]


def named(one, space=""):
    """Returns a tool, or those of a namespace, by the names that calls have."""
    if one.get("type") == "namespace":
        inner = "" if one["name"] == "functions" else one["name"] + "/"
        return [tool for each in one.get("tools") or [] for tool in named(each, inner)]
    return [{"name": space + (one.get("name") or one.get("type")), "schema": one.get("parameters")}]


def of_gemini(asked):
    reader = Reader()
    for item in asked.get("contents") or []:
        if item.get("role") == "model":
            reader.answer()
        else:
            for words in texts(item.get("parts")):
                reader.prompt(words)
    functions = [one for group in asked.get("tools") or [] for one in group.get("functionDeclarations") or []]
    tools = [{"name": one.get("name"), "schema": one.get("parametersJsonSchema") or one.get("parameters")} for one in functions]
    return reader.play, reader.step, tools


def of_chat(asked):
    reader = Reader()
    for message in asked.get("messages") or []:
        if message.get("role") == "assistant":
            reader.answer()
        elif message.get("role") == "user":
            for words in texts(message.get("content")):
                reader.prompt(words)
    functions = [one.get("function") or one for one in asked.get("tools") or []]
    tools = [{"name": one.get("name"), "schema": one.get("parameters")} for one in functions]
    return reader.play, reader.step, tools
