//! Real agents' files, written again piece by piece: claimtop's view of their windows must be the truth.
//!
//! `tests/real/record` makes `tests/recordings/real`. For each case in which claimtop is wrong today, `known.txt`
//! there has a line; a rule that is mended must remove its line (`CLAIMTOP_WRITE_EXPECTED=1` writes it anew).

mod kept;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use claimtop::core::assess::assess;
use claimtop::core::history::recording::Encoder;
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Report, TurnState, WindowDoing, WindowView};
use claimtop::source::places::Places;
use claimtop::testing::observe::Collector;
use rustix::process::geteuid;

use crate::common::policy;
use kept::{Home, Mark, Recorded, WindowTruth};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/real")
}

fn folders(at: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    all.sort();
    all
}

/// Claimtop's view of one window, or the right one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    window: String,
    session: String,
    state: String,
    about: String,
    edits: String,
    prompt: String,
    agents: String,
}

impl Said {
    fn fields(&self) -> [(&'static str, &str); 7] {
        [
            ("window", &self.window),
            ("session", &self.session),
            ("state", &self.state),
            ("about", &self.about),
            ("edits", &self.edits),
            ("prompt", &self.prompt),
            ("agents", &self.agents),
        ]
    }
}

/// One recording that is written again, and every case in which claimtop is wrong.
struct Replay<'a> {
    recorded: &'a Recorded,
    collector: Collector,
    home: Home<'a>,
    wrong: BTreeSet<String>,
}

fn collector(home: &Path) -> Collector {
    let places = Places::new(home.to_path_buf(), home.with_extension("tmp"), Vec::new());
    Collector::new(places, Signatures::built_in().unwrap())
}

impl<'a> Replay<'a> {
    fn new(recorded: &'a Recorded, world: &Path) -> Self {
        let home = world.join("home");
        std::fs::create_dir_all(&home).unwrap();
        let collector = collector(&home);
        Self { recorded, collector, home: Home::new(recorded, home), wrong: BTreeSet::new() }
    }

    fn look(&mut self, t: f64) -> Report {
        let moment = self.recorded.moment(t, geteuid().as_raw());
        assess(&self.collector.look_at(moment), policy())
    }

    fn play(&mut self) {
        let marks = &self.recorded.truth.marks;
        let mut writes = self.recorded.writes.iter().peekable();
        for (number, mark) in marks.iter().enumerate() {
            let before = number.checked_sub(1).map(|before| &marks[before]);
            while let Some(write) = writes.next_if(|write| write.t <= mark.t) {
                for cut in self.home.cuts(write) {
                    self.home.write(write, Some(cut));
                    self.check_cut(write.t, before, mark);
                }
                self.home.write(write, None);
                self.check_cut(write.t, before, mark);
            }
            let report = self.look(mark.t);
            self.check_mark(&report, mark);
            // A collector that starts only now sees the same.
            self.collector = collector(&self.home.path);
            let report = self.look(mark.t);
            self.check_mark(&report, mark);
        }
    }

    /// Checks that nothing is reported between two marks that neither of them knows.
    fn check_cut(&mut self, t: f64, before: Option<&Mark>, after: &Mark) {
        let report = self.look(t);
        for (name, right) in &after.windows {
            let Some(window) = self.window(&report, right).filter(|_| !right.screen) else { continue };
            let said = self.said(window);
            let then = before.and_then(|mark| mark.windows.get(name));
            let known: Vec<&WindowTruth> = then.into_iter().chain([right]).collect();
            let mut wrong = Vec::new();
            let edits: BTreeSet<&String> = known.iter().flat_map(|truth| &truth.edits).collect();
            for edit in window.work.iter().flat_map(|work| &work.doing.edits) {
                if !edits.iter().any(|path| *path == edit.path.raw()) {
                    wrong.push(format!("{name} edits | says {}", self.below(edit.path.raw())));
                }
            }
            // Nothing is claimed about a session that is only guessed.
            let is_known =
                |id: &str| known.iter().any(|truth| truth.session.as_deref().is_none_or(|it| it == id));
            if let Some(id) = window.session_id.as_ref().filter(|id| !is_known(id.raw())) {
                wrong.push(format!("{name} session | says {}", self.session(id.raw())));
            }
            let may_ask = known.iter().any(|truth| right_state(truth) == said.state);
            if said.state.starts_with("asks") && !may_ask {
                wrong.push(format!("{name} state | says {}", said.state));
            }
            self.wrong.extend(wrong.into_iter().map(|wrong| format!("before {} | {wrong}", after.name)));
        }
    }

