//! The page: one file with everything in it, light and dark, without scripts or network access.

use super::html::{Html, escaped};
use super::material::Material;
use super::picture;
use crate::cli::look;
use crate::core::model::{
    Certitude, Event, Evidence, Finding, RecordKind, Report, Story, Untrusted, WindowView,
};
use crate::present::machine;
use crate::present::map::{Map, letters, map};
use crate::present::need::doing;
use crate::present::report_index::workplace;
use crate::present::summary::Summary;
use crate::present::text::tone::{Tone, of_window};
use crate::present::text::zone::Zone;
use crate::present::text::{count, fact};
use crate::present::words;

const STYLE: &str = include_str!("../../../../assets/report.css");

/// Nothing may be loaded, and nothing may run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Writes the whole page.
pub(super) fn page(material: &Material, zone: &Zone) -> String {
    let report = &material.report;
    let mut page = Html::in_zone(zone);
    let title = format!("claimtop on {}, {}", report.host.name, page.moment(report.taken_at));
    page.raw(&format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escaped(&title)
    ));
    page.element("h1", "", &title);
    page.element("p", "dim", &summary(report));
    if let Some(line) = look::not_asked(&report.not_asked) {
        page.element("p", "", &line);
    }
    let map = map(report);
    draw(&mut page, &map);
    index(&mut page, report, &map);
    problems(&mut page, report);
    windows(&mut page, material);
    timeline(&mut page, material);
    page.raw("</body>\n</html>\n");
    page.out
}

fn summary(report: &Report) -> String {
    let Summary { windows, claims, collisions, warnings, .. } = Summary::from_report(report);
    [
        windows.with_noun("window"),
        count(report.records().filter(|record| record.kind == RecordKind::Session).count(), "session record"),
        claims.with_noun("claim"),
        count(collisions, "collision"),
        count(warnings, "warning"),
    ]
    .join(" · ")
}

/// Lists everything on the page, each as a link to it, with its letter in the map.
fn index(page: &mut Html, report: &Report, map: &Map) {
    page.raw("<nav><ol>\n");
    for (number, finding) in report.problems().iter().enumerate() {
        let severity = finding.severity.name();
        page.raw(&format!("<li class=\"{severity}\"><a href=\"#p{number}\">"));
        if let Some(letter) = map.collisions.iter().position(|at| *at == number) {
            page.element("b", "bad", &letters(letter));
            page.raw(" ");
        }
        page.element("b", "severity", finding.code.name());
        page.text(&format!(" {}", machine::problem_in_brief(finding)));
        page.raw("</a></li>\n");
    }
    page.raw("</ol><p><a href=\"#windows\">Windows</a> · <a href=\"#timeline\">Timeline</a></p></nav>\n");
}

fn problems(page: &mut Html, report: &Report) {
    page.element("h2", "", "Problems, and how they came to be");
    if report.problems().is_empty() {
        let (tone, says) = look::no_problem(report);
        page.element("p", if tone == Tone::Good { "good" } else { "" }, &says);
    }
    report.problems().iter().enumerate().for_each(|(number, finding)| problem(page, number, finding));
}

/// Writes one problem: what to do about it comes first.
fn problem(page: &mut Html, number: usize, finding: &Finding) {
    let severity = finding.severity.name();
    page.raw(&format!("<article class=\"{severity}\" id=\"p{number}\">\n"));
    page.element("span", "severity", severity);
    page.element("h3", "", finding.code.name());
    let advice = finding.story.as_ref().map(|story| story.advice.clone());
    if let Some(advice) = advice.or_else(|| words::remedy(finding.remedy).map(str::to_owned)) {
        page.element("p", "do", &format!("Do: {advice}"));
    }
    page.element("p", "", &machine::problem(finding));
    if let Some(finding_story) = &finding.story {
        story(page, finding_story);
    }
    page.raw("</article>\n");
}

fn story(page: &mut Html, story: &Story) {
    page.element("p", "dim", &format!("Cause: {}", story.cause.name()));
    page.raw("<ol class=\"story\">\n");
    story.events.iter().for_each(|one| event(page, one));
    page.raw("</ol>\n");
    page.element("p", "", &format!("Would change it: {}", story.would_change));
}

fn event(page: &mut Html, event: &Event) {
    let (class, word) = match event.known {
        Certitude::Observed => ("observed", "seen in"),
        Certitude::Inferred => ("inferred", "follows from"),
    };
    page.raw(&format!("<li class=\"{class}\">"));
    if let Some(at) = event.at {
        page.element("time", "", &page.moment(at));
        page.raw(" ");
    }
    if event.known == Certitude::Inferred {
        page.element("b", "", "so: ");
    }
    page.text(&event.told);
    let text = |evidence: &Evidence| {
        format!("{} {} ({})", evidence.fact, fact(evidence.value.raw()), evidence.source)
    };
    let sources: Vec<String> = event.evidence.iter().map(text).collect();
    page.element("span", "from", &format!("{word} {}", sources.join("; ")));
    page.raw("</li>\n");
}

fn windows(page: &mut Html, material: &Material) {
    page.raw("<h2 id=\"windows\">Windows</h2>");
    let text = |text: Option<&Untrusted>| text.map_or_else(String::new, ToString::to_string);
    let row = |window: &WindowView| {
        vec![
            text(window.name.as_ref()),
            text(Some(&window.agent)),
            window.pid.to_string(),
            of_window(window).2.to_owned(),
            window.started_at.map_or_else(String::new, |at| page.moment(at)),
            text(window.session_id.as_ref()),
            workplace(window),
            doing::of_window(window, material.prompts),
        ]
    };
    let head = ["Name", "Agent", "PID", "State", "Started", "Session", "Works in", "Doing"];
    let rows: Vec<_> = material.report.windows.iter().map(row).collect();
    page.table(&head, rows.into_iter());
}

fn draw(page: &mut Html, map: &Map) {
    page.element("h2", "", "Map");
    picture::draw(page, map);
    if map.left_out > 0 {
        let what = format!("{} hold nothing and collide with nothing.", count(map.left_out, "more record"));
        page.element("p", "dim", &what);
    }
}

fn timeline(page: &mut Html, material: &Material) {
    page.raw("<h2 id=\"timeline\">Timeline</h2>");
    let rows = material.timeline().into_iter();
    let rows: Vec<_> =
        rows.map(|moment| vec![page.moment(moment.at), moment.sentence, moment.from]).collect();
    page.table(&["When", "What", "Known from"], rows.into_iter());
}
