//! Lists that thousands of records hold: made once, and kept without room for more.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A list without room for more, which can share its memory with equal ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct List<T>(Arc<[T]>);

impl<T: Clone> List<T> {
    /// Adds one more.
    pub fn push(&mut self, item: T) {
        self.extend([item]);
    }
}

/// The newest things of one sort, whose copies share a memory: thousands of files of one system say
/// the same few things.
#[derive(Clone, Debug)]
pub struct Newest<T>(Vec<T>);

impl<T> Default for Newest<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone + PartialEq> Newest<T> {
    /// How many are looked through for an equal one.
    const MOST: usize = 8;

    /// Makes one a copy of one of the newest where that is equal.
    pub fn share(&mut self, one: &mut T) {
        if let Some(at) = self.0.iter().position(|known| known == one) {
            *one = self.0.remove(at);
        }
        self.0.truncate(Self::MOST - 1);
        self.0.insert(0, one.clone());
    }
}

impl<T: Clone> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let more: Vec<T> = items.into_iter().collect();
        if !more.is_empty() {
            self.0 = self.iter().cloned().chain(more).collect();
        }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Clone> DerefMut for List<T> {
    /// Gives access to a memory of its own.
    fn deref_mut(&mut self) -> &mut [T] {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: Clone> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(&*self.0).into_iter()
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<T, const N: usize> From<[T; N]> for List<T> {
    fn from(items: [T; N]) -> Self {
        Self(Arc::new(items))
    }
}

/// A list that is mostly empty, and then takes no more than a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rare<T>(Option<Box<Box<[T]>>>);

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Deref for Rare<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_ref().map_or(&[], |list| list)
    }
}

impl<T> FromIterator<T> for Rare<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let list: Box<[T]> = items.into_iter().collect();
        Self((!list.is_empty()).then(|| list.into()))
    }
}

impl<T: Serialize> Serialize for Rare<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Rare<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from_iter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_comes_last() {
        let mut list = List::from([1]);
        list.push(2);
        list.extend(None);
        list.extend([3, 4]);
        assert_eq!(*list, [1, 2, 3, 4]);
    }

    #[test]
    fn equal_lists_share_one_memory_while_they_are_among_the_newest() {
        let mut newest = Newest::default();
        let mut shared = |text: &str| {
            let mut list = List::from([text.to_owned()]);
            newest.share(&mut list);
            list
        };
        let first = shared("first");
        (1..Newest::<List<String>>::MOST).for_each(|number| drop(shared(&number.to_string())));
        assert!(Arc::ptr_eq(&shared("first").0, &first.0));
        (0..Newest::<List<String>>::MOST).for_each(|number| drop(shared(&number.to_string())));
        let later = shared("first");
        assert!(later == first && !Arc::ptr_eq(&later.0, &first.0));
        assert_eq!(newest.0.len(), Newest::<List<String>>::MOST);
    }

    #[test]
    fn a_list_is_written_as_a_list_and_read_back() {
        for text in ["[]", "[1,2]"] {
            let list: List<u8> = serde_json::from_str(text).unwrap();
            let rare: Rare<u8> = serde_json::from_str(text).unwrap();
            assert_eq!(*list, *rare);
            assert_eq!(serde_json::to_string(&list).unwrap(), text);
            assert_eq!(serde_json::to_string(&rare).unwrap(), text);
        }
    }

    #[test]
    fn a_list_that_is_mostly_empty_takes_no_more_than_a_pointer() {
        assert_eq!(size_of::<Rare<u8>>(), size_of::<usize>());
        assert_eq!([].into_iter().collect::<Rare<u8>>(), Rare::default());
    }
}