    fn check_mark(&mut self, report: &Report, mark: &Mark) {
        for (name, truth) in &mark.windows {
            let right = self.right(truth);
            let said = self.window(report, truth).map(|window| self.said(window));
            let said = said.unwrap_or_else(|| Said { window: "gone".to_owned(), ..Said::default() });
            let right_window = right.window.clone();
            for ((field, says), (_, right)) in said.fields().into_iter().zip(right.fields()) {
                // The other fields of a missing window are not compared.
                let counts = match field {
                    "window" => true,
                    "about" => said.state.starts_with("asks") && said.state == right_state(truth),
                    _ => said.window == right_window,
                };
                if says != right && right != "any" && counts {
                    let line = format!("at {} | {name} {field} | says {says} | right {right}", mark.name);
                    self.wrong.insert(line);
                }
            }
        }
    }

    fn window<'r>(&self, report: &'r Report, truth: &WindowTruth) -> Option<&'r WindowView> {
        report.windows.iter().find(|window| Some(window.pid) == truth.pid)
    }

    fn right(&self, truth: &WindowTruth) -> Said {
        if !truth.alive || truth.screen {
            return Said { window: "gone".to_owned(), ..Said::default() };
        }
        let paths = truth.edits.iter().map(|path| self.below(path));
        Said {
            window: "running".to_owned(),
            session: truth.session.as_ref().map_or_else(|| "any".to_owned(), |id| self.session(id)),
            state: right_state(truth),
            about: truth.about.as_ref().map_or("any".to_owned(), |text| self.below(text)),
            edits: listed(paths),
            prompt: truth.prompt.clone().unwrap_or_default(),
            agents: truth.agents.to_string(),
        }
    }

    fn said(&self, window: &WindowView) -> Said {
        let doing = window.work.as_ref().map(|work| &work.doing);
        let session = window.session.as_ref().map(|session| self.session(session.id.raw()));
        let call = window.waiting.as_ref().and_then(|waiting| waiting.call.as_ref());
        let about = call.and_then(|call| call.target.as_ref());
        let edits = doing.iter().flat_map(|doing| &doing.edits).map(|edit| self.below(edit.path.raw()));
        Said {
            window: "running".to_owned(),
            session: session.unwrap_or_else(|| "none".to_owned()),
            state: state(window),
            about: self.below(about.map_or("", |target| target.text().raw())),
            edits: listed(edits),
            prompt: doing.and_then(|doing| doing.prompt.as_ref()).map_or("", |it| it.text.raw()).to_owned(),
            agents: window.work.as_ref().map_or(0, |work| work.agents.len()).to_string(),
        }
    }

    /// Names a session by its order of appearance, because each recording has other IDs.
    fn session(&self, id: &str) -> String {
        let marks = self.recorded.truth.marks.iter().flat_map(|mark| mark.windows.values());
        let mut all: Vec<&String> = Vec::new();
        for session in marks.filter_map(|truth| truth.session.as_ref()) {
            if !all.contains(&session) {
                all.push(session);
            }
        }
        all.iter().position(|known| *known == id).map_or("another".to_owned(), |at| format!("s{}", at + 1))
    }

    fn below(&self, path: &str) -> String {
        let work = format!("{}/dev/work/", self.recorded.truth.root);
        path.strip_prefix(&work).unwrap_or(path).to_owned()
    }
}

