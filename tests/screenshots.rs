//! The pictures under `screenshots/`: drawn from the demo's story, the same bytes every time.
//!
//! `CLAIMTOP_WRITE_EXPECTED=1 cargo test --test screenshots` draws them anew; the PNG beside each
//! comes from `rsvg-convert windows.svg --output windows.png`. Look at what changed.

#![expect(clippy::disallowed_methods, reason = "tests write and read files")]

#[expect(dead_code, reason = "this test needs only a part of it")]
mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use claimtop::testing::app::{Effect, Msg, Options, Press, Size, State, update};
use claimtop::testing::config::{Glyphs, Theme};
use claimtop::testing::core::{ErrorKind, Obstacle, Offer, Request, plan_for};
use claimtop::testing::ui::{Colors, DARK, Ground, LIGHT, Look, Palette, render, to_svg};

struct Shot {
    name: &'static str,
    title: &'static str,
    size: (u16, u16),
    /// What is typed; a line feed is Enter.
    keys: &'static str,
    theme: Theme,
}

const SHOTS: [Shot; 9] = [
    Shot { name: "windows", title: "Every window", size: (140, 34), keys: "jj", theme: Theme::Dark },
    Shot { name: "small", title: "On 80 columns", size: (80, 24), keys: "", theme: Theme::Dark },
    Shot { name: "why", title: "Why a claim is contested", size: (110, 30), keys: "4\n", theme: Theme::Dark },
    Shot {
        name: "plan",
        title: "What a release would do",
        size: (100, 26),
        keys: "4jjjjjjr",
        theme: Theme::Dark,
    },
    Shot { name: "story", title: "How it came to this", size: (120, 30), keys: "5jjj\n", theme: Theme::Dark },
    Shot {
        name: "left-overs",
        title: "What dead windows left",
        size: (120, 30),
        keys: "6",
        theme: Theme::Dark,
    },
    Shot { name: "map", title: "Who holds what", size: (130, 44), keys: "v", theme: Theme::Dark },
    Shot { name: "problems", title: "Problems", size: (140, 34), keys: "5jj", theme: Theme::ColorBlind },
    Shot {
        name: "light",
        title: "Claims on a light ground",
        size: (120, 30),
        keys: "4",
        theme: Theme::Light,
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn ground(theme: Theme) -> Ground {
    match theme {
        Theme::Light => LIGHT,
        Theme::Dark | Theme::ColorBlind | Theme::Ansi => DARK,
    }
}

fn draw(shot: &Shot) -> String {
    let report = common::load(&root().join("assets/demo.toml")).report();
    let (width, height) = shot.size;
    let options = Options { badge: Some("demo".to_owned()), ..Options::default() };
    let mut state = State::new(options, Size { width, height }, report.taken_at);
    update(&mut state, Msg::Looked(Arc::new(report)));
    for key in shot.keys.chars() {
        let press = if key == '\n' { Press::Enter } else { Press::Char(key) };
        for effect in update(&mut state, Msg::Pressed(press)) {
            if let Effect::Offer(requests) = effect {
                let offers = requests.iter().map(|request| offer(&state, request)).collect();
                update(&mut state, Msg::Offered(offers));
            }
        }
    }
    let look = Look { palette: Palette::new(shot.theme, Colors::Used), glyphs: Glyphs::Unicode };
    to_svg(&render(&state, look), &format!("claimtop: {}", shot.title), ground(shot.theme))
}

/// Answers as the files of a world that stands still would.
fn offer(state: &State, request: &Request) -> Offer {
    let plan = match (request, state.report()) {
        (Request::Act { key, action }, Some(report)) => Ok((plan_for(report, key, *action), None)),
        (Request::Act { .. } | Request::Left { .. } | Request::Stop { .. } | Request::Undo { .. }, _) => {
            Err(Obstacle { kind: ErrorKind::Never, text: "nothing was done yet".to_owned() })
        }
    };
    Offer { request: request.clone(), plan }
}

#[test]
fn the_pictures_are_what_the_screen_draws() {
    let writes = std::env::var_os("CLAIMTOP_WRITE_EXPECTED").is_some();
    let mut stale = Vec::new();
    for shot in &SHOTS {
        let path = root().join("screenshots").join(format!("{}.svg", shot.name));
        let drawn = draw(shot);
        assert_eq!(drawn, draw(shot), "{} is drawn differently a second time", shot.name);
        if writes {
            std::fs::write(&path, &drawn).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != drawn {
            stale.push(path.display().to_string());
        }
        assert!(path.with_extension("png").is_file(), "{} has no PNG beside it", path.display());
    }
    assert!(stale.is_empty(), "draw these anew and look at them: {}", stale.join(", "));
}
