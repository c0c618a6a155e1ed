//! The work of windows: edits, shell lines, commits; and the actions of persons and git beside them.

use serde_json::json;

use super::hooks::{Form, Moment, Tool};
use super::lines::{AROUND, Effect, HARMLESS, HIDING, OF_FILES, Reach, WHOLE};
use super::machine::{Held, Level, Machine};
use super::windows::{HeldUp, Life, Touched, Window, is_of_sub_agent};

/// The age up to which an edit makes the next one be held up.
const A_MOMENT: u64 = 600_000;

impl Machine {
    fn some_tree(&mut self, window: usize) -> usize {
        let own = self.windows[window].tree;
        if self.dice.per_cent(88) { own } else { self.dice.below(self.truth.trees.len()) }
    }

    fn some_file(&mut self, tree: usize) -> String {
        let known: Vec<String> = self.truth.trees[tree].files.keys().cloned().collect();
        match self.dice.below(100) {
            0..=7 => (*self.dice.of(&["target/x.rs", "tmp/x", "Cargo.lock", ".beads/x.jsonl"])).to_owned(),
            8..=17 => format!("new{}.rs", self.dice.below(3)),
            _ if known.is_empty() => "a.rs".to_owned(),
            _ => self.dice.of(&known).clone(),
        }
    }

    /// Names a file as a window would.
    fn as_named(&mut self, window: usize, tree: usize, path: &str) -> String {
        let Window { agent, tree: own, below, .. } = self.windows[window];
        match (agent, below) {
            ("codex", "") if tree == own => path.to_owned(),
            ("codex", _) if tree == own => format!("../{path}"),
            _ if tree == 0 && self.dice.per_cent(6) => format!("$ROOT/way/{path}"),
            _ => format!("$ROOT/{}/{path}", self.truth.trees[tree].name),
        }
    }

    fn new_text(&mut self, tree: usize, path: &str) -> String {
        self.texts += 1;
        let is_back = self.truth.is_dirty(tree, path) && self.dice.per_cent(12);
        let back = self.truth.committed(tree, path).cloned().filter(|_| is_back);
        back.unwrap_or_else(|| format!("{}\n", self.texts))
    }

    /// Writes a file of a window or a person.
    fn write(&mut self, (tree, path): (usize, &str), text: &str, by: Option<usize>, is_seen: bool) -> u64 {
        let number = self.truth.edit((tree, path), text, by, is_seen);
        let path = format!("{}/{path}", self.truth.trees[tree].name);
        self.lines.push(json!({"wrote": {"path": path, "text": text}}));
        number
    }

    /// Lets a window edit files, of another's choice or its own; another may do so while a person is asked.
    pub(super) fn edit(&mut self, window: usize, given: Option<(usize, String)>) {
        let Window { session, agent, .. } = self.windows[window];
        let is_given = given.is_some();
        let (tree, path) = given.unwrap_or_else(|| {
            let tree = self.some_tree(window);
            (tree, self.some_file(tree))
        });
        let mut paths = vec![path];
        if agent == "codex" && self.dice.per_cent(30) {
            let more = self.some_file(tree);
            paths.extend((more != paths[0]).then_some(more));
        }
        let named: Vec<String> = paths.iter().map(|path| self.as_named(window, tree, path)).collect();
        let form = match paths[0].as_str() {
            path if path.ends_with(".ipynb") && agent == "claude" => Form::Cell,
            _ => *self.dice.of(&[Form::Whole, Form::Part, Form::Part, Form::HereDocument]),
        };
        let tool = Tool::Edit(named, form);
        let Some(id) = self.before_edit(window, tree, &paths, &tool) else { return };
        // It is refused, or fails.
        if self.dice.per_cent(8) {
            return;
        }
        self.pass(30);
        let is_overtaken = !is_given && self.dice.per_cent(4);
        if is_overtaken {
            let others = self.living();
            let other = others[self.dice.below(others.len())];
            if other != window {
                self.pass(9_000);
                self.edit(other, Some((tree, paths[0].clone())));
                self.pass(5_000);
            }
        }
        let (mut met, mut lost) = (Held::new(), Held::new());
        for path in &paths {
            for other in self.news(session, tree, path) {
                let is_shown = self.is_shown(other, tree) || self.life(other) == Life::Unknown;
                let held = if is_shown { &mut met } else { &mut lost };
                held.entry(other).or_default().push(path.clone());
            }
        }
        let mut touched = Vec::new();
        for path in &paths {
            let text = self.new_text(tree, path);
            let number = self.write((tree, path), &text, Some(session), true);
            touched.push((path.clone(), number));
        }
        let is_back = paths.iter().any(|path| !self.truth.is_dirty(tree, path));
        self.pass(20);
        let expect = match (met.is_empty(), lost.is_empty()) {
            _ if self.level == Level::Quiet => json!({}),
            (true, true) => json!({}),
            (true, false) => {
                self.expected("note", (tree, &lost), Some("in a window that was not seen here yet"))
            }
            (false, _) if is_overtaken && is_back => self.expected(
                "note",
                (tree, &met),
                Some("overtaken, and back as the last commit has it at once"),
            ),
            (false, _) => self.expected("note", (tree, &met), None),
        };
        self.call(window, Moment::After, (Some(&tool), &id), expect);
        for (path, number) in touched {
            self.sessions[session].edited.insert((tree, path), Touched { number, at: self.now });
        }
        self.sessions[session].shown.insert(tree);
    }