fn listed(paths: impl Iterator<Item = String>) -> String {
    paths.collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>().join(" ")
}

fn right_state(truth: &WindowTruth) -> String {
    truth.asks.as_ref().map_or_else(|| truth.state.clone(), |what| format!("asks {what}"))
}

/// Returns the state of a window's turn in one word, as the screen shows it.
fn state(window: &WindowView) -> String {
    if let Some(waiting) = &window.waiting {
        let wants = serde_json::to_value(&waiting.wants).unwrap();
        return format!("asks {}", wants.as_str().unwrap_or("for something else"));
    }
    let has_failed = window.work.as_ref().is_some_and(|work| work.doing.turn.state == TurnState::Failed);
    match window.doing {
        Some(WindowDoing::YourTurn) if has_failed => "error",
        Some(doing) => return serde_json::to_value(doing).unwrap().as_str().unwrap().to_owned(),
        None => "unknown",
    }
    .to_owned()
}

#[test]
fn a_token_in_an_agent_s_registry_is_neither_said_nor_recorded() {
    const TOKEN: &str = "0f3c-never-to-be-seen";
    let mut recorded = Recorded::open(&root().join("qwen/two"));
    recorded.replace(r#""ipcToken":"x""#, &format!(r#""ipcToken":"{TOKEN}""#));
    let world = tempfile::tempdir().unwrap();
    let mut replay = Replay::new(&recorded, world.path());
    replay.play();
    let pid = recorded.truth.marks.last().unwrap().windows["a"].pid.unwrap();
    let entry = replay.home.path.join(format!(".qwen/sessions/{pid}.json"));
    assert!(std::fs::read_to_string(entry).unwrap().contains(TOKEN));
    let last = recorded.truth.marks.last().unwrap().t;
    let seen = replay.collector.look_at(recorded.moment(last, geteuid().as_raw()));
    let report = assess(&seen, policy());
    assert!(report.windows.iter().any(|window| window.pid == pid && window.session_id.is_some()));
    let recording = Encoder::default().look(&seen, true).unwrap();
    for kept in [recording, serde_json::to_string(&report).unwrap(), format!("{seen:?} {report:?}")] {
        assert!(!kept.contains(TOKEN));
    }
}

#[test]
fn what_is_said_of_real_windows_is_true_at_every_mark_and_cut() {
    let scenes: Vec<PathBuf> = folders(&root()).iter().flat_map(|agent| folders(agent)).collect();
    assert!(!scenes.is_empty(), "there is no recording");
    let found: Mutex<BTreeMap<String, BTreeSet<String>>> = Mutex::default();
    let next = Mutex::new(scenes.iter());
    let work = || {
        while let Some(scene) = { next.lock().unwrap().next() } {
            let recorded = Recorded::open(scene);
            let world = tempfile::tempdir().unwrap();
            let mut replay = Replay::new(&recorded, world.path());
            replay.play();
            found.lock().unwrap().insert(recorded.name(), replay.wrong);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let found = found.into_inner().unwrap();
    let lines =
        found.iter().flat_map(|(scene, lines)| lines.iter().map(move |line| format!("{scene} | {line}")));
    let found: Vec<String> = lines.collect();
    let path = root().join("known.txt");
    if std::env::var_os("CLAIMTOP_WRITE_EXPECTED").is_some() {
        let text: String = found.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap();
    let known: Vec<&str> = known.lines().collect();
    let new: Vec<&String> = found.iter().filter(|line| !known.contains(&line.as_str())).collect();
    let mended: Vec<&&str> = known.iter().filter(|line| !found.iter().any(|one| one == **line)).collect();
    assert!(
        new.is_empty() && mended.is_empty(),
        "wrong, and not known in {}: {new:#?}\nno longer wrong, so take it out there: {mended:#?}",
        path.display()
    );
}
