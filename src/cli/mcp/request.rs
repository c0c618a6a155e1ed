//! The arguments of a call, checked before anything is done.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cli::args::AliveSubject;

/// The most paths of one call.
const MOST_PATHS: usize = 64;
/// The longest text of an argument, in bytes.
const MOST_BYTES: usize = 4_096;

/// What is asked.
#[derive(Clone, Debug)]
pub(super) enum Request {
    WhoIsHere(PathBuf),
    MayIEdit(Vec<PathBuf>),
    Hold { paths: Vec<PathBuf>, is_release: bool },
    Why(String),
    Alive(AliveSubject),
    WhatChangedSince(String),
    RescueList(PathBuf),
}

/// Why a call is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestError {
    /// No tool has this name.
    UnknownTool,
    /// Its arguments are wrong, in words.
    Arguments(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnePath {
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManyPaths {
    paths: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneKey {
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneToken {
    token: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AliveArguments {
    pid: Option<Number>,
    session: Option<String>,
    pane: Option<String>,
    file: Option<String>,
}

/// A PID as agents write it: a number, or a text with or without a start.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Plain(u64),
    Text(String),
}

impl Request {
    /// Reads a call.
    ///
    /// # Errors
    /// No tool has this name, or its arguments are wrong.
    pub(super) fn parse(tool: &str, arguments: Map<String, Value>) -> Result<Self, RequestError> {
        let arguments = Value::Object(arguments);
        Ok(match tool {
            "who_is_here" => Self::WhoIsHere(path(read::<OnePath>(arguments)?.path)?),
            "may_i_edit" => Self::MayIEdit(paths(read(arguments)?)?),
            "hold" => Self::Hold { paths: paths(read(arguments)?)?, is_release: false },
            "release_hold" => Self::Hold { paths: paths(read(arguments)?)?, is_release: true },
            "why" => Self::Why(bounded(read::<OneKey>(arguments)?.key)?),
            "alive" => Self::Alive(subject(read(arguments)?)?),
            "what_changed_since" => Self::WhatChangedSince(bounded(read::<OneToken>(arguments)?.token)?),
            "rescue_list" => Self::RescueList(path(read::<OnePath>(arguments)?.path)?),
            _ => return Err(RequestError::UnknownTool),
        })
    }
}

fn wrong(why: impl Into<String>) -> RequestError {
    RequestError::Arguments(why.into())
}

fn read<T: for<'de> Deserialize<'de>>(arguments: Value) -> Result<T, RequestError> {
    serde_json::from_value(arguments).map_err(|error| wrong(error.to_string()))
}

fn bounded(text: String) -> Result<String, RequestError> {
    match text.len() {
        0 => Err(wrong("an argument is empty")),
        1..=MOST_BYTES if !text.contains('\0') => Ok(text),
        1..=MOST_BYTES => Err(wrong("an argument has a NUL character")),
        _ => Err(wrong(format!("an argument is longer than {MOST_BYTES} bytes"))),
    }
}

/// The server's folder need not be the agent's.
fn path(text: String) -> Result<PathBuf, RequestError> {
    let path = PathBuf::from(bounded(text)?);
    if path.is_absolute() { Ok(path) } else { Err(wrong("a path must be absolute: begin it with /")) }
}

fn paths(given: ManyPaths) -> Result<Vec<PathBuf>, RequestError> {
    match given.paths.len() {
        0 => Err(wrong("paths is empty")),
        1..=MOST_PATHS => given.paths.into_iter().map(path).collect(),
        _ => Err(wrong(format!("at most {MOST_PATHS} paths in one call"))),
    }
}

fn subject(given: AliveArguments) -> Result<AliveSubject, RequestError> {
    let AliveArguments { pid, session, pane, file } = given;
    let count = [pid.is_some(), session.is_some(), pane.is_some(), file.is_some()];
    if count.into_iter().filter(|is_given| *is_given).count() != 1 {
        return Err(wrong("give exactly one of pid, session, pane and file"));
    }
    let process = pid.map(|pid| {
        let text = match pid {
            Number::Plain(pid) => pid.to_string(),
            Number::Text(text) => bounded(text)?,
        };
        text.parse().map_err(|error: String| wrong(error))
    });
    Ok(AliveSubject {
        process: process.transpose()?,
        session: session.map(bounded).transpose()?,
        pane: pane.map(bounded).transpose()?,
        file: file.map(path).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_refused(tool: &str, arguments: Value, expected: &str) {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        match Request::parse(tool, arguments) {
            Err(RequestError::Arguments(why)) => assert!(why.contains(expected), "{why}"),
            other => panic!("{tool}: {other:?}"),
        }
    }

    #[test]
    fn wrong_arguments_are_refused() {
        check_refused("who_is_here", json!({}), "path");
        check_refused("who_is_here", json!({"path": "src"}), "absolute");
        check_refused("who_is_here", json!({"path": "/w", "more": 1}), "more");
        check_refused("who_is_here", json!({"path": 7}), "string");
        check_refused("may_i_edit", json!({"paths": []}), "empty");
        check_refused("may_i_edit", json!({"paths": vec!["/x"; MOST_PATHS + 1]}), "at most");
        check_refused("why", json!({"key": ""}), "empty");
        check_refused("why", json!({"key": "x".repeat(MOST_BYTES + 1)}), "longer");
        check_refused("rescue_list", json!({"path": "/a\u{0}b"}), "NUL");
        check_refused("alive", json!({}), "exactly one");
        check_refused("alive", json!({"pid": 1, "pane": "%1"}), "exactly one");
        check_refused("alive", json!({"pid": "one"}), "decimal");
        let unknown = Request::parse("rm", Map::new()).map(drop);
        assert_eq!(unknown, Err(RequestError::UnknownTool));
    }
}
