//! What is looked for in one folder: the files of all formats that keep some there.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::core::own::{Own, OwnPlace};
use crate::core::record::Format;
use crate::core::text::Untrusted;
use crate::format::{self, Base, FileKind, Place};

/// Every format that keeps files in one folder.
#[derive(Default)]
pub(super) struct Here {
    places: Vec<&'static Place>,
    own: Vec<(Own, &'static OwnPlace)>,
}

impl Here {
    /// Returns the formats.
    pub(super) fn formats(&self) -> BTreeSet<Format> {
        let own = self.own.iter().map(|(own, _)| Format::Own(*own));
        self.places.iter().map(|place| place.format).chain(own).collect()
    }

    /// Returns the names of what a person described, which no format of ours knows.
    pub(super) fn own_names(&self) -> impl Iterator<Item = &str> {
        self.own.iter().map(|(_, place)| place.name.as_str())
    }

    /// Returns what the first format that knows a name takes its file for; what a person described
    /// comes last.
    pub(super) fn recognise(&self, name: &OsStr) -> Option<(Format, FileKind)> {
        let name: Cow<'_, str> = match name.to_str() {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(Untrusted::from_bytes(name.as_bytes()).raw().to_owned()),
        };
        let known = self.places.iter().find_map(|place| Some((place.format, (place.recognise)(&name)?)));
        known.or_else(|| {
            let (own, _) = self.own.iter().find(|(_, place)| place.fits(&name))?;
            Some((Format::Own(*own), FileKind::Own(*own)))
        })
    }
}

/// Returns what is looked for below a base by folder, so that each is listed once.
pub(super) fn by_dir(base: Base, own: &[Own]) -> BTreeMap<&'static str, Here> {
    let mut by_dir: BTreeMap<_, Here> = BTreeMap::new();
    for place in format::places().filter(|place| place.base == base) {
        by_dir.entry(place.dir).or_default().places.push(place);
    }
    for own in own {
        let here = own.definition().places.iter().filter(|place| format::own::base(place.root) == base);
        here.for_each(|place| by_dir.entry(&place.folder).or_default().own.push((*own, place)));
    }
    by_dir
}
