//! Lists that thousands of records hold: made once, and kept without room for more.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A list without room for more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct List<T>(Box<[T]>);

impl<T> List<T> {
    /// Adds one more.
    pub fn push(&mut self, item: T) {
        self.extend([item]);
    }
}

impl<T> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let mut list = std::mem::take(&mut self.0).into_vec();
        list.extend(items);
        self.0 = list.into();
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Box::default())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_vec().into_iter()
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
        Self(Box::new(items))
    }
}

/// A list that is mostly empty, and then takes no more than a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rare<T>(Option<Box<List<T>>>);

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
        let list: List<T> = items.into_iter().collect();
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
        List::deserialize(deserializer).map(Self::from_iter)
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
