//! The known facts of a session while its file is read line by line, oldest first.
//!
//! A file may be read from somewhere in its middle: an adapter then reports when enough was read that earlier lines
//! could change nothing.

pub(crate) mod helpers;
mod port;
mod salvage;
pub(crate) mod talk;
#[cfg(test)]
pub(super) mod testing;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::core::guard::git::git_calls;
use crate::core::guard::git::trees::{folders_removed, trees_added};
use crate::core::guard::shell::ShellContext;
use crate::core::model::snapshot::work::{MOST_CALLS, MOST_COMMANDS, MOST_FILES};
use crate::core::model::{
    Call, ContextFill, Doing, Edit, Prompt, ShellCommand, TakenPort, Target, Turn, TurnState, Untrusted,
};
use crate::format::reading::excerpt::excerpt;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::time;
use crate::format::work::helpers::Helpers;
use crate::format::work::port::taken_port;
use crate::format::work::salvage::salvage;

/// How many characters of a prompt, a command or a task are kept.
const SHOWN: usize = 400;

/// More tokens than this do not fit into any context.
const MOST_TOKENS: u64 = 1_000_000_000;

/// The most ports of one session that are kept, the newest.
const MOST_PORTS: usize = 4;

/// The most folders of one session that are kept, the newest: those that it has made, and those that it has removed.
const MOST_FOLDERS: usize = 32;

/// The most bytes of a path (`PATH_MAX`).
const MOST_PATH: usize = 4096;

/// How a format's session files are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adapter {
    /// Takes one line over.
    pub(crate) line: fn(&mut Draft, &Object<'_>),
    /// Returns whether earlier lines could change nothing, except edits unless [`Draft::has_all_edits`].
    pub(crate) is_settled: fn(&Draft) -> bool,
}

/// A sub-agent's facts beside its transcript.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SubAgentNote {
    /// Its task.
    pub(crate) task: Option<Untrusted>,
    pub(crate) is_finished: bool,
}

/// An edited file.
#[derive(Clone, Debug, Default)]
struct EditNote {
    /// When it was last edited.
    at: Option<Timestamp>,
    /// Whether the result of a call reported it, after which no list of files can take that back.
    is_result: bool,
    /// The session of the process that edited it, if that is another.
    from: Option<Untrusted>,
    /// The sub-agent that edited it.
    by: Option<Untrusted>,
}

/// The facts of the lines read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    /// The known facts, without the edits.
    pub(crate) doing: Doing,
    /// Its sub-agents, if its own file has them.
    pub(crate) helpers: Helpers,
    /// The edited files.
    edits: BTreeMap<Untrusted, EditNote>,
    /// The folders that open calls are to make and to remove, by the calls' IDs.
    folders: BTreeMap<String, (Vec<String>, Vec<String>)>,
    /// When the first line with a time was written.
    pub(crate) first_at: Option<Timestamp>,
    /// Whether lines replay the past, which begins no turn.
    pub(crate) tells_past: bool,
    /// Whether the beginning of the turn was read.
    pub(crate) has_turn: bool,
    /// Whether a line was read that names every file which was edited before it.
    pub(crate) has_all_edits: bool,
    /// Whether a line was lost since then, and when the first line after the last lost one was written.
    pub(crate) lost: Option<Option<Timestamp>>,
    /// When the present line was written.
    line_at: Option<Timestamp>,
    /// Whether the present line bears on the turn.
    bears_on_turn: bool,
    /// The answer whose calls are open.
    pub(crate) answer: Option<Untrusted>,
    /// How many lines could not be understood.
    pub(crate) skipped: u64,
}

impl Draft {
    /// Takes over one line; one that is not a JSON object is counted, and the whole records in it are read.
    pub(crate) fn line(&mut self, adapter: Adapter, line: &[u8]) {
        match json::parse(line) {
            Ok(object) => self.record(adapter, &object),
            Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
            Err(_) => {
                let found = salvage(line);
                let records = found.records.into_iter().filter_map(|record| json::parse(record).ok());
                records.for_each(|record| self.record(adapter, &record));
                if found.is_lossy {
                    self.loses();
                }
            }
        }
    }

