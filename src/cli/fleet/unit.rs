//! `witness unit`: a systemd unit of the user's that publishes this machine.

use std::path::Path;

use anyhow::{Context, anyhow};

use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::print;

/// Prints the unit.
///
/// # Errors
/// The path of this program cannot be written in a unit, or the output cannot be written.
pub(crate) fn print_unit() -> Outcome {
    let failed = |error| Failure::new(Exit::Failed, error);
    let program = std::env::current_exe().context("failed to find this program").map_err(failed)?;
    let program = quoted(&program)
        .ok_or_else(|| failed(anyhow!("the path of this program cannot be written in a unit")))?;
    print(&text(&program))?;
    Ok(Exit::Fine)
}

fn text(program: &str) -> String {
    format!(
        "# ~/.config/systemd/user/claimtop-witness.service\n\
         # Name the database in ~/.config/claimtop/config.toml ([fleet] url = \"postgres://...\"), its password in\n\
         # ~/.pgpass. Then: systemctl --user enable --now claimtop-witness; and once, to run while you are logged\n\
         # out: loginctl enable-linger\n\
         [Unit]\n\
         Description=Publish this machine's coding-agent windows to a claimtop fleet\n\
         \n\
         [Service]\n\
         ExecStart={program} witness\n\
         Restart=always\n\
         RestartSec=5\n\
         # Restarting does not help with an unusable command line, or while another witness is running.\n\
         RestartPreventExitStatus=2 3\n\
         UMask=0077\n\
         NoNewPrivileges=yes\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// Writes a path as one word of a command line (systemd.service(5), "Command lines").
fn quoted(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control))?;
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    Some(format!("\"{escaped}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_any_kind_stays_one_word() {
        for (path, expected) in [
            ("/usr/bin/claimtop", Some("\"/usr/bin/claimtop\"")),
            ("/opt/a b/%h$x\"y\\z", Some("\"/opt/a b/%%h$$x\\\"y\\\\z\"")),
            ("/tmp/a\nExecStartPre=x", None),
        ] {
            assert_eq!(quoted(Path::new(path)).as_deref(), expected);
        }
    }
}
