//! A server that sends without end, or announces more than there is room for: it is reported as a failed source, and
//! takes hardly any memory.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A server's behaviour after it has accepted a login.
#[derive(Clone, Copy)]
enum Spite {
    /// It sends parameters without end.
    Parameters,
    /// It announces a message of 2 GiB and begins to send it.
    Announces,
    /// It answers every query with rows without end.
    Rows,
    /// It sends a notice every now and then, and never the answer.
    Drips,
}

const LET_IN: [u8; 9] = [b'R', 0, 0, 0, 8, 0, 0, 0, 0];
const READY: [u8; 6] = [b'Z', 0, 0, 0, 5, b'I'];

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[tag][..], &length.to_be_bytes(), body].concat()
}

/// One column of text, without a name.
fn columns() -> Vec<u8> {
    message(b'T', &[&[0, 1, 0][..], &[0; 6], &25_u32.to_be_bytes(), &[255; 6], &[0; 2]].concat())
}

/// Serves one client until it hangs up, and counts the bytes sent.
fn serve(mut wire: TcpStream, spite: Spite, sent: &AtomicU64) -> std::io::Result<()> {
    let mut request = [0; 4_096];
    if wire.read(&mut request)? == 0 {
        return Ok(());
    }
    wire.write_all(&LET_IN)?;
    if let Spite::Rows = spite {
        // It waits for a query.
        wire.write_all(&READY)?;
        if wire.read(&mut request)? == 0 {
            return Ok(());
        }
    }
    let mut send = |bytes: &[u8]| {
        sent.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        wire.write_all(bytes)
    };
    match spite {
        Spite::Parameters => {
            (0_u64..).try_for_each(|number| send(&message(b'S', format!("p{number}\0x\0").as_bytes())))
        }
        Spite::Announces => {
            send(&[&[b'S'][..], &0x7fff_fff0_u32.to_be_bytes()].concat())?;
            (0..).try_for_each(|_: u64| send(&[b'x'; 65_536]))
        }
        Spite::Rows => {
            send(&columns())?;
            let row = message(b'D', &[&[0, 1][..], &60_000_u32.to_be_bytes(), &[b'x'; 60_000]].concat());
            (0..).try_for_each(|_: u64| send(&row))
        }
        Spite::Drips => (0..).try_for_each(|_: u64| {
            std::thread::sleep(Duration::from_millis(50));
            send(&message(b'N', b"SNOTICE\0C00000\0Mlater\0\0"))
        }),
    }
}

/// Looks once at such a server with little memory, and compares what is reported.
#[track_caller]
fn check(spite: Spite, expected: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://leo@{}/leo?sslmode=disable", listener.local_addr().unwrap());
    let sent = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&sent);
    std::thread::spawn(move || {
        for wire in listener.incoming().flatten() {
            // It ends when claimtop hangs up.
            let _ = serve(wire, spite, &counted);
        }
    });
    let folder = tempfile::tempdir().unwrap();
    // Mapped memory counts here, and a thread alone maps 64 MiB.
    let output = Command::new("/bin/sh")
        .args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_claimtop")])
        .args(["ls", "--json", "--postgres", &url, "--home"])
        .arg(folder.path())
        .arg("--tmp")
        .arg(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&told);
    let sources = report.get("sources").unwrap().as_array().unwrap();
    let leo = sources.iter().find(|source| source.get("detail").unwrap().to_string().contains(expected));
    let leo = leo.unwrap_or_else(|| panic!("{expected}: {sources:#?}"));
    assert_eq!(leo.get("state").unwrap(), "failed");
    // The kernel's buffers hold some more than was read, and there may be a second attempt.
    let sent = sent.load(Ordering::SeqCst);
    assert!(sent < 512 << 20, "{sent} bytes were sent");
}

#[test]
fn parameters_without_end_are_a_source_that_failed() {
    check(Spite::Parameters, "names more parameters");
}

#[test]
fn an_announced_message_is_refused_before_there_is_room_for_it() {
    check(Spite::Announces, "announces a message of 2147483632 bytes");
}

#[test]
fn rows_without_end_are_a_source_that_failed() {
    check(Spite::Rows, "more than 64 MiB");
}

#[test]
fn a_server_that_never_gets_to_the_point_is_left() {
    check(Spite::Drips, "no answer within 5 s");
}
