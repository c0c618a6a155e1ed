//! A PgBouncer of the test's own, in transaction mode.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::cluster::{Cluster, as_user, owned, path};

/// A PgBouncer of the test's own, with two connections for all clients.
pub(crate) struct Pooler {
    pub(crate) port: u16,
    /// Ends it when its standard input is closed, also when this process ends.
    keeper: Child,
    _folder: tempfile::TempDir,
}

impl Pooler {
    /// Starts one for these logins.
    pub(crate) fn start(cluster: &Cluster, logins: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let users: String = logins.iter().map(|login| format!("\"{login}\" \"\"\n")).collect();
        std::fs::write(folder.path().join("users"), users).unwrap();
        std::fs::write(folder.path().join("settings"), settings(folder.path(), port, cluster.port)).unwrap();
        let server = as_user(&format!("exec pgbouncer -q {}/settings", folder.path().display()));
        let script = format!(
            "{}; {server} & server=$!; cat >/dev/null; kill -INT $server; wait $server",
            owned(folder.path())
        );
        let mut keeper = Command::new("sh");
        keeper.args(["-c", &script]).env("PATH", format!("{}:/usr/sbin", path()));
        let keeper =
            keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pooler = Self { port, keeper, _folder: folder };
        pooler.wait();
        pooler
    }

    #[track_caller]
    fn wait(&self) {
        for _ in 0..400 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        panic!("pgbouncer does not answer; tests/run installs it");
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn settings(folder: &Path, port: u16, server: u16) -> String {
    let folder = folder.display();
    format!(
        "[databases]\n* = host=127.0.0.1 port={server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         unix_socket_dir =\nauth_type = trust\nauth_file = {folder}/users\npool_mode = transaction\n\
         default_pool_size = 2\nlogfile = {folder}/log\npidfile = {folder}/pid\n"
    )
}
