//! A machine that takes orders: a window runs on it that can be ended, and the relay in between can break at any line.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::Value;

use super::far::{NAMESPACES, json};
use super::program;
use super::world::{Answer, World};

/// The number of stages.
static STAGES: AtomicU32 = AtomicU32::new(0);

/// Begins a window there that has registered itself, and ends it on request.
const WINDOW: &str = r#"
base=$1; export HOME=$base/far
mkdir -p $HOME/.claude $HOME/shop
[ $2 = shared ] && mkdir -p $base/home/.claude && mount --bind $base/home/.claude $HOME/.claude
mkdir -p $HOME/.claude/sessions
cd $HOME/shop; $base/share/claude/versions/2.1.330 3600 & pid=$!
start=$(cut -d')' -f2 /proc/$pid/stat | awk '{print $20}')
domain=; [ $2 = home ] || domain="\"pidDomain\":\"linux:$(cat /etc/machine-id):$(readlink /proc/self/ns/pid)\","
printf '{"pid":%d,"sessionId":"%s","cwd":"%s","procStart":"%s",%s"startedAt":1,"version":"2.1.330","kind":"interactive","entrypoint":"cli","name":"%s","status":"busy"}' \
  $pid $3 $HOME/shop $start "$domain" $4 > $HOME/.claude/sessions/$pid.json
echo $pid > $base/begun
while [ ! -e $base/end ]; do sleep 0.05; done
kill $pid; wait $pid; echo > $base/ended; exec sleep 3600
"#;

/// The commands of a shell there before claimtop is started.
pub(super) const BEGIN: &str = "base=$1; shift; export HOME=$base/far; exec \"$@\" --tmp $base/far-tmp\n";

/// The relay in between: it passes lines on, until a given one comes.
const RELAY: &str = include_str!("relay.py");

/// A machine that takes orders, and this one.
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) made: Made,
    pub(super) machine: Child,
    /// The session of its window, unique among the tests.
    pub(super) session: String,
    /// The name of its window, unique among the tests.
    pub(super) name: String,
    /// The command that reaches it, through the relay.
    pub(super) words: Vec<String>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Otherwise the first window would survive, and so would a machine of namespaces.
        self.world.write("end", "");
        let ended = self.world.path("ended");
        let is_over = |machine: &mut Child| ended.exists() || !matches!(machine.try_wait(), Ok(None));
        while self.made == Made::Home && !is_over(&mut self.machine) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = self.machine.kill();
        let _ = self.machine.wait();
    }
}

/// How the other machine is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    /// A home of its own.
    Home,
    /// Namespaces of its own as well.
    Namespaces,
    /// Namespaces, and a folder of Claude Code's that both machines share.
    Shared,
}

impl Stage {
    /// Makes a machine in which a window runs.
    pub(super) fn new(made: Made, allow: &str) -> Self {
        let world = World::new();
        std::fs::create_dir(world.path("far-tmp")).unwrap();
        let agent = world.path("share/claude/versions/2.1.330");
        std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
        program::copy("/bin/sleep", &agent);
        let text = |path: PathBuf| path.to_str().unwrap().trim_end_matches('/').to_owned();
        let base = text(world.path(""));
        let mut machine = match made {
            Made::Home => Command::new("sh"),
            Made::Namespaces | Made::Shared => Command::new("unshare"),
        };
        if made != Made::Home {
            machine.args(NAMESPACES).arg("sh");
        }
        machine.arg(world.write("window.sh", WINDOW)).arg(&base).arg(match made {
            Made::Home => "home",
            Made::Namespaces => "namespaces",
            Made::Shared => "shared",
        });
        let number = STAGES.fetch_add(1, Ordering::Relaxed);
        let session = format!("bbbbbbbb-0000-4000-8000-{:08x}{number:04x}", std::process::id());
        let name = format!("alpha-{number}");
        let machine = machine.arg(&session).arg(&name).spawn().unwrap();
        wait_for(&world.path("begun"));
        let mut words =
            vec!["python3".to_owned(), text(world.write("relay.py", RELAY)), text(world.path("cuts"))];
        if made != Made::Home {
            let children = Command::new("pgrep").args(["-P", &machine.id().to_string()]).output().unwrap();
            let inside = String::from_utf8(children.stdout).unwrap().trim().to_owned();
            let enter = ["nsenter", "--target", &inside, "--pid", "--mount", "--uts", "--net"];
            words.extend(enter.map(str::to_owned));
        }
        words.extend(["sh".to_owned(), text(world.write("begin.sh", BEGIN)), base]);
        let stage = Self { world, made, machine, session, name, words };
        stage.configure(allow);
        stage
    }

