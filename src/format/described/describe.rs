//! From a person's TOML to a consistent description, or one clear error.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use jiff::tz::{Offset, TimeZone};
use serde::Deserialize;
use toml::Spanned;

use crate::core::model::text::line::error_at;
use crate::core::model::{
    Definition, Field, Format, LetGo, LineError, OwnPlace, ResourceKind, Role, Root, Syntax,
};

/// The keys of a description.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    name: Spanned<String>,
    #[serde(default)]
    title: Option<String>,
    files: Spanned<Vec<Spanned<String>>>,
    read: FieldReader,
    #[serde(default)]
    zone: Option<Spanned<String>>,
    #[serde(default)]
    role: Option<Spanned<Role>>,
    #[serde(default)]
    ttl: Option<Spanned<String>>,
    #[serde(default)]
    claim: Option<Spanned<ResourceKind>>,
    #[serde(default)]
    park: Option<Spanned<Park>>,
    fields: Fields,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FieldReader {
    Json,
    KeyValue,
    Lines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Park {
    Never,
    WhenDead,
}

/// The place of each fact: a JSON pointer, a key or a line number.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Fields {
    pid: Option<Spanned<String>>,
    start_ticks: Option<Spanned<String>>,
    boot_id: Option<Spanned<String>>,
    host: Option<Spanned<String>>,
    session: Option<Spanned<String>>,
    context: Option<Spanned<String>>,
    title: Option<Spanned<String>>,
    started_at: Option<Spanned<String>>,
    heartbeat_at: Option<Spanned<String>>,
    cwd: Option<Spanned<String>>,
    claim: Option<Spanned<String>>,
}

/// Finds a zone by its name, such as `Europe/Berlin`, in this system's list.
pub type Zones<'a> = &'a dyn Fn(&str) -> Option<TimeZone>;

/// Reads a description.
///
/// # Errors
/// The first line that is not TOML, names an unknown key, or does not fit the others.
pub fn parse(text: &str, zones: Zones<'_>) -> Result<Definition, LineError> {
    let keys: Keys = toml::from_str(text)
        .map_err(|error| error_at(text, error.span().map_or(0, |span| span.start), error.message()))?;
    let at = |span: std::ops::Range<usize>, why: &str| error_at(text, span.start, why);
    let syntax = match keys.read {
        FieldReader::Json => Syntax::Json,
        FieldReader::KeyValue => Syntax::KeyValue,
        FieldReader::Lines => Syntax::Lines,
    };
    check_name(&keys.name).map_err(|why| at(keys.name.span(), why))?;
    check_together(&keys).map_err(|(span, why)| at(span, why))?;
    let fields = fields(keys.fields, syntax).map_err(|(span, why)| at(span, &why))?;
    Ok(Definition {
        places: places(&keys.files).map_err(|(span, why)| at(span, why))?,
        title: keys.title.unwrap_or_else(|| keys.name.get_ref().clone()),
        reading: syntax,
        fields,
        role: keys.role.map_or(Role::Unknown, Spanned::into_inner),
        zone: keys
            .zone
            .map(|zone| self::zone(&zone, zones).map_err(|why| at(zone.span(), why)))
            .transpose()?
            .flatten(),
        ttl: keys.ttl.map(|ttl| self::ttl(&ttl).map_err(|why| at(ttl.span(), why))).transpose()?,
        claim: keys.claim.map(Spanned::into_inner),
        let_go: match keys.park.map(Spanned::into_inner) {
            Some(Park::WhenDead) => LetGo::OnlyDead,
            Some(Park::Never) | None => LetGo::Never,
        },
        name: keys.name.into_inner(),
    })
}

/// An error's place and text.
type Wrong<T> = (std::ops::Range<usize>, T);

fn check_name(name: &Spanned<String>) -> Result<(), &'static str> {
    let name = name.get_ref();
    let is_plain =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !is_plain || !(1..=32).contains(&name.len()) {
        return Err("a name has 1 to 32 of a-z, 0-9 and -");
    }
    match Format::ALL.iter().any(|format| format.name() == name) {
        true => Err("claimtop has a built-in format of this name"),
        false => Ok(()),
    }
}

/// Checks the requirements of one key on another.
fn check_together(keys: &Keys) -> Result<(), Wrong<&'static str>> {
    let fields = &keys.fields;
    if let (Some(pid), None) = (&fields.pid, &keys.role) {
        return Err((
            pid.span(),
            "a PID needs a role: whose process is it (agent, shell, hook, daemon, unknown)",
        ));
    }
    if let (None, Some(role)) = (&fields.pid, &keys.role) {
        return Err((role.span(), "a role needs a PID in [fields]"));
    }
    let names_somebody = fields.pid.is_some() || fields.session.is_some();
    if let Some(park) = keys.park.as_ref().filter(|park| *park.get_ref() == Park::WhenDead && !names_somebody)
    {
        return Err((park.span(), "without a PID or a session in [fields] nothing is ever proven dead"));
    }
    match (&keys.claim, &fields.claim) {
        (None, Some(claim)) => Err((claim.span(), "set `claim` to the kind of thing it is")),
        (Some(_) | None, _) => Ok(()),
    }
}

