//! JSON values in which no key may occur twice: then it is unknown which one was meant.

use std::borrow::Cow;
use std::fmt;

use bstr::ByteSlice as _;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::surrogates;
use super::value::{Object, Value};
use crate::core::model::Untrusted;

/// Up to how many fields comparing each with all before it is faster than sorting.
const FEW: usize = 32;

/// How many fields room is made for at first; session files have some fifteen.
const USUAL: usize = 16;

/// Parses one JSON document; the depth limit of 128 levels is serde_json's own.
///
/// # Errors
/// serde_json's error, also for a key that appears twice in one object.
pub(crate) fn from_slice(bytes: &[u8]) -> serde_json::Result<Value<'_>> {
    whole(bytes).or_else(|error| {
        if error.is_eof() || !bytes.contains_str("\\u") {
            return Err(error);
        }
        let mut copy = bytes.to_vec();
        if surrogates::replace_lone(&mut copy) { whole(&copy).map(Value::into_owned) } else { Err(error) }
    })
}

fn whole(bytes: &[u8]) -> serde_json::Result<Value<'_>> {
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let value = Strict.deserialize(&mut parser)?;
    parser.end()?;
    Ok(value)
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Clone, Copy)]
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value<'de>, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(value.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value<'de>, A::Error> {
        let twice =
            |name: &str| A::Error::custom(format_args!("the key {} appears twice", Untrusted::from(name)));
        let mut fields: Vec<(Cow<'de, str>, Value<'de>)> = Vec::with_capacity(USUAL);
        while let Some(Name(name)) = object.next_key()? {
            if fields.len() < FEW && fields.iter().any(|(known, _)| *known == name) {
                return Err(twice(&name));
            }
            fields.push((name, object.next_value_seed(Self)?));
        }
        match repeated(&fields) {
            Some(name) => Err(twice(name)),
            None => Ok(Value::Object(Object { fields })),
        }
    }
}

/// Returns a name that occurs twice among many.
fn repeated<'a>(fields: &'a [(Cow<'_, str>, Value<'_>)]) -> Option<&'a str> {
    if fields.len() <= FEW {
        return None;
    }
    let mut names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    names.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    })
}
