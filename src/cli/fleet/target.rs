//! Which database machines meet in.

use anyhow::anyhow;

use crate::cli::output::failure::Failure;
use crate::cli::settings::Settings;
use crate::cli::settings::places;
use crate::source::database::postgres::Target;

/// Reads the URL of a fleet's database.
///
/// # Errors
/// The URL cannot be used.
pub(crate) fn target(url: &str, settings: &Settings) -> Result<Target, Failure> {
    let Settings { environment, effective, .. } = settings;
    let target = Target::parse(url, places::given(environment, effective, &settings.places.home));
    target.map_err(|error| {
        Failure::usage(anyhow!(error).context("the URL of the fleet"))
            .hint("it looks like postgres://user@host:5432/database?sslmode=verify-full")
    })
}
