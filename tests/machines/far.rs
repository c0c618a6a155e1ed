//! A machine made of namespaces: its own processes, host name and home, with claimtop in it.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::program;
use super::world::{Answer, World};

/// Begins a machine: its name, and claimtop's arguments there. Two windows, and the left-overs of a dead one.
const BEGIN: &str = r#"
name=$1; base=$2; shift 2
hostname $name
[ ! -e $base/boot-$name ] || mount --bind $base/boot-$name /proc/sys/kernel/random/boot_id
[ ! -e $base/id-$name ] || mount --bind $base/id-$name /etc/machine-id
export HOME=$base/$name
rm -rf $HOME/.claude; mkdir -p $HOME/.claude/sessions $HOME/shop $HOME/notes
register() {
  start=$(cut -d')' -f2 /proc/$1/stat | awk '{print $20}')
  printf '{"pid":%d,"sessionId":"%s","cwd":"%s","procStart":"%s","startedAt":1,"version":"2.1.330","kind":"interactive","entrypoint":"cli","name":"%s","status":"%s"}' \
    $1 $2 $HOME/$3 $start $4 $5 > $HOME/.claude/sessions/$1.json
}
cd $HOME/shop; $base/share/claude/versions/2.1.330 3600 & register $! aaaaaaaa-0000-4000-8000-000000000001 shop $name-pay busy
cd $HOME/notes; $base/share/claude/versions/2.1.330 3600 & register $! aaaaaaaa-0000-4000-8000-000000000002 notes $name-notes idle
[ ! -e $base/clock.so ] || export LD_PRELOAD=$base/clock.so
exec "$@"
"#;

/// The namespaces of a machine.
pub(crate) const NAMESPACES: [&str; 7] =
    ["--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--uts", "--net"];

/// Returns whether this system lets us make machines; prints a note if it does not.
pub(crate) fn are_possible() -> bool {
    let tried = Command::new("unshare").args(NAMESPACES).arg("true").stderr(Stdio::null()).status();
    let is = tried.is_ok_and(|status| status.success());
    if !is {
        eprintln!("skipped: no namespaces here (unshare {})", NAMESPACES.join(" "));
    }
    is
}

/// Writes the configuration of these machines and of these programs that stand in for one.
pub(crate) fn configure(world: &World, machines: &[&str], programs: &[(&str, &[&str])]) {
    let agent = world.path("share/claude/versions/2.1.330");
    if !agent.exists() {
        std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
        program::copy("/bin/sleep", &agent);
    }
    let begin = world.write("begin.sh", BEGIN);
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let mut config = String::new();
    let mut add = |name: &str, words: &[String]| {
        config.push_str(&format!("[[machine]]\nname = {name:?}\ncommand = {words:?}\n"));
        config.push_str("allow = 'operate'\n");
        config.push_str(&format!("path = {:?}\n", env!("CARGO_BIN_EXE_claimtop")));
    };
    for name in machines {
        let before = ["unshare"].into_iter().chain(NAMESPACES).map(str::to_owned);
        let begun = ["sh".to_owned(), text(&begin), (*name).to_owned(), text(&world.path(""))];
        add(name, &before.chain(begun).collect::<Vec<_>>());
    }
    for (name, words) in programs {
        add(name, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    }
    world.write("home/.config/claimtop/config.toml", &config);
}

/// Runs a command over all machines of the configuration.
pub(crate) fn over_all(world: &World, arguments: &[&str]) -> Answer {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--on", "all"]).collect();
    world.run_with(&arguments, &[("PATH", "/usr/bin:/bin")])
}

/// Returns the JSON output of a command.
#[track_caller]
pub(crate) fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}
