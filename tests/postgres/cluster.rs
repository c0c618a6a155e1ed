//! A PostgreSQL server of the test's own: in a temporary folder, on a loopback port, gone at the end of the process
//! whatever happens.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use claimtop::source::database::postgres::{ConnectionDefaults, Target};

/// One server.
pub(crate) struct Cluster {
    /// Its folder: data, socket, certificates.
    pub(crate) folder: PathBuf,
    /// Its port on 127.0.0.1.
    pub(crate) port: u16,
    /// Ends the server when its standard input is closed, also when this process ends.
    keeper: Child,
}

/// One database of the server, with LEO's schema.
pub(crate) struct Database {
    pub(crate) cluster: &'static Cluster,
    pub(crate) name: String,
}

/// Returns the server that all tests of this process share.
pub(crate) fn shared() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(|| {
        let cluster = Cluster::start();
        cluster.psql("postgres", "CREATE DATABASE leo");
        cluster.psql("leo", include_str!("leo/schema.sql"));
        cluster
    })
}

impl Cluster {
    /// Starts a server and waits until it answers.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder").keep();
        sh(&format!("chmod 755 {0}; mkdir {0}/data {0}/socket; {1}", folder.display(), owned(&folder)));
        certificates(&folder);
        let init = as_user(&format!(
            "initdb -D {0}/data -U leo -A trust -E UTF8 --no-sync --no-instructions",
            folder.display()
        ));
        sh(&init);
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        std::fs::write(folder.join("settings"), settings(&folder, port)).expect("settings");
        sh(&format!("cat {0}/settings >> {0}/data/postgresql.conf", folder.display()));
        let hba = "local all all trust\nhost all secretive 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
        std::fs::write(folder.join("data/pg_hba.conf"), hba).expect("rules");
        let keeper = Self::keeper(&folder);
        let cluster = Self { folder, port, keeper };
        cluster.wait();
        cluster
    }

    fn keeper(folder: &Path) -> Child {
        let server = as_user(&format!("exec postgres -D {}/data", folder.display()));
        // The last line removes what the server has made; the folder is the test's own.
        let script = format!(
            "{server} >{0}/log 2>&1 & server=$!; cat >/dev/null; kill -INT $server 2>/dev/null; wait $server; rm -rf {0}",
            folder.display()
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::null());
        command.env("PATH", path()).spawn().expect("a shell")
    }

    fn wait(&self) {
        for _ in 0..600 {
            let is_up = self.ready().status().is_ok_and(|status| status.success());
            if is_up {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!(
            "the server does not answer: {}",
            std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
        );
    }

    fn ready(&self) -> Command {
        let mut command = Command::new("pg_isready");
        command.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]).env("PATH", path());
        command
    }

    /// Runs SQL and returns its unaligned output.
    pub(crate) fn psql(&self, database: &str, sql: &str) -> String {
        let mut command = Command::new("psql");
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "leo"]);
        command.args(["-p", &self.port.to_string(), "-d", database, "-c", sql]).env("PATH", path());
        let output = command.output().expect("psql");
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Ends the server at once, as a crash would.
    pub(crate) fn stop(&self) {
        let pid = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).expect("a pid file");
        let pid = pid.lines().next().expect("a pid").to_owned();
        sh(&format!("kill -QUIT {pid}; while kill -0 {pid} 2>/dev/null; do sleep 0.02; done"));
    }

    /// Starts the server again.
    pub(crate) fn restart(&self) {
        let folder = self.folder.display();
        sh(&as_user(&format!("pg_ctl -s -w -D {folder}/data -l {folder}/data/log start")));
        self.wait();
    }

    /// Ends a server that was started again and so has no keeper.
    pub(crate) fn end(&self) {
        self.stop();
        sh(&format!("rm -rf {}", self.folder.display()));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

impl Database {
    /// Makes a database of a test's own.
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let cluster = shared();
        let name = format!("leo_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        // Only one at a time can copy the template.
        static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        cluster.psql("postgres", &format!("CREATE DATABASE {name} TEMPLATE leo"));
        Self { cluster, name }
    }

    pub(crate) fn sql(&self, sql: &str) -> String {
        self.cluster.psql(&self.name, sql)
    }

    pub(crate) fn url(&self) -> String {
        self.url_of("leo", self.cluster.port)
    }

    pub(crate) fn url_of(&self, user: &str, port: u16) -> String {
        format!("postgres://{user}@127.0.0.1:{port}/{}?sslmode=disable", self.name)
    }

    pub(crate) fn target(&self) -> Target {
        Target::parse(&self.url(), ConnectionDefaults::default()).expect("a URL")
    }
}

fn settings(folder: &Path, port: u16) -> String {
    format!(
        "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = '{0}/socket'\nfsync = off\n\
         full_page_writes = off\nshared_buffers = 32MB\nmax_connections = 60\n\
         log_min_messages = error\nautovacuum = off\nssl = on\nssl_cert_file = '{0}/server.pem'\n\
         ssl_key_file = '{0}/server.key'\n",
        folder.display()
    )
}

/// Makes a root, a certificate of it for `localhost`, and an unrelated root.
fn certificates(folder: &Path) {
    let in_folder = |script: &str| sh(&format!("cd {} && {script}", folder.display()));
    let root = |name: &str| {
        format!(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
             -subj /CN={name} -keyout {name}.key -out {name}.pem -addext keyUsage=critical,keyCertSign 2>/dev/null"
        )
    };
    in_folder(&root("root"));
    in_folder(&root("stranger"));
    in_folder(
        "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost \
         -keyout server.key -out server.csr 2>/dev/null",
    );
    in_folder(
        "printf 'subjectAltName=DNS:localhost\\n' > names && openssl x509 -req -in server.csr -days 2 -CA root.pem \
         -CAkey root.key -CAcreateserial -extfile names -out server.pem 2>/dev/null && chmod 600 server.key",
    );
    in_folder(&owned(folder));
}

/// Runs a script of the test's own.
#[track_caller]
fn sh(script: &str) {
    let output = Command::new("sh").args(["-c", script]).env("PATH", path()).output().expect("a shell");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Wraps a command: PostgreSQL refuses to run as root.
pub(crate) fn as_user(command: &str) -> String {
    if rustix::process::geteuid().is_root() {
        format!("setpriv --reuid=postgres --regid=postgres --clear-groups sh -c '{command}'")
    } else {
        format!("sh -c '{command}'")
    }
}

pub(crate) fn owned(folder: &Path) -> String {
    match rustix::process::geteuid().is_root() {
        true => format!("chown -R postgres:postgres {}", folder.display()),
        false => "true".to_owned(),
    }
}

/// Returns a search path that has PostgreSQL's own programs, which Debian keeps aside.
pub(crate) fn path() -> String {
    let usual = std::env::var("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut bins: Vec<String> =
        versions.map(|version| version.path().join("bin").display().to_string()).collect();
    bins.sort();
    bins.reverse();
    bins.into_iter().chain([usual]).collect::<Vec<_>>().join(":")
}
