//! The state of each file while the steps of a session are replayed, and what proves them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::model::{Sureness, Untrusted};
use crate::format::agent::bytes::text::{Bytes, Form, Rule};
use crate::format::agent::bytes::version::{Ask, ExactState, FileVersion};

/// Why bytes with assumed line ends are not whole.
pub(crate) const LINE_ENDS: &str = "which line ends and encoding the file had";
/// Why bytes of a call without a result are not whole.
pub(crate) const NO_RESULT: &str = "the call's result: whether it wrote the file is not known";
/// Why there are no bytes of a file that is too large.
const TOO_LARGE: &str = "its bytes: the file is larger than what is rebuilt";
/// Why there are no bytes after very many versions.
const TOO_MUCH: &str = "its bytes: there is more than is rebuilt at once, ask for this file alone";
/// Why there are no bytes of an old version.
const NOT_KEPT: &str = "its bytes: there is more than is kept at once, ask for this file alone";

/// One step of a session.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) path: PathBuf,
    pub(crate) at: Option<Timestamp>,
    pub(crate) call: Option<Untrusted>,
    pub(crate) sub_agent: Option<Untrusted>,
    /// Whether its result was written down.
    pub(crate) has_result: bool,
}

/// The content of a file after a step.
#[derive(Clone, Debug)]
pub(crate) enum After {
    /// These bytes.
    Whole(Bytes),
    /// This text, in the form that the file had.
    Text(Bytes),
    /// There is no such file any more.
    Gone,
    /// Not known, for want of this.
    Missing(&'static str),
}

/// The content of a file now.
#[derive(Clone, Debug, Default)]
enum Now {
    #[default]
    Unknown,
    Absent,
    Whole(Bytes),
    /// This text, in a form that is only assumed.
    Text(Bytes, Form),
}

impl Now {
    fn bytes(&self) -> Option<Bytes> {
        match self {
            Self::Unknown | Self::Absent => None,
            Self::Whole(bytes) => Some(Arc::clone(bytes)),
            Self::Text(text, form) => Some(form.bytes(text)),
        }
    }
}

impl From<ExactState> for Now {
    fn from(exact: ExactState) -> Self {
        match exact {
            ExactState::Absent => Self::Absent,
            ExactState::Bytes(bytes) => Self::Whole(bytes),
        }
    }
}

/// A version whose form is only assumed.
#[derive(Debug)]
struct AssumedForm {
    version: usize,
    before: Option<Bytes>,
    after: Bytes,
    /// Whether its text is proved.
    is_proved: bool,
}

/// What is known of one file.
#[derive(Debug, Default)]
struct FileState {
    now: Now,
    /// The last version, as long as nothing has proved or contradicted it.
    last: Option<usize>,
    /// The versions since the last state that was known exactly.
    assumed: Vec<AssumedForm>,
    /// The version of a call without a result, and its content.
    maybe: Option<(usize, Bytes)>,
}

/// Replays the steps of a session.
pub(crate) struct Replay<'a> {
    ask: Ask<'a>,
    rule: Rule,
    files: HashMap<PathBuf, FileState>,
    /// None for a call that turned out to have written nothing.
    versions: Vec<Option<FileVersion>>,
    /// How much content they have, in bytes, and the first that may have some.
    kept: (usize, usize),
    /// How much content was made, in bytes.
    made: usize,
}

impl<'a> Replay<'a> {
    /// Begins with nothing known.
    pub(crate) fn new(ask: Ask<'a>, rule: Rule) -> Self {
        Self { ask, rule, files: HashMap::new(), versions: Vec::new(), kept: (0, 0), made: 0 }
    }

    /// The file is known exactly at this point.
    pub(crate) fn observe(&mut self, path: &Path, exact: ExactState) {
        let mut state = self.files.remove(path).unwrap_or_default();
        if !self.has_text(&exact, &state) {
            self.compare_copies(path, &mut state);
        }
        let is = |now: &Now| match (now, &exact) {
            (Now::Absent, ExactState::Absent) => true,
            (Now::Whole(one), ExactState::Bytes(other)) => one == other,
            _ => false,
        };
        match state.maybe.take() {
            Some((version, after)) if is(&Now::Whole(Arc::clone(&after))) => self.prove(version),
            Some((version, _)) if is(&state.now) => self.drop_version(version),
            _ => {}
        }
        if let Some(last) = state.last.take().filter(|_| is(&state.now)) {
            self.prove(last);
        }
        if let (Now::Text(text, _), ExactState::Bytes(bytes)) = (&state.now, &exact)
            && let Some((_, form)) = self.as_written(bytes).filter(|(now, _)| now == text)
        {
            let last = state.assumed.len().saturating_sub(1);
            for (at, one) in state.assumed.drain(..).enumerate() {
                self.give_form(&one, form, at == last);
            }
        }
        self.files.insert(path.to_path_buf(), FileState { now: exact.into(), ..FileState::default() });
    }

