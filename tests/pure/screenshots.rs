//! The pictures under `screenshots/`: drawn from the demo's story, the same bytes every time.
//!
//! `CLAIMTOP_WRITE_EXPECTED=1 cargo test --test pure screenshots` draws them again; the PNG beside each
//! comes from `rsvg-convert now.svg --output now.png`. Look at what changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use claimtop::core::assess::assess;
use claimtop::core::model::{MachineState, MachineView, Report, Snapshot};
use claimtop::testing::app::{Effect, Msg, Options, Press, Size, State, update};
use claimtop::testing::config::{Glyphs, Theme};
use claimtop::testing::core::{
    Action, Decoder, Encoder, ErrorKind, FarMachine, Hello, Identity, Obstacle, Offer, Request, RescueTarget,
    merged_machines, plan_for,
};
use claimtop::testing::ui::{Colors, DARK, Ground, LIGHT, Look, Palette, render, to_svg};
use jiff::SignedDuration;

use crate::common;
use crate::common::policy;

struct Shot {
    name: &'static str,
    title: &'static str,
    size: (u16, u16),
    /// The keys; a line feed is Enter.
    keys: &'static str,
    theme: Theme,
}

/// The picture of `demo --machines 3`; all others are of `demo`.
const MACHINES: &str = "machines";

const SHOTS: [Shot; 12] = [
    Shot { name: "now", title: "What needs you now", size: (140, 34), keys: "jj", theme: Theme::Dark },
    Shot {
        name: "rescue",
        title: "Whose edits are gone, and why",
        size: (120, 28),
        keys: "j\n",
        theme: Theme::Dark,
    },
    Shot { name: MACHINES, title: "Three other machines", size: (140, 34), keys: "j", theme: Theme::Dark },
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
        name: "foresight",
        title: "What will conflict, before either commits",
        size: (120, 28),
        keys: "jjjjjjj\n",
        theme: Theme::Dark,
    },
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
    if theme == Theme::Light { LIGHT } else { DARK }
}

fn draw(shot: &Shot) -> String {
    let report = match shot.name {
        MACHINES => three_machines(),
        _ => common::load(&root().join("assets/demo.toml")).report(),
    };
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

/// Returns the demo's report with its machines, one of which has fallen silent.
fn three_machines() -> Report {
    let story = |name: &str| common::load(&root().join(format!("assets/demo-machines/{name}.toml")));
    let here = story("here").report();
    let machines = [("devbox", "ssh devbox", 0), ("gpu", "ssh gpu", 0), ("web", "docker web", 40)];
    let far = machines.map(|(name, transport, silent_for)| {
        let mut snapshot = story(name).snapshot();
        snapshot.host.boot_id = Some(format!("{name}-boot"));
        let mut far = heard(name, &snapshot);
        let view = &mut far.view;
        view.transport = transport.to_owned();
        view.seen_at = Some(here.taken_at - SignedDuration::from_secs(silent_for));
        view.windows = far.report.as_ref().map_or(0, |report| report.windows.len());
        (view.host, view.version) = (Some(name.into()), Some(env!("CARGO_PKG_VERSION").into()));
        view.state = MachineState::Live;
        if silent_for > 0 {
            view.state = MachineState::Silent;
            view.detail = "no contact for 15 s".into();
        }
        far
    });
    merged_machines(&here, &far)
}

/// Returns a machine as its claimtop reports it.
fn heard(name: &str, snapshot: &Snapshot) -> FarMachine {
    let report = assess(snapshot, policy());
    let hello = Hello {
        schema: "claimtop.stream.v1".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        identity: Identity { machine: None, store: Some(name.to_owned()) },
        host: name.to_owned(),
        boot: snapshot.host.boot_id.clone(),
        pid_namespace: snapshot.host.pid_namespace,
        now: snapshot.taken_at,
        takes_orders: true,
        no_orders: None,
    };
    let lines = Encoder::hello(hello).unwrap() + &Encoder::default().look(&report, &[]).unwrap();
    let mut decoder = Decoder::new(name);
    for line in lines.lines() {
        decoder.receive(line.as_bytes()).unwrap();
    }
    let (hello, report) = (decoder.hello().cloned(), decoder.report().cloned());
    FarMachine { view: MachineView::new(name, String::new()), hello, report, tombstones: [].into() }
}

/// Answers as the files of a static world would.
fn offer(state: &State, request: &Request) -> Offer {
    let plan = match (request, state.report()) {
        (Request::Act { key, action }, Some(report)) => Ok((plan_for(report, key, *action), None)),
        (Request::Rescue { lost: RescueTarget::By(key), .. }, Some(report)) => {
            Ok((plan_for(report, key, Action::Rescue), None))
        }
        (
            Request::Act { .. }
            | Request::Several { .. }
            | Request::Left { .. }
            | Request::Stop { .. }
            | Request::Rescue { .. }
            | Request::Setup { .. }
            | Request::Undo { .. },
            _,
        ) => Err(Obstacle { kind: ErrorKind::Never, text: "nothing was done yet".to_owned() }),
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
