//! A machine on which windows work: each step an event happens, and hooks are called accordingly.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Dice;
use super::hooks::{From, Moment, Tool, hook};
use super::truth::{Owners, Truth};
use super::windows::{HeldUp, Life, Session, Window, is_of_sub_agent};

/// A person's settings that differ from the usual.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Usual,
    AskForGit,
    HoldUpEdits,
    Quiet,
    Exempt,
}

/// The holds of others, by session.
pub(crate) type Held = BTreeMap<usize, Vec<String>>;

pub(crate) struct Machine {
    pub(super) dice: Dice,
    pub(super) lines: Vec<Value>,
    pub(super) truth: Truth,
    pub(super) windows: Vec<Window>,
    pub(super) sessions: Vec<Session>,
    pub(super) level: Level,
    pub(super) now: u64,
    /// The numbers of the last text, call and answer of a model.
    pub(super) texts: u64,
    pub(super) calls: u64,
    pub(super) answers: u64,
}

const SHOP: [&str; 7] = ["a.rs", "b.rs", "c d.rs", "n.ipynb", "src/pay.rs", "src/cart.rs", "src/x/deep.rs"];

impl Machine {
    pub(super) fn begin(seed: u64) -> Self {
        let level = match seed % 10 {
            3 => Level::AskForGit,
            5 => Level::HoldUpEdits,
            7 => Level::Quiet,
            9 => Level::Exempt,
            _ => Level::Usual,
        };
        let (dice, truth, lines) =
            (Dice(seed), Truth::default(), vec![json!({"world": format!("seed {seed}")})]);
        let (windows, sessions) = (Vec::new(), Vec::new());
        let mut new =
            Self { dice, lines, truth, windows, sessions, level, now: 0, texts: 0, calls: 0, answers: 0 };
        let config = match level {
            Level::Usual => None,
            Level::AskForGit => Some("[guard]\ngit = 'ask'\n"),
            Level::HoldUpEdits => Some("[guard]\nedit = 'hold-up'\n"),
            Level::Quiet => Some("[guard]\nbrief = false\nnote = false\n"),
            Level::Exempt => Some("[guard]\nexempt = ['src']\n"),
        };
        new.lines.extend(config.map(|text| json!({"config": text})));
        new.folder("shop", &SHOP, true);
        new.lines.push(json!({"linked": {"path": "way", "to": "shop"}}));
        if seed.is_multiple_of(2) {
            new.git(0, "worktree", &["shop-2".to_owned()]);
            new.truth.link(0, "shop-2");
        }
        if seed.is_multiple_of(3) {
            new.folder("lib", &["a.rs", "lib.rs"], true);
        }
        if seed.is_multiple_of(4) {
            new.folder("notes", &["a.md", "b.md"], false);
        }
        new.pass(60_000);
        for _ in 0..2 + new.dice.below(5) {
            new.open();
        }
        new
    }

    fn folder(&mut self, name: &str, files: &[&str], is_repo: bool) {
        let tree = self.truth.begin(name, files, is_repo);
        if is_repo {
            self.git(tree, "init", &[]);
        }
        for file in files {
            self.lines.push(json!({"wrote": {"path": format!("{name}/{file}"), "text": "0\n"}}));
        }
        if is_repo {
            self.git(tree, "commit-all", &[]);
        }
    }

    /// Ends it: records the truth about the files, to be checked.
    pub(super) fn end(mut self) -> Vec<Value> {
        for tree in &self.truth.trees {
            let file = |(path, file): (&String, &super::truth::File)| json!({"holds": {"path": format!("{}/{path}", tree.name), "text": file.text}});
            self.lines.extend(tree.files.iter().map(file));
        }
        self.lines
    }

    pub(super) fn pass(&mut self, ms: u64) {
        self.now += ms;
        self.lines.push(json!({"at": self.now}));
    }