    /// Returns the text and the form of bytes that the agent could have written for the text; where line ends are
    /// mixed, another process has.
    fn as_written(&self, bytes: &Bytes) -> Option<(Bytes, Form)> {
        self.rule.text(bytes).filter(|(text, form)| form.bytes(text) == *bytes)
    }

    /// Returns whether a file has the text that it was last known to have.
    fn has_text(&self, exact: &ExactState, state: &FileState) -> bool {
        match (&state.now, exact) {
            (Now::Text(text, _), ExactState::Bytes(bytes)) => {
                self.as_written(bytes).is_some_and(|(now, _)| now == *text)
            }
            _ => false,
        }
    }

    /// The file was this before its last call, if that has no result. Returns whether there is such a call.
    pub(crate) fn begins(&mut self, path: &Path, exact: &ExactState) -> bool {
        let Some(state) = self.files.get_mut(path) else { return false };
        let Some((version, _)) = state.maybe else { return false };
        state.now = exact.clone().into();
        let began_from = state.now.bytes();
        if let Some(version) = self.version(version) {
            version.began_from = began_from;
        }
        true
    }

    /// The file has content with some hash at this point. Returns whether its last version has it.
    pub(crate) fn observe_hash(&mut self, path: &Path, has_hash: impl Fn(&[u8]) -> bool) -> bool {
        let Some(state) = self.files.get_mut(path) else { return false };
        let is_it = matches!(&state.now, Now::Whole(bytes) if has_hash(bytes));
        if let Some(last) = state.last.take().filter(|_| is_it) {
            self.prove(last);
        }
        is_it
    }

    /// The file is known exactly right after a step, which may have done more than its call says.
    pub(crate) fn settles(&mut self, path: &Path, exact: ExactState) {
        let last = self.files.get(path).and_then(|state| state.last);
        let is_it = self.files.get(path).is_some_and(|state| match (&state.now, &exact) {
            (Now::Whole(one), ExactState::Bytes(other)) => one == other,
            _ => false,
        });
        if let (Some(Some(version)), ExactState::Bytes(bytes), false) =
            (last.and_then(|last| self.versions.get_mut(last)), &exact, is_it)
        {
            let before = version.bytes.replace(Arc::clone(bytes)).map_or(0, |bytes| bytes.len());
            (version.sure, version.is_deleted) = (Sureness::Rebuilt, false);
            self.kept.0 = self.kept.0.saturating_sub(before) + bytes.len();
        }
        self.observe(path, exact);
    }

    /// Returns how many versions there are.
    pub(crate) fn count(&self) -> usize {
        self.versions.len()
    }

    /// The versions of a file from some number on contradict what is known.
    pub(crate) fn doubts(&mut self, path: &Path, from: usize, missing: &'static str) {
        let versions = self.versions.iter_mut().skip(from).flatten();
        for version in versions.filter(|version| version.path == path && version.sure == Sureness::Rebuilt) {
            version.sure = Sureness::Partial(missing);
        }
    }

    /// The agent saw this text in the file at this point.
    pub(crate) fn sees(&mut self, path: &Path, seen: &Bytes, at: Option<Timestamp>) {
        let mut state = self.files.remove(path).unwrap_or_default();
        let is = |bytes: &Bytes| self.rule.text(bytes).is_some_and(|(text, _)| text == *seen);
        let is_now = match &state.now {
            Now::Unknown => false,
            Now::Absent => seen.is_empty(),
            Now::Whole(bytes) => is(bytes),
            Now::Text(text, _) => text == seen,
        };
        let maybe = state.maybe.take();
        if let Some((version, after)) = maybe.filter(|(_, after)| is_now || is(after)) {
            if is_now {
                self.drop_version(version);
            } else {
                self.prove(version);
                state = FileState { now: Now::Whole(after), ..FileState::default() };
            }
        } else if !is_now {
            self.compare_copies(path, &mut state);
            let now = self.based_on(path, seen, &state.now, at);
            state = FileState { now, ..FileState::default() };
        }
        if let Some(last) = state.last.take() {
            match state.assumed.iter_mut().find(|one| one.version == last) {
                Some(assumed) => assumed.is_proved = true,
                None => self.prove(last),
            }
        }
        self.files.insert(path.to_path_buf(), state);
    }

