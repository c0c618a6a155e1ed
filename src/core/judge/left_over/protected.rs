//! Left-overs that claimtop never ends, however sure their origin is.
//!
//! Some programs serve many people and windows by design, or keep what is nowhere else: ending them harms others,
//! whichever process started them. One such process keeps the whole tree from being ended.

use jiff::SignedDuration;

use crate::core::judge::window::stand_in::is_played;
use crate::core::judge::world::World;
use crate::core::model::{Hindrance, Interaction, Process, Trace};

/// How old a process must be to be ended: 120 s.
const YOUNG: SignedDuration = SignedDuration::from_secs(120);

/// Why an editor is not ended.
const EDITOR: &str = "is an editor and may hold unsaved work";

/// Programs by the kernel's name for them (15 bytes at most), and why they are not ended.
const KEPT: [(&[&str], &str); 7] = [
    (
        &[
            "tmux", "tmux: server", "tmux: client", "screen", "SCREEN", "zellij", "dtach", "abduco",
            "mosh-server", "shpool", "ttyd", "gotty", "tmate",
        ],
        "hosts terminals for other programs",
    ),
    (
        &[
            "gnome-terminal-", "konsole", "xterm", "uxterm", "urxvt", "alacritty", "kitty", "wezterm-gui",
            "wezterm-mux-ser", "ghostty", "foot", "footclient", "terminator", "tilix", "xfce4-terminal",
            "st", "lxterminal", "ptyxis",
        ],
        "is a terminal",
    ),
    (&["cursor-agent"], "is an agent"),
    (
        &[
            "vi", "vim", "vim.basic", "nvim", "emacs", "nano", "hx", "helix", "micro", "kak", "code",
            "code-server", "code-tunnel", "cursor", "windsurf", "zed", "zed-editor", "subl", "gedit", "kate",
            "idea", "java-idea", "pycharm", "webstorm", "goland", "clion", "rustrover", "ed", "gvim",
            "Emacs", "pico", "joe", "jed", "mg", "ne", "xed", "pluma", "geany", "kakoune", "xemacs", "lapce",
            "obsidian", "inkscape", "gimp", "notepadqq", "mousepad", "sublime_text", "zeditor",
            "soffice.bin", "jupyter-lab", "jupyter-noteboo",
        ],
        EDITOR,
    ),
    (
        &[
            "Xorg", "Xwayland", "Xvfb", "gnome-shell", "gnome-session-b", "kwin_wayland", "kwin_x11",
            "plasmashell", "sway", "Hyprland", "weston", "labwc", "niri", "dbus-daemon", "dbus-broker",
            "dbus-broker-lau", "pipewire", "wireplumber", "pulseaudio",
        ],
        "belongs to the desktop",
    ),
    (
        &[
            "systemd", "init", "supervisord", "runsvdir", "runsv", "s6-svscan", "s6-supervise", "dockerd",
            "containerd", "containerd-shim", "conmon", "podman", "cron", "crond", "atd", "login", "agetty",
        ],
        "runs services for other programs",
    ),
    (
        &[
            "ssh", "sshd", "sshd-session", "sshd-auth", "ssh-agent", "gpg-agent", "sudo", "su", "doas",
            "pkexec", "adb", "watchman",
        ],
        "serves other programs by design",
    ),
];

/// Browsers, by the same names; one that a program drives belongs to that program.
const BROWSERS: [&str; 8] =
    ["firefox", "firefox-esr", "chrome", "google-chrome", "chromium", "chromium-brows", "brave", "msedge"];
const DRIVEN: [&str; 4] = ["--headless", "--enable-automation", "--remote-debugging", "-marionette"];