    pub(super) fn configure(&self, allow: &str) {
        let config = format!(
            "[[machine]]\nname = 'far'\ncommand = {:?}\npath = {:?}\nallow = '{allow}'\n",
            self.words,
            env!("CARGO_BIN_EXE_claimtop")
        );
        self.world.write("home/.config/claimtop/config.toml", &config);
    }

    /// Ends the window over there. In namespaces its own claimtop must look on: no other one can prove that.
    pub(super) fn end(&self) {
        if self.made == Made::Home {
            self.world.write("end", "");
            return wait_for(&self.world.path("ended"));
        }
        let mut witness = Command::new(&self.words[3]);
        witness.args(&self.words[4..]).args([env!("CARGO_BIN_EXE_claimtop"), "stream", "--observe"]);
        let mut witness = witness.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(witness.stdout.take().unwrap()).lines();
        let mut until = |part: &str| while !lines.next().unwrap().unwrap().contains(part) {};
        until(r#"{"look""#);
        self.world.write("end", "");
        wait_for(&self.world.path("ended"));
        // Any write there triggers a look: a death may take more than one.
        let is_told = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let note = self.registry().join("9.json");
                while !is_told.load(Ordering::Relaxed) {
                    std::fs::write(&note, "").unwrap();
                    std::fs::remove_file(&note).unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(100));
                }
            });
            until(r#""kind":"tombstone""#);
            is_told.store(true, Ordering::Relaxed);
        });
        witness.kill().unwrap();
        witness.wait().unwrap();
    }

    /// Lets the relay break the connection at these lines, each once: `up order before`.
    pub(super) fn cut(&self, cuts: &[&str]) {
        self.world.write("cuts", &cuts.join("\n"));
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Answer {
        self.world.run_with(arguments, &[("PATH", "/usr/bin:/bin")])
    }

    /// Repeats it while a file over there is too young to be touched.
    pub(super) fn settled(&self, arguments: &[&str]) -> Answer {
        loop {
            let answer = self.run(arguments);
            if answer.code == 0 || !answer.out.contains("s ago: wait") {
                return answer;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// Waits until the files there are old enough to be touched.
    pub(super) fn rest(&self, key: &str) {
        while self.run(&["release", key, "--dry-run"]).out.contains("s ago: wait") {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// Runs claimtop on the other machine.
    pub(super) fn there(&self, arguments: &[&str]) -> Answer {
        let home = self.world.path("far");
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
        command.env_clear().env("HOME", &home).env("PATH", "/usr/bin:/bin").args(arguments);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let code = output.status.code().unwrap_or(-1);
        Answer { code, out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Returns the key of the record that the window over there has left.
    pub(super) fn key(&self) -> String {
        let report = json(&self.run(&["ls", "--json", "--on", "far"]));
        let records = report["records"].as_array().unwrap();
        // Its claimtop sees the windows of other tests, and reads their files.
        let is_its = |record: &&Value| record["session_id"] == *self.session;
        let keys = records.iter().filter(is_its).map(|record| record["key"].as_str().unwrap());
        keys.into_iter().find(|key| key.ends_with("@far")).unwrap_or_else(|| panic!("{report}")).to_owned()
    }

    /// Returns the folder of the windows over there.
    pub(super) fn registry(&self) -> PathBuf {
        let home = if self.made == Made::Shared { "home" } else { "far" };
        self.world.path(home).join(".claude/sessions")
    }

    /// Returns whether that record's file is still in its place.
    pub(super) fn lies(&self) -> bool {
        std::fs::read_dir(self.registry()).unwrap().count() == 1
    }

    pub(super) fn journal(&self) -> Vec<Value> {
        json(&self.run(&["journal", "--json"]))["entries"].as_array().unwrap().clone()
    }

    /// Returns how often an action was done there.
    pub(super) fn times_done(&self) -> usize {
        self.journal_there().iter().filter(|entry| entry["outcome"]["ended"] == "done").count()
    }

    pub(super) fn journal_there(&self) -> Vec<Value> {
        json(&self.there(&["journal", "--json"]))["entries"].as_array().unwrap().clone()
    }
}

pub(super) fn wait_for(path: &Path) {
    while !path.exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
