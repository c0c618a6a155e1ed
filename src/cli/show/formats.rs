//! `formats check`: tries the description of a format.

use std::path::Path;

use crate::cli::args::Options;
use crate::cli::look;
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::{Exit, Outcome};
use crate::cli::output::{Paint, print};
use crate::cli::settings;
use crate::cli::settings::described::one;
use crate::cli::settings::environment::Environment;
use crate::cli::settings::settings;
use crate::cli::settings::signatures::signatures;
use crate::core::assess::{Policy, assess};
use crate::core::model::text::shown;
use crate::core::model::{BrokenFile, DescribedFormat, Format, RecordView, Report, Root, Untrusted};
use crate::present::text::tone::{Tone, of_verdict};

/// Tries one description on the files that it names, and prints what each says.
///
/// # Errors
/// The description cannot be used, or the output cannot be written.
pub(crate) fn check(path: &Path, options: &Options, environment: Environment) -> Outcome {
    let format = one(path)?;
    let mut settings: settings::Settings = settings(options, environment)?;
    settings.formats = vec![format];
    let paint = Paint::for_stdout(settings.effective.config.color);
    let mut observer = look::observer(&settings, signatures(&settings)?);
    let snapshot = observer.look();
    let report = assess(&snapshot, &Policy { signatures: signatures(&settings)? });
    let broken: Vec<&BrokenFile> =
        snapshot.broken.iter().filter(|broken| broken.format == Format::Described(format)).collect();
    print(&format_text(format, &report, &broken, paint))?;
    Ok(if broken.is_empty() { Exit::Fine } else { Exit::Problems })
}

fn format_text(format: DescribedFormat, report: &Report, broken: &[&BrokenFile], paint: Paint) -> String {
    let definition = format.definition();
    let mut out = format!("{} describes:\n", shown(&definition.name));
    for place in &definition.places {
        let root = match place.root {
            Root::Home => "~",
            Root::Tmp => "{tmp}",
            Root::Repository => "{repo}",
        };
        let parts = [root, &place.folder, &place.name];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        out += &format!("  {}\n", shown(&parts.join("/")));
    }
    let records: Vec<&RecordView> =
        report.records().filter(|record| record.format == Format::Described(format)).collect();
    if records.is_empty() && broken.is_empty() {
        return out + "No such file was found.\n";
    }
    for record in records {
        out += &format!("\n{}\n{}", record.location, facts(record, report, paint));
    }
    for broken in broken {
        let why = paint.paint(Tone::Bad, &broken.problem.message);
        out += &format!("\n{}\n  cannot be read: {why}\n", broken.path.text());
    }
    out
}

/// Lays out what one file says, and what it comes to.
fn facts(record: &RecordView, report: &Report, paint: Paint) -> String {
    let mut columns = Columns::new(&["", ""]);
    let mut row = |name: &str, value: Option<String>| {
        columns.row([Cell::new(format!("  {name}")), Cell::maybe(value)]);
    };
    let of = |text: Option<&Untrusted>| text.map(Untrusted::shown);
    let holder = record.holder_view();
    row("title", Some(record.title.shown()));
    row("PID", holder.and_then(|holder| holder.pid).map(|pid| pid.to_string()));
    row("is", holder.map(|holder| holder.role.whose().to_owned()));
    row("start", holder.and_then(|holder| holder.start_ticks).map(|start| format!("tick {start}")));
    row("boot", of(holder.and_then(|holder| holder.boot_id)));
    row("host", of(holder.and_then(|holder| holder.host)));
    row("session", of(record.session_id.as_ref()));
    row("context", of(record.context_id.as_ref()));
    row("sign of life", record.heartbeat_at.map(|at| at.to_string()));
    row(
        "stale",
        Some(if record.is_stale { record.stale(report.taken_at).rule.to_owned() } else { "no".to_owned() }),
    );
    for claim in report.claims.iter().filter(|claim| claim.record.key == record.key) {
        row("holds", Some(format!("{} {}", claim.resource.kind.name(), claim.resource.id)));
        row("since", claim.since.map(|at| at.to_string()));
    }
    for finding in report.findings.iter().filter(|finding| finding.subjects.contains(&record.key)) {
        row(finding.code.name(), Some(finding.message.to_string()));
    }
    let (_, tone, word) = of_verdict(record.verdict.state);
    let verdict = format!("{word} ({})", record.verdict.reason.name());
    columns.row([Cell::new("  verdict"), Cell::new(verdict).toned(tone)]);
    columns.laid_out(paint, None)
}