/// Returns why a process and those below it are never ended; `None` if they may be.
pub(crate) fn never_ended(
    world: &World<'_>,
    trace: &Trace,
    process: &Process,
    below: &[&Process],
) -> Option<String> {
    let message = |process: &Process, why: &str| format!("{} (PID {}) {why}", process.comm, process.id.pid);
    if trace.origin.as_ref().is_some_and(|origin| origin.is_unit) {
        return Some(message(process, "is the main process of a systemd unit: stop the unit"));
    }
    let is_young = |at| world.snapshot.taken_at.duration_since(at) < YOUNG;
    // A demo shows endings from its first moment.
    if !is_played(process) && world.started_at(process).is_none_or(is_young) {
        return Some(message(process, "may have started less than 2 min ago"));
    }
    let tree = || std::iter::once(process).chain(below.iter().copied());
    if let Some(why) = tree().find_map(|one| why_kept(one).map(|why| message(one, why))) {
        return Some(why);
    }
    let trace_of = |process: &Process| world.trace_of(process.id);
    if let Some(unread) = below.iter().find(|process| trace_of(process).is_none()) {
        return Some(message(unread, "below it belongs to another user or could not be read"));
    }
    if let Some(why) =
        tree().find_map(|one| Some(message(one, &hindered(trace_of(one)?.hindrance.as_ref())?)))
    {
        return Some(why);
    }
    let is_driven = |trace: &Trace| {
        trace.argv.iter().any(|argument| DRIVEN.iter().any(|option| argument.raw().starts_with(option)))
    };
    let browser = tree().find(|one| BROWSERS.contains(&one.comm.raw()))?;
    let has_driver = tree().filter_map(trace_of).any(is_driven);
    (!has_driver).then(|| message(browser, "is a browser, which serves other programs too"))
}

/// Returns why a process is not ended now because of what it is in the middle of; `None` also if that was not read.
pub(crate) fn hindered(hindrance: Option<&Hindrance>) -> Option<String> {
    match hindrance {
        Some(Hindrance::Nothing) => None,
        Some(Hindrance::Traced(0)) => Some("is being traced, perhaps by a debugger".to_owned()),
        Some(Hindrance::Traced(pid)) => Some(format!("is being traced by PID {pid}, perhaps a debugger")),
        Some(Hindrance::Waiting) => {
            Some("is blocked in the kernel: a signal could end it much later".to_owned())
        }
        Some(Hindrance::Locking(path)) => Some(format!("holds a git lock, {path}")),
        None => Some("may be busy: could not read whether it holds a git lock or is being traced".to_owned()),
    }
}

/// Returns why a person may be working with a process that has this open.
pub(crate) fn in_use(interaction: Option<Interaction>) -> Option<&'static str> {
    Some(match interaction {
        Some(Interaction::Nothing) => return None,
        Some(Interaction::Terminals) => "hosts a terminal in which something else runs, and may be in use",
        Some(Interaction::Display) => "is connected to a display, and a person may be working with it",
        Some(Interaction::Bus) => "is connected to a D-Bus session bus, and a person may be working with it",
        Some(Interaction::Machine) => "runs a virtual machine, which may be in use",
        Some(Interaction::Devices) => "reads a keyboard or a mouse, and a person may be working with it",
        None => "could not be checked for use by a person",
    })
}

fn why_kept(process: &Process) -> Option<&'static str> {
    let comm = process.comm.raw();
    if process.inner_pids() != Some(&[]) {
        return Some("is in another PID namespace");
    }
    kept(comm)
}

/// Returns why a program of this name is never ended with what runs above it.
pub(crate) fn kept(comm: &str) -> Option<&'static str> {
    if comm == "git" || comm.starts_with("git-") {
        return Some("is at work in a repository");
    }
    // An editor's name may be followed by a version or a variant: `emacs-29.4`, `vim.gtk3`, `code-insiders`.
    let is_variant = |name: &&str| comm.strip_prefix(*name).is_some_and(|rest| rest.starts_with(['-', '.']));
    let is_kept =
        |names: &[&str], why| names.contains(&comm) || why == EDITOR && names.iter().any(is_variant);
    KEPT.iter().find(|(names, why)| is_kept(names, *why)).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_is_known_with_its_version_and_its_variant() {
        let editors = ["vim", "vim.gtk3", "emacs-29.4", "code-insiders", "gimp-2.10", "soffice.bin", "ed"];
        assert!(editors.into_iter().all(|name| kept(name) == Some(EDITOR)));
        assert!(
            ["node", "vite", "edge-runtime", "coder", "nextest"].into_iter().all(|name| kept(name).is_none())
        );
        assert_eq!(kept("tmux-resurrect"), None, "only an editor has variants");
        assert_eq!(kept("cursor-agent"), Some("is an agent"), "not a variant of the editor");
    }
}
