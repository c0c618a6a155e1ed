//! Certificates and passwords: the requested mode is the one applied, and no secret is ever shown.

use std::os::unix::fs::PermissionsExt;

use claimtop::core::model::SourceState;
use claimtop::source::database::postgres::{ConnectionDefaults, Target};
use claimtop::testing::core::Secret;

use crate::cluster::Database;
use crate::leo::reading::{badge, look};

/// Reads with a host, a mode and a file of roots, and compares the result.
#[track_caller]
fn check(host: &str, mode: &str, root: Option<&str>, expected: Result<(), &str>) {
    let database = Database::new();
    let folder = &database.cluster.folder;
    let given =
        ConnectionDefaults { root_cert: root.map(|root| folder.join(root)), ..ConnectionDefaults::default() };
    let port = database.cluster.port;
    let url = format!("postgres://leo@{host}:{port}/{}?sslmode={mode}", database.name);
    let (state, detail) = badge(&look(Target::parse(&url, given).unwrap()));
    match expected {
        Ok(()) => assert_eq!(state, SourceState::Ok, "{host} {mode} {root:?}: {detail}"),
        Err(part) => {
            assert!(
                state == SourceState::Failed && detail.contains(part),
                "{host} {mode} {root:?}: {detail}"
            );
        }
    }
}

#[test]
fn a_certificate_is_verified_as_far_as_it_is_asked_for() {
    check("localhost", "verify-full", Some("root.pem"), Ok(()));
    check("localhost", "verify-full", Some("stranger.pem"), Err("invalid peer certificate"));
    check("127.0.0.1", "verify-full", Some("root.pem"), Err("certificate not valid for name"));
    check("127.0.0.1", "verify-ca", Some("root.pem"), Ok(()));
    check("127.0.0.1", "verify-ca", Some("stranger.pem"), Err("invalid peer certificate"));
    check("127.0.0.1", "require", None, Ok(()));
    check("127.0.0.1", "require", Some("stranger.pem"), Err("invalid peer certificate"));
    check("127.0.0.1", "prefer", None, Ok(()));
    check("localhost", "verify-full", None, Err("invalid peer certificate"));
    check("localhost", "verify-full", Some("nowhere.pem"), Err("failed to read root certificates"));
}

/// Reads as a role with a password, and returns the badge.
fn with_password(given: ConnectionDefaults) -> (SourceState, String) {
    let database = Database::new();
    database.sql(
        "DO $$ BEGIN CREATE ROLE secretive LOGIN PASSWORD 'hush:hush'; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO secretive",
    );
    let url = database.url_of("secretive", database.cluster.port);
    badge(&look(Target::parse(&url, given).unwrap()))
}

#[test]
fn a_password_comes_from_the_environment_or_a_private_file_and_is_never_told() {
    let of = |text: &str| ConnectionDefaults {
        password: Some(Secret(text.to_owned())),
        ..ConnectionDefaults::default()
    };
    assert_eq!(with_password(of("hush:hush")).0, SourceState::Ok);
    let (state, detail) = with_password(of("wrong guess"));
    assert!(state == SourceState::Failed && detail.contains("password authentication failed"), "{detail}");
    assert!(!detail.contains("wrong guess"), "{detail}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pgpass");
    std::fs::write(&file, "other:*:*:*:no\n127.0.0.1:*:*:secretive:hush\\:hush\n").unwrap();
    let given = ConnectionDefaults { password_file: Some(file.clone()), ..ConnectionDefaults::default() };
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(with_password(given.clone()).0, SourceState::Ok);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let (state, detail) = with_password(given);
    assert!(state == SourceState::Failed && detail.contains("password"), "{detail}");
}