    /// Returns the others that have edited a file since this session did, and may live.
    fn news(&self, session: usize, tree: usize, path: &str) -> Vec<usize> {
        let own = self.sessions[session].edited.get(&(tree, path.to_owned())).map_or(0, |own| own.number);
        let others = self.others(session, tree, path).into_iter();
        let is_news = |(other, edited): &(usize, super::truth::Edited)| {
            edited.seen > own && self.life(*other) != Life::Dead
        };
        others.filter(is_news).map(|(other, _)| other).collect()
    }

    /// Calls the hook before an edit; names the call if it passes.
    fn before_edit(&mut self, window: usize, tree: usize, paths: &[String], tool: &Tool) -> Option<String> {
        let session = self.windows[window].session;
        let mut recent = Held::new();
        if self.level == Level::HoldUpEdits {
            for path in paths {
                for other in self.news(session, tree, path) {
                    let edited = self.sessions[other].edited[&(tree, path.clone())];
                    let is_living = self.life(other) == Life::Alive && self.is_shown(other, tree);
                    if is_living && self.now - edited.at <= A_MOMENT {
                        recent.entry(other).or_default().push(path.clone());
                    }
                }
            }
        }
        let answer = self.next_answer();
        let (said, id) = self.hold_up(window, (tree, &recent), 0, answer);
        let expect = if said { self.expected("hold-up", (tree, &recent), None) } else { json!({}) };
        self.call(window, Moment::Before, (Some(tool), &id), expect);
        (!said).then_some(id)
    }

    fn next_answer(&mut self) -> u64 {
        self.answers += 1;
        self.answers
    }

    /// Returns whether a call is to be held up for the sake of these, and names it.
    fn hold_up(
        &mut self,
        window: usize,
        (tree, held): (usize, &Held),
        harm: u8,
        answer: u64,
    ) -> (bool, String) {
        let session = self.windows[window].session;
        let call = self.next_call();
        let of_one = |(other, paths): (&usize, &Vec<String>)| {
            paths.iter().map(|path| (*other, path.clone())).collect::<Vec<_>>()
        };
        let about = held.iter().flat_map(of_one).collect();
        let is_sub_agents = self.windows[window].agent == "claude" && is_of_sub_agent(&call);
        let newest = |(other, paths): (&usize, &Vec<String>)| {
            let number = |path: &String| self.truth.trees[tree].files[path].owners[other].seen;
            paths.iter().map(number).max()
        };
        let newest = held.iter().filter_map(newest).max().unwrap_or_default();
        let (at, call_id, went_through) = (self.now, call.clone(), None);
        let now =
            HeldUp { tree, about, harm, at, call: call_id, is_sub_agents, answer, newest, went_through };
        if held.is_empty() {
            return (false, call);
        }
        let has_transcript = self.transcribe(window, &now);
        if self.sessions[session].has_heard(&now, has_transcript, self.truth.edits) {
            return (false, call);
        }
        self.sessions[session].shown.insert(tree);
        self.sessions[session].held_up.push(now);
        (true, call)
    }

    pub(super) fn shell(&mut self, window: usize) {
        let tree = self.some_tree(window);
        let (line, reach, effect, is_hiding) = self.some_line(window, tree);
        let answer = self.next_answer();
        if self.line(window, tree, (&line, &reach), answer, is_hiding) {
            if self.dice.per_cent(60) {
                self.done(window, tree, (&line, &reach), effect);
            }
            return;
        }
        // Another call of the same answer has not received it.
        if self.dice.per_cent(30) {
            self.pass(15);
            let (twin, reach, _, is_hiding) = self.some_line(window, tree);
            self.line(window, tree, (&twin, &reach), answer, is_hiding);
        }
        if self.dice.per_cent(60) {
            self.pass(4_000);
            let answer = self.next_answer();
            if self.line(window, tree, (&line, &reach), answer, is_hiding) && self.dice.per_cent(60) {
                self.done(window, tree, (&line, &reach), effect);
            }
        }
    }

