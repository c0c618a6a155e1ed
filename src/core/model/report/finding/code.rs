//! Finding codes and their severity.

use serde::{Deserialize, Serialize};

use crate::core::model::text::named::named;

named! {
    /// The severity; later is worse.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Severity {
        /// Worth knowing.
        Info = "info",
        /// Something is stale, dead or malformed.
        Warning = "warning",
        /// Two windows are in each other's way.
        Collision = "collision",
    }
}

macro_rules! codes {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal, $severity:ident; )*) => {
        /// A stable finding code; the names are the interface's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $( $(#[$doc])* #[serde(rename = $name)] $variant, )*
        }

        impl Code {
            /// Every code, worst family first.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name that the interface fixes.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns its severity.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// What a window wrote is in no file, commit or stash any more.
    LostEdits = "lost-edits", Collision;
    /// Two live processes, one session ID.
    SharedSessionId = "shared-session-id", Collision;
    /// Two live windows, one context ID or one record.
    SharedContextId = "shared-context-id", Collision;
    /// Unreleased records with one terminal ID.
    SharedTerminalId = "shared-terminal-id", Collision;
    /// A live window uses a record that is older than the window's process.
    InheritedRecord = "inherited-record", Collision;
    /// Two live windows write one slot.
    OverwrittenRecord = "overwritten-record", Collision;
    /// Several records whose PIDs are helpers of one window.
    UnstableContextId = "unstable-context-id", Collision;
    /// Two live windows in one working tree.
    SameWorktree = "same-worktree", Collision;
    /// Two live windows in one folder that is not a working tree.
    SameFolder = "same-folder", Collision;
    /// Two live records touch the same files in one working tree, or two windows have edited them.
    OverlappingFiles = "overlapping-files", Collision;
    /// Two working trees whose present states do not merge; with the branch that one goes to it is information.
    WillConflict = "will-conflict", Collision;
    /// Two live holders, one resource.
    ContestedClaim = "contested-claim", Collision;
    /// A command of one live window could not listen on a port that another has.
    ContestedPort = "contested-port", Collision;
    /// A pointer, a marker and a record disagree about who a window is.
    IdentitySplit = "identity-split", Collision;
    /// The holder's process is gone.
    DeadHolder = "dead-holder", Warning;
    /// The PID now belongs to another process.
    RecycledPid = "recycled-pid", Warning;
    /// The holder lived before the last boot.
    RebootedHolder = "rebooted-holder", Warning;
    /// The holder is stopped.
    SuspendedHolder = "suspended-holder", Warning;
    /// A terminal ID that several windows can share.
    WeakTerminalId = "weak-terminal-id", Warning;
    /// A mirror names a claim that the owner's side does not.
    GhostMirror = "ghost-mirror", Warning;
    /// The owner's side names a session that is gone.
    GhostOwner = "ghost-owner", Warning;
    /// An item in progress without a holder.
    StrandedItem = "stranded-item", Warning;
    /// One session holds several items.
    MultipleClaims = "multiple-claims", Warning;
    /// A finished item is still claimed.
    FinishedItemClaimed = "finished-item-claimed", Warning;
    /// A claim is past its own lease.
    ExpiredClaim = "expired-claim", Warning;
    /// A live window's events go to the session of one that is gone.
    DeadIdentityServed = "dead-identity-served", Warning;
    /// The folder of a live window was removed.
    FolderRemoved = "folder-removed", Warning;
    /// A lock whose holder is gone.
    StaleLock = "stale-lock", Warning;
    /// A git lock that has blocked every write for minutes, without any sign of whether a process holds it.
    BlockingLock = "blocking-lock", Warning;
    /// A record in an old place or form.
    LegacyRecord = "legacy-record", Warning;
    /// A legacy and a current record both exist.
    SplitGenerations = "split-generations", Warning;
    /// The owner is unknown; the next window would inherit the record.
    AmbiguousLegacy = "ambiguous-legacy", Warning;
    /// A record is past its own system's limit.
    StaleRecord = "stale-record", Warning;
    /// The branch is gone on which a session's checkpoints wait to be committed.
    LostCheckpoint = "lost-checkpoint", Warning;
    /// Another system's clean-up will delete a live or unsaved record.
    DeletionAhead = "deletion-ahead", Warning;
    /// A file cannot be parsed.
    CorruptRecord = "corrupt-record", Warning;
    /// A file cannot be read.
    UnreadableRecord = "unreadable-record", Warning;
    /// A file is open to others.
    WideMode = "wide-mode", Warning;
    /// A file belongs to another user.
    ForeignOwner = "foreign-owner", Warning;
    /// Not a plain file: a link, a FIFO, a device, a socket, a directory.
    SpecialFile = "special-file", Warning;
    /// A time that cannot be used.
    BadTimestamp = "bad-timestamp", Warning;
    /// A record without a usable session ID.
    UnknownSession = "unknown-session", Warning;
    /// Very many records of one kind.
    RecordFlood = "record-flood", Warning;
    /// A companion whose record is gone.
    OrphanCompanion = "orphan-companion", Warning;
    /// A process keeps a database's transaction open.
    StuckWriter = "stuck-writer", Warning;
    /// Live windows whose entries another program removed from their agent's registry.
    SweptRegistry = "swept-registry", Warning;
    /// Two machines have one machine ID, or two claimtops report for one machine.
    ClonedMachine = "cloned-machine", Warning;
    /// A process outlives the window that started it.
    LeftOverProcess = "left-over-process", Warning;
    /// A process outlives the window that started it, and keeps a port.
    LeftOverPort = "left-over-port", Warning;
    /// A working tree that a dead window made stays behind.
    LeftOverWorktree = "left-over-worktree", Warning;
    /// One of claimtop's own actions was cut off or got stuck, and may have left a file parked.
    UnfinishedAction = "unfinished-action", Warning;
    /// A source could not be read at all.
    SourceFailed = "source-failed", Warning;
    /// Not all processes could be seen.
    PartialScan = "partial-scan", Warning;
    /// Alive with an old heartbeat: do not release.
    QuietHolder = "quiet-holder", Info;
    /// A helper died, a stronger binding lives.
    WrongPid = "wrong-pid", Info;
    /// Another host or namespace.
    ForeignHolder = "foreign-holder", Info;
    /// A file is being written at this moment.
    TornRecord = "torn-record", Info;
    /// The remains of an interrupted write.
    LeftoverTemp = "leftover-temp", Info;
    /// A live window without a record in any system.
    NoRecord = "no-record", Info;
}
