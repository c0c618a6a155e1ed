//! Lists that thousands of things hold: never changed, and mostly of one element.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A list that takes no memory of its own while it has at most one element, and whose copies share
/// one memory where it has more.
pub struct Shared<T: 'static>(List<T>);

enum List<T: 'static> {
    /// One of our own.
    Fixed(&'static [T]),
    /// Of one element.
    One(T),
    /// Made of what was read.
    Made(Arc<[T]>),
}

impl<T> Shared<T> {
    /// Takes a list of our own, which needs no copy.
    pub const fn fixed(list: &'static [T]) -> Self {
        Self(List::Fixed(list))
    }
}

impl<T: Clone> Shared<T> {
    /// Adds one more; other copies stay as they are.
    pub fn push(&mut self, item: T) {
        *self = self.iter().cloned().chain([item]).collect();
    }
}

impl<T: Clone> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            List::Fixed(list) => List::Fixed(list),
            List::One(item) => List::One(item.clone()),
            List::Made(list) => List::Made(Arc::clone(list)),
        })
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self::fixed(&[])
    }
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            List::Fixed(list) => list,
            List::One(item) => std::slice::from_ref(item),
            List::Made(list) => list,
        }
    }
}

impl<'a, T> IntoIterator for &'a Shared<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(list: Vec<T>) -> Self {
        match <[T; 1]>::try_from(list) {
            Ok([item]) => Self(List::One(item)),
            Err(list) if list.is_empty() => Self::default(),
            Err(list) => Self(List::Made(list.into())),
        }
    }
}

impl<T: Clone> From<&[T]> for Shared<T> {
    fn from(list: &[T]) -> Self {
        list.iter().cloned().collect()
    }
}

impl<T, const N: usize> From<[T; N]> for Shared<T> {
    fn from(list: [T; N]) -> Self {
        list.into_iter().collect()
    }
}

impl<T> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(list: I) -> Self {
        let mut items = list.into_iter();
        let (first, second) = (items.next(), items.next());
        match (first, second) {
            (None, _) => Self::default(),
            (Some(item), None) => Self(List::One(item)),
            (Some(first), Some(second)) => {
                let mut all = vec![first, second];
                all.extend(items);
                all.into()
            }
        }
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}