    fn some_line(&mut self, window: usize, tree: usize) -> (String, Reach, Effect, bool) {
        let own = self.windows[window].tree;
        let top = format!("$ROOT/{}", self.truth.trees[tree].name);
        // Some of them concern the folder in which they run.
        let below = self.windows[window].below;
        let is_at_top = below.is_empty() && tree == own;
        match self.dice.below(100) {
            0..=24 => ((*self.dice.of(&HARMLESS)).to_owned(), Reach::Nothing, Effect::None, false),
            25..=34 => {
                let verb = *self.dice.of(&["git stash", "git reset --hard", "git clean -fd"]);
                let line = self.dice.of(&HIDING).replace("{}", verb);
                let reach = if verb == "git clean -fd" { Reach::New } else { Reach::Tracked };
                let is_here = tree == own && below.is_empty();
                (line, if is_here { reach } else { Reach::Nothing }, Effect::None, true)
            }
            35..=79 => {
                let (command, mut reach, mut effect) = self.dice.of(&WHOLE).clone();
                let is_of_folder = command.contains(" .") || command.contains("clean");
                let around = *self.dice.of(&AROUND);
                let line = if is_at_top {
                    around.replace("{}", command)
                } else if tree == own && reach == Reach::New && self.dice.per_cent(50) {
                    let below = below.trim_start_matches('/');
                    let files = self.truth.new_files(tree).into_iter();
                    reach = Reach::Files(files.filter(|path| path.starts_with(below)).collect());
                    effect = Effect::None;
                    around.replace("{}", command)
                } else if tree == own && !is_of_folder {
                    around.replace("{}", command)
                } else if command.matches("git ").count() == 1 && self.dice.per_cent(40) {
                    around.replace("{}", &command.replace("git ", &format!("git -C {top} ")))
                } else {
                    format!("cd {top} && {}", around.replace("{}", command))
                };
                (line, reach, effect, false)
            }
            _ => {
                let tracked: Vec<String> = self.truth.trees[tree]
                    .files
                    .keys()
                    .filter(|path| self.truth.is_tracked(tree, path))
                    .cloned()
                    .collect();
                if tracked.is_empty() {
                    return ("git status".to_owned(), Reach::Nothing, Effect::None, false);
                }
                let path = self.dice.of(&tracked).clone();
                let (command, effect) = *self.dice.of(&OF_FILES);
                let command = command.replace("{}", &format!("'{path}'"));
                let command = self.dice.of(&AROUND).replace("{}", &command);
                let line = if is_at_top { command } else { format!("cd {top} && {command}") };
                (line, Reach::Files(vec![path]), effect, false)
            }
        }
    }

    /// Calls the hook before a shell line; returns whether it passes.
    fn line(
        &mut self,
        window: usize,
        tree: usize,
        (line, reach): (&str, &Reach),
        answer: u64,
        is_hiding: bool,
    ) -> bool {
        let Window { session, agent, .. } = self.windows[window];
        let is_repo = self.truth.trees[tree].repo.is_some();
        let is_asked = |_: usize, path: &str| {
            let is_tracked = self.truth.is_tracked(tree, path);
            is_repo
                && match reach {
                    Reach::Nothing => false,
                    Reach::Tracked => is_tracked,
                    Reach::New => !is_tracked,
                    Reach::All => true,
                    Reach::Files(files) => files.iter().any(|file| file == path),
                }
        };
        // A commit keeps the bytes, and git carries them over to another one, or refuses.
        let keeps = ["git add", "commit ", "git rebase", "git merge", "sed -i"];
        let harm = match (keeps.iter().any(|verb| line.contains(verb)), line.contains("git stash")) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        let is_in_place = line.contains("sed -i");
        let is_in_the_way = |other: usize, path: &str| {
            let is_read = || !self.news(session, tree, path).contains(&other);
            harm > 0 || self.life(other) != Life::Dead && !(is_in_place && is_read())
        };
        let (seen, unseen) =
            self.held(session, tree, |other, path| is_asked(other, path) && is_in_the_way(other, path));
        let word = if self.level == Level::AskForGit && agent == "claude" { "ask" } else { "hold-up" };
        let tool = Tool::Line(line.to_owned());
        if is_hiding || seen.is_empty() {
            let all: Held = seen.into_iter().chain(unseen).collect();
            let why = if is_hiding { "only the shell knows" } else { "by a shell line" };
            let expect =
                if all.is_empty() { json!({}) } else { self.expected(word, (tree, &all), Some(why)) };
            let id = self.next_call();
            self.call(window, Moment::Before, (Some(&tool), &id), expect);
            return !is_hiding;
        }
        let (said, id) = self.hold_up(window, (tree, &seen), harm, answer);
        let expect = if said { self.expected(word, (tree, &seen), None) } else { json!({}) };
        self.call(window, Moment::Before, (Some(&tool), &id), expect);
        !said
    }

