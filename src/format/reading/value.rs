//! A JSON value that borrows from the bytes that it was read from.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Number;

/// One JSON value; only text with an escape in it is a copy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    /// `true` or `false`.
    Bool(bool),
    Number(Number),
    /// Text.
    String(Cow<'a, str>),
    /// A list.
    Array(Vec<Value<'a>>),
    Object(Object<'a>),
}

/// One JSON object: its fields in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object<'a> {
    /// Name and value, each name once.
    pub(crate) fields: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Object<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns every key with its value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.fields.iter().map(|(name, value)| (&**name, value))
    }
}

impl<'a> Value<'a> {
    /// Returns a copy that borrows nothing.
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(number) => Value::Number(number),
            Self::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Self::Array(values) => Value::Array(values.into_iter().map(Value::into_owned).collect()),
            Self::Object(object) => {
                let owned = |(name, value): (Cow<'a, str>, Value<'a>)| {
                    (Cow::Owned(name.into_owned()), value.into_owned())
                };
                Value::Object(Object { fields: object.fields.into_iter().map(owned).collect() })
            }
        }
    }

    /// Returns text.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// Returns `true` or `false`.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// Returns a whole number.
    pub(crate) fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// Returns a number with a fraction.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    pub(crate) fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// Returns a list.
    pub(crate) fn as_array(&self) -> Option<&[Value<'a>]> {
        if let Self::Array(values) = self { Some(values) } else { None }
    }

    pub(crate) fn as_object(&self) -> Option<&Object<'a>> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(values) => serializer.collect_seq(values),
            Self::Object(object) => {
                serializer.collect_map(object.fields.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

impl fmt::Display for Value<'_> {
    /// Writes it as compact JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