    fn record(&mut self, adapter: Adapter, record: &Object<'_>) {
        let at = record.str("timestamp").and_then(time::rfc3339);
        let at = at.or_else(|| record.int("time").and_then(time::epoch_ms));
        if let Some(at) = at {
            self.first_at = self.first_at.or(Some(at));
            if let Some(lost) = self.lost.as_mut().filter(|lost| lost.is_none()) {
                *lost = Some(at);
            }
        }
        (self.line_at, self.bears_on_turn) = (at, false);
        (adapter.line)(self, record);
        if self.bears_on_turn {
            self.doing.heard_at = at;
        }
    }

    /// A line could not be read, which may have named an edited file, or begun a turn.
    pub(crate) fn loses(&mut self) {
        self.skipped += 1;
        self.lost = Some(None);
        if self.doing.turn.state != TurnState::Working {
            self.doing.turn = Turn::default();
        }
    }

    /// Returns the known facts.
    pub(crate) fn doing(&self) -> Doing {
        let edit = |(path, edited): (&Untrusted, &EditNote)| Edit {
            by: edited.by.clone(),
            from: edited.from.clone(),
            ..Edit::new(path.clone(), edited.at)
        };
        let mut doing = Doing { edits: self.edits.iter().map(edit).collect(), ..self.doing.clone() };
        let running = doing.calls.iter().filter_map(|call| self.command(call, None));
        doing.commands.extend(running.collect::<Vec<_>>());
        doing.hide_secrets();
        doing
    }

    /// A line names the version that wrote it and the folder of its commands. Returns when that was.
    pub(crate) fn comes_from(&mut self, line: &Object<'_>) -> Option<Timestamp> {
        if let Some(version) = line.text("version") {
            self.doing.version = Some(version);
        }
        if let Some(cwd) = line.text("cwd") {
            self.doing.cwd = Some(cwd);
        }
        line.str("timestamp").and_then(time::rfc3339)
    }

    /// A person asked for something, and a turn begins. Calls without a result are then those of a
    /// process that was killed.
    pub(crate) fn asks(&mut self, text: &str, at: Option<Timestamp>) {
        self.adds(text, at);
        self.turns(TurnState::Working, at);
        self.doing.taken_ports.clear();
        self.has_turn = true;
    }

    /// A person asked for more while the agent works.
    pub(crate) fn adds(&mut self, text: &str, at: Option<Timestamp>) {
        self.bears_on_turn = true;
        self.doing.prompt = Some(Box::new(Prompt { text: first_line(text), at }));
    }

    /// The state of the turn changes here, and no call is open.
    pub(crate) fn turns(&mut self, state: TurnState, since: Option<Timestamp>) {
        self.bears_on_turn = true;
        self.doing.turn = Turn { state, since };
        self.doing.calls.clear();
        self.doing.asks.clear();
        self.doing.error = None;
        self.doing.compacting = None;
        if matches!(state, TurnState::Interrupted | TurnState::Failed) {
            self.helpers.all_end();
        }
    }

    /// An error ended the turn.
    pub(crate) fn fails(&mut self, error: &str, at: Option<Timestamp>) {
        self.turns(TurnState::Failed, at);
        self.doing.error = Some(first_line(error)).filter(|error| !error.is_empty());
    }

    /// The agent continues: it works, since the prompt if that is known.
    pub(crate) fn works(&mut self, at: Option<Timestamp>) {
        self.bears_on_turn = true;
        if self.doing.turn.state != TurnState::Working {
            self.doing.turn = Turn { state: TurnState::Working, since: at };
            self.doing.error = None;
        }
    }

    /// A tool was called.
    pub(crate) fn calls(&mut self, id: &str, tool: &str, target: Option<Target>, since: Option<Timestamp>) {
        self.works(since);
        self.doing.calls.retain(|call| call.id.raw() != id);
        self.doing.calls.push(Call { id: id.into(), tool: excerpt(tool, SHOWN), target, since });
        let spare = self.doing.calls.len().saturating_sub(MOST_CALLS);
        self.doing.calls.drain(..spare);
    }

