use super::*;

#[test]
fn only_the_two_settings_that_matter_are_read() {
    let text = "# Obra\ndatabase:\n  url: \"sqlite:////srv/o.db\"  # here\n  echo: false\nagent:\n  type: claude_code_ssh\n";
    assert_eq!(settings(text), Configuration { database: Some("/srv/o.db".to_owned()), is_remote: true });
    assert_eq!(settings("agent:\n  type: claude_code_local\nurl: sqlite:///x\n"), Configuration::default());
}

#[test]
fn obras_processes_are_known_by_their_arguments() {
    assert!(is_runner(["python3", "/home/dev/.venv/bin/obra", "task", "execute", "2"]));
    assert!(is_runner(["python3", "-m", "src.cli", "epic", "execute", "4"]));
    assert!(is_runner(["obra", "status"]));
    assert!(!is_runner(["vim", "obra.md"]));
    assert!(!is_runner(["cargo", "test", "--test", "obra"]));
}
