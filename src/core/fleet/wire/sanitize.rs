//! Makes text from another machine safe to show.

use std::borrow::Cow;

use serde_json::Value;

use crate::core::model::text::{is_harmless, shown};

/// Returns JSON whose texts cannot steer a terminal: our own words on one machine are untrusted on another.
///
/// # Errors
/// Fails if it is not JSON.
pub(crate) fn sanitized(text: &str) -> serde_json::Result<Cow<'_, str>> {
    // Forbidden characters may be literal or escaped.
    if !text.contains('\\') && is_harmless(text) {
        return Ok(Cow::Borrowed(text));
    }
    let mut value: Value = serde_json::from_str(text)?;
    sanitize(&mut value);
    Ok(Cow::Owned(value.to_string()))
}

fn sanitize(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => *text = shown(text),
        Value::Array(values) => values.iter_mut().for_each(sanitize),
        Value::Object(members) => {
            let all = std::mem::take(members);
            members.extend(all.into_iter().map(|(name, mut value)| {
                sanitize(&mut value);
                (shown(&name), value)
            }));
        }
    }
}
