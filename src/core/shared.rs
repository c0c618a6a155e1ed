//! Lists that many things hold: made once, never changed, copied without copying.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A list whose copies share one memory, so that a record, its view and its findings hold it
/// once.
#[derive(Debug, PartialEq, Eq)]
pub struct Shared<T>(Option<Arc<[T]>>);

impl<T: Clone> Shared<T> {
    /// Adds one more; other copies stay as they are.
    pub fn push(&mut self, item: T) {
        *self = self.iter().cloned().chain([item]).collect();
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
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
        Self((!list.is_empty()).then(|| list.into()))
    }
}

impl<T, const N: usize> From<[T; N]> for Shared<T> {
    fn from(list: [T; N]) -> Self {
        Self((N > 0).then(|| list.into()))
    }
}

impl<T> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(list: I) -> Self {
        list.into_iter().collect::<Vec<T>>().into()
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}
