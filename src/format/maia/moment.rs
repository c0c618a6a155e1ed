//! A time in one of Maia's files: its value, whether it can be used, and its problem.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::core::model::{Code, Problem};
use crate::format::reading::json::Object;
use crate::format::reading::time;
use crate::format::reading::value::Value;

/// How far ahead of now a time may lie before it is called wrong: 24 h, a wrong zone's worth.
const AHEAD_AT_MOST: SignedDuration = SignedDuration::from_hours(24);

/// A time in one field.
#[derive(Debug, Default)]
pub(super) struct Moment {
    /// The stated time, with which Maia itself calculates.
    pub(super) stated: Option<Timestamp>,
    /// The same, unless it is in the future.
    pub(super) at: Option<Timestamp>,
    /// The problem with it.
    pub(super) problem: Option<Problem>,
}

/// Reads the time in the field `name`; one without a zone is meant in `zone`. A field that is absent or null gives
/// neither a time nor a problem.
pub(super) fn read(object: &Object<'_>, name: &str, zone: &TimeZone, now: Timestamp) -> Moment {
    let text = match object.get(name) {
        None | Some(Value::Null) => return Moment::default(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string().into(),
    };
    let stated = time::any(&text, zone);
    let problem = match stated {
        Some(at) if now.duration_since(at) >= -AHEAD_AT_MOST => {
            return Moment { stated, at: stated, problem: None };
        }
        Some(_) => "is in the future",
        None => "is not a time",
    };
    let message = format!("{name} {problem}: {}", crate::format::reading::excerpt::excerpt(&text, 40));
    Moment { stated, at: None, problem: Some(Problem::new(Code::BadTimestamp, message)) }
}
