//! What `setup` prints.

use serde::Serialize;

use crate::cli::hook::files::text_of;
use crate::cli::hook::setup::agent::{AgentSetup, SetupState};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::{Shape, lines, print, print_if_heard};
use crate::core::model::text::{json, shown};
use crate::core::model::{SetupWay, Untrusted};
use crate::present::plan::write_diff;
use crate::present::text::page::Page;
use crate::present::text::tone::Tone;
use crate::source::os::clock;

/// The name of the JSON schema.
const SCHEMA: &str = "claimtop.setup.v1";

/// What is printed, and what is known at the end.
pub(super) struct SetupOutput {
    shape: Shape,
    way: SetupWay,
    /// The entry of the journal that takes it back.
    pub(super) entry: Option<u64>,
    /// Whether it was not done because it was not confirmed.
    pub(super) is_unconfirmed: bool,
}

#[derive(Serialize)]
struct JsonOutput<'a> {
    schema: &'static str,
    agents: Vec<ShownAgent<'a>>,
    /// The entry of the journal that takes it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<u64>,
}

#[derive(Serialize)]
struct ShownAgent<'a> {
    agent: &'static str,
    settings: Untrusted,
    state: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    change: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    diff: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    /// What belongs into the settings, if that is not done here.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'a [String],
}

impl<'a> ShownAgent<'a> {
    fn of(setup: &'a AgentSetup) -> Self {
        let mut agent = Self {
            agent: setup.agent.title(),
            settings: setup.edit.path.text().clone(),
            state: "",
            change: "",
            diff: &[],
            why: None,
            text: None,
            notes: &setup.notes,
        };
        match &setup.state {
            SetupState::NotThere => agent.state = "not-installed",
            SetupState::Same => agent.state = "unchanged",
            SetupState::Planned { done, diff } => {
                (agent.state, agent.change, agent.diff) = ("planned", done, diff);
            }
            SetupState::Done(done) => (agent.state, agent.change) = ("done", done),
            SetupState::Refused(why) => {
                (agent.state, agent.why) = ("refused", Some(why.as_str()));
                agent.text = (setup.edit.way == SetupWay::Add).then(|| text_of(&setup.edit.wiring));
            }
        }
        agent
    }
}

impl SetupOutput {
    pub(super) fn new(shape: Shape, way: SetupWay) -> Self {
        Self { shape, way, entry: None, is_unconfirmed: false }
    }

    /// Prints what would be done.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn plan(&self, setups: &[AgentSetup]) -> Result<(), Failure> {
        let Shape::Text(paint) = self.shape else { return Ok(()) };
        let is_missing = |setup: &&AgentSetup| matches!(setup.state, SetupState::NotThere);
        for setup in setups.iter().filter(|setup| !is_missing(setup)) {
            let (text, tone) = self.state(setup);
            let head = paint.paint(Tone::Strong, &format!("{:12}", setup.agent.title()));
            let path = setup.edit.path.text();
            let mut out = format!("{head} {path}\n  {}\n", paint.paint(tone, &shown(&text)));
            for note in &setup.notes {
                out += &format!("  {}\n", paint.paint(Tone::Notice, &shown(note)));
            }
            if let SetupState::Planned { diff, .. } = &setup.state {
                let mut page = Page::for_text(clock::now());
                write_diff(&mut page, diff);
                out += &lines(&page, paint);
            }
            if matches!(setup.state, SetupState::Refused(_)) && self.way == SetupWay::Add {
                out += &format!("  Add this to it yourself:\n{}", text_of(&setup.edit.wiring));
            }
            print(&out)?;
        }
        let missing: Vec<&AgentSetup> = setups.iter().filter(is_missing).collect();
        if let Some(first) = missing.first() {
            let titles: Vec<&str> = missing.iter().map(|setup| setup.agent.title()).collect();
            let hint = match self.way {
                SetupWay::Add => format!("; `claimtop setup {}` makes it", first.agent.name()),
                SetupWay::Remove => String::new(),
            };
            let line = format!("Without a settings folder: {}{hint}", titles.join(", "));
            print(&format!("{}\n", paint.paint(Tone::Dim, &line)))?;
        }
        Ok(())
    }

    fn state(&self, setup: &AgentSetup) -> (String, Tone) {
        match &setup.state {
            SetupState::NotThere | SetupState::Same => match self.way {
                SetupWay::Add => ("all of claimtop's is there already".to_owned(), Tone::Good),
                SetupWay::Remove => ("nothing of claimtop's is there".to_owned(), Tone::Good),
            },
            SetupState::Planned { done, .. } | SetupState::Done(done) => (done.clone(), Tone::Strong),
            SetupState::Refused(why) => (format!("left alone: {why}"), Tone::Warning),
        }
    }

    /// Prints what was done.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn end(self, setups: &[AgentSetup]) -> Outcome {
        let is_refused = |setup: &AgentSetup| matches!(setup.state, SetupState::Refused(_));
        let exit =
            if self.is_unconfirmed || setups.iter().any(is_refused) { Exit::Refused } else { Exit::Fine };
        let Shape::Text(paint) = self.shape else {
            let agents = setups.iter().map(ShownAgent::of).collect();
            let output = JsonOutput { schema: SCHEMA, agents, entry: self.entry };
            print_if_heard(&format!("{}\n", json::to_string_pretty(&output)?))?;
            return Ok(exit);
        };
        let mut out = String::new();
        for setup in setups.iter().filter(|_| self.entry.is_some()) {
            let (word, tone, text) = match &setup.state {
                SetupState::Done(done) => ("done", Tone::Good, done),
                SetupState::Refused(why) => ("not done", Tone::Warning, why),
                SetupState::NotThere | SetupState::Same | SetupState::Planned { .. } => continue,
            };
            out += &format!("{} {}: {}\n", paint.paint(tone, word), setup.agent.title(), shown(text));
        }
        if let Some(entry) = self.entry {
            out += &format!("Start running agents again. `claimtop undo {entry}` takes it back.\n");
        }
        if self.is_unconfirmed {
            out += &format!("{}: --yes does it\n", paint.paint(Tone::Warning, "not done"));
        } else if setups.iter().any(AgentSetup::is_planned) {
            out += "Nothing was changed; --yes instead of --dry-run does it, and `claimtop undo` takes it back.\n";
        }
        print_if_heard(&out)?;
        Ok(exit)
    }
}
