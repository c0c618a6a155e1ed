"""Scenes of what only Claude Code has: workflows, and sessions in the background."""

from stub import Step, edit, read, text, tool, write


def workflow(stage):
    """A workflow whose two agents edit files side by side."""
    folder = stage.repository()
    one, other = f"{folder}/src/cart.rs", f"{folder}/src/pay.rs"
    script = (
        "export const meta = { name: 'both', description: 'Edits two files', phases: [{ title: 'Work' }] }\n"
        "phase('Work')\n"
        "await parallel([() => agent('PLAY firsthalf', {label: 'first', phase: 'Work'}),"
        " () => agent('PLAY secondhalf', {label: 'second', phase: 'Work'})])\n"
        "return 'done'\n"
    )
    stage.stub.plan("flow", Step(tool("Workflow", script=script)), Step(text("It works.")))
    stage.stub.plan("firsthalf", Step(read(one)), Step(edit(one, "one", "ONE")), Step(text("Edited."), hold="one"))
    stage.stub.plan("secondhalf", Step(read(other)), Step(edit(other, "one", "ONE")), Step(text("Edited."), hold="two"))
    stage.open("a", folder)
    stage.say("a", "PLAY flow")
    stage.wait_screen("a", "Yes, run it")
    stage.mark("asks", a={"state": "working", "asks": "permission"})
    stage.press("a", "Enter")
    stage.held("one")
    stage.held("two")
    stage.edited("a", one, other)
    stage.mark("runs", a={"state": "working", "asks": None, "agents": 2})
    stage.stub.release("one")
    stage.mark("one-left", a={"agents": 1})
    stage.stub.release("two")
    stage.wait_asked("flow", 3)
    stage.mark("done", a={"state": "your-turn", "agents": 0})


def registered(stage, fits):
    """Waits for an entry of the registry, and returns it."""
    return stage.wait(lambda: next((one for one in stage.agent.registry(stage) if fits(one)), None), "an entry in the registry")


def park(stage):
    """A conversation is moved to the background, looked at from its terminal, and goes on there."""
    folder = stage.repository()
    first, second = f"{folder}/src/cart.rs", f"{folder}/src/pay.rs"
    stage.stub.plan("before", Step(read(first)), Step(edit(first, "one", "ONE")), Step(text("All done.")))
    stage.stub.plan("after", Step(read(second)), Step(edit(second, "one", "ONE"), hold="one"), Step(text("All done.")))
    stage.open("a", folder)
    stage.say("a", "PLAY before")
    stage.wait_asked("before", 3)
    stage.edited("a", first)
    stage.mark("before")
    stage.press("a", "Left")
    moved = registered(stage, lambda one: one.get("parkedJobId"))
    job = registered(stage, lambda one: one.get("kind") == "bg" and one.get("jobId") == moved["parkedJobId"])
    # The terminal has become a screen of what runs in the background.
    background = stage.add("job", folder, job["pid"])
    background.truth.update(edits=list(stage.windows["a"].truth["edits"]), prompt="PLAY before", session=job["sessionId"])
    stage.mark("parked", a={"screen": True, "edits": [], "prompt": None})
    stage.press("a", "Enter")
    stage.wait_screen("a", "PLAY before")
    stage.mark("attached")
    stage.type("a", "PLAY after")
    stage.press("a", "Enter")
    background.truth["prompt"] = "PLAY after"
    stage.held("one")
    stage.mark("works", job={"state": "working"})
    stage.stub.release("one")
    stage.wait_asked("after", 3)
    stage.edited("job", second)
    stage.mark("after", job={"state": "your-turn"})


def job(stage):
    """A session is started in the background, asks, is attached to and answered; it works in a tree of its own."""
    folder = stage.repository()
    tree = f"{folder}/.claude/worktrees/tax"
    path = f"{tree}/src/cart.rs"
    stage.stub.plan("job", Step(tool("EnterWorktree", name="tax")), Step(read(path)), Step(edit(path, "one", "ONE")), Step(stage.agent.question), Step(text("All done.")))
    stage.shell("c", folder)
    stage.type("c", "claude --bg 'PLAY job'")
    stage.press("c", "Enter")
    found = registered(stage, lambda one: one.get("kind") == "bg" and not one.get("spare"))
    background = stage.add("job", folder, found["pid"])
    background.truth.update(prompt="PLAY job", session=found["sessionId"])
    stage.wait_asked("job", 4)
    stage.edited("job", path)
    stage.mark("asks", job={"state": "working", "asks": "answer", "about": "Which one shall it be?"})
    stage.type("c", f"claude attach {found['jobId']}")
    stage.press("c", "Enter")
    stage.wait_screen("c", "Which one")
    screen = stage.add("screen", folder, stage.pid_of("c"))
    screen.truth.update(screen=True)
    stage.mark("attached")
    stage.press("c", "Enter")
    stage.wait_asked("job", 5)
    stage.mark("answered", job={"state": "your-turn", "asks": None})


CLAUDE_SCENES = {"workflow": workflow, "park": park, "job": job}
