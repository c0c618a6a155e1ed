//! A real OpenSSH server on loopback, with its own port, keys and configuration, and a link in front of it.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::apart::screen_with;
use super::far::{are_possible, json};
use super::missing::skip_for_want_of;
use super::program;
use super::pty::Screen;
use super::world::{Answer, World};

/// The link.
const LINK: &str = include_str!("link.py");

/// The claimtop that a shell there starts: its home is separate from that of the user who runs the tests.
const THERE: &str = "#!/bin/sh\nexport HOME='BASE/there'\nexec 'CLAIMTOP' \"$@\" --tmp 'BASE/there-tmp'\n";

/// The same on a machine that has booted by itself: its processes are not known to live here.
const APART: &str = "#!/bin/sh\nexport HOME='BASE/there'\nexec unshare --mount sh -c '\nmount --bind \"$0/boot\" /proc/sys/kernel/random/boot_id\nmount --bind \"$0/machine-id\" /etc/machine-id\nexec \"$@\" --tmp \"$0/there-tmp\"' 'BASE' 'CLAIMTOP' \"$@\"\n";

/// A server, and a client that knows it as `devbox`.
pub(super) struct Server {
    pub(super) world: World,
    pub(super) port: u16,
    pub(super) running: Option<Child>,
    /// A link of the test's own between the client and the server.
    link: Option<Child>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        if let Some(mut link) = self.link.take() {
            let _ = link.kill();
            let _ = link.wait();
        }
    }
}

fn key(path: &Path) {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(made.unwrap().success());
}

fn sshd() -> Option<PathBuf> {
    ["/usr/sbin/sshd", "/usr/bin/sshd"].map(PathBuf::from).into_iter().find(|path| path.exists())
}

/// Returns whether the tests run as root of a user namespace only.
fn is_mapped() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    let words: Vec<&str> = map.split_whitespace().collect();
    matches!(words[..], ["0", outside, ..] if outside != "0")
}

impl Server {
    /// Prepares a server that accepts one key.
    pub(super) fn new() -> Option<Self> {
        if sshd().is_none() {
            skip_for_want_of("sshd");
            return None;
        }
        if is_mapped() {
            eprintln!("skipped: root of a user namespace alone cannot be given up by sshd");
            return None;
        }
        let world = World::new();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        for name in ["ssh", "there/.claude/sessions", "there-tmp", "bin"] {
            std::fs::create_dir_all(world.path(name)).unwrap();
        }
        key(&world.path("ssh/host"));
        key(&world.path("ssh/me"));
        let base = world.path("").to_str().unwrap().trim_end_matches('/').to_owned();
        let host = std::fs::read_to_string(world.path("ssh/host.pub")).unwrap();
        world.write("ssh/known", &format!("devbox {host}"));
        std::fs::copy(world.path("ssh/me.pub"), world.path("ssh/authorized")).unwrap();
        world.write(
            "ssh/sshd_config",
            &format!(
                "Port {port}\nListenAddress 127.0.0.1\nHostKey {base}/ssh/host\nPidFile none\nUsePAM no\n\
                 AuthorizedKeysFile {base}/ssh/authorized\nStrictModes no\nPasswordAuthentication no\n"
            ),
        );
        let server = Self { world, port, running: None, link: None };
        server.client(port);
        server.program("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F 'BASE/ssh/config' \"$@\"\n");
        server.program("it's there/claimtop", THERE);
        server.configure("it's there/claimtop");
        Some(server)
    }

    /// Makes another machine of it, if that is permitted.
    pub(super) fn set_apart(&self) -> bool {
        self.world.write("boot", "11111111-0000-4000-8000-000000000001\n");
        self.world.write("machine-id", "0123456789abcdef0123456789abcdef\n");
        self.program("it's there/claimtop", APART);
        are_possible()
    }

    /// Points the client at this port.
    fn client(&self, port: u16) {
        let base = self.world.path("").to_str().unwrap().trim_end_matches('/').to_owned();
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        self.world.write(
            "ssh/config",
            &format!(
                "Host devbox\nHostName 127.0.0.1\nHostKeyAlias devbox\nPort {port}\nUser {user}\
                 IdentityFile {base}/ssh/me\nIdentitiesOnly yes\nUserKnownHostsFile {base}/ssh/known\n\
                 GlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n"
            ),
        );
    }

    /// Puts a link in between, as bad as [`Server::set_link`] specifies.
    pub(super) fn link(&mut self) {
        self.set_link("pass");
        let place = self.world.path("link-port");
        let mut link = Command::new("python3");
        link.arg(self.world.write("link.py", LINK)).arg(self.world.path("link-state")).arg(&place);
        self.link = Some(link.arg(self.port.to_string()).spawn().unwrap());
        while !place.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        self.client(std::fs::read_to_string(place).unwrap().trim().parse().unwrap());
    }

    /// Sets how bad the link is.
    pub(super) fn set_link(&self, how: &str) {
        self.world.write("link-state.new", how);
        std::fs::rename(self.world.path("link-state.new"), self.world.path("link-state")).unwrap();
    }

