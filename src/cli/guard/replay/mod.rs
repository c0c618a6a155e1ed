//! `guard replay`: has the guard answer recorded calls in a recorded world, and says what is wrong.

mod recording;
mod scene;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, anyhow, bail, ensure};
use serde::Serialize;

use self::recording::{Expectation, Line, SCHEMA, Speech};
use self::scene::Scene;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::{Shape, print};
use crate::cli::settings::config_file::text;
use crate::core::model::Untrusted;
use crate::core::model::text::json;
use crate::core::model::text::shown;
use crate::format::hook::guard::Asker;
use crate::guard::outcome::GuardOutcome;
use crate::guard::respond;
use crate::present;

/// The most bytes that a recording may have: 64 MiB.
const MOST: u64 = 64 << 20;
/// How many windows a text names, and how many files of each.
const NAMED: usize = 2;

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Grade {
    /// The recording does not say what is true.
    Unjudged,
    Right,
    /// What is true and cannot be seen was not said.
    Hidden,
    /// Not all that is true was said.
    Missed,
    /// Something was said that is not so.
    Wrong,
}

/// One answer.
#[derive(Debug, Serialize)]
struct Answer {
    line: usize,
    world: String,
    window: String,
    agent: String,
    said: Speech,
    expected: Option<Speech>,
    judged: Grade,
    /// What the agent reads.
    answer: Option<String>,
}

/// Plays a recording.
///
/// # Errors
/// It cannot be read, is no recording of guards, or does not agree with what git does.
pub(crate) fn replay(path: &Path, shape: Shape) -> Outcome {
    let name = Untrusted::from_path(path);
    let failed = |error: anyhow::Error| Failure::new(Exit::Failed, error);
    let text = text(path, MOST)
        .and_then(|text| text.context("there is no such file"))
        .with_context(|| format!("failed to read the recording {name}"))
        .map_err(failed)?;
    if text.is_empty() {
        return Err(failed(anyhow!("{name} is empty, not a guard recording")));
    }
    let mut player = Player { scene: None, world: String::new() };
    let mut counts: BTreeMap<(Grade, Speech), u32> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let answered = player
            .play(number + 1, line)
            .with_context(|| format!("{name}, line {}", number + 1))
            .map_err(failed)?;
        let Some(answered) = answered else { continue };
        *counts.entry((answered.judged, answered.said)).or_default() += 1;
        match shape {
            Shape::Json => print(&format!("{}\n", json::to_line(&answered)?))?,
            Shape::Text(_) => print(&format!("{}\n", shown(&answer_text(&answered))))?,
        }
    }
    if let Shape::Text(_) = shape {
        print(&summary(&counts))?;
    }
    let is_fine = counts.keys().all(|(judged, _)| *judged < Grade::Missed);
    Ok(if is_fine { Exit::Fine } else { Exit::Problems })
}

fn answer_text(answered: &Answer) -> String {
    let Answer { line, world, window, said, expected, judged, answer, .. } = answered;
    let verdict = match judged {
        Grade::Unjudged | Grade::Right => String::new(),
        Grade::Hidden => " (cannot be seen)".to_owned(),
        Grade::Missed => format!(" MISSED, expected {}", expected.unwrap_or_default().word()),
        Grade::Wrong => format!(" WRONG, expected {}", expected.unwrap_or_default().word()),
    };
    let answer = answer.as_ref().map(|answer| format!(": {answer}")).unwrap_or_default();
    format!("line {line}, {world}, {window}: {}{verdict}{answer}", said.word())
}

fn summary(counts: &BTreeMap<(Grade, Speech), u32>) -> String {
    let sum = |is: &dyn Fn(Grade, Speech) -> bool| -> u32 {
        counts.iter().filter(|((judged, said), _)| is(*judged, *said)).map(|(_, count)| count).sum()
    };
    let said = [Speech::Brief, Speech::Note, Speech::HoldUp, Speech::Ask, Speech::Deny]
        .map(|speech| format!("{} {}", speech.word(), sum(&|_, said| said == speech)));
    format!(
        "calls {}: {}; wrong {}, missed {}, cannot be seen {}\n",
        sum(&|_, _| true),
        said.join(", "),
        sum(&|judged, _| judged == Grade::Wrong),
        sum(&|judged, _| judged == Grade::Missed),
        sum(&|judged, _| judged == Grade::Hidden),
    )
}

struct Player {
    scene: Option<Scene>,
    world: String,
}

