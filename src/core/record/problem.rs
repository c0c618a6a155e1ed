//! What is wrong with a file or record, in words that many of them share.

use std::cell::RefCell;

use lean_string::LeanStr;
use serde::{Deserialize, Serialize};

use crate::core::finding::Code;

/// One thing wrong with a file or record, found while it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The finding that it raises.
    pub code: Code,
    /// What is wrong, in words, naming the value.
    pub message: LeanStr,
}

impl Problem {
    /// States a problem.
    pub fn new(code: Code, message: impl Into<LeanStr>) -> Self {
        Self { code, message: shared(message.into()) }
    }
}

/// How many texts are looked through for an equal one.
const MOST: usize = 8;

thread_local! {
    /// The texts of the newest problems, the newest first.
    static LAST: RefCell<Vec<LeanStr>> = const { RefCell::new(Vec::new()) };
}

/// Returns a text, and where one of the last was the same, in the memory of that: thousands of
/// files of one mode have one text.
fn shared(text: LeanStr) -> LeanStr {
    LAST.with_borrow_mut(|last| {
        let known = last.iter().position(|one| *one == text);
        let text = known.map_or(text, |at| last.remove(at));
        last.truncate(MOST - 1);
        last.insert(0, text.clone());
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_one_memory_while_they_are_among_the_last() {
        let text = || shared(LeanStr::from("longer than what takes no memory"));
        let first = text();
        for number in 1..MOST {
            shared(format!("{number}").into());
        }
        assert_eq!(text().as_ptr(), first.as_ptr());
        for number in 0..MOST {
            shared(format!("{number}").into());
        }
        assert_ne!(text().as_ptr(), first.as_ptr());
        assert_eq!(LAST.with_borrow(Vec::len), MOST);
    }
}