    /// Returns the state of a file with this text, which is another one than was known.
    fn based_on(&self, path: &Path, seen: &Bytes, known: &Now, at: Option<Timestamp>) -> Now {
        let own = |now: &Now| match now {
            Now::Unknown | Now::Absent => None,
            Now::Whole(bytes) => self.rule.text(bytes),
            Now::Text(text, form) => Some((Arc::clone(text), *form)),
        };
        let in_git = self.ask.around.before(path, at).map(Now::from);
        let in_git = in_git.and_then(|now| Some((own(&now)?, now)));
        match (in_git, self.rule.form_of(seen)) {
            (Some(((text, _), now)), _) if text == *seen => now,
            (_, Some(form)) => Now::Whole(form.bytes(seen)),
            (in_git, None) => {
                let is_it = |copy: &Bytes| self.rule.text(copy).is_some_and(|(text, _)| text == *seen);
                if let Some(copy) = self.ask.around.copies(path).into_iter().find(is_it) {
                    return Now::Whole(copy);
                }
                let form = own(known).or(in_git.map(|(own, _)| own)).map(|(_, form)| form);
                Now::Text(Arc::clone(seen), form.unwrap_or_default())
            }
        }
    }

    /// Gives versions whose form is only assumed that of a copy with the same text, which a session has made at any
    /// time.
    fn compare_copies(&mut self, path: &Path, state: &mut FileState) {
        if state.assumed.is_empty() {
            return;
        }
        for (text, form) in self.ask.around.copies(path).iter().filter_map(|copy| self.as_written(copy)) {
            if let Some(same) = state.assumed.iter().position(|one| one.after == text) {
                for (at, one) in state.assumed.drain(..).enumerate() {
                    self.give_form(&one, form, at == same);
                }
                if let Now::Text(text, _) = &state.now {
                    state.now = Now::Whole(form.bytes(text));
                }
                return;
            }
        }
    }

    /// Returns the text of a file at this point, if it is known; a file that does not exist has none.
    pub(crate) fn text(&mut self, path: &Path, at: Option<Timestamp>) -> Option<Bytes> {
        match self.now(path, at) {
            Now::Unknown => None,
            Now::Absent => Some(Bytes::default()),
            Now::Whole(bytes) => self.rule.text(&bytes).map(|(text, _)| text),
            Now::Text(text, _) => Some(text),
        }
    }

    /// Returns the bytes of a file at this point, if they are known exactly.
    pub(crate) fn bytes(&mut self, path: &Path, at: Option<Timestamp>) -> Option<Bytes> {
        match self.now(path, at) {
            Now::Whole(bytes) => Some(bytes),
            Now::Unknown | Now::Absent | Now::Text(..) => None,
        }
    }

    /// Returns whether the form of a file is only assumed at this point.
    pub(crate) fn is_only_assumed(&mut self, path: &Path, at: Option<Timestamp>) -> bool {
        matches!(self.now(path, at), Now::Unknown | Now::Text(..))
    }

    fn now(&mut self, path: &Path, at: Option<Timestamp>) -> Now {
        let known = self.files.get(path).map(|state| state.now.clone()).unwrap_or_default();
        if !matches!(known, Now::Unknown) || self.files.get(path).is_some_and(|state| state.last.is_some()) {
            return known;
        }
        let now: Now = self.ask.around.before(path, at).map(Now::from).unwrap_or_default();
        self.files.entry(path.to_path_buf()).or_default().now = now.clone();
        now
    }

    /// A step has this result.
    pub(crate) fn writes(&mut self, step: Step, after: After) {
        let mut state = self.files.remove(&step.path).unwrap_or_default();
        let number = self.versions.len();
        let began_from = state.now.bytes();
        let mut sure = Sureness::Rebuilt;
        let is_deleted = matches!(after, After::Gone);
        let before = match &state.now {
            Now::Text(text, _) => Some(Arc::clone(text)),
            Now::Unknown | Now::Absent | Now::Whole(_) => None,
        };
        let now = match self.bounded(after) {
            After::Whole(whole) => Now::Whole(whole),
            After::Gone => Now::Absent,
            After::Missing(missing) => {
                sure = Sureness::Partial(missing);
                Now::Unknown
            }
            After::Text(text) => match self.form(&state.now) {
                Ok(form) => Now::Whole(form.bytes(&text)),
                Err(form) => {
                    sure = Sureness::Partial(LINE_ENDS);
                    Now::Text(text, form)
                }
            },
        };
        let bytes = now.bytes();
        if step.has_result {
            match &now {
                Now::Text(after, _) => state.assumed.push(AssumedForm {
                    version: number,
                    before,
                    after: Arc::clone(after),
                    is_proved: false,
                }),
                Now::Unknown | Now::Absent | Now::Whole(_) => state.assumed.clear(),
            }
            (state.now, state.last, state.maybe) = (now, Some(number), None);
        } else {
            sure = Sureness::Partial(NO_RESULT);
            state.maybe = bytes.clone().map(|after| (number, after));
        }
        self.kept.0 += bytes.as_ref().map_or(0, |bytes| bytes.len());
        self.files.insert(step.path.clone(), state);
        let Step { path, at, call, sub_agent, has_result: _ } = step;
        let version = FileVersion { path, at, call, sub_agent, bytes, sure, began_from, is_deleted };
        self.versions.push(Some(version));
        self.drop_oldest();
    }

