//! The program as a shell sees it: help, exit codes, configuration, generated files.

use crate::world::World;

#[test]
fn help_is_one_screen_that_names_every_command() {
    let world = World::new();
    let help = world.run(&["--help"]);
    assert_eq!((help.code, help.out.lines().count() < 24), (0, true), "{}", help.out);
    for command in [
        "ls", "leftovers", "doctor", "explain", "context-id", "bind", "guard", "hook", "events", "release",
        "park", "migrate", "clean", "undo", "journal", "demo", "statusline", "config", "completions", "man",
    ] {
        assert!(help.out.split([' ', ',', '\n']).any(|word| word == command), "{command}");
    }
    assert!(help.out.contains("Exit codes: 0 fine"));
    for same in [&["-h"][..], &["help"]] {
        assert_eq!(world.run(same).out, help.out, "{same:?}");
    }
}

#[test]
fn each_command_and_the_shared_options_have_a_page() {
    let world = World::new();
    let release = world.run(&["help", "release"]);
    assert_eq!(release.out, world.run(&["release", "--help"]).out);
    assert!(release.out.contains("--confirm") && !release.out.contains("--obra-db"), "{}", release.out);
    let options = world.run(&["help", "options"]);
    assert!(options.code == 0 && options.out.contains("--obra-db"), "{}", options.out);
    let commands = world.run(&["help", "commands"]);
    assert!(commands.out.contains("  witness"), "{}", commands.out);
    check_usage(&["help", "let-go"], "no command is called let-go");
}

#[test]
fn without_a_terminal_the_text_is_that_of_now() {
    let world = World::new();
    let text = r#"{"pid":4194304,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
    world.write("home/.claude/sessions/4194304.json", text);
    let needs =
        |answer: &str| answer.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    let file = world.path("recording");
    assert_eq!(world.run(&["record", "--once", file.to_str().unwrap()]).code, 0);
    let (bare, now) = (world.run(&[]), world.run(&["now"]));
    assert!(bare.code == 0 && !now.out.is_empty(), "{bare:?}");
    // Each says an age of its own moment.
    let plain = |answer: &str| needs(answer).split(", silent for").next().unwrap_or_default().to_owned();
    assert_eq!(plain(&bare.out), plain(&now.out));
    let replayed = world.run(&["replay", file.to_str().unwrap()]);
    assert_eq!(plain(&replayed.out), plain(&now.out));
}

#[test]
fn a_recording_goes_into_no_folder_that_is_not_there() {
    let world = World::new();
    let folder = world.path("not/there");
    let file = folder.join("recording");
    for words in [&["record", "--once"][..], &["demo", "--once", "--record"]] {
        let mut arguments = words.to_vec();
        arguments.push(file.to_str().unwrap());
        // The demo looks only in its own folders.
        let mut command = world.command(&arguments);
        if arguments.starts_with(&["demo"]) {
            command = std::process::Command::new(env!("CARGO_BIN_EXE_claimtop"));
            command.args(&arguments).env("TMPDIR", world.path("tmp"));
        }
        let answer = command.output().unwrap();
        let says = format!("there is no folder {}", folder.display());
        let said = String::from_utf8_lossy(&answer.stderr);
        assert!(!answer.status.success() && said.contains(&says), "{arguments:?}: {said}");
        assert!(!world.path("not").exists(), "{arguments:?}");
    }
}

#[test]
fn moments_in_text_are_local_with_their_offset_and_json_stays_in_utc() {
    let world = World::new();
    let text = r#"{"pid":4194304,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
    let entry = world.write("home/.claude/sessions/4194304.json", text);
    let explained = |zone: &str, more: &[&str]| {
        let arguments: Vec<&str> = ["explain", entry.to_str().unwrap()].iter().chain(more).copied().collect();
        world.run_with(&arguments, &[("TZ", zone)]).out
    };
    let local = explained("<+0530>-5:30", &[]);
    assert!(local.contains(" +05:30)") && !local.contains("Z)"), "{local}");
    assert!(explained("UTC0", &[]).contains("Z)"));
    assert!(!explained("<+0530>-5:30", &["--json"]).contains("+05:30"));
    let report = |zone| world.run_with(&["report", "--html", "-"], &[("TZ", zone)]).out;
    let local = report("<+0530>-5:30");
    assert!(
        local.contains(" +05:30</h1>") && !local.contains("Z</h1>") && !local.contains("Z</td>"),
        "{local}"
    );
    assert!(report("UTC0").contains("Z</h1>"));
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
    assert!(manual.out.contains(".TH claimtop") && manual.out.contains("context-id"), "{}", manual.out);
}

#[test]
fn completions_know_the_names_that_a_command_takes() {
    let world = World::new();
    let text = r#"{"pid":4194304,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
    let entry = world.write("home/.claude/sessions/4194304.json", text);
    let names = |command: &str| {
        let answer = world.run(&["completions", "--names", command]);
        assert_eq!(answer.code, 0, "{}", answer.err);
        answer.out
    };
    let is_of_entry = |line: &&str| line.contains(&*entry.to_string_lossy());
    let explained = names("explain");
    let key = explained.lines().find(is_of_entry).and_then(|line| line.split_once('\t')).unwrap().0;
    assert_eq!(world.run(&["explain", key]).code, 0);
    assert!(names("release").lines().any(|line| line.starts_with(key)));
    assert_eq!(names("undo"), "");
    assert!(!names("migrate").contains(key) && !names("stop").contains(key));
}