    /// A person is asked whether a call may run, or what it should do.
    pub(crate) fn is_asked(&mut self, call: Call) {
        self.doing.asks.retain(|asked| asked.id != call.id);
        self.doing.asks.push(call);
        let spare = self.doing.asks.len().saturating_sub(MOST_CALLS);
        self.doing.asks.drain(..spare);
    }

    /// A person has answered the question about a call, or it needs no answer any more.
    pub(crate) fn is_answered(&mut self, id: &str) {
        self.doing.asks.retain(|asked| asked.id.raw() != id);
    }

    /// Returns the folder that its commands run in now.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.doing.cwd.as_ref().map(Untrusted::raw)
    }

    /// A call has printed something. Only the output of a command, or of one of its own tasks, counts for a port; a
    /// file's or a page's content does not.
    pub(crate) fn prints(&mut self, id: &str, text: &str, at: Option<Timestamp>) {
        let is_command =
            |call: &&Call| call.id.raw() == id && matches!(call.target, None | Some(Target::Command(_)));
        let Some(port) = self.doing.calls.iter().find(is_command).and_then(|_| taken_port(text)) else {
            return;
        };
        self.doing.taken_ports.retain(|taken| taken.port != port);
        self.doing.taken_ports.push(TakenPort { port, at, by: None });
        let spare = self.doing.taken_ports.len().saturating_sub(MOST_PORTS);
        self.doing.taken_ports.drain(..spare);
    }

    /// A call is a shell line, in the folder that its session's commands run in now.
    pub(crate) fn runs(&mut self, id: &str, line: &str) {
        let Some(folder) = self.folder() else { return };
        let place = ShellContext { folder, home: None, top_of: &|_| None };
        let folders = (trees_added(line, &place), folders_removed(line, &place));
        if folders != Default::default() && self.folders.len() < MOST_CALLS {
            self.folders.insert(id.to_owned(), folders);
        }
    }

    /// A call has failed, so it has certainly made nothing.
    pub(crate) fn call_fails(&mut self, id: &str) {
        self.folders.remove(id);
        self.returns(id);
    }

    /// An answer is given. Its model got the results of the previous answer's calls, whether or not these could be
    /// read.
    pub(crate) fn answers(&mut self, answer: Untrusted) {
        self.bears_on_turn = true;
        if self.answer.as_ref().is_some_and(|before| *before != answer) {
            self.doing.calls.clear();
        }
        self.answer = Some(answer);
    }

    /// A call has its result.
    pub(crate) fn returns(&mut self, id: &str) {
        self.bears_on_turn = true;
        let (made, removed) = self.folders.remove(id).unwrap_or_default();
        for (known, new) in [(&mut self.doing.trees, made), (&mut self.doing.removed, removed)] {
            known.extend(new.iter().map(|path| Untrusted::from(path.as_str())));
            known.drain(..known.len().saturating_sub(MOST_FOLDERS));
        }
        let (mut done, open) =
            std::mem::take(&mut self.doing.calls).into_iter().partition(|call: &Call| call.id.raw() == id);
        self.doing.calls = open;
        self.has_run(done.pop());
        self.is_answered(id);
    }

    /// A call has returned whose result names no file: one of a tool that writes has edited the file that it names.
    pub(crate) fn returns_written(&mut self, id: &str, writers: &[&str], at: Option<Timestamp>) {
        let call = self.doing.calls.iter().find(|call| call.id.raw() == id);
        let written = call.filter(|call| writers.contains(&call.tool.raw()));
        let path = written.and_then(|call| match &call.target {
            Some(Target::File(path)) => Some(path.raw().to_owned()),
            _ => None,
        });
        self.returns(id);
        if let Some(path) = path {
            let folder = self.folder().map(str::to_owned);
            self.has_edited(&path, folder.as_deref(), at, None);
        }
    }

    /// Returns a call as the shell command that it is, if it is one.
    fn command(&self, call: &Call, ended: Option<Timestamp>) -> Option<ShellCommand> {
        let Call { target: Some(Target::Command(line)), since: Some(at), .. } = call else { return None };
        let place = ShellContext { folder: self.folder().unwrap_or("/"), home: None, top_of: &|_| None };
        // A commit's hook may change files.
        let reaches_files = git_calls(line.raw(), &place).iter().any(|call| call.verb != "add");
        Some(ShellCommand { line: line.clone(), at: *at, ended, reaches_files })
    }

    /// Keeps a call that has ended, if it was a shell command.
    fn has_run(&mut self, call: Option<Call>) {
        let Some(command) = call.and_then(|call| self.command(&call, self.line_at)) else { return };
        self.doing.commands.push(command);
        let spare = self.doing.commands.len().saturating_sub(MOST_COMMANDS);
        self.doing.commands.drain(..spare);
    }

    /// A file was edited. A path that is not absolute is relative to the folder that the line names.
    pub(crate) fn edits(&mut self, path: &str, folder: Option<&str>, at: Option<Timestamp>) {
        let Some(edited) = self.edited(path, folder) else { return };
        (edited.at, edited.by) = (at.or(edited.at), None);
        self.keep_newest();
    }

    /// A sub-agent has edited a file.
    pub(crate) fn helper_edits(&mut self, id: &Untrusted, path: &str, at: Option<Timestamp>) {
        let Some(edited) = self.edited(path, None) else { return };
        (edited.at, edited.by) = (at.or(edited.at), Some(id.clone()));
        self.keep_newest();
    }

    /// The result of a call reports that it has edited a file, in a process that began with the session `from` if that
    /// is another: `/clear` led to this one, or it is a copy.
    pub(crate) fn has_edited(
        &mut self,
        path: &str,
        folder: Option<&str>,
        at: Option<Timestamp>,
        from: Option<Untrusted>,
    ) {
        let Some(edited) = self.edited(path, folder) else { return };
        *edited = EditNote { at: at.or(edited.at), is_result: true, from, by: None };
        self.keep_newest();
    }

    /// A list of all edited files names one, and when it was kept, which is no sooner than its edit.
    pub(crate) fn lists(&mut self, path: &str, folder: Option<&str>, kept_at: Option<Timestamp>) {
        let Some(edited) = self.edited(path, folder).filter(|edited| !edited.is_result) else { return };
        edited.at = kept_at.or(edited.at);
        self.keep_newest();
    }

    fn edited(&mut self, path: &str, folder: Option<&str>) -> Option<&mut EditNote> {
        Some(self.edits.entry(absolute(path, folder)?).or_default())
    }

    fn keep_newest(&mut self) {
        if self.edits.len() > MOST_FILES {
            let oldest = self.edits.iter().min_by_key(|(_, edited)| edited.at).map(|(path, _)| path.clone());
            self.edits.retain(|path, _| Some(path) != oldest.as_ref());
        }
    }

    /// A line follows that names every file edited until then; files that a call's own result named stay.
    pub(crate) fn forgets_edits(&mut self) {
        self.edits.retain(|_, edited| edited.is_result);
        self.has_all_edits = true;
        self.lost = None;
    }

    /// Sets the number of tokens in the context.
    pub(crate) fn fills(&mut self, tokens: u64) {
        let window = self.doing.context.and_then(|context| context.window);
        self.doing.context = (1..MOST_TOKENS).contains(&tokens).then_some(ContextFill { tokens, window });
    }
}

