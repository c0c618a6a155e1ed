//! Equal texts, held once: another machine's report repeats its folders, sessions and keys many times.

use std::cell::RefCell;
use std::collections::HashSet;

use lean_string::LeanStr;

/// Texts that were read, for as long as others may be equal to one of them.
pub(crate) type Texts = HashSet<LeanStr>;

thread_local! {
    /// The texts of what is being read on this thread.
    static TEXTS: RefCell<Option<Texts>> = const { RefCell::new(None) };
}

/// Runs `read` with its texts shared with equal ones in `texts`, to which new ones are added.
pub(crate) fn sharing<T>(texts: &mut Texts, read: impl FnOnce() -> T) -> T {
    let outer = TEXTS.replace(Some(std::mem::take(texts)));
    let done = read();
    *texts = TEXTS.replace(outer).unwrap_or_default();
    done
}

/// Creates a text; inside [`sharing`] equal texts are held once.
pub(crate) fn text(text: &str) -> LeanStr {
    // A short text has no allocation to share.
    if text.len() <= size_of::<LeanStr>() {
        return text.into();
    }
    TEXTS.with_borrow_mut(|texts| {
        let Some(texts) = texts else { return text.into() };
        if let Some(known) = texts.get(text) {
            return known.clone();
        }
        let new = LeanStr::from(text);
        texts.insert(new.clone());
        new
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::{Key, Untrusted};

    const LONG: &str = "a text that is too long to be held without memory";

    fn read() -> Untrusted {
        serde_json::from_str(&format!("{LONG:?}")).unwrap()
    }

    #[test]
    fn equal_texts_are_held_once_while_they_are_read_together_and_apart_elsewhere() {
        let at = |text: &Untrusted| text.raw().as_ptr();
        let mut texts = Texts::default();
        let (first, inner) = sharing(&mut texts, || (read(), sharing(&mut Texts::default(), read)));
        let second = sharing(&mut texts, read);
        assert_eq!((first.raw(), at(&first)), (LONG, at(&second)));
        let others = [inner, read()];
        assert!(others.iter().all(|other| *other == first && at(other) != at(&first)));
        let key = || Key::typed("r-0f21ab3c").on_machine("a-machine");
        let (one, other) = sharing(&mut texts, || (key(), key()));
        assert_eq!((one.as_str(), one.as_str().as_ptr()), ("r-0f21ab3c@a-machine", other.as_str().as_ptr()));
    }
}
