//! `config`: every setting with where it came from, every path in use, every bound, and what can
//! be watched.

use std::path::Path;

use crate::app::msg::Hints;
use crate::cli::act::looking;
use crate::cli::fleet::target;
use crate::cli::look;
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::{Exit, Outcome, of_action};
use crate::cli::output::{Paint, print};
use crate::cli::settings::Settings;
use crate::cli::settings::config_file::ConfigFile;
use crate::config::Foresee;
use crate::config::guard::{HoldUps, Levels};
use crate::config::keep::Keep;
use crate::config::layers::Origin;
use crate::config::notify::QuietHours;
use crate::core::history::journal::History;
use crate::core::judge::window::agent::Signatures;
use crate::core::model::text::shown;
use crate::core::model::{Secret, Untrusted};
use crate::observe::ReportSource;
use crate::observe::watch;
use crate::present::text::tone::Tone;
use crate::run::bounds;
use crate::source::places::Places;

/// How many reasons are reported why something is not watched: there may be one for each folder.
const MAX_LOSSES: usize = 3;

/// Prints the effective configuration.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(settings: &Settings, signatures: Signatures) -> Outcome {
    let paint = Paint::for_stdout(settings.effective.config.color);
    let values = values(settings).laid_out(paint, None);
    let paths = paths(settings).laid_out(paint, None);
    let bounds = bounded().laid_out(paint, None);
    let watched = watched(settings, signatures).laid_out(paint, None);
    print(&format!("{values}\n{paths}\n{bounds}\n{watched}"))?;
    Ok(Exit::Fine)
}

/// Tries to watch what the open screen would, and prints what the kernel grants.
fn watched(settings: &Settings, signatures: Signatures) -> Columns {
    let (mut observer, _hints) = look::observer(&without_server(settings), signatures).watched();
    observer.observe();
    let (watched, losses) = (observer.follow(), observer.losses());
    let (hints, tone) =
        if losses.is_empty() { (Hints::Kept, Tone::Plain) } else { (Hints::Lost, Tone::Warning) };
    let refused =
        if watched.refused > 0 { format!(", and {} refused", watched.refused) } else { String::new() };
    let mut columns = Columns::new(&["WATCH", "HERE"]);
    columns.row([Cell::new("folders"), Cell::new(format!("{}{refused}", watched.folders)).toned(tone)]);
    columns.row([Cell::new("processes"), Cell::new(watched.processes)]);
    columns.row([Cell::new("changes"), Cell::new(hints.label()).toned(tone)]);
    let more = losses.len().saturating_sub(MAX_LOSSES);
    let more = (more > 0).then(|| format!("and {more} more"));
    for loss in losses.into_iter().take(MAX_LOSSES).chain(more) {
        columns.row([Cell::default(), Cell::new(loss).toned(tone)]);
    }
    for limit in watch::limits() {
        columns.row([Cell::new(limit.what), Cell::new(format!("{} for all programs of a user", limit.most))]);
    }
    columns
}

/// Returns the settings without the server: nothing here should wait for what needs no watch.
fn without_server(settings: &Settings) -> Settings {
    let places = Places { leo_database: None, ..settings.places.clone() };
    Settings { places, ..settings.clone() }
}

fn bounded() -> Columns {
    let mut columns = Columns::new(&["LIMIT", "MOST"]);
    for bound in bounds() {
        columns.row([Cell::new(bound.what), Cell::new(bound.most)]);
    }
    columns
}