/// Returns the first line of a text that is not empty, cut, and without text that looks like a secret.
pub(crate) fn first_line(text: &str) -> Untrusted {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    excerpt(line.unwrap_or_default(), SHOWN)
}

/// Returns a path made absolute by a folder, if that is known; `None` if it cannot be a path.
pub(crate) fn absolute(path: &str, folder: Option<&str>) -> Option<Untrusted> {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let path = match folder.filter(|_| !path.is_empty() && !path.starts_with('/')) {
        Some(folder) => format!("{}/{path}", folder.trim_end_matches('/')).into(),
        None => Untrusted::from(path),
    };
    (1..MOST_PATH).contains(&path.raw().len()).then_some(path)
}

/// Returns the first question that an agent's own tool asks a person; Copilot asks for a form, with a message.
pub(crate) fn question(input: &Object<'_>) -> Option<Target> {
    let first = || input.get("questions")?.as_array()?.first()?.as_object()?.str("question");
    let form = || input.str("message").filter(|_| input.has("requestedSchema"));
    first().or_else(form).map(|text| Target::Question(first_line(text)))
}

/// Returns the target of a tool, by the names that the agents' tools give their inputs. A file is relative to the
/// folder of the session's commands, if that is known.
pub(crate) fn target(input: &Object<'_>, folder: Option<&str>) -> Option<Target> {
    let text = |names: &[&str]| names.iter().find_map(|name| input.text(name));
    let path = || text(&["file_path", "filePath", "notebook_path", "absolute_path"]);
    let line = |names: &[&str]| text(names).map(|text| first_line(text.raw()));
    question(input)
        .or_else(|| path().and_then(|path| absolute(path.raw(), folder).map(Target::File)))
        .or_else(|| line(&["command", "cmd"]).map(Target::Command))
        .or_else(|| line(&["url"]).map(Target::Url))
        .or_else(|| line(&["pattern", "query"]).map(Target::Search))
        .or_else(|| line(&["description", "task_name"]).map(Target::Agent))
        .or_else(|| text(&["path", "dir_path"]).map(Target::File))
}