    /// Applies the line as git does, and calls the hook.
    fn done(&mut self, window: usize, tree: usize, (line, reach): (&str, &Reach), effect: Effect) {
        self.effect(tree, reach, effect);
        let (tool, id) = (Tool::Line(line.to_owned()), format!("call_{}", self.calls));
        self.pass(10);
        let begins = effect == Effect::Begin && self.level != Level::Quiet;
        let is_repo = self.truth.trees[tree].repo.is_some();
        let may_live = |other: usize, _: &str| self.life(other) != Life::Dead;
        let (seen, unseen) = self.held(self.windows[window].session, tree, may_live);
        let (shown, lost): (Held, Held) = seen
            .into_iter()
            .partition(|(other, _)| self.is_shown(*other, tree) || self.life(*other) == Life::Unknown);
        let expect = match (begins && is_repo, shown.is_empty(), lost.is_empty() && unseen.is_empty()) {
            (false, _, _) | (true, true, true) => json!({}),
            (true, false, _) => self.expected("note", (tree, &shown), None),
            (true, true, false) => {
                let hidden: Held = lost.into_iter().chain(unseen).collect();
                self.expected(
                    "note",
                    (tree, &hidden),
                    Some("by a shell line, or in a window not seen here yet"),
                )
            }
        };
        self.call(window, Moment::After, (Some(&tool), &id), expect);
    }

    fn effect(&mut self, tree: usize, reach: &Reach, effect: Effect) {
        if self.truth.trees[tree].repo.is_none() {
            return;
        }
        self.pass(40);
        let (dirty, new) = (self.truth.dirty(tree), self.truth.new_files(tree));
        let all: Vec<String> = dirty.iter().chain(&new).cloned().collect();
        match (effect, reach) {
            (Effect::Stash, _) if self.truth.stash(tree, false) => self.git(tree, "stash", &[]),
            (Effect::StashAll, _) if self.truth.stash(tree, true) => self.git(tree, "stash-all", &[]),
            (Effect::Reset, _) => {
                self.truth.restore(tree, &dirty);
                self.git(tree, "reset-hard", &[]);
            }
            (Effect::Restore, Reach::Files(paths)) => {
                self.truth.restore(tree, paths);
                self.git(tree, "restore", paths);
            }
            (Effect::Remove, Reach::Files(paths)) => {
                self.truth.remove(tree, paths);
                for path in paths {
                    let path = format!("{}/{path}", self.truth.trees[tree].name);
                    self.lines.push(json!({"removed": path}));
                }
            }
            (Effect::Clean, _) => {
                self.truth.remove(tree, &new);
                self.git(tree, "clean", &[]);
            }
            (Effect::Commit, _) if !dirty.is_empty() => {
                self.truth.commit(tree, &dirty);
                self.git(tree, "commit", &[]);
            }
            (Effect::CommitAll, _) if !all.is_empty() => {
                self.truth.commit(tree, &all);
                self.git(tree, "commit-all", &[]);
            }
            _ => {}
        }
    }

    pub(super) fn other_tool(&mut self, window: usize) {
        let file = json!({"file_path": "$ROOT/shop/a.rs"});
        let (name, input) = match (self.windows[window].agent, self.dice.below(4)) {
            ("claude", 0) => ("Read", file),
            ("claude", 1) => (
                "Agent",
                json!({"description": "Sub job", "prompt": "Go on", "subagent_type": "general-purpose"}),
            ),
            ("claude", 2) => ("WebFetch", json!({"url": "http://127.0.0.1:9/", "prompt": "x"})),
            ("claude", _) => ("ToolSearch", json!({"query": "select:TodoWrite", "max_results": 5})),
            ("codex", 0 | 1) => ("collaborationwait_agent", json!({"timeout_ms": 15000})),
            ("codex", _) => (
                "collaborationspawn_agent",
                json!({"task_name": "helper", "message": "Go on", "fork_turns": "none"}),
            ),
            _ => ("read_file", file),
        };
        let (tool, id) = (Tool::Other(name, input), self.next_call());
        self.call(window, Moment::Before, (Some(&tool), &id), json!({}));
        self.call(window, Moment::After, (Some(&tool), &id), json!({}));
    }