    /// Sends a signal to the server and to all that it runs.
    pub(super) fn signal(&self, signal: Signal) {
        let mut all = vec![self.running.as_ref().unwrap().id().to_string()];
        let mut at = 0;
        while let Some(parent) = all.get(at) {
            let below = Command::new("pgrep").args(["-P", parent]).output().unwrap().stdout;
            all.extend(String::from_utf8(below).unwrap().lines().map(str::to_owned));
            at += 1;
        }
        for pid in all {
            // One may have ended by itself.
            let _ = kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), signal);
        }
    }

    /// Begins a window over there, which has registered itself under this name.
    pub(super) fn window(&self, name: &str) -> Window {
        let agent = self.world.path("share/claude/versions/2.1.330");
        if !agent.exists() {
            std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
            program::copy("/bin/sleep", &agent);
        }
        let home = self.world.path("there");
        let child = program::spawn(Command::new(agent).arg("3600").current_dir(&home).env("HOME", &home));
        let pid = child.id();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
        let session = format!("cccccccc-0000-4000-8000-{:04x}{pid:08x}", std::process::id() & 0xffff);
        let window =
            Window { child, pid, start, session, file: format!("there/.claude/sessions/{pid}.json") };
        window.register(&self.world, name);
        window
    }

    /// Writes a program, with these words replaced by their values.
    pub(super) fn program(&self, name: &str, text: &str) {
        let base = self.world.path("").to_str().unwrap().trim_end_matches('/').to_owned();
        let text = text.replace("BASE", &base).replace("CLAIMTOP", env!("CARGO_BIN_EXE_claimtop"));
        let path = self.world.write(name, &text);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Watches the server from here, and sets what it accepts.
    pub(super) fn configure(&self, path: &str) {
        self.allow(path, "observe");
    }

    pub(super) fn allow(&self, path: &str, allow: &str) {
        let path = self.world.path(path);
        self.world.write(
            "home/.config/claimtop/config.toml",
            &format!(
                "[[machine]]\nname = 'devbox'\nssh = 'devbox'\npath = {:?}\nallow = '{allow}'\n",
                path.to_str().unwrap()
            ),
        );
    }

    pub(super) fn start(&mut self) {
        // Root's server requires this folder.
        let _ = std::fs::create_dir_all("/run/sshd");
        let mut server = Command::new(sshd().unwrap());
        server.args(["-D", "-e", "-f"]).arg(self.world.path("ssh/sshd_config"));
        let log = std::fs::File::create(self.world.path("ssh/log")).unwrap();
        self.running = Some(server.stdin(Stdio::null()).stderr(log).spawn().unwrap());
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = self.running.as_mut().unwrap().try_wait().unwrap();
            assert!(ended.is_none(), "{}", self.log());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Ends the server and the processes of its connections.
    pub(super) fn stop(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let mut served = Vec::new();
        let mut above = vec![running.id().to_string()];
        // From OpenSSH 9.8 on a connection is served by two processes, one below the other.
        while !above.is_empty() {
            let of_sshd = ["-P", &above.join(","), "^sshd"];
            let found = Command::new("pgrep").args(of_sshd).output().unwrap().stdout;
            above = String::from_utf8(found).unwrap().lines().map(str::to_owned).collect();
            served.extend(above.iter().cloned());
        }
        running.kill().unwrap();
        running.wait().unwrap();
        for pid in served {
            Command::new("kill").args(["-KILL", &pid]).status().unwrap();
        }
    }

    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.world.path("ssh/log")).unwrap()
    }

    pub(super) fn path(&self) -> String {
        format!("{}:/usr/bin:/bin", self.world.path("bin").display())
    }

    /// Opens the screen here.
    pub(super) fn screen(&self) -> Screen {
        let mut screen = screen_with(&self.world, &self.path());
        screen.wait_for("8 Machines 1");
        screen
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Answer {
        self.world.run_with(arguments, &[("PATH", &self.path())])
    }

    /// Returns the state of the machine, and the reason.
    pub(super) fn standing(&self) -> (String, String) {
        let answer = self.run(&["machines", "--json"]);
        let machine: &Value = &json(&answer)["machines"][0];
        let text = |field: &str| machine[field].as_str().unwrap().to_owned();
        (text("state"), text("detail"))
    }

    #[track_caller]
    pub(super) fn check(&self, state: &str, why: &str) {
        let (found, told) = self.standing();
        assert!(found == state && told.contains(why), "{found}: {told}");
    }
}

/// A window over there.
pub(super) struct Window {
    child: Child,
    pub(super) pid: u32,
    start: String,
    session: String,
    pub(super) file: String,
}

impl Window {
    /// Writes its entry of the registry, as Claude Code does: whole, by a rename.
    pub(super) fn register(&self, world: &World, name: &str) {
        let Self { pid, start, session, file, .. } = self;
        let text = format!(
            r#"{{"pid":{pid},"sessionId":"{session}","cwd":"/x","procStart":"{start}","startedAt":1,"version":"2.1.330","kind":"interactive","entrypoint":"cli","name":"{name}","status":"busy"}}"#
        );
        let new = world.write(&format!("{file}.new"), &text);
        std::fs::rename(new, world.path(file)).unwrap();
    }

    pub(super) fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.end();
    }
}