    fn pass_some(&mut self) {
        let part = |most: usize, dice: &mut Dice| u64::try_from(dice.below(most)).unwrap();
        let ms = match self.dice.below(100) {
            0..=9 => 30 + part(900, &mut self.dice),
            10..=64 => 2_100 + part(40_000, &mut self.dice),
            65..=94 => 60_000 + part(200_000, &mut self.dice),
            _ => 660_000 + part(2_000_000, &mut self.dice),
        };
        self.pass(ms);
    }

    pub(super) fn git(&mut self, tree: usize, verb: &str, names: &[String]) {
        self.lines.push(json!({"git": {"tree": self.truth.trees[tree].name, "verb": verb, "names": names}}));
    }

    /// Opens a window: a new one, one that continues a session, or one that another window runs.
    pub(super) fn open(&mut self) {
        let number = self.windows.len();
        let agent = match self.dice.below(20) {
            0..=10 => "claude",
            11..=13 => "codex",
            14..=16 => "gemini",
            _ => "qwen",
        };
        let gone: Vec<usize> = self.ended_sessions();
        let resumed = if self.dice.per_cent(35) { gone.first().copied() } else { None };
        let agent = resumed.map_or(agent, |session| self.windows[self.sessions[session].windows[0]].agent);
        let living = self.living();
        let above = living.iter().copied().find(|at| self.windows[*at].agent == "claude");
        let above = above.filter(|_| resumed.is_none() && agent == "gemini" && self.dice.per_cent(50));
        let session = resumed.unwrap_or_else(|| {
            self.sessions.push(Session { name: format!("s{number}"), parent: above, ..Session::default() });
            self.sessions.len() - 1
        });
        if resumed.is_some() {
            self.sessions[session].parent = None;
        }
        self.sessions[session].windows.push(number);
        self.sessions[session].shown.clear();
        let dead = self.windows.iter().find(|window| !window.is_alive && window.pid.is_some());
        let pid = match dead.and_then(|window| window.pid) {
            Some(pid) if self.dice.per_cent(30) && !self.has_pid(pid) => pid,
            _ => 4_100 + u32::try_from(number).unwrap(),
        };
        let tree = above.map_or_else(
            || if self.dice.per_cent(75) { 0 } else { self.dice.below(self.truth.trees.len()) },
            |above| self.windows[above].tree,
        );
        let below = if tree == 0 && self.dice.per_cent(20) { "/src" } else { "" };
        let window = Window {
            name: format!("w{number}"),
            session,
            agent,
            pid: (agent != "codex").then_some(pid),
            is_alive: true,
            tree,
            below,
        };
        let mut opened = json!({"window": window.name, "agent": agent});
        if let Some(pid) = window.pid {
            opened["pid"] = json!(pid);
        }
        if let Some(above) = above {
            opened["below"] = json!(self.windows[above].name);
        }
        self.lines.push(json!({"opened": opened}));
        self.windows.push(window);
    }

    fn has_pid(&self, pid: u32) -> bool {
        self.windows.iter().any(|window| window.is_alive && window.pid == Some(pid))
    }

    fn ended_sessions(&self) -> Vec<usize> {
        let last = |session: &usize| self.sessions[*session].windows.last().copied().unwrap();
        let is_gone = |session: &usize| {
            !self.windows[last(session)].is_alive && self.windows[last(session)].pid.is_some()
        };
        (0..self.sessions.len()).filter(is_gone).collect()
    }

    pub(super) fn living(&self) -> Vec<usize> {
        (0..self.windows.len()).filter(|at| self.windows[*at].is_alive).collect()
    }

    pub(super) fn die(&mut self, window: usize) {
        self.windows[window].is_alive = false;
        if self.windows[window].pid.is_some() {
            self.lines.push(json!({"died": self.windows[window].name}));
        }
    }

    pub(super) fn life(&self, session: usize) -> Life {
        let last = &self.windows[*self.sessions[session].windows.last().unwrap()];
        match (last.pid, last.is_alive) {
            (None, _) => Life::Unknown,
            (Some(_), true) => Life::Alive,
            (Some(_), false) => Life::Dead,
        }
    }

