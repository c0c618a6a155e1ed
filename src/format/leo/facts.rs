//! Facts that are shown unchanged.

use crate::core::model::{NamedTexts, Untrusted};
use crate::format::reading::json::Object;
use crate::format::reading::value::Value;

/// How many characters of a value are taken over.
const EXCERPT: usize = 80;

/// Returns the given fields that are not empty, each under its name for people.
pub(super) fn from_fields(object: &Object<'_>, fields: &[(&'static str, &'static str)]) -> NamedTexts {
    fields.iter().filter_map(|(shown, field)| Some((*shown, value(object, field)?))).collect()
}

/// Returns the first of the given fields that holds text.
pub(super) fn first_text(object: &Object<'_>, fields: &[&str]) -> Option<Untrusted> {
    fields.iter().find_map(|field| object.text(field))
}

/// Returns the value of a field: text unchanged, anything else as JSON, nothing for null.
pub(super) fn stated(object: &Object<'_>, field: &str) -> Option<String> {
    match object.get(field)? {
        Value::Null => None,
        Value::String(text) => Some(text.to_string()),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Some(other.to_string())
        }
    }
}

/// Returns the shown part of a field's value.
pub(super) fn value(object: &Object<'_>, field: &str) -> Option<Untrusted> {
    stated(object, field)
        .filter(|text| !text.is_empty())
        .map(|text| crate::format::reading::excerpt::excerpt(&text, EXCERPT))
}