fn places(files: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<OwnPlace>, Wrong<&'static str>> {
    if files.get_ref().is_empty() {
        return Err((files.span(), "at least one file is needed"));
    }
    files.get_ref().iter().map(|file| place(file.get_ref()).map_err(|why| (file.span(), why))).collect()
}

fn place(pattern: &str) -> Result<OwnPlace, &'static str> {
    let roots = [("~/", Root::Home), ("{tmp}/", Root::Tmp), ("{repo}/", Root::Repository)];
    let found = roots.iter().find_map(|(start, root)| Some((*root, pattern.strip_prefix(start)?)));
    let (root, below) = found.ok_or("a file starts with ~/, {tmp}/ or {repo}/")?;
    let mut parts: Vec<&str> = below.split('/').collect();
    if parts.iter().any(|part| part.is_empty() || *part == "." || *part == "..") {
        return Err("a file is a plain path: no empty part, no . and no ..");
    }
    let name = parts.pop().unwrap_or_default();
    if parts.iter().any(|part| part.contains('*') && *part != "*") || below.contains("**") {
        return Err("a folder is a name or a whole *; only the file's name may have * within");
    }
    Ok(OwnPlace { root, folder: parts.join("/"), name: name.to_owned() })
}

/// Reads a zone: `local`, `UTC`, an offset, or a name. The meaning of a name depends on the machine that reads it, as
/// that of `local` does.
fn zone(text: &Spanned<String>, zones: Zones<'_>) -> Result<Option<TimeZone>, &'static str> {
    match text.get_ref().as_str() {
        "local" => Ok(None),
        "UTC" => Ok(Some(TimeZone::UTC)),
        offset if offset.starts_with(['+', '-']) => {
            self::offset(offset).map(|offset| Some(TimeZone::fixed(offset))).ok_or(NO_ZONE)
        }
        name if name.starts_with(|c: char| c.is_ascii_alphabetic()) => zones(name).map(Some).ok_or(
            "this system knows no time zone of this name; local, UTC and offsets such as +02:00 always work",
        ),
        _ => Err(NO_ZONE),
    }
}

const NO_ZONE: &str = "a zone is local, UTC, an offset such as +02:00, or a name such as Europe/Berlin";

/// Reads an offset such as `+02:00`.
fn offset(text: &str) -> Option<Offset> {
    let (sign, rest) = text.split_at_checked(1)?;
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str, most: i32| {
        text.parse::<i32>().ok().filter(|number| text.len() == 2 && (0..=most).contains(number))
    };
    let seconds = number(hours, 23)? * 3_600 + number(minutes, 59)? * 60;
    Offset::from_seconds(if sign == "-" { -seconds } else { seconds }).ok()
}

fn ttl(text: &Spanned<String>) -> Result<(SignedDuration, String), &'static str> {
    let span: Option<SignedDuration> = text.get_ref().parse().ok();
    let most = SignedDuration::from_hours(24 * 366);
    let span = span.filter(|span| span.is_positive() && *span <= most);
    let span = span.ok_or("a time to live is a span such as 15 min, at most a year (in hours)")?;
    Ok((span, format!("no sign of life for {}", text.get_ref())))
}

fn fields(fields: Fields, syntax: Syntax) -> Result<BTreeMap<Field, String>, Wrong<String>> {
    let all = [
        (Field::Pid, fields.pid),
        (Field::StartTicks, fields.start_ticks),
        (Field::BootId, fields.boot_id),
        (Field::Host, fields.host),
        (Field::Session, fields.session),
        (Field::Context, fields.context),
        (Field::Title, fields.title),
        (Field::StartedAt, fields.started_at),
        (Field::HeartbeatAt, fields.heartbeat_at),
        (Field::Cwd, fields.cwd),
        (Field::Claim, fields.claim),
    ];
    let given = all.into_iter().filter_map(|(field, at)| Some((field, at?)));
    given
        .map(|(field, at)| match fits(at.get_ref(), syntax) {
            Ok(()) => Ok((field, at.into_inner())),
            Err(why) => Err((at.span(), why.to_owned())),
        })
        .collect()
}

fn fits(at: &str, syntax: Syntax) -> Result<(), &'static str> {
    match syntax {
        Syntax::Json if at.starts_with('/') => Ok(()),
        Syntax::Json => Err("in JSON a field is a pointer such as /owner/pid"),
        Syntax::KeyValue if !at.is_empty() && !at.contains(['=', ':', '\n']) => Ok(()),
        Syntax::KeyValue => Err("a field is a key, without = and :"),
        Syntax::Lines if at.parse::<usize>().is_ok_and(|line| line > 0) => Ok(()),
        Syntax::Lines => Err("a field is the number of a line, from \"1\""),
    }
}