    /// Returns whether a session that continues in another window has been seen there in a working tree.
    pub(super) fn is_shown(&self, session: usize, tree: usize) -> bool {
        let session = &self.sessions[session];
        session.windows.len() == 1 || session.shown.contains(&tree)
    }

    pub(super) fn is_kin(&self, one: usize, other: usize) -> bool {
        let last = |session: usize| self.sessions[session].windows.last().copied();
        let is_below = |one: usize, other: usize| {
            self.sessions[one].parent.is_some() && self.sessions[one].parent == last(other)
        };
        // The end of the parent leaves an orphan, whose edits no longer belong to it.
        one == other || is_below(other, one) || is_below(one, other) && self.life(other) == Life::Alive
    }

    fn is_exempt(&self, path: &str) -> bool {
        let by_tools = ["target/", "tmp/", ".beads/"].iter().any(|folder| path.starts_with(folder));
        by_tools || path == "Cargo.lock" || self.level == Level::Exempt && path.starts_with("src/")
    }

    /// Returns the others that have edited a file since the last commit contained it.
    pub(super) fn others(&self, own: usize, tree: usize, path: &str) -> Owners {
        let Some(file) = self.truth.trees[tree].files.get(path).filter(|_| !self.is_exempt(path)) else {
            return Owners::new();
        };
        let others = file.owners.iter().filter(|(session, _)| !self.is_kin(own, **session));
        others.map(|(session, edited)| (*session, *edited)).collect()
    }

    /// Returns others' holds on the files in question: those that their hooks have seen, and those that they have not.
    pub(super) fn held(
        &self,
        own: usize,
        tree: usize,
        is_asked: impl Fn(usize, &str) -> bool,
    ) -> (Held, Held) {
        let (mut seen, mut unseen) = (Held::new(), Held::new());
        for path in self.truth.trees[tree].files.keys() {
            for (session, edited) in self.others(own, tree, path) {
                if is_asked(session, path) {
                    let held = if edited.seen > 0 { &mut seen } else { &mut unseen };
                    held.entry(session).or_default().push(path.clone());
                }
            }
        }
        (seen, unseen)
    }

    pub(super) fn expected(&self, said: &str, (tree, about): (usize, &Held), hidden: Option<&str>) -> Value {
        let last =
            |session: &usize| self.windows[*self.sessions[*session].windows.last().unwrap()].name.clone();
        let name = |window: &usize| self.windows[*window].name.clone();
        let earlier = |session: &usize| -> Vec<String> {
            let windows = &self.sessions[*session].windows;
            windows.iter().take(windows.len() - 1).map(name).collect()
        };
        let unseen = about.keys().filter(|session| !self.is_shown(**session, tree));
        let earlier: BTreeMap<String, Vec<String>> =
            unseen.map(|session| (last(session), earlier(session))).collect();
        let about: BTreeMap<String, &Vec<String>> =
            about.iter().map(|(session, paths)| (last(session), paths)).collect();
        let mut expected = json!({"said": said, "about": about});
        if !earlier.is_empty() {
            expected["earlier"] = json!(earlier);
        }
        if let Some(why) = hidden {
            expected["hidden"] = json!(why);
        }
        expected
    }

    pub(super) fn cwd(&self, window: usize) -> String {
        let window = &self.windows[window];
        format!("$ROOT/{}{}", self.truth.trees[window.tree].name, window.below)
    }

    /// Names the next call.
    pub(super) fn next_call(&mut self) -> String {
        self.calls += 1;
        format!("call_{}", self.calls)
    }

