//! What a database is asked in which machines meet.

use clap::Subcommand;

/// What a witness is asked for beside publishing.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum WitnessCommand {
    /// Print a systemd user unit that publishes this machine
    Unit,
}

/// What is done to the fleet's database.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Print the SQL that it needs: a schema, three roles, functions
    Init {
        /// The database, as postgres://user@host:5432/database; leave the password to PGPASSWORD or a password file
        #[arg(value_name = "URL")]
        url: String,
        /// Run it there, in one transaction
        #[arg(long)]
        apply: bool,
    },
    /// Print the SQL that removes it, with all that machines have sent
    Drop {
        /// The database
        #[arg(value_name = "URL")]
        url: String,
        /// Run it there, in one transaction
        #[arg(long)]
        apply: bool,
    },
    /// Declare that a host is gone for good: kept and shown as your word; proves nothing, ends at its next heartbeat
    DeclareLost {
        /// The host in the database of --fleet, by its name or ID
        #[arg(value_name = "HOST")]
        host: String,
        /// Its name, typed
        #[arg(long, value_name = "NAME")]
        confirm: Option<String>,
    },
}
