//! Signatures of questions through a database, made and verified by `ssh-keygen -Y` with a person's own SSH key.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::core::fleet::signed::NAMESPACE;
use crate::core::model::text::shown;
use crate::observe::fleet::child;

/// How long it may take, a touch of a security key included: 20 s.
const WITHIN: Duration = Duration::from_secs(20);

/// Signs a message with the key of this file, or of the agent if it is the public key.
///
/// # Errors
/// The reason why it is not signed, as text.
pub(crate) async fn sign(key: &Path, message: &str) -> Result<String, String> {
    let words =
        ["-Y".as_ref(), "sign".as_ref(), "-n".as_ref(), NAMESPACE.as_ref(), "-f".as_ref(), key.as_os_str()];
    run(&words, message).await
}

/// Verifies that a signer in this file of allowed signers has signed a message, and returns the signer.
///
/// # Errors
/// No allowed signer has, or it cannot be verified; the reason, as text.
pub(crate) async fn verify(allowed: &Path, message: &str, signature: &str) -> Result<String, String> {
    let file = kept(signature).map_err(|error| format!("its signature cannot be kept: {error}"))?;
    let (allowed, file) = (allowed.as_os_str(), file.path().as_os_str());
    let words = ["-Y".as_ref(), "find-principals".as_ref(), "-f".as_ref(), allowed, "-s".as_ref(), file];
    let found = run(&words, "").await.map_err(|_| "it is not signed by an allowed signer".to_owned())?;
    let who = found.lines().next().map(str::trim).filter(|who| !who.is_empty() && !who.starts_with('-'));
    let who = who.ok_or_else(|| "it is not signed by an allowed signer".to_owned())?;
    let words = [
        "-Y".as_ref(),
        "verify".as_ref(),
        "-n".as_ref(),
        NAMESPACE.as_ref(),
        "-f".as_ref(),
        allowed,
        "-I".as_ref(),
        who.as_ref(),
        "-s".as_ref(),
        file,
    ];
    run(&words, message).await.map_err(|why| format!("its signature is not valid ({why})"))?;
    Ok(who.to_owned())
}

fn kept(signature: &str) -> std::io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(signature.as_bytes())?;
    Ok(file)
}

/// Runs `ssh-keygen` without a terminal, and returns its output.
async fn run(words: &[&OsStr], input: &str) -> Result<String, String> {
    let words: Vec<OsString> =
        [OsStr::new("ssh-keygen")].iter().chain(words).map(|word| (*word).to_owned()).collect();
    let done = async {
        let mut child = child::start(&words)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that has already refused does not read.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        child.wait_with_output().await
    };
    let output = match timeout(WITHIN, done).await {
        Ok(output) => output.map_err(|error| format!("ssh-keygen could not be run: {error}"))?,
        Err(_) => return Err(format!("ssh-keygen has not ended for {} s", WITHIN.as_secs())),
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let last =
        errors.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("ssh-keygen has failed");
    Err(shown(last))
}