    pub(super) fn call(
        &mut self,
        window: usize,
        moment: Moment,
        (tool, id): (Option<&Tool>, &str),
        expect: Value,
    ) {
        let cwd = self.cwd(window);
        let Window { name, session, agent, .. } = &self.windows[window];
        // A call of a sub-agent has the session of the window.
        let is_sub_agent = *agent == "claude" && moment != Moment::Prompt && is_of_sub_agent(id);
        let from = From { agent, session: &self.sessions[*session].name, cwd: &cwd, id, is_sub_agent };
        let hook = hook(&from, moment, tool);
        self.lines.push(json!({"call": {"window": name, "hook": hook, "expect": expect}}));
    }

    /// Writes an agent's record of its model's answers, as far as a guard reads it; a sub-agent's are elsewhere.
    pub(super) fn transcribe(&mut self, window: usize, own: &HeldUp) -> bool {
        let Window { agent, session, .. } = self.windows[window];
        if agent != "claude" || is_of_sub_agent(&own.call) {
            return false;
        }
        let session = &self.sessions[session];
        let line = |one: &HeldUp| {
            let content = json!([{"type": "tool_use", "id": one.call, "name": "Bash"}]);
            json!({"type": "assistant", "message": {"id": format!("msg_{}", one.answer), "content": content}})
        };
        let is_recent = |one: &&HeldUp| own.at - one.at <= 600_000 && !is_of_sub_agent(&one.call);
        let recent = session.held_up.iter().filter(is_recent).chain([own]);
        let text: String = recent.map(|one| format!("{}\n", line(one))).collect();
        let path = format!("home/{}.jsonl", session.name);
        self.lines.push(json!({"wrote": {"path": path, "text": text}}));
        true
    }

    pub(super) fn step(&mut self) {
        self.pass_some();
        let living = self.living();
        let Some(window) = living.get(self.dice.below(living.len())).copied() else { return self.open() };
        match self.dice.below(100) {
            0..=35 => self.edit(window, None),
            36..=55 => self.prompt(window),
            56..=79 => self.shell(window),
            80..=83 => self.other_tool(window),
            84..=85 => self.unseen_edit(window),
            86..=90 => self.own_commit(window),
            91..=92 => self.person(window),
            93..=94 => self.branches(window),
            95 => self.pop(window),
            96..=97 if living.len() > 1 => self.die(window),
            _ if living.len() < 6 => self.open(),
            _ => {}
        }
    }

    fn prompt(&mut self, window: usize) {
        let Window { session, tree, .. } = self.windows[window];
        if self.level != Level::Quiet {
            self.sessions[session].shown.insert(tree);
        }
        let (mut seen, mut unseen) = self.held(session, tree, |other, _| self.life(other) == Life::Alive);
        let (shown, lost): (Held, Held) =
            seen.into_iter().partition(|(other, _)| self.is_shown(*other, tree));
        seen = shown;
        if seen.is_empty() {
            // Where no living window has any, what the dead have left; the last that was seen of a session is dead.
            let is_dead = |other: usize| self.life(other) == Life::Dead || lost.contains_key(&other);
            seen = self.held(session, tree, |other, _| is_dead(other)).0;
        } else {
            unseen.extend(lost);
        }
        let set: BTreeSet<(usize, String)> =
            seen.iter().flat_map(|(other, paths)| paths.iter().map(|path| (*other, path.clone()))).collect();
        let told = self.sessions[session].told.get(&tree);
        let is_new = told.map_or(!set.is_empty(), |told| *told != set);
        let expect = if self.level == Level::Quiet {
            json!({})
        } else if is_new && !set.is_empty() {
            self.expected("brief", (tree, &seen), None)
        } else if !unseen.is_empty() {
            for (other, paths) in unseen {
                seen.entry(other).or_default().extend(paths);
            }
            self.expected("brief", (tree, &seen), Some("by a shell line, or in a window not seen here yet"))
        } else {
            json!({})
        };
        if is_new && self.level != Level::Quiet {
            self.sessions[session].told.insert(tree, set);
        }
        self.call(window, Moment::Prompt, (None, ""), expect);
    }
}