    /// A step has this result on a file that is not wanted itself, but that wanted ones may come from.
    pub(crate) fn follows(&mut self, path: &Path, after: After) {
        let now = match self.bounded(after) {
            After::Whole(bytes) => Now::Whole(bytes),
            After::Gone => Now::Absent,
            After::Text(_) | After::Missing(_) => Now::Unknown,
        };
        self.files.insert(path.to_path_buf(), FileState { now, ..FileState::default() });
    }

    fn bounded(&mut self, after: After) -> After {
        if let After::Whole(bytes) | After::Text(bytes) = &after {
            self.made = self.made.saturating_add(bytes.len());
        }
        match &after {
            After::Whole(_) | After::Text(_) if self.made > self.ask.bounds.made => After::Missing(TOO_MUCH),
            After::Whole(bytes) | After::Text(bytes) if bytes.len() > self.ask.bounds.file => {
                After::Missing(TOO_LARGE)
            }
            After::Whole(_) | After::Text(_) | After::Gone | After::Missing(_) => after,
        }
    }

    /// Returns the form that a file keeps when it is written, or, as an error, the one that is assumed.
    fn form(&self, now: &Now) -> Result<Form, Form> {
        match now {
            Now::Unknown => Err(Form::default()),
            Now::Absent => Ok(Form::default()),
            Now::Whole(bytes) => self.rule.text(bytes).map(|(_, form)| form).ok_or_else(Form::default),
            Now::Text(text, form) => self.rule.form_of(text).ok_or(*form),
        }
    }

    fn drop_oldest(&mut self) {
        while self.kept.0 > self.ask.bounds.kept
            && let Some(oldest) = self.versions.get_mut(self.kept.1)
        {
            self.kept.1 += 1;
            if let Some(version) = oldest
                && let Some(bytes) = version.bytes.take()
            {
                self.kept.0 = self.kept.0.saturating_sub(bytes.len());
                (version.began_from, version.sure) = (None, Sureness::Partial(NOT_KEPT));
            }
        }
    }

    fn version(&mut self, number: usize) -> Option<&mut FileVersion> {
        self.versions
            .get_mut(number)?
            .as_mut()
            .filter(|version| version.bytes.is_some() || version.is_deleted)
    }

    fn prove(&mut self, number: usize) {
        if let Some(version) = self.version(number) {
            version.sure = Sureness::Proved;
        }
    }

    fn give_form(&mut self, assumed: &AssumedForm, form: Form, is_proved: bool) {
        if let Some(version) = self.version(assumed.version) {
            version.bytes = Some(form.bytes(&assumed.after));
            if let Some(before) = &assumed.before {
                version.began_from = Some(form.bytes(before));
            }
            let is_proved = is_proved || assumed.is_proved;
            version.sure = if is_proved { Sureness::Proved } else { Sureness::Rebuilt };
        }
    }

    fn drop_version(&mut self, number: usize) {
        if let Some(version) = self.versions.get_mut(number) {
            let bytes = version.take().and_then(|version| version.bytes);
            self.kept.0 = self.kept.0.saturating_sub(bytes.map_or(0, |bytes| bytes.len()));
        }
    }

    /// Compares the last versions with the present files, and returns all.
    pub(crate) fn finish(mut self) -> Vec<FileVersion> {
        let is_open = |state: &FileState| state.last.is_some() || state.maybe.is_some();
        let open = self.files.iter().filter(|(_, state)| is_open(state) || !state.assumed.is_empty());
        let open: Vec<PathBuf> = open.map(|(path, _)| path.clone()).collect();
        for path in open {
            match self.ask.around.present(&path) {
                Some(present) => self.observe(&path, present),
                None => {
                    let mut state = self.files.remove(&path).unwrap_or_default();
                    self.compare_copies(&path, &mut state);
                }
            }
        }
        self.versions.into_iter().flatten().collect()
    }
}
