//! Which server, and how: a URL as libpq takes it, and what the environment adds.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::core::model::{Secret, Untrusted};
use crate::source::database::postgres::given::{ConnectionDefaults, TargetError, check_scheme};

/// How far the wire is protected; the names are libpq's `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Never.
    Disable,
    /// If the server can; its certificate is not checked.
    Prefer,
    /// Always; the certificate is only checked if a root was given, as libpq does.
    Require,
    /// Always, and the certificate must come from a known root.
    VerifyCa,
    /// Always, and the certificate must also name that host.
    VerifyFull,
}

/// One database on one server.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its URL without a password, for people.
    pub name: Untrusted,
    pub(crate) config: Config,
    pub(crate) tls: Tls,
    pub(crate) root_cert: Option<PathBuf>,
    pub(crate) given: ConnectionDefaults,
}

impl Target {
    /// Reads a URL. Without `sslmode` the certificate is verified in full, but for sockets and
    /// this machine's own addresses.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn parse(url: &str, given: ConnectionDefaults) -> Result<Self, TargetError> {
        check_scheme(url)?;
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (ours, theirs): (Vec<&str>, Vec<&str>) =
            query.split('&').filter(|part| !part.is_empty()).partition(|part| is_ours(part));
        let plain = if theirs.is_empty() { base.to_owned() } else { format!("{base}?{}", theirs.join("&")) };
        let mut config: Config = plain.parse().map_err(|error| invalid(&error))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(TargetError::NoHost);
        }
        if let Some(Secret(password)) = &given.password
            && config.get_password().is_none()
        {
            config.password(password);
        }
        let value = |name: &str| ours.iter().find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        let mode = value("sslmode").map(str::to_owned).or_else(|| given.ssl_mode.clone());
        let root = value("sslrootcert").map(|path| PathBuf::from(percent_decoded(path)));
        let root_cert = root.or_else(|| given.root_cert.clone()).filter(|path| path.as_os_str() != "system");
        let tls = mode.map_or_else(|| Ok(usual(&config)), |mode| named(&mode))?;
        Ok(Self { name: name(&config), config, tls, root_cert, given })
    }
}

/// Returns whether this module handles a parameter itself.
fn is_ours(part: &str) -> bool {
    part.starts_with("sslmode=") || part.starts_with("sslrootcert=")
}

fn invalid(error: &tokio_postgres::Error) -> TargetError {
    TargetError::Invalid(crate::source::database::postgres::words::error_text(error))
}

fn named(mode: &str) -> Result<Tls, TargetError> {
    match mode {
        "disable" => Ok(Tls::Disable),
        "allow" | "prefer" => Ok(Tls::Prefer),
        "require" => Ok(Tls::Require),
        "verify-ca" => Ok(Tls::VerifyCa),
        "verify-full" => Ok(Tls::VerifyFull),
        _ => Err(TargetError::Invalid(
            "sslmode must be disable, prefer, require, verify-ca or verify-full".to_owned(),
        )),
    }
}

/// Returns the default protection without `sslmode`.
fn usual(config: &Config) -> Tls {
    let is_near = |host: &Host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        Host::Unix(_) => true,
    };
    if config.get_hosts().iter().all(is_near) && config.get_hostaddrs().iter().all(|addr| addr.is_loopback())
    {
        Tls::Prefer
    } else {
        Tls::VerifyFull
    }
}

/// Returns the URL of a configuration, without its password.
fn name(config: &Config) -> Untrusted {
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
        let port = ports.get(at).or_else(|| ports.first()).copied().unwrap_or(DEFAULT_PORT);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            Host::Unix(path) => format!("{}:{port}", path.display()),
        }
    });
    let hosts = hosts.collect::<Vec<_>>().join(",");
    let user = config.get_user().map_or_else(String::new, |user| format!("{user}@"));
    Untrusted::new(format!("postgres://{user}{hosts}/{}", config.get_dbname().unwrap_or_default()))
}

/// PostgreSQL's own port.
pub(crate) const DEFAULT_PORT: u16 = 5_432;

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: Result<(&str, Tls), &str>) {
        let target = Target::parse(url, ConnectionDefaults::default());
        let found =
            target.as_ref().map(|target| (target.name.raw(), target.tls)).map_err(ToString::to_string);
        assert_eq!(found, expected.map_err(str::to_owned), "{url}");
    }

    #[test]
    fn a_certificate_is_verified_unless_it_is_said_otherwise() {
        check("postgres://u:p@db.example/leo", Ok(("postgres://u@db.example:5432/leo", Tls::VerifyFull)));
        check(
            "postgres://u@db.example:6543/leo?sslmode=require",
            Ok(("postgres://u@db.example:6543/leo", Tls::Require)),
        );
        check("postgresql://u@127.0.0.1/leo", Ok(("postgres://u@127.0.0.1:5432/leo", Tls::Prefer)));
        check(
            "postgres://u@%2Frun%2Fpg/leo?sslmode=disable",
            Ok(("postgres://u@/run/pg:5432/leo", Tls::Disable)),
        );
    }

    #[test]
    fn what_cannot_be_used_is_told_without_the_url() {
        check("mysql://u:secret@h/d", Err("it must begin with postgres:// or postgresql://"));
        check("postgres:///leo", Err("it names no host"));
        check(
            "postgres://u:secret@h/d?sslmode=never",
            Err("sslmode must be disable, prefer, require, verify-ca or verify-full"),
        );
        let odd = Target::parse("postgres://u:secret@h/d?odd=1", ConnectionDefaults::default()).unwrap_err();
        assert!(!odd.to_string().contains("secret"), "{odd}");
    }

    #[test]
    fn nothing_that_is_printed_holds_the_password() {
        let given =
            ConnectionDefaults { password: Some(Secret("hush".to_owned())), ..ConnectionDefaults::default() };
        let target = Target::parse("postgres://u:quiet@db.example/leo", given).unwrap();
        let printed = format!("{target:?}");
        assert!(!printed.contains("hush") && !printed.contains("quiet"), "{printed}");
    }

    #[test]
    fn a_root_certificate_is_a_path() {
        let url = "postgres://u@db.example/leo?sslrootcert=%2Fetc%2Fca%20own.pem&sslmode=verify-ca";
        let target = Target::parse(url, ConnectionDefaults::default()).unwrap();
        assert_eq!((target.tls, target.root_cert), (Tls::VerifyCa, Some("/etc/ca own.pem".into())));
    }
}
