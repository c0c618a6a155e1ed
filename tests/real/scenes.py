"""The scenes. Each drives one agent through a piece of work and marks where the truth is known."""

import time

from scenes_claude import CLAUDE_SCENES
from stub import Step, edit, read, shell, text, write


def edits(stage):
    """Edits in the top folder, in `src` and two levels below, one of them in a file that is new."""
    folder = stage.repository()
    at = lambda name: f"{folder}/{name}"
    top, sub, deep, new = at("a.txt"), at("src/cart.rs"), at("src/deep/er/tax.rs"), at("src/deep/new.rs")
    stage.stub.plan("edits", Step(read(top), read(sub), read(deep)), Step(edit(top, "one", "ONE")), Step(edit(sub, "one", "ONE"), hold="one"),
                    Step(edit(deep, "one", "ONE")), Step(write(new, "new\n"), hold="two"), Step(text("All done.")))
    stage.open("a", folder)
    stage.mark("opened")
    stage.say("a", "PLAY edits")
    stage.held("one")
    stage.edited("a", top)
    stage.mark("top", a={"state": "working"})
    stage.stub.release("one")
    stage.held("two")
    stage.edited("a", sub, deep)
    stage.mark("below")
    stage.stub.release("two")
    stage.wait_asked("edits", 6)
    stage.edited("a", new)
    stage.mark("done", a={"state": "your-turn"})


def below(stage):
    """The window's own folder is a part of the repository: edits beside it, above it and below it."""
    folder = stage.repository()
    cwd = f"{folder}/src"
    stage.agent.trust(stage, cwd)
    beside, above, under = f"{cwd}/pay.rs", f"{folder}/b.txt", f"{cwd}/deep/er/tax.rs"
    stage.stub.plan("below", Step(read(beside), read(above), read(under)), Step(edit(beside, "one", "ONE")), Step(edit(above, "one", "ONE")),
                    Step(edit(under, "one", "ONE")), Step(text("All done.")))
    stage.open("a", cwd, *stage.agent.careless)
    stage.say("a", "PLAY below")
    stage.wait_asked("below", 5)
    stage.edited("a", beside, above, under)
    stage.mark("done")


def clear(stage):
    """`/clear`: another session, and what was edited before and no commit holds stays the window's."""
    folder = stage.repository()
    first, second = f"{folder}/src/cart.rs", f"{folder}/src/pay.rs"
    stage.stub.plan("before", Step(read(first)), Step(edit(first, "one", "ONE")), Step(text("All done.")))
    stage.stub.plan("after", Step(read(second)), Step(edit(second, "one", "ONE")), Step(text("All done.")))
    stage.open("a", folder)
    stage.say("a", "PLAY before")
    stage.wait_asked("before", 3)
    stage.edited("a", first)
    stage.mark("before")
    stage.command("a", stage.agent.clear)
    stage.windows["a"].truth.update(prompt=None)
    stage.mark("cleared", a={"session": stage.agent.registered(stage, "a")})
    stage.windows["a"].truth.pop("session")
    stage.say("a", "PLAY after")
    stage.wait_asked("after", 3)
    stage.edited("a", second)
    stage.mark("after")


def two(stage):
    """Two windows in one folder; both have edited one of the files."""
    folder = stage.repository()
    shared, own, other = f"{folder}/a.txt", f"{folder}/src/cart.rs", f"{folder}/src/pay.rs"
    stage.stub.plan("first", Step(read(shared), read(own)), Step(edit(shared, "one", "ONE")), Step(edit(own, "one", "ONE")), Step(text("All done.")))
    stage.stub.plan("second", Step(read(shared), read(other)), Step(edit(shared, "two", "TWO"), hold="one"), Step(edit(other, "one", "ONE")), Step(text("All done.")))
    stage.open("a", folder)
    stage.open("b", folder)
    stage.mark("opened")
    stage.say("a", "PLAY first")
    stage.wait_asked("first", 4)
    stage.edited("a", shared, own)
    stage.mark("first", a={"state": "your-turn"})
    stage.say("b", "PLAY second")
    stage.held("one")
    stage.mark("both", b={"state": "working"})
    stage.stub.release("one")
    stage.wait_asked("second", 4)
    stage.edited("b", shared, other)
    stage.mark("second", b={"state": "your-turn"})


