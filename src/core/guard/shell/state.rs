//! The state of a shell while it runs a line.

use std::rc::Rc;

use crate::core::guard::shell::variables::{Value, Variables};

/// The most folders on the stack, and values that a loop goes through.
const MOST: usize = 64;

/// When a command runs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Link {
    /// In any case.
    #[default]
    Always,
    /// If the one before it succeeded.
    IfWell,
    /// If the one before it failed.
    IfFailed,
}

/// The folder and variables of a shell.
#[derive(Clone, Default)]
pub(super) struct State {
    /// The folder, absolute; `None` if it is not known.
    pub(super) folder: Option<Rc<str>>,
    /// The folder before that.
    pub(super) previous: Option<Rc<str>>,
    /// The folders on the stack of `pushd`.
    pub(super) pushed: Rc<Vec<Option<Rc<str>>>>,
    pub(super) variables: Rc<Variables>,
    /// How many loops and conditions are open.
    pub(super) nested: usize,
    /// The variables of the loops that are open, and how many of these were open with each.
    loops: Rc<Vec<(usize, String)>>,
    /// The variables set by commands that run only if those before them succeed: unknown after the whole list.
    doubtful: Rc<Vec<String>>,
    /// Whether git works on something else from here on, or is another program.
    pub(super) is_git_elsewhere: bool,
    /// The condition under which the next command runs.
    pub(super) link: Link,
}

impl State {
    pub(super) fn in_folder(folder: Option<Rc<str>>) -> Self {
        Self { folder, ..Self::default() }
    }

    /// Returns the initial state of a child shell: of exports only those about git's location are followed.
    pub(super) fn of_child(&self) -> Self {
        Self { is_git_elsewhere: self.is_git_elsewhere, ..Self::in_folder(self.folder.clone()) }
    }

    /// Goes to another folder, or to an unknown one.
    pub(super) fn go(&mut self, to: Option<Rc<str>>) {
        self.previous = std::mem::replace(&mut self.folder, to);
    }

    /// Goes to another folder and pushes this one.
    pub(super) fn push(&mut self, to: Option<Rc<str>>) {
        if self.pushed.len() < MOST {
            Rc::make_mut(&mut self.pushed).push(self.folder.clone());
        } else {
            self.pushed = Rc::default();
        }
        self.go(to);
    }

    /// Goes to the folder that was pushed last.
    pub(super) fn pop(&mut self) {
        let to = Rc::make_mut(&mut self.pushed).pop().flatten();
        self.go(to);
    }

    /// Forgets everything: something ran here that was not read.
    pub(super) fn lose(&mut self) {
        self.go(None);
        (self.previous, self.pushed) = (None, Rc::default());
        Rc::make_mut(&mut self.variables).forget_all();
    }

    /// Begins what follows a command.
    pub(super) fn follow(&mut self, link: Link) {
        self.link = link;
        if link != Link::IfWell && !self.doubtful.is_empty() {
            for name in std::mem::take(&mut self.doubtful).iter() {
                self.forget(name);
            }
        }
    }

    /// Counts the loops and conditions that a command opens or ends.
    pub(super) fn nest(&mut self, words: &[String]) {
        for word in words {
            match word.as_str() {
                "if" | "while" | "until" | "{" => self.nested += 1,
                "then" | "elif" | "else" | "do" | "!" => {}
                "for" | "select" => return self.nested += 1,
                "fi" | "done" | "}" => return self.unnest(),
                _ => return,
            }
        }
    }

    fn unnest(&mut self) {
        self.nested = self.nested.saturating_sub(1);
        while self.loops.last().is_some_and(|(nested, _)| *nested > self.nested) {
            let ended = Rc::make_mut(&mut self.loops).pop();
            ended.iter().for_each(|(_, name)| self.forget(name));
        }
    }

    /// Returns whether the next command runs in any case.
    pub(super) fn is_certain(&self) -> bool {
        self.nested == 0 && self.link == Link::Always
    }

    /// Sets a variable; to a known value only if that is certain to happen before it is used.
    pub(super) fn set(&mut self, name: &str, value: Option<String>) {
        let is_known = self.nested == 0 && self.link != Link::IfFailed;
        if is_known && self.link == Link::IfWell && !self.doubtful.iter().any(|doubtful| doubtful == name) {
            Rc::make_mut(&mut self.doubtful).push(name.to_owned());
        }
        let value = value.filter(|_| is_known).map_or(Value::Unknown, Value::Text);
        Rc::make_mut(&mut self.variables).set(name, value);
    }

    /// Lets a variable stand for each of these words in turn, until the end of the loop.
    pub(super) fn set_each(&mut self, name: &str, words: &[String]) {
        if words.len() > MOST || self.loops.len() > MOST {
            return self.forget(name);
        }
        Rc::make_mut(&mut self.variables).set(name, Value::Each(words.to_vec()));
        Rc::make_mut(&mut self.loops).push((self.nested, name.to_owned()));
    }

    /// Notes that something may have set a variable.
    pub(super) fn forget(&mut self, name: &str) {
        Rc::make_mut(&mut self.variables).set(name, Value::Unknown);
    }
}
