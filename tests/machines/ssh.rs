//! A real OpenSSH server on loopback, with its own port, keys and configuration.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::far::json;
use super::missing::skip_for_want_of;
use super::pty::{Screen, claimtop};
use super::world::{Answer, World};

/// What a shell there starts as claimtop: its home is apart from that of who runs the tests.
const THERE: &str = "#!/bin/sh\nexport HOME='BASE/there'\nexec 'CLAIMTOP' \"$@\" --tmp 'BASE/there-tmp'\n";

/// A server, and a client that knows it as `devbox`.
struct Server {
    world: World,
    port: u16,
    running: Option<Child>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn key(path: &Path) {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(made.unwrap().success());
}

fn sshd() -> Option<PathBuf> {
    ["/usr/sbin/sshd", "/usr/bin/sshd"].map(PathBuf::from).into_iter().find(|path| path.exists())
}

impl Server {
    /// Prepares a server that lets one key in.
    fn new() -> Option<Self> {
        if sshd().is_none() {
            skip_for_want_of("sshd");
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
        world.write("ssh/known", &format!("[127.0.0.1]:{port} {host}"));
        std::fs::copy(world.path("ssh/me.pub"), world.path("ssh/authorized")).unwrap();
        world.write(
            "ssh/sshd_config",
            &format!(
                "Port {port}\nListenAddress 127.0.0.1\nHostKey {base}/ssh/host\nPidFile none\nUsePAM no\n\
                 AuthorizedKeysFile {base}/ssh/authorized\nStrictModes no\nPasswordAuthentication no\n"
            ),
        );
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        world.write(
            "ssh/config",
            &format!(
                "Host devbox\nHostName 127.0.0.1\nPort {port}\nUser {user}IdentityFile {base}/ssh/me\n\
                 IdentitiesOnly yes\nUserKnownHostsFile {base}/ssh/known\nGlobalKnownHostsFile /dev/null\n\
                 StrictHostKeyChecking yes\n"
            ),
        );
        let server = Self { world, port, running: None };
        server.program("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F 'BASE/ssh/config' \"$@\"\n");
        server.program("it's there/claimtop", THERE);
        server.configure("it's there/claimtop");
        Some(server)
    }

    /// Writes a program, in which these words stand for what they say.
    fn program(&self, name: &str, text: &str) {
        let base = self.world.path("").to_str().unwrap().trim_end_matches('/').to_owned();
        let text = text.replace("BASE", &base).replace("CLAIMTOP", env!("CARGO_BIN_EXE_claimtop"));
        let path = self.world.write(name, &text);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn configure(&self, path: &str) {
        let path = self.world.path(path);
        self.world.write(
            "home/.config/claimtop/config.toml",
            &format!("[[machine]]\nname = 'devbox'\nssh = 'devbox'\npath = {:?}\n", path.to_str().unwrap()),
        );
    }

    fn start(&mut self) {
        // Root's server asks for this folder.
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

    /// Ends the server and whoever it serves.
    fn stop(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let served = Command::new("pgrep").args(["-P", &running.id().to_string()]).output().unwrap().stdout;
        running.kill().unwrap();
        running.wait().unwrap();
        for pid in String::from_utf8(served).unwrap().lines() {
            Command::new("kill").args(["-KILL", pid]).status().unwrap();
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.world.path("ssh/log")).unwrap()
    }

    fn path(&self) -> String {
        format!("{}:/usr/bin:/bin", self.world.path("bin").display())
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        self.world.run_with(arguments, &[("PATH", &self.path())])
    }

    /// Returns how it stands with the machine, and why.
    fn standing(&self) -> (String, String) {
        let answer = self.run(&["machines", "--json"]);
        let machine: &Value = &json(&answer)["machines"][0];
        let text = |field: &str| machine[field].as_str().unwrap().to_owned();
        (text("state"), text("detail"))
    }

    #[track_caller]
    fn check(&self, state: &str, why: &str) {
        let (found, told) = self.standing();
        assert!(found == state && told.contains(why), "{found}: {told}");
    }
}

#[test]
fn a_machine_is_reached_by_the_users_own_ssh_and_each_trouble_says_what_to_do() {
    let Some(mut server) = Server::new() else { return };
    server.check("unreached", "Connection refused");
    server.start();
    server.check("live", "");
    // Least rights: whatever is asked for, this is what is run.
    let me = std::fs::read_to_string(server.world.path("ssh/me.pub")).unwrap();
    let there = server.world.path("it's there/claimtop");
    server.program("only", &format!("#!/bin/sh\nexec \"{}\" stream --observe\n", there.display()));
    let only = server.world.path("only");
    server.world.write("ssh/authorized", &format!("command={:?},restrict {me}", only.to_str().unwrap()));
    server.configure("nowhere/claimtop");
    server.check("live", "");
    server.world.write("ssh/authorized", &me);
    server.check("unreached", "no claimtop is found there");
    server.world.write("ssh/authorized", "");
    server.check("unreached", "make `ssh devbox` work without a question");
    server.world.write("ssh/known", "");
    server.check("unreached", "run `ssh devbox` once yourself");
}

#[test]
fn a_machine_whose_server_ends_is_silent_until_it_is_back() {
    let Some(mut server) = Server::new() else { return };
    server.start();
    let folders = ["home", "tmp"].map(|name| server.world.path(name).to_str().unwrap().to_owned());
    let arguments = ["--home", &folders[0], "--tmp", &folders[1]].map(str::to_owned);
    let mut command = claimtop(&arguments);
    command.env("PATH", server.path());
    let mut screen = Screen::start(command, 160, 40);
    screen.wait_for("8 Machines 1");
    screen.press("8");
    screen.wait_for("● live");
    server.stop();
    screen.wait_for("? silent");
    server.start();
    screen.wait_for("● live");
    screen.end();
}
