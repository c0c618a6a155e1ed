//! The summary in the forms that other programs read: status bars and metrics.

use std::fmt::Write;

use serde_json::json;

use crate::core::model::Report;
use crate::present::need::sentences;
use crate::present::summary::Summary;

/// Returns one line of JSON for waybar's custom modules (waybar-custom(5)): text, tooltip and class. Both texts are
/// Pango markup there, in which names of others must not count as any.
pub(crate) fn waybar(report: &Report, words: &[String]) -> String {
    let tooltip = sentences(report).join("\n");
    let line = json!({
        "text": as_markup(&words.join(" · ")),
        "tooltip": as_markup(&tooltip),
        "class": class(Summary::from_report(report)),
    });
    format!("{line}\n")
}

/// Returns the lines of a SwiftBar or xbar plugin: the title, and below `---` the menu. What follows a `|` would be
/// options there, such as a command to run.
pub(crate) fn swiftbar(report: &Report, words: &[String]) -> String {
    let plain = |line: &str| line.replace('|', "¦");
    let mut out = format!("{}\n---\n", plain(&words.join(" · ")));
    for sentence in sentences(report) {
        // A line that begins with hyphens would be a separator or a submenu.
        let _ = writeln!(out, "{}", plain(&sentence).trim_start_matches('-'));
    }
    out
}

/// Returns gauges in Prometheus' text format, for node_exporter's textfile collector; they contain no names.
pub(crate) fn prometheus(report: &Report) -> String {
    let summary = Summary::from_report(report);
    let number = |name: &'static str, help: &'static str, value: usize| (name, help, value.to_string());
    let at = report.taken_at.as_second().to_string();
    let all = [
        number("windows", "Agent windows whose process lives.", summary.windows.seen),
        number("windows_working", "Windows in the middle of a turn.", summary.working),
        number("windows_asking", "Windows that ask a person something.", summary.waiting),
        number("claims", "All claims.", summary.claims.seen),
        number("claims_dead", "Claims whose holder is proven dead.", summary.dead_claims),
        number("collisions", "Collisions between windows.", summary.collisions),
        number("warnings", "Warnings, but for deaths that have left claims.", summary.warnings),
        number("actions_unfinished", "Actions of claimtop that were cut off.", summary.unfinished),
        number("sources_unread", "Sources that could not be read.", summary.failed_sources),
        number("sources_partial", "Sources that were read in part.", summary.partial_sources),
        ("look_timestamp_seconds", "When this was seen, in seconds since 1970.", at),
    ];
    let lines = all.map(|(name, help, value)| {
        let name = format!("claimtop_{name}");
        format!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n")
    });
    lines.concat()
}

/// Returns the worst that there is, in a word for a style sheet.
fn class(summary: Summary) -> &'static str {
    let all = [
        (summary.collisions, "collision"),
        (summary.waiting, "asks"),
        (summary.dead_claims + summary.unfinished, "dead"),
        (summary.failed_sources + summary.partial_sources, "unknown"),
    ];
    all.into_iter().find(|(number, _)| *number > 0).map_or("calm", |(_, class)| class)
}

fn as_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{busy, quiet};

    #[test]
    fn names_of_others_are_no_markup_and_no_options() {
        let words = ["<b>x</b> & | bash=/bin/evil".to_owned()];
        let line: serde_json::Value = serde_json::from_str(&waybar(&quiet(), &words)).unwrap();
        assert_eq!(line["text"], "&lt;b&gt;x&lt;/b&gt; &amp; | bash=/bin/evil");
        assert_eq!(line["class"], "calm");
        assert_eq!(swiftbar(&quiet(), &words), "<b>x</b> & ¦ bash=/bin/evil\n---\n");
    }

    #[test]
    fn the_worst_is_the_class_and_every_need_is_listed() {
        let report = busy();
        let line: serde_json::Value = serde_json::from_str(&waybar(&report, &[])).unwrap();
        assert_eq!(line["class"], "collision");
        let listed = swiftbar(&report, &[]).lines().count();
        assert_eq!(listed, 2 + report.needs.len());
    }

    #[test]
    fn each_gauge_has_help_type_and_a_number() {
        let text = prometheus(&busy());
        for lines in text.lines().collect::<Vec<_>>().chunks(3) {
            let [help, kind, value] = lines else { panic!("{lines:?}") };
            let (name, number) = value.split_once(' ').unwrap();
            assert!(help.starts_with(&format!("# HELP {name} ")) && *kind == format!("# TYPE {name} gauge"));
            assert!(number.parse::<u64>().is_ok(), "{value}");
        }
    }
}
