//! The lists of words of the table, each known by its name there.

/// Makes an enum of the lists, each beside its name.
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
    /// Stands before a token, or before a user with a password.
    Scheme = "scheme",
    /// Says that a name is a secret's wherever it stands in it.
    Anywhere = "anywhere",
    /// The same, as the end of a word.
    Ending = "ending",
    /// The same, as the last of several words.
    Last = "last",
    /// The same, alone.
    Alone = "alone",
    /// The same, before `key`.
    Key = "key",
    /// Says before `key` that it is none.
    PlainKey = "plain-key",
    /// Says before `token` that it is none.
    PlainToken = "plain-token",
    /// Has keys that look drawn by lot.
    Vendor = "vendor",
    /// Says as the last word that a name is not the secret's itself.
    About = "about",
    /// Says as the first word of an option that it takes no secret.
    Switch = "switch",
    /// A parameter whose value proves something.
    Parameter = "parameter",
    /// The same, where it is no word.
    Telling = "telling",
    /// Ends a name whose value is several words.
    Phrase = "phrase",
    /// What people call a password.
    Said = "said",
    /// What else may be secret.
    MaybeSaid = "maybe-said",
    /// What people call a number that is secret.
    Digits = "digits",
    /// Stands between the name of a secret and itself.
    Is = "is",
    /// The same, if what follows looks drawn by lot.
    To = "to",
    /// Is said of a password, and is none.
    Plain = "plain",
    /// Stands behind an option in a sentence, or behind a field as its type.
    Filler = "filler",
}

impl List {
    /// Returns whether its words say that a name is a secret's, or that something is one.
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
    /// Adds words to a list; `None` if there is none of this name.
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

/// How long words of lists are at most, in bytes.
pub(super) const LONGEST: usize = 24;
