//! The files that are looked for in one folder, of all formats that keep some there.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::core::model::{DescribedFormat, Format, OwnPlace, Untrusted};
use crate::format;
use crate::format::{Base, FileKind, Place};

/// Every format that keeps files in one folder.
#[derive(Default)]
pub(crate) struct Here {
    places: Vec<&'static Place>,
    own: Vec<(DescribedFormat, &'static OwnPlace)>,
    formats: BTreeSet<Format>,
}

impl Here {
    pub(crate) fn formats(&self) -> &BTreeSet<Format> {
        &self.formats
    }

    fn note_formats(&mut self) {
        let own = self.own.iter().map(|(own, _)| Format::Described(*own));
        self.formats = self.places.iter().map(|place| place.format).chain(own).collect();
    }

    /// Returns the names of formats that a person described, which none of our formats knows.
    pub(crate) fn own_names(&self) -> impl Iterator<Item = &str> {
        self.own.iter().map(|(_, place)| place.name.as_str())
    }

    /// Returns the format and kind of a file by the first format that knows its name; formats that a person described
    /// come last.
    pub(crate) fn recognise(&self, name: &OsStr) -> Option<(Format, FileKind)> {
        let name: Cow<'_, str> = match name.to_str() {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(Untrusted::from_bytes(name.as_bytes()).raw().to_owned()),
        };
        let known = self.places.iter().find(|place| (place.recognise)(&name));
        let known = known.map(|place| (place.format, FileKind::Known(place)));
        known.or_else(|| {
            let (own, _) = self.own.iter().find(|(_, place)| place.fits(&name))?;
            Some((Format::Described(*own), FileKind::Described(*own)))
        })
    }
}

/// The files that are looked for below each base by folder, so that each folder is listed once; the same for every
/// look.
pub(crate) struct Layout(HashMap<Base, BTreeMap<&'static str, Here>>);

impl Layout {
    /// Lays out all formats: ours, and those that a person has described.
    pub(crate) fn new(own: &[DescribedFormat]) -> Self {
        let mut layout = Self(HashMap::new());
        for place in format::places() {
            layout.here(place.base, place.dir).places.push(place);
        }
        for own in own {
            for place in &own.definition().places {
                layout.here(format::described::base(place.root), &place.folder).own.push((*own, place));
            }
        }
        layout.0.values_mut().flat_map(BTreeMap::values_mut).for_each(Here::note_formats);
        layout
    }

    fn here(&mut self, base: Base, dir: &'static str) -> &mut Here {
        self.0.entry(base).or_default().entry(dir).or_default()
    }

    /// Returns the folders below which records are looked for in a home; for a pattern, the part before it.
    pub(crate) fn homes(&self) -> Vec<(Base, String)> {
        let bases = [Base::Home, Base::ClaudeConfig, Base::Cache].into_iter();
        bases
            .flat_map(|base| self.folders_of(base).map(move |(dir, _)| (base, fixed(dir).to_owned())))
            .collect()
    }

    /// Returns the files that are looked for below a base, by folder.
    pub(crate) fn folders_of(&self, base: Base) -> impl Iterator<Item = (&'static str, &Here)> {
        self.0.get(&base).into_iter().flatten().map(|(dir, here)| (*dir, here))
    }
}

/// Returns the part of a place's pattern before its first `*`.
pub(crate) fn fixed(dir: &str) -> &str {
    dir.split_once('*').map_or(dir, |(before, _)| before).trim_end_matches('/')
}
