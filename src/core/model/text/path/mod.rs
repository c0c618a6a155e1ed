//! Paths that keep every byte, and their text for display.

pub(crate) mod as_text;
pub(crate) mod exact;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::core::model::Untrusted;

/// The path of a file: one text shared by a file, its record, its view and its findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePath(Form);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Text(Untrusted),
    /// As text and as a path, if it is not UTF-8, so that the text differs from the path.
    Exact(Arc<(Untrusted, PathBuf)>),
}

impl FilePath {
    /// Returns the path's own bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.as_os_str().as_encoded_bytes()
    }

    /// Returns the path as text.
    pub fn text(&self) -> &Untrusted {
        match &self.0 {
            Form::Text(text) => text,
            Form::Exact(exact) => &exact.0,
        }
    }
}

impl Deref for FilePath {
    type Target = Path;

    fn deref(&self) -> &Path {
        match &self.0 {
            Form::Text(text) => Path::new(text.raw()),
            Form::Exact(exact) => &exact.1,
        }
    }
}

impl Serialize for FilePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Untrusted::deserialize(deserializer).map(|text| Self(Form::Text(text)))
    }
}

impl<T: Into<PathBuf>> From<T> for FilePath {
    fn from(path: T) -> Self {
        let path = path.into();
        let text = Untrusted::from_path(&path);
        Self(if path.to_str().is_some() { Form::Text(text) } else { Form::Exact(Arc::new((text, path))) })
    }
}