    /// Edits a file by a shell line: no hook reports which.
    pub(super) fn unseen_edit(&mut self, window: usize) {
        let Window { session, tree, .. } = self.windows[window];
        let path = self.some_file(tree);
        let line =
            self.dice.of(&["cargo fmt", "python3 fix.py a.rs", "./generate.sh a.rs", "git apply x.patch"]);
        let (tool, id) = (Tool::Line((*line).to_owned()), self.next_call());
        self.call(window, Moment::Before, (Some(&tool), &id), json!({}));
        let text = self.new_text(tree, &path);
        self.write((tree, &path), &text, Some(session), false);
        self.call(window, Moment::After, (Some(&tool), &id), json!({}));
    }

    /// Lets a window commit its edits.
    pub(super) fn own_commit(&mut self, window: usize) {
        let Window { session, tree, .. } = self.windows[window];
        if self.truth.trees[tree].repo.is_none() {
            return;
        }
        let files = &self.truth.trees[tree].files;
        let is_own =
            |path: &&String| files[*path].owners.contains_key(&session) && self.truth.is_dirty(tree, path);
        let own: Vec<String> = files.keys().filter(is_own).cloned().collect();
        if own.is_empty() {
            return;
        }
        let quoted: Vec<String> = own.iter().map(|path| format!("'{path}'")).collect();
        let names = quoted.join(" ");
        let line = format!("git add {names} && git commit -m 'x' -- {names}");
        let (tool, id) = (Tool::Line(line), self.next_call());
        self.call(window, Moment::Before, (Some(&tool), &id), json!({}));
        self.pass(60);
        self.truth.commit(tree, &own);
        self.git(tree, "commit", &own);
        self.call(window, Moment::After, (Some(&tool), &id), json!({}));
    }

    /// Lets a person work by hand in the same tree.
    pub(super) fn person(&mut self, window: usize) {
        let tree = self.windows[window].tree;
        let dirty = self.truth.dirty(tree);
        let is_repo = self.truth.trees[tree].repo.is_some();
        match self.dice.below(5) {
            0 if !dirty.is_empty() => {
                self.truth.commit(tree, &dirty);
                self.git(tree, "commit", &[]);
            }
            1 if !dirty.is_empty() => {
                let one = vec![self.dice.of(&dirty).clone()];
                self.truth.amend(tree, &one);
                self.git(tree, "amend", &one);
            }
            2 if is_repo && self.truth.uncommit(tree) => self.git(tree, "uncommit", &[]),
            3 => {
                let path = self.some_file(tree);
                let text = self.new_text(tree, &path);
                self.write((tree, &path), &text, None, false);
            }
            4 => {
                let files: Vec<String> = self.truth.trees[tree].files.keys().cloned().collect();
                if files.len() > 2 {
                    let path = self.dice.of(&files).clone();
                    self.lines.push(json!({"removed": format!("{}/{path}", self.truth.trees[tree].name)}));
                    self.truth.remove(tree, &[path]);
                }
            }
            _ => {}
        }
    }

    pub(super) fn branches(&mut self, window: usize) {
        let tree = self.windows[window].tree;
        let Some(repo) = self.truth.trees[tree].repo else { return };
        let names: Vec<String> = self.truth.repos[repo].branches.keys().cloned().collect();
        let name = self.dice.of(&names).clone();
        match self.dice.below(3) {
            0 => {
                let name = format!("b{}", names.len());
                self.truth.branch(tree, &name);
                self.git(tree, "branch", &[name]);
            }
            1 if self.truth.switch(tree, &name) => self.git(tree, "switch", &[name]),
            2 if self.truth.merge(tree, &name) => self.git(tree, "merge", &[name]),
            _ => {}
        }
    }

    pub(super) fn pop(&mut self, window: usize) {
        let tree = self.windows[window].tree;
        if self.truth.pop(tree) {
            self.git(tree, "stash-pop", &[]);
        }
    }
}
