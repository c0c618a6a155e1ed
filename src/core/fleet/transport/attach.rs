//! The command that shows a window's pane on another machine, which a person runs in a terminal.

use crate::core::fleet::transport::Transport;
use crate::core::model::report::need::quoted;
use crate::core::model::{Keeper, PlaceView};

/// Returns the command that shows a pane of a tmux server there; `None` if its place is not known exactly, or its
/// transport does not provide a terminal.
pub(crate) fn command(transport: &Transport, place: &PlaceView) -> Option<Vec<String>> {
    let tmux = tmux(place)?;
    let direct = |before: &[&str]| {
        Some(before.iter().map(|word| (*word).to_owned()).chain(tmux.iter().cloned()).collect())
    };
    match transport {
        Transport::Ssh(host) => {
            // A shell there parses one line of words.
            let line: Vec<String> = tmux.iter().map(|word| quoted(word)).collect();
            Some(["ssh", "-t", "--", host].map(str::to_owned).into_iter().chain([line.join(" ")]).collect())
        }
        Transport::Docker(name) => direct(&["docker", "exec", "-it", name]),
        Transport::Podman(name) => direct(&["podman", "exec", "-it", name]),
        Transport::Devcontainer(folder) => direct(&["devcontainer", "exec", "--workspace-folder", folder]),
        Transport::Kubectl(pod) => match pod.split_once('/') {
            Some((namespace, pod)) => direct(&["kubectl", "exec", "-it", "-n", namespace, pod, "--"]),
            None => direct(&["kubectl", "exec", "-it", pod, "--"]),
        },
        // WSL passes the rest to a shell of its own; nothing is known of any other program.
        Transport::Wsl(_) | Transport::Command(_) => None,
    }
}

/// Returns the words that select a pane and attach to it, with unambiguous names.
fn tmux(place: &PlaceView) -> Option<Vec<String>> {
    let (pane, socket) = (place.pane.as_ref()?.raw(), place.socket.as_ref()?.raw());
    let digits = pane.strip_prefix('%')?;
    let is_pane = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_socket =
        socket.starts_with('/') && !socket.chars().any(char::is_control) && !socket.ends_with(';');
    let is_known = place.keeper == Some(Keeper::Tmux) && place.inner_pid.is_none() && is_pane && is_socket;
    let words = [
        "tmux", "-S", socket, "select-window", "-t", pane, ";", "select-pane", "-t", pane, ";",
        "attach-session", "-t", pane,
    ];
    is_known.then(|| words.map(str::to_owned).to_vec())
}

/// Formats a command for a shell.
pub(crate) fn for_shell(command: &[String]) -> String {
    command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Formats a command as arguments of tmux, which treats a `;` at the end of one as the end of its own command.
pub(crate) fn for_tmux(command: &[String]) -> Vec<String> {
    let escaped = |word: &String| match word.strip_suffix(';') {
        Some(start) => format!("{start}\\;"),
        None => word.clone(),
    };
    command.iter().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(pane: &str, socket: &str) -> PlaceView {
        PlaceView {
            keeper: Some(Keeper::Tmux),
            pane: Some(pane.into()),
            socket: Some(socket.into()),
            ..PlaceView::default()
        }
    }

    #[track_caller]
    fn check(on: &str, place: &PlaceView, expected: Option<&str>) {
        let command = command(&Transport::parse(on).unwrap(), place);
        assert_eq!(command.map(|words| words.join("|")).as_deref(), expected);
    }

    #[test]
    fn a_pane_is_shown_by_words_that_no_shell_can_read_otherwise() {
        let usual = place("%3", "/tmp/tmux-0/default");
        let tmux =
            "tmux|-S|/tmp/tmux-0/default|select-window|-t|%3|;|select-pane|-t|%3|;|attach-session|-t|%3";
        check(
            "devbox",
            &usual,
            Some(
                "ssh|-t|--|devbox|tmux -S /tmp/tmux-0/default select-window -t '%3' ';' select-pane -t '%3' ';' \
                 attach-session -t '%3'",
            ),
        );
        check("docker:web", &usual, Some(&format!("docker|exec|-it|web|{tmux}")));
        check("kubectl:ns/pod", &usual, Some(&format!("kubectl|exec|-it|-n|ns|pod|--|{tmux}")));
        check("wsl:Ubuntu", &usual, None);
        let hostile =
            command(&Transport::parse("devbox").unwrap(), &place("%3", "/tmp/$(touch x)'; y")).unwrap();
        assert!(hostile[4].starts_with(r"tmux -S '/tmp/$(touch x)'\''; y' select-window"), "{}", hostile[4]);
    }

    #[test]
    fn only_a_pane_and_a_socket_are_shown() {
        for pane in ["%3;kill-server", "-t", "%", "3", "", "%3\n"] {
            check("devbox", &place(pane, "/tmp/x"), None);
        }
        for socket in ["-x", "x", "", "/tmp/x;", "/tmp/\u{1b}x"] {
            check("devbox", &place("%3", socket), None);
        }
        let zellij = PlaceView { keeper: Some(Keeper::Zellij), ..place("%3", "/tmp/x") };
        check("devbox", &zellij, None);
        check("devbox", &PlaceView { inner_pid: Some(7), ..place("%3", "/tmp/x") }, None);
    }

    #[test]
    fn another_tmux_passes_the_command_on_whole() {
        let words = ["docker", ";", "x;", ";x"].map(str::to_owned);
        assert_eq!(for_tmux(&words), ["docker", "\\;", "x\\;", ";x"]);
        assert_eq!(for_shell(&words), "docker ';' 'x;' ';x'");
    }
}
