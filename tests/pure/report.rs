//! The report page: self-contained, escaped, and as a real browser renders it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use claimtop::core::history::recording::Header;
use claimtop::core::history::recording::{Encoder, VERSION};
use claimtop::core::judge::window::agent::Signatures;

use crate::common;
use crate::missing;

/// The worst content of a path and a prompt.
const HOSTILE: &str = "</td><script>document.title='owned';document.body.innerHTML='owned'</script>\
                       <img src=x onerror=\"document.title='owned'\"><style>*{display:none}</style>";

/// Writes a recording of the demo's story, in which a folder and a title are hostile.
fn recording(folder: &Path) -> PathBuf {
    let story = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo.toml");
    let mut look = common::load(&story).snapshot();
    for process in look.processes.by_pid.values_mut() {
        if let Some(details) = process.details.as_mut() {
            details.cwd = details.cwd.take().map(|cwd| format!("{}/{HOSTILE}", cwd.raw()).into());
        }
    }
    for record in &mut look.records {
        let record = std::sync::Arc::make_mut(record);
        record.title = format!("{}{HOSTILE}", record.title.raw()).into();
    }
    let header = Header {
        recording: VERSION,
        claimtop: "0".to_owned(),
        began_at: look.taken_at,
        redacted: false,
        signatures: Signatures::built_in().unwrap(),
    };
    let text = Encoder::header(&header).unwrap() + &Encoder::default().look(&look, true).unwrap();
    let path = folder.join("look.jsonl");
    std::fs::write(&path, text).unwrap();
    path
}

/// Writes the report page of a recording in this folder to a file.
fn report(folder: &Path, to: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_claimtop"))
        .args(["report", "--from"])
        .arg(recording(folder))
        .arg("--home")
        .arg(folder)
        .arg("--tmp")
        .arg(folder)
        .arg("--html")
        .arg(to)
        .output()
        .unwrap()
}

fn page(folder: &Path) -> PathBuf {
    let to = folder.join("page.html");
    let output = report(folder, &to);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    to
}

#[test]
fn the_page_needs_nothing_else_and_tells_everything() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(page(folder.path())).unwrap();
    for part in [
        "contested-claim",
        "Cause: double-claim",
        "<b>so: </b>the later claim was written while",
        "Would change it:",
        "<svg ",
        "Timeline",
        "prefers-color-scheme: dark",
        "@media print",
        "default-src 'none'",
    ] {
        assert!(text.contains(part), "{part} is missing");
    }
    for part in ["<script", "<img", "http://", "https://", "url(", "@import", "<link", "<iframe"] {
        assert!(!text.contains(part), "{part} is in the page");
    }
}

#[test]
fn the_map_comes_first_then_an_index_and_each_card_begins_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(page(folder.path())).unwrap();
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is missing"));
    assert!(at("<svg ") < at("<nav>") && at("<nav>") < at("<article"));
    let links = text.matches("href=\"#p").count();
    assert_eq!(links, text.matches("<article").count());
    for number in 0..links {
        assert!(text.contains(&format!("id=\"p{number}\"")), "{number}");
    }
    let card = text.split("<article").skip(1).find(|card| card.contains("contested-claim")).unwrap();
    let places =
        ["<p class=\"do\">Do: ", "Cause: ", "<ol class=\"story\">"].map(|part| card.find(part).unwrap());
    assert!(places.is_sorted(), "{card}");
}

#[test]
fn a_page_is_never_written_over_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("mine.html");
    std::fs::write(&to, "mine").unwrap();
    let output = report(folder.path(), &to);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "mine");
}

/// Runs a headless browser on the page; `None` if there is none.
fn browser(folder: &Path, arguments: &[&str], page: &Path) -> Option<Output> {
    let name = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        let found = |folder: &Path| folder.join(name).is_file();
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|folder| found(&folder))
    });
    let Some(name) = name else {
        missing::skip_for_want_of("Chromium");
        return None;
    };
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let fixed =
        ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"];
    let output = Command::new(name)
        .args(fixed)
        .arg(profile)
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output)
}

#[test]
fn a_browser_shows_the_findings_and_runs_nothing_of_a_hostile_path() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(folder.path());
    let Some(output) = browser(folder.path(), &["--dump-dom"], &page) else { return };
    let dom = String::from_utf8(output.stdout).unwrap();
    assert!(dom.contains("<title>claimtop on "), "{}", dom.get(..400).unwrap_or(&dom));
    for part in ["contested-claim", "resumed-session", "&lt;script&gt;", "Timeline"] {
        assert!(dom.contains(part), "{part} is missing");
    }
    assert!(!dom.contains("<script") && !dom.contains("<img"), "the path became markup");
    for (name, arguments) in [("light", &[][..]), ("dark", &["--force-dark-mode"][..])] {
        let picture = folder.path().join(format!("{name}.png"));
        let to = format!("--screenshot={}", picture.display());
        let all: Vec<&str> =
            [to.as_str(), "--window-size=1200,1600"].into_iter().chain(arguments.iter().copied()).collect();
        browser(folder.path(), &all, &page).unwrap();
        let bytes = std::fs::read(&picture).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 40_000, "{name}: {} bytes", bytes.len());
        if let Some(kept) = std::env::var_os("CLAIMTOP_KEEP_PAGES") {
            std::fs::copy(&picture, Path::new(&kept).join(format!("{name}.png"))).unwrap();
        }
    }
}