def permission(stage):
    """A prompt for permission is left open, then answered; a second one is refused."""
    folder = stage.repository()
    one, other = f"touch {folder}/made.txt", f"touch {folder}/other.txt"
    stage.stub.plan("may", Step(stage.agent.risky(one)), Step(text("All done.")))
    stage.stub.plan("maynot", Step(stage.agent.risky(other)), Step(text("All done.")))
    stage.open("a", folder, *stage.agent.careful)
    stage.say("a", "PLAY may")
    stage.wait_screen("a", stage.agent.asking)
    stage.mark("asks", a={"state": "working", "asks": "permission", "about": one})
    stage.press("a", *stage.agent.yes)
    stage.wait_asked("may", 2)
    stage.mark("granted", a={"state": "your-turn", "asks": None})
    stage.say("a", "PLAY maynot")
    stage.wait_screen("a", stage.agent.asking)
    stage.mark("asks-again", a={"state": "working", "asks": "permission", "about": other})
    stage.press("a", *stage.agent.no)
    stage.wait_gone("a", stage.agent.asking)
    stage.mark("refused", a={"state": "your-turn", "asks": None})


def edit_permission(stage):
    """A prompt for permission to edit a file below the top folder is left open: nothing is edited yet."""
    folder = stage.repository()
    path = f"{folder}/src/cart.rs"
    stage.agent.ask_to_edit(stage)
    stage.stub.plan("mayedit", Step(read(path)), Step(edit(path, "one", "ONE")), Step(text("All done.")))
    stage.open("a", folder, *stage.agent.careful)
    stage.say("a", "PLAY mayedit")
    stage.wait_screen("a", stage.agent.asking)
    stage.mark("asks", a={"state": "working", "asks": "permission", "about": path})
    stage.press("a", *stage.agent.yes)
    stage.wait_asked("mayedit", 3)
    stage.edited("a", path)
    stage.mark("granted", a={"state": "your-turn", "asks": None})


def question(stage):
    """The agent asks a question of its own and waits for the answer."""
    folder = stage.repository()
    stage.stub.plan("ask", Step(stage.agent.question), Step(text("All done.")))
    stage.open("a", folder)
    stage.agent.before_question(stage, "a")
    stage.say("a", "PLAY ask")
    stage.wait_screen("a", "Which one")
    stage.mark("asks", a={"state": "working", "asks": "answer", "about": "Which one shall it be?"})
    stage.press("a", *stage.agent.answer)
    stage.wait_asked("ask", 2)
    stage.mark("answered", a={"state": "your-turn", "asks": None})


def parallel(stage):
    """Three calls in one answer, of which a command still runs while an edit is done."""
    folder = stage.repository()
    one, other = f"{folder}/src/cart.rs", f"{folder}/src/pay.rs"
    stage.stub.plan("parallel", Step(read(one), read(other)), Step(edit(one, "one", "ONE"), edit(other, "one", "ONE"), shell("sleep 6; echo over")), Step(text("All done.")))
    stage.open("a", folder, *stage.agent.careless)
    stage.say("a", "PLAY parallel")
    stage.wait(lambda: "ONE" in open(one).read() + open(other).read(), "an edit")
    stage.mark("runs", a={"state": "working", "edits": stage.agent.edits_seen_early([one, other])})
    stage.windows["a"].truth["edits"] = []
    stage.wait_asked("parallel", 3)
    stage.edited("a", one, other)
    stage.mark("done", a={"state": "your-turn"})


def interrupted(stage):
    """A person stops the agent while the model answers."""
    folder = stage.repository()
    path = f"{folder}/src/cart.rs"
    stage.stub.plan("stopped", Step(read(path)), Step(edit(path, "one", "ONE")), Step(text("All done."), hold="one"))
    stage.open("a", folder)
    stage.say("a", "PLAY stopped")
    stage.held("one")
    stage.edited("a", path)
    stage.mark("runs", a={"state": "working"})
    for key in stage.agent.stop:
        stage.press("a", key)
        time.sleep(0.5)
    stage.wait_gone("a", stage.agent.busy)
    stage.mark("stopped", a={"state": "your-turn"})


def compact(stage):
    """Compaction: what was edited before stays edited."""
    folder = stage.repository()
    first, second = f"{folder}/src/cart.rs", f"{folder}/src/pay.rs"
    stage.stub.plan("before", Step(read(first)), Step(edit(first, "one", "ONE")), Step(text("All done.")))
    stage.stub.plan("after", Step(read(second)), Step(edit(second, "one", "ONE")), Step(text("All done.")))
    stage.open("a", folder)
    stage.say("a", "PLAY before")
    stage.wait_asked("before", 3)
    stage.edited("a", first)
    stage.mark("before")
    asked = len(stage.stub.asked)
    stage.command("a", stage.agent.compact)
    stage.wait(lambda: len(stage.stub.asked) > asked, "a request for a summary")
    stage.mark("compacted")
    stage.say("a", "PLAY after")
    stage.wait_asked("after", 3)
    stage.edited("a", second)
    stage.mark("after")