fn values(settings: &Settings) -> Columns {
    let (config, origins) = (&settings.effective.config, &settings.effective.origins);
    let mut columns = Columns::new(&["SETTING", "VALUE", "FROM"]);
    let mut row = |name: &str, value: String, origin: Origin| {
        columns.row([Cell::new(name), Cell::new(value), from(origin, settings)]);
    };
    row("theme", config.theme.name().to_owned(), origins.theme);
    row("ascii", config.glyphs.is_ascii().to_string(), origins.glyphs);
    row("color", config.color.name().to_owned(), origins.color);
    row("mouse", config.mouse.is_on().to_string(), origins.mouse);
    row("read_only", config.access.is_read_only().to_string(), origins.access);
    row("keep_parked_days", config.retention.days.to_string(), origins.retention);
    row("title", config.alerts.title.is_on().to_string(), origins.title);
    row("bell", config.alerts.bell.is_on().to_string(), origins.bell);
    row("keep_history", config.history.is_on().to_string(), origins.history);
    row("foresee", (config.foresee == Foresee::WhileOpen).to_string(), origins.foresee);
    row("accept_orders", config.accepts.name().to_owned(), origins.accepts);
    row("notify", config.alerts.notify.name().to_owned(), origins.notify);
    let call = &config.notify_command;
    let words = call.command.iter().map(|word| shown(word)).collect::<Vec<_>>().join(" ");
    row("notify_command", if words.is_empty() { "none".to_owned() } else { words }, origins.notify_command);
    let quiet = call.quiet.map_or_else(|| "none".to_owned(), QuietHours::text);
    row("notify_quiet", quiet, origins.notify_quiet);
    row("notify_from", config.alerts.from.name().to_owned(), origins.notify_from);
    let everywhere = config.guard.levels(Path::new("/"));
    row("guard", levels_text(everywhere), origins.guard);
    for tree in config.guard.trees() {
        let text = format!("{} in {}", levels_text(config.guard.levels(tree)), Untrusted::from_path(tree));
        row("guard.tree", text, origins.guard);
    }
    row("keep", kept_text(config.keep), origins.keep);
    for (root, origin) in config.roots.iter().zip(&origins.roots) {
        row("roots", Untrusted::from_path(root).shown(), *origin);
    }
    for (path, origin) in config.obra_databases.iter().zip(&origins.obra_databases) {
        row("obra_databases", Untrusted::from_path(path).shown(), *origin);
    }
    if let Some(target) = &settings.places.leo_database {
        row("postgres", target.name.shown(), origins.postgres);
    }
    if let Some(Secret(url)) = &config.fleet {
        let name = target::target(url, settings).map(|target| target.name.shown());
        row("fleet.url", name.unwrap_or_else(|_| "cannot be used".to_owned()), origins.fleet);
    }
    row(
        "fleet.team",
        config.publishing.team.as_deref().map_or_else(|| "none".to_owned(), shown),
        origins.publishing,
    );
    row("fleet.paths", config.publishing.paths.name().to_owned(), origins.publishing);
    row("fleet.accept", config.publishing.accept.name().to_owned(), origins.publishing);
    for (name, path) in [
        ("fleet.allowed_signers", &config.publishing.allowed_signers),
        ("fleet.sign_with", &config.publishing.sign_with),
    ] {
        let path = path.as_ref().map_or_else(|| "none".to_owned(), |path| Untrusted::from_path(path).shown());
        row(name, path, origins.publishing);
    }
    if let Some(path) = &config.postgres_password_file {
        row("postgres_password_file", Untrusted::from_path(path).shown(), origins.postgres_password_file);
    }
    for (agent, origin) in config.agents.iter().zip(&origins.agents) {
        row("agent", format!("{} ({})", shown(&agent.name), shown(&agent.title)), *origin);
    }
    for format in &settings.formats {
        row("format", shown(&format.definition().name), Origin::File);
    }
    columns
}

/// Describes the guard's levels.
fn levels_text(levels: Levels) -> String {
    let Levels { brief, note, git, edit, held } = levels;
    let [git, edit] = [git, edit].map(HoldUps::name);
    format!("brief {brief}, note {note}, git {git}, edit {edit}, held {}", held.name())
}

/// Describes what is kept of what windows write.
fn kept_text(keep: Keep) -> String {
    let Keep { files, mib, days, large, ignored, secrets } = keep;
    format!("files {files}, mib {mib}, days {days}, large {large}, ignored {ignored}, secrets {secrets}")
}

fn from(origin: Origin, settings: &Settings) -> Cell {
    match (origin, settings.environment.colorless) {
        (Origin::Default, _) => Cell::new(origin.name()).toned(Tone::Dim),
        (Origin::Environment, Some(variable)) => Cell::new(format!("{} ({variable})", origin.name())),
        (Origin::File | Origin::Environment | Origin::Option, _) => Cell::new(origin.name()),
    }
}

fn paths(settings: &Settings) -> Columns {
    let mut columns = Columns::new(&["PATH", "WHERE", ""]);
    let mut row = |name: &str, path: &Path, note: &str| {
        let note = Cell::new(note).toned(Tone::Dim);
        columns.row([Cell::new(name), Cell::new(Untrusted::from_path(path)), note]);
    };
    match &settings.file {
        ConfigFile::Read(path) => row("configuration", path, ""),
        ConfigFile::Absent(path) => row("configuration", path, "not there"),
        ConfigFile::Nowhere => {}
    }
    if let Some(path) = settings.file.formats() {
        row("formats", &path, if path.is_dir() { "" } else { "not there" });
    }
    let places = &settings.places;
    for (name, path) in [
        ("home", &places.home),
        ("temporary", &places.tmp),
        ("Claude Code", &places.claude_config),
        ("cache", &places.cache),
        ("state", &settings.state),
    ] {
        row(name, path, if path.is_dir() { "" } else { "not there" });
    }
    let executor = looking(settings).and_then(|executor| executor.history().map_err(of_action));
    for folder in executor.iter().flat_map(History::parked_folders) {
        row("parked", folder, if folder.is_dir() { "on its own file system" } else { "not there" });
    }
    for root in &places.roots {
        row("root", root, if root.is_dir() { "" } else { "not there" });
    }
    if let Some(here) = &places.here {
        row("root", here, "claimtop runs in it");
    }
    let reach = if places.confined { "nothing else is read" } else { "and where live windows work" };
    columns.row([Cell::new("beside these"), Cell::new(reach), Cell::default()]);
    columns
}
