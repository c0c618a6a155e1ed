"""The scenes. Each drives one agent through a piece of work and marks where the truth is known."""

from stub import Step, edit, read, shell, text, tool, write


def edits(stage):
    """Edits in the top folder, in `src` and two levels below, one of them in a file that is new."""
    folder = stage.repository()
    at = lambda name: f"{folder}/{name}"
    top, sub, deep, new = at("a.txt"), at("src/cart.rs"), at("src/deep/er/tax.rs"), at("src/deep/new.rs")
    stage.stub.plan("edits", Step(read(top), read(sub), read(deep)), Step(edit(top, "one", "ONE")), Step(edit(sub, "one", "ONE"), hold="one"),
                    Step(edit(deep, "one", "ONE")), Step(write(new, "one\n"), hold="two"), Step(text("All done.")))
    stage.open("a", folder)
    stage.mark("opened")
    stage.say("a", "PLAY edits")
    stage.stub.wait_held("one")
    stage.edited("a", top)
    stage.mark("top", a={"state": "working"})
    stage.stub.release("one")
    stage.stub.wait_held("two")
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
    stage.open("a", cwd)
    stage.say("a", "PLAY below")
    stage.wait_asked("below", 5)
    stage.edited("a", beside, above, under)
    stage.mark("done")


def clear(stage):
    """`/clear`: what was edited before belongs to a session that nobody runs any more."""
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
    stage.windows["a"].truth.update(edits=[], prompt=None)
    stage.mark("cleared", a={"session": stage.agent.cleared(stage, "a")})
    stage.windows["a"].truth.pop("session")
    stage.say("a", "PLAY after")
    stage.wait_asked("after", 3)
    stage.edited("a", second)
    stage.mark("after")


SCENES = {"edits": edits, "below": below, "clear": clear}
# What an agent cannot do, or cannot be driven to, and why.
UNPLAYED = {}