def killed(stage):
    """Killed in the middle of a turn, then resumed in another terminal: the same session, and nothing runs."""
    folder = stage.repository()
    first, second = f"{folder}/src/cart.rs", f"{folder}/src/pay.rs"
    stage.stub.plan("killed", Step(read(first)), Step(edit(first, "one", "ONE")), Step(shell(f"timeout 50 tail -f {first}")), Step(text("All done.")))
    stage.stub.plan("again", Step(read(second)), Step(edit(second, "one", "ONE")), Step(text("All done.")))
    stage.open("a", folder, *stage.agent.careless)
    stage.say("a", "PLAY killed")
    stage.wait_asked("killed", 3)
    stage.edited("a", first)
    stage.mark("runs", a={"state": "working"})
    stage.kill("a")
    stage.mark("killed")
    session = stage.marks[-2]["windows"]["a"]["session"]
    stage.open("b", folder, *stage.agent.resume(session))
    stage.edited("b", first)
    stage.mark("resumed", b={"state": "your-turn", "session": session, "prompt": "PLAY killed"})
    stage.say("b", "PLAY again")
    stage.wait_asked("again", 3)
    stage.edited("b", second)
    stage.mark("again")


def fork(stage):
    """A fork of a conversation that goes on: each has edited what it has edited itself."""
    folder = stage.repository()
    first, second = f"{folder}/src/cart.rs", f"{folder}/src/pay.rs"
    stage.stub.plan("before", Step(read(first), read(second)), Step(edit(first, "one", "ONE")), Step(text("All done.")))
    stage.stub.plan("after", Step(edit(second, "one", "ONE")), Step(text("All done.")))
    stage.open("a", folder)
    stage.say("a", "PLAY before")
    stage.wait_asked("before", 3)
    stage.edited("a", first)
    stage.mark("before")
    session = stage.marks[-1]["windows"]["a"]["session"]
    stage.open("b", folder, *stage.agent.fork(session))
    stage.mark("forked", b={"state": "your-turn", "prompt": "PLAY before", "session": stage.agent.forked(stage, "b")})
    stage.windows["b"].truth.pop("session")
    stage.say("b", "PLAY after")
    stage.wait_asked("after", 2)
    stage.edited("b", second)
    stage.mark("after")


def limit(stage):
    """The model's service refuses: a limit is reached, then nobody is logged in."""
    folder = stage.repository()
    path = f"{folder}/src/cart.rs"
    stage.stub.plan("limited", Step(read(path)), Step(edit(path, "one", "ONE")), stage.agent.limited)
    stage.stub.plan("logged", stage.agent.logged_out)
    stage.stub.plan("again", Step(text("All done.")))
    stage.open("a", folder)
    stage.say("a", "PLAY limited")
    stage.wait_asked("limited", 3)
    stage.wait_screen("a", stage.agent.refused, 90)
    stage.edited("a", path)
    stage.mark("limited", a={"state": "error"})
    stage.agent.dismiss(stage, "a")
    stage.say("a", "PLAY logged")
    stage.wait_asked("logged", 1)
    stage.wait_screen("a", stage.agent.unknown, 90)
    stage.mark("logged-out", a={"state": "error"})
    stage.agent.dismiss(stage, "a")
    stage.say("a", "PLAY again")
    stage.wait_asked("again", 1)
    stage.mark("again", a={"state": "your-turn"})


def subagent(stage):
    """A sub-agent edits a file while its window waits for it."""
    folder = stage.repository()
    own, its = f"{folder}/src/cart.rs", f"{folder}/src/deep/er/tax.rs"
    task = [Step(call) for call in stage.agent.task]
    stage.stub.plan("lead", Step(read(own)), Step(edit(own, "one", "ONE")), *task, Step(text("It works.")))
    stage.stub.plan("helper", Step(read(its)), Step(edit(its, "one", "ONE")), Step(text("Edited."), hold="one"))
    stage.open("a", folder, *stage.agent.leading)
    stage.say("a", "PLAY lead")
    stage.held("one")
    stage.edited("a", own, its)
    stage.mark("runs", a={"state": "working", "agents": 1})
    stage.stub.release("one")
    # Its end is told to whoever gave the task, as one more request.
    stage.wait_asked("lead", stage.agent.lead_asked)
    stage.mark("done", a={"state": "your-turn", "agents": 0})


SCENES = {
    "edits": edits, "below": below, "clear": clear, "killed": killed, "limit": limit, "question": question,
    "permission": permission, "edit-permission": edit_permission, "two": two, "parallel": parallel,
    "interrupted": interrupted, "compact": compact, "fork": fork,
    "subagent": subagent,
} | CLAUDE_SCENES
# What an agent cannot do, or cannot be driven to, and why.
UNPLAYED = {
    (agent, name): "Claude Code alone has it"
    for agent in ("codex", "qwen", "gemini", "opencode", "copilot")
    for name in ("workflow", "park", "job")
} | {
    ("copilot", "fork"): "It has no fork.",
    ("gemini", "fork"): "It has no fork.",
    ("gemini", "subagent"): "Its sub-agents have no tool that takes any task.",
}