/// Runs bash with the completions of claimtop and a function that prints what is offered after these words.
#[test]
fn bash_offers_names_where_a_command_takes_one() {
    let world = World::new();
    let text = r#"{"pid":4194304,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"77"}"#;
    world.write("home/.claude/sessions/4194304.json", text);
    let program = world.path("claimtop");
    let (home, tmp) = (world.path("home"), world.path("tmp"));
    let called = format!(
        "#!/bin/sh\nexec {} --home {} --tmp {} \"$@\"\n",
        env!("CARGO_BIN_EXE_claimtop"),
        home.display(),
        tmp.display()
    );
    let script = world.write("claimtop", &called);
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let offered = |words: &str| {
        let lines = format!(
            "PATH={folder}:$PATH\nsource <(claimtop completions bash)\nCOMP_WORDS=({words} '')\nCOMP_LINE='{words} '\n\
             COMP_POINT=${{#COMP_LINE}}\nCOMP_CWORD=$((${{#COMP_WORDS[@]}}-1))\n\
             _claimtop_with_names claimtop '' \"${{COMP_WORDS[COMP_CWORD-1]}}\"\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            folder = program.parent().unwrap().display()
        );
        let output = std::process::Command::new("bash").args(["-c", &lines]).output().unwrap();
        assert!(output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let keys = world.run(&["completions", "--names", "release"]).out;
    let keys: Vec<&str> = keys.lines().filter_map(|line| line.split('\t').next()).collect();
    assert!(!keys.is_empty());
    for words in ["claimtop release", "claimtop --ascii release --dry-run"] {
        assert_eq!(offered(words).lines().collect::<Vec<_>>(), keys, "{words}");
    }
    assert!(!offered("claimtop release --confirm").contains(keys[0]));
    assert!(offered("claimtop ls").contains("windows"));
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
        // Claude Code treats 2 as a refusal.
        assert!(
            answer.code == 0 && answer.out.is_empty() && !answer.err.is_empty(),
            "{arguments:?}: {answer:?}"
        );
    }
}

/// A program that opened it would wait for its other end, which no process has.
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

/// A world whose names have letters beyond ASCII, with output for each command.
fn foreign_names() -> World {
    let world = World::new();
    let entry = r#"{"pid":4194000,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","cwd":"/tmp/größe","startedAt":1,"procStart":"7","version":"2.1.330","kind":"interactive","name":"früh → spät","status":"idle"}"#;
    world.write("home/.claude/sessions/4194000.json", entry);
    for number in 0..3 {
        let slot = format!("{}\n2020-01-01T00:00:00\n", "95fe798d-3725-4649-974a-0dec79220193");
        world.write(&format!("tmp/claude_session_prüfung{number}"), &slot);
    }
    world.write("home/.maia/sessions/swarm_session_12é.json", "{");
    world
}

#[test]
fn where_only_ascii_is_wanted_every_command_prints_nothing_else() {
    let world = foreign_names();
    let entry = world.path("home/.claude/sessions/4194000.json");
    let commands: [&[&str]; 24] = [
        &["ls"],
        &["ls", "sessions"],
        &["ls", "claims"],
        &["ls", "problems"],
        &["ls", "--json"],
        &["now"],
        &["now", "--json"],
        &["leftovers"],
        &["leftovers", "--trees"],
        &["leftovers", "--sizes"],
        &["doctor"],
        &["doctor", "--json"],
        &["doctor", "--self"],
        &["explain", entry.to_str().unwrap()],
        &["explain", "nöbody"],
        &["config"],
        &["context-id"],
        &["hook", "check"],
        &["hook", "print"],
        &["release", entry.to_str().unwrap(), "--dry-run"],
        &["clean", "--dry-run"],
        &["clean", "--expired", "--dry-run"],
        &["journal"],
        &["man"],
    ];
    for arguments in commands {
        let by_option: Vec<&str> = ["--ascii"].into_iter().chain(arguments.iter().copied()).collect();
        for answer in [world.run(&by_option), world.run_with(arguments, &[("LC_ALL", "C")])] {
            assert!(answer.out.is_ascii() && answer.err.is_ascii(), "{arguments:?}: {answer:?}");
        }
    }
    let told = world.run(&["ls", "sessions"]).out;
    assert!(told.contains("früh"), "{told}");
    let json = world.run_with(&["ls", "--json"], &[("LC_ALL", "C")]).out;
    assert!(serde_json::from_str::<serde_json::Value>(&json).unwrap().to_string().contains("früh"), "{json}");
}

#[test]
fn a_relative_state_folder_is_one_of_the_working_folder() {
    let world = foreign_names();
    let run = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.current_dir(world.path("home")).args(["--state", "own/state"]);
        let output = command.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
        )
    };
    let entry = world.path("home/.claude/sessions/4194000.json");
    let released = loop {
        let released = run(&["release", entry.to_str().unwrap(), "--yes"]);
        // A file that was written just now is waited for.
        if !released.1.contains("s ago: wait") || released.0 == Some(0) {
            break released;
        }
    };
    assert_eq!(released.0, Some(0), "{}", released.1);
    assert!(!entry.exists() && world.path("home/own/state").is_dir(), "{}", released.1);
    let undone = run(&["undo", "--yes"]);
    assert_eq!((undone.0, entry.exists()), (Some(0), true), "{}", undone.1);
}
