//! The program as a shell sees it: help, exit codes, configuration, generated files.

use crate::world::World;

#[test]
fn help_names_every_command() {
    let help = World::new().run(&["--help"]);
    assert_eq!(help.code, 0);
    for command in [
        "ls", "leftovers", "doctor", "explain", "context-id", "bind", "guard", "hook", "events", "release",
        "park", "migrate", "clean", "undo", "journal", "demo", "statusline", "config", "completions", "man",
    ] {
        assert!(help.out.lines().any(|line| line.trim_start().starts_with(command)), "{command}");
    }
    assert!(help.out.contains("Exit codes: 0 fine"));
}

#[track_caller]
fn check_usage(arguments: &[&str], expected: &str) {
    let answer = World::new().run(arguments);
    assert_eq!((answer.code, answer.out.as_str()), (2, ""));
    assert!(answer.err.contains(expected), "{}", answer.err);
}

#[test]
fn usage_errors_end_with_2() {
    check_usage(&["let-go"], "unrecognized subcommand");
    check_usage(&["release"], "required arguments");
    check_usage(&["migrate"], "required arguments");
    check_usage(&["ls", "walls"], "invalid value 'walls'");
    check_usage(&["--theme", "pink", "ls"], "invalid value 'pink'");
    check_usage(&["explain"], "required arguments");
    check_usage(&["ls", "a\u{9b}31m\u{202e}b\u{1b}[m"], "'a‹U+009B›31m‹U+202E›b");
    check_usage(&["--pink\u{9b}"], "--pink‹U+009B›");
    check_usage(&["context-id", "--pid", "x"], "invalid value 'x'");
    check_usage(&["config", "--home", "/nowhere/at/all"], "--home /nowhere/at/all: there is no such folder");
}

#[test]
fn bind_never_fails_its_hook() {
    let world = World::new();
    let home = world.path("home");
    for arguments in [&["bind", "--bogus"][..], &["--home", home.to_str().unwrap(), "bind", "--bogus"]] {
        assert_eq!(world.run(arguments).code, 0, "{arguments:?}");
    }
}

#[test]
fn a_wrong_configuration_is_told_with_file_line_and_key() {
    let world = World::new();
    let file = world.write("home/.config/claimtop/config.toml", "ascii = true\ntheme = 'pink'\n");
    let answer = world.run(&["config"]);
    assert_eq!(answer.code, 2);
    let expected =
        format!("claimtop: configuration {}: line 2, key `theme`: unknown variant", file.display());
    assert!(answer.err.starts_with(&expected), "{}", answer.err);
    assert!(answer.err.contains("hint: correct or remove that line"), "{}", answer.err);
}

#[test]
fn a_wrong_server_is_told_with_what_names_it() {
    let world = World::new();
    let option = world.run(&["ls", "--postgres", "nothing"]);
    assert_eq!(option.code, 2);
    assert!(option.err.starts_with("claimtop: --postgres: "), "{option:?}");
    let file = world.write("home/.config/claimtop/config.toml", "postgres = 'nothing'\n");
    let answer = world.run(&["ls", "--home", world.path("home").to_str().unwrap()]);
    assert_eq!(answer.code, 2, "{answer:?}");
    let expected = format!("claimtop: configuration {}: key `postgres`: ", file.display());
    assert!(answer.err.starts_with(&expected), "{answer:?}");
}

#[test]
fn config_tells_every_value_with_its_origin() {
    let world = World::new();
    let file = world.write("home/.config/claimtop/config.toml", "theme = 'light'\nmouse = true\n");
    let answer = world.run(&["config", "--theme", "ansi"]);
    assert_eq!(answer.code, 0);
    let line = |start: &str| {
        let line = answer.out.lines().find(|line| line.starts_with(start)).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(line("theme"), ["theme", "ansi", "option"]);
    assert_eq!(line("mouse"), ["mouse", "true", "file"]);
    assert_eq!(line("read_only"), ["read_only", "false", "default"]);
    assert_eq!(line("configuration"), ["configuration", file.to_str().unwrap()]);
    assert_eq!(line("temporary"), ["temporary", world.path("tmp").to_str().unwrap()]);
    let formats = world.path("home/.config/claimtop/formats");
    assert_eq!(line("formats"), ["formats", formats.to_str().unwrap(), "not", "there"]);
}

#[test]
fn no_color_is_obeyed_until_an_option_says_otherwise() {
    let world = World::new();
    let plain = world.run_with(&["config"], &[("NO_COLOR", "1")]);
    assert!(plain.out.contains("environment (NO_COLOR)"), "{}", plain.out);
    assert!(!plain.out.contains('\u{1b}'));
    let colored = world.run_with(&["config", "--color", "always"], &[("NO_COLOR", "1")]);
    assert!(colored.out.contains("\u{1b}["));
}

#[test]
fn completions_and_manual_come_from_the_definition() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "nushell", "powershell"] {
        let answer = world.run(&["completions", shell]);
        assert!(answer.code == 0 && answer.out.contains("context-id"), "{shell}");
    }
    let manual = world.run(&["man"]);
    assert!(manual.out.contains(".TH claimtop") && manual.out.contains("context\\-id"), "{}", manual.out);
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let world = World::new();
    let mut child = world.command(&["man"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_status_line_is_one_line() {
    let world = World::new();
    let line = |arguments: &[&str]| {
        let answer = world.run(arguments);
        assert_eq!(answer.code, 0, "{}", answer.err);
        // The windows are those of the machine.
        let (windows, rest) = answer.out.split_at(answer.out.find(" window").unwrap());
        assert!(windows.parse::<u32>().is_ok(), "{windows}");
        rest.replace(" window ", " windows ").replace(" window\n", " windows\n")
    };
    assert_eq!(line(&["statusline"]), " windows\n");
    let text = r#"{"pid":4194304,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
    world.write("home/.claude/sessions/4194304.json", text);
    assert_eq!(line(&["statusline"]), " windows · 1 dead claim\n");
    assert_eq!(line(&["statusline", "--ascii"]), " windows | 1 dead claim\n");
}

#[test]
fn a_hook_that_is_written_wrong_stops_no_agent() {
    let world = World::new();
    for arguments in
        [&["guard"][..], &["guard", "--for"], &["guard", "--for", "nobody"], &["guard", "--fro", "claude"]]
    {
        let answer = world.run(arguments);
        // Claude Code takes 2 for a refusal.
        assert!(
            answer.code == 0 && answer.out.is_empty() && !answer.err.is_empty(),
            "{arguments:?}: {answer:?}"
        );
    }
}

/// A program that opened it would wait for its other end, which nobody has.
#[cfg(target_os = "linux")]
#[test]
fn a_time_zone_that_is_a_fifo_is_unknown_and_waited_for_by_no_command() {
    let world = World::new();
    let fifo = world.path("fifo");
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for command in [&["ls"][..], &["now", "--json"], &["statusline"], &["journal"], &["context-id"]] {
        for colon in ["", ":"] {
            let named = format!("{colon}{}", fifo.display());
            let answer = world.run_with(command, &[("TZ", &named)]);
            assert!(answer.code >= 0, "{command:?}: {answer:?}");
        }
    }
}
