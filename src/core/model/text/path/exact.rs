//! Paths in the journal: a UTF-8 path as text, any other as the list of its bytes. Earlier versions treat a line with
//! such a list as one that they cannot read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => text.serialize(serializer),
        None => path.as_os_str().as_encoded_bytes().serialize(serializer),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum PathForm {
        Text(String),
        Bytes(Vec<u8>),
    }
    Ok(match PathForm::deserialize(deserializer)? {
        PathForm::Text(text) => text.into(),
        PathForm::Bytes(bytes) => from_bytes(bytes).map_err(serde::de::Error::custom)?,
    })
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not all bytes are a path")]
fn from_bytes(bytes: Vec<u8>) -> Result<PathBuf, std::string::FromUtf8Error> {
    use std::os::unix::ffi::OsStringExt;
    Ok(OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn from_bytes(bytes: Vec<u8>) -> Result<PathBuf, std::string::FromUtf8Error> {
    Ok(OsString::from(String::from_utf8(bytes)?).into())
}

/// A path that may be missing.
pub(crate) mod option {
    use super::{Deserialize, Deserializer, PathBuf, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Exact(#[serde(with = "super")] PathBuf);

    pub(crate) fn serialize<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
        path.clone().map(Exact).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<Exact>::deserialize(deserializer)?.map(|exact| exact.0))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Paths {
        #[serde(with = "super")]
        path: PathBuf,
        #[serde(with = "super::option")]
        folder: Option<PathBuf>,
    }

    #[track_caller]
    fn check(path: &[u8], written: &str) {
        let path = PathBuf::from(OsString::from_vec(path.to_vec()));
        let paths = Paths { path: path.clone(), folder: Some(path.clone()) };
        let text = serde_json::to_string(&paths).unwrap();
        assert_eq!(text, format!(r#"{{"path":{written},"folder":{written}}}"#));
        let read: Paths = serde_json::from_str(&text).unwrap();
        assert_eq!((read.path, read.folder), (path.clone(), Some(path)));
    }

    #[test]
    fn text_stays_text_and_other_bytes_are_kept() {
        check("/home/dev/ä".as_bytes(), r#""/home/dev/ä""#);
        check(b"/a\xff", "[47,97,255]");
    }
}
