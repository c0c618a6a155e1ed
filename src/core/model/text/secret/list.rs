//! The word lists of the table, each with its name there.

/// Defines an enum of the lists, each beside its name.
macro_rules! lists {
    ($($(#[$about:meta])* $list:ident = $name:literal,)*) => {
        /// A list of words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum List { $($(#[$about])* $list,)* }

        impl List {
            /// All lists, in their order.
            pub(super) const ALL: &[(Self, &'static str)] = &[$((Self::$list, $name),)*];
        }
    };
}

lists! {
    /// Precedes a token, or a user with a password.
    Scheme = "scheme",
    /// Marks a name as a secret's anywhere in it.
    Anywhere = "anywhere",
    /// The same, as the end of a word.
    Ending = "ending",
    /// The same, as the last of several words.
    Last = "last",
    /// The same, alone.
    Alone = "alone",
    /// The same, before `key`.
    Key = "key",
    /// Before `key`, means that it is not a secret.
    PlainKey = "plain-key",
    /// Before `token`, means that it is not a secret.
    PlainToken = "plain-token",
    /// Has keys that look random.
    Vendor = "vendor",
    /// As the last word, means that a name is not the secret's own.
    About = "about",
    /// As the first word of an option, means that it does not take a secret.
    Switch = "switch",
    /// A parameter whose value proves something.
    Parameter = "parameter",
    /// The same, if the value is not a word.
    Telling = "telling",
    /// Ends a name whose value is several words.
    Phrase = "phrase",
    /// A word people use for a password.
    Said = "said",
    /// A word for something else that may be secret.
    MaybeSaid = "maybe-said",
    /// A word people use for a secret number.
    Digits = "digits",
    /// Comes between the name of a secret and the secret.
    Is = "is",
    /// The same, if the next word looks random.
    To = "to",
    /// Describes a password and is not one.
    Plain = "plain",
    /// Follows an option in a sentence, or a field as its type.
    Filler = "filler",
}

impl List {
    /// Returns whether its words mark a name as a secret's, or something as a secret.
    pub(super) fn is_telling(self) -> bool {
        match self {
            Self::Scheme | Self::Anywhere | Self::Ending | Self::Last | Self::Alone | Self::Vendor => true,
            Self::Parameter | Self::Telling | Self::Said | Self::MaybeSaid => true,
            Self::Key | Self::PlainKey | Self::PlainToken | Self::About | Self::Switch | Self::Phrase => {
                false
            }
            Self::Digits | Self::Is | Self::To | Self::Plain | Self::Filler => false,
        }
    }
}

/// The words of all lists, sorted.
#[derive(Debug)]
pub(super) struct Lists([Vec<&'static str>; List::ALL.len()]);

impl Default for Lists {
    fn default() -> Self {
        Self([const { Vec::new() }; List::ALL.len()])
    }
}

impl Lists {
    /// Adds words to a list; `None` if there is no list of this name.
    pub(super) fn add(&mut self, name: &str, words: impl Iterator<Item = &'static str>) -> Option<()> {
        let (list, _) = List::ALL.iter().find(|(_, known)| *known == name)?;
        let list = self.0.get_mut(*list as usize)?;
        list.extend(words);
        list.sort_unstable();
        Some(())
    }

    /// Returns the words of a list, in small letters.
    pub(super) fn entries(&self, list: List) -> &[&'static str] {
        self.0.get(list as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns whether a list has a word, whatever its case.
    pub(super) fn has(&self, list: List, word: &str) -> bool {
        let mut bytes = [0; LONGEST];
        let Some(lower) = bytes.get_mut(..word.len()) else { return false };
        lower.copy_from_slice(word.as_bytes());
        lower.make_ascii_lowercase();
        self.entries(list).binary_search_by(|known| known.as_bytes().cmp(lower)).is_ok()
    }
}

/// The longest word of the lists, in bytes.
pub(super) const LONGEST: usize = 24;