impl Player {
    /// Has one line happen; answers one that is a call.
    fn play(&mut self, number: usize, line: &str) -> anyhow::Result<Option<Answer>> {
        let line: Line = serde_json::from_str(line).context("this is not a line of a guard recording")?;
        let is_first = number == 1;
        ensure!(is_first == matches!(line, Line::Schema(_)), "a recording begins with its schema");
        if let Line::World(name) = line {
            (self.scene, self.world) = (Some(Scene::new()?), name);
            return Ok(None);
        }
        if let Line::Schema(schema) = line {
            ensure!(schema == SCHEMA, "a recording of another version");
            return Ok(None);
        }
        let scene = self.scene.as_mut().context("no world has begun")?;
        match line {
            Line::Schema(_) | Line::World(_) => bail!("not here"),
            Line::At(since) => scene.set_clock(since)?,
            Line::Config(text) => scene.configure(&text)?,
            Line::Opened(of) => scene.open(of)?,
            Line::Died(window) => scene.end(&window)?,
            Line::Wrote { path, text } => scene.write(&path, &text)?,
            Line::Removed(path) => scene.remove(&path)?,
            Line::Linked { path, to } => scene.link(&path, &to)?,
            Line::Git { tree, verb, names } => scene.git(&tree, verb, &names)?,
            Line::Holds { path, text } => ensure!(scene.holds(&path, &text)?, "{path} has other text"),
            Line::Call { window, hook, expect } => {
                let agent = scene.agent(&window)?.to_owned();
                let asker = Asker::named(&agent).context("no such agent")?;
                let input = scene.input(hook.get())?;
                // What fails is silent, as in the hook itself.
                let came =
                    respond(asker, &scene.scope, input.as_bytes(), scene.now(), || scene.machine(&window));
                let (came, answer) = came.map_or((GuardOutcome::Failed, None), |came| came.but_losses);
                let said = answer.as_ref().map_or(Speech::None, |_| speech(came));
                let judged = expect.as_ref().map_or(Grade::Unjudged, |expected| {
                    judge(said, answer.as_deref().unwrap_or_default(), expected, scene)
                });
                let (world, expected) = (self.world.clone(), expect.map(|expected| expected.said));
                return Ok(Some(Answer {
                    line: number,
                    world,
                    window,
                    agent,
                    said,
                    expected,
                    judged,
                    answer,
                }));
            }
        }
        Ok(None)
    }
}

/// Returns how an agent was spoken to, as something was said.
fn speech(came: GuardOutcome) -> Speech {
    match came {
        GuardOutcome::Briefed => Speech::Brief,
        GuardOutcome::Noted => Speech::Note,
        GuardOutcome::HeldUp => Speech::HoldUp,
        GuardOutcome::Asked => Speech::Ask,
        GuardOutcome::Denied => Speech::Deny,
        GuardOutcome::Overridden
        | GuardOutcome::Recorded
        | GuardOutcome::OutOfScope
        | GuardOutcome::NobodyElse
        | GuardOutcome::ToldBefore
        | GuardOutcome::LostNoted
        | GuardOutcome::TimedOut
        | GuardOutcome::Failed => Speech::None,
    }
}

/// Compares what the model reads with what is true.
fn judge(said: Speech, answer: &str, expected: &Expectation, scene: &Scene) -> Grade {
    match (said, expected.said) {
        (Speech::None, Speech::None) => return Grade::Right,
        (Speech::None, _) if expected.hidden.is_some() => return Grade::Hidden,
        (Speech::None, _) => return Grade::Missed,
        (said, expected) if said != expected => return Grade::Wrong,
        _ => {}
    }
    let pid = |window: &String| Some(format!("PID {}", scene.pid(window)?));
    let names = |window: &String| -> BTreeSet<String> {
        let earlier = expected.earlier.get(window).into_iter().flatten();
        earlier.chain([window]).filter_map(pid).collect()
    };
    let pids: Vec<BTreeSet<String>> =
        expected.about.keys().map(names).filter(|names| !names.is_empty()).collect();
    let files: BTreeSet<String> =
        expected.about.values().flatten().map(|path| present::guard::inside(path, "")).collect();
    let (named_pids, named_files) = named(answer);
    if !named_pids.iter().all(|pid| pids.iter().any(|names| names.contains(pid)))
        || !named_files.is_subset(&files)
    {
        return Grade::Wrong;
    }
    let is_all_named =
        expected.about.values().all(|files| files.len() <= NAMED) && expected.about.len() <= NAMED;
    // A note names of each file who was first.
    let is_complete = if said != Speech::Note && is_all_named {
        pids.iter().all(|names| !names.is_disjoint(&named_pids)) && named_files == files
    } else {
        !named_files.is_empty()
    };
    if is_complete { Grade::Right } else { Grade::Missed }
}

/// Returns the processes and files that a text names.
fn named(answer: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let number = |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
    let pids = answer.split("PID ").skip(1).map(|text| format!("PID {}", number(text))).collect();
    let parts: Vec<&str> = answer.split('`').collect();
    let quoted = parts.chunks(2).filter_map(|pair| match pair {
        [before, quoted] => Some((before, quoted)),
        _ => None,
    });
    let is_file = |before: &str, quoted: &str| {
        let is_call = before.ends_with("held this up once: ") || quoted.starts_with("git ");
        !before.ends_with("window ") && !is_call
    };
    let files =
        quoted.filter(|(before, quoted)| is_file(before, quoted)).map(|(_, file)| format!("`{file}`"));
    (pids, files.collect())
}