/// Returns the target of a tool of an agent whose tools name a file by `path`, unless they search.
pub(crate) fn target_by_path(input: &Object<'_>, folder: Option<&str>) -> Option<Target> {
    let file = input.str("path").filter(|_| !input.has("pattern"));
    file.and_then(|path| absolute(path, folder)).map(Target::File).or_else(|| target(input, folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, folder: Option<&str>, expected: Option<&str>) {
        assert_eq!(absolute(path, folder).as_ref().map(Untrusted::raw), expected);
    }

    #[test]
    fn a_path_stands_in_its_folder() {
        check("a.rs", Some("/src/"), Some("/src/a.rs"));
        check("a.rs", None, Some("a.rs"));
        check("/b/a.rs", Some("/src"), Some("/b/a.rs"));
        check("file:///b/a.rs", Some("/src"), Some("/b/a.rs"));
        check("", Some("/src"), None);
        check(&"a".repeat(MOST_PATH), None, None);
    }

    #[test]
    fn what_a_file_says_in_its_own_words_loses_its_secrets() {
        let mut draft = Draft::default();
        let doing = &mut draft.doing;
        for text in [&mut doing.title, &mut doing.todo, &mut doing.model, &mut doing.version, &mut doing.mode]
        {
            *text = Some("my password is hush".into());
        }
        draft.calls("1", "Bash --token hush", Some(Target::Command(first_line("unzip -P hush a"))), None);
        draft.adds("my password is hush", None);
        assert!(!format!("{:?}", draft.doing()).contains("hush"));
    }

    #[test]
    fn only_the_newest_files_and_calls_are_kept() {
        let mut draft = Draft::default();
        for second in 0..1_000 {
            let at = Timestamp::from_second(second).ok();
            draft.edits(&format!("/src/{second}.rs"), None, at);
            draft.calls(&second.to_string(), "Edit", None, at);
        }
        let doing = draft.doing();
        assert_eq!((doing.edits.len(), doing.calls.len()), (MOST_FILES, MOST_CALLS));
        let oldest = doing.edits.iter().filter_map(|edit| edit.at).min();
        assert_eq!(oldest.map(Timestamp::as_second), Some(1_000 - 256));
        assert_eq!(doing.calls.last().map(|call| call.id.raw()), Some("999"));
    }
}
