//! Finds a password in a file as libpq keeps it: `host:port:database:user:password`.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, statat};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::target::{DEFAULT_PORT, Target};
use crate::core::model::Secret;
use crate::source::os::open::plain::small;

/// The most bytes of a password file that are read: 64 KiB.
const MAX_BYTES: usize = 64 << 10;

/// Finds the password of a target; a file that other users may read is skipped, as libpq does.
pub(crate) fn find(target: &Target) -> Option<Secret> {
    let path = target.given.password_file.as_deref()?;
    if !is_private(path) {
        return None;
    }
    let bytes = small(&path.canonicalize().ok()?, MAX_BYTES).ok()?;
    in_lines(std::str::from_utf8(&bytes).ok()?, &target.config)
}

fn is_private(path: &Path) -> bool {
    statat(CWD, path, AtFlags::empty()).is_ok_and(|stat| stat.st_mode & 0o077 == 0)
}

fn in_lines(text: &str, config: &Config) -> Option<Secret> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(_)) | None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(DEFAULT_PORT).to_string();
    let (user, database) = (config.get_user()?, config.get_dbname().or(config.get_user())?);
    let wanted = [host.as_str(), port.as_str(), database, user];
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(fields);
    let fits = |fields: &Vec<String>| {
        fields.len() >= 5 && fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted)
    };
    lines.filter(fits).find_map(|fields| fields.into_iter().nth(4)).map(Secret)
}

/// Splits a line at its colons; a backslash makes the next character a plain one.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let plain = match character {
            ':' => {
                fields.push(String::new());
                continue;
            }
            '\\' => characters.next(),
            other => Some(other),
        };
        if let Some(field) = fields.last_mut() {
            field.extend(plain);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let config: Config = "postgres://leo@db.example:6543/work".parse().unwrap();
        assert_eq!(in_lines(text, &config).map(|secret| secret.0).as_deref(), expected, "{text}");
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        check("db.example:6543:work:leo:one\n*:*:*:*:two", Some("one"));
        check("db.example:5432:work:leo:one\n*:*:*:leo:two", Some("two"));
        check("# *:*:*:*:no\n*:*:*:*:a\\:b\\\\c", Some("a:b\\c"));
        check("db.example:6543:work:other:one\n*:*:*\n", None);
    }
}
