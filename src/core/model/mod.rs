//! The data model: nothing here judges.

pub(crate) mod action;
pub(crate) mod forecast;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod snapshot;
pub(crate) mod talk;
pub(crate) mod text;
pub(crate) mod versions;

pub use self::action::order::{OrderNote, OrderSide};
pub(crate) use self::action::rescue::{RescueFile, RescueTarget, RescueWay};
pub(crate) use self::action::setup::{
    HookEntries, HookEntry, HookForm, ServerEntry, SettingsEdit, SetupWay, TextLines, TextSyntax, Wiring,
};
pub use self::action::stop::{ProcessPrint, Signal};
pub use self::action::unfinished::{Halfway, UnfinishedAction};
pub(crate) use self::action::{
    Action, ActionResult, Confirmation, EndResult, ErrorKind, Obstacle, Offer, Plan, Request, RestoreTo, Step,
};
pub use self::forecast::{
    Conflict, ConflictKind, ExpectedMerge, Forecast, ForecastBook, ForecastCounts, ForecastSide, Lines,
    Outcome,
};
pub use self::record::claim::{Resource, ResourceKind, StatedClaim, Surface, SurfaceState};
pub(crate) use self::record::detail::Texts;
pub use self::record::detail::{
    BackgroundSession, ClaudeCode, ClaudeStatus, Entire, GitLock, Leo, LeoRow, ObraRow, RecordDetail,
};
pub use self::record::domain::Domain;
pub use self::record::format::Format;
pub(crate) use self::record::holder::stated_start;
pub use self::record::holder::{Binding, Holder, HolderNames, Role, StatedPid};
pub use self::record::kind::{Generation, RecordKind};
pub use self::record::lease::{Deletion, Expiry, Sign, SignOfLife, Spares};
pub use self::record::let_go::LetGo;
pub use self::record::location::{Location, Row};
pub use self::record::medium::Medium;
pub use self::record::ownership::Ownership;
pub use self::record::{Problem, Record};
pub use self::report::claim::{ClaimStatus, ClaimView, Releasable};
pub use self::report::diagnosis::{Cost, Limit, LookStats, WatchCounts};
pub use self::report::evidence::{Evidence, Fact};
pub use self::report::finding::code::{Code, Severity};
pub use self::report::finding::story::{Cause, Certitude, Event, Story};
pub use self::report::finding::{Finding, Remedy, Sentence};
pub use self::report::judged::{FarSession, HolderView, JudgedRecord, RecordShape, RecordView, StaleView};
pub use self::report::key::{Key, KeyKind};
pub use self::report::left_over::{
    Certainty, Hindrance, InputEnd, Interaction, LeftOver, LeftSort, Load, Member, Multiplexer, Origin, Port,
    SeenBelow, Trace,
};
pub use self::report::left_tree::{LeftStash, LeftTree, TreeSort};
pub use self::report::machine::{MachineState, MachineView, NotAsked};
pub use self::report::need::{Need, NeedKind, Remains, Waiting, Wants};
pub use self::report::place::{Keeper, PlaceView};
pub use self::report::verdict::{Reason, Verdict, VerdictState};
pub use self::report::window::stall::{Stall, StallReason};
pub use self::report::window::{
    ContextId, ContextSource, Household, RepoView, WindowDoing, WindowFacts, WindowProcess, WindowState,
    WindowView,
};
pub use self::report::{BrokenPath, EndedWindow, LostWork, Report, ReportHost, SCHEMA};
pub use self::snapshot::clock::{ClockHistory, ClockReading};
pub use self::snapshot::descent::Descent;
pub use self::snapshot::file::FolderId;
pub use self::snapshot::file::{Content, FileImage, FileMeta, Refusal};
pub use self::snapshot::folder_size::{FolderSize, SortSize};
pub(crate) use self::snapshot::home::NamedHome;
pub(crate) use self::snapshot::home::{HomeFolder, HomePart};
pub(crate) use self::snapshot::host::Numbering;
pub use self::snapshot::host::{Host, Platform};
pub use self::snapshot::note::{BoundSession, NotedWait, Notes};
pub use self::snapshot::own::{Definition, DescribedFormat, Field, OwnPlace, Root, Syntax};
pub use self::snapshot::process::{
    Absence, Credentials, Details, InnerPids, Process, ProcessId, ProcessState, ProcessTable,
};
pub use self::snapshot::row::{Columns, RowChange, Value};
pub use self::snapshot::session::{Beginning, Others, SessionFile, SessionView, Strength, Tie};
pub use self::snapshot::tombstone::Tombstone;
pub use self::snapshot::tree_state::{Names, TreeState};
pub use self::snapshot::work::call_wait::{CallProcesses, CallWait, LockHold, WaitSort};
pub use self::snapshot::work::git_command::{GitCaller, GitCommand, GitReach};
pub use self::snapshot::work::item::{Stage, WorkItem};
pub use self::snapshot::work::{
    Call, CommitState, ContextFill, Doing, Edit, EditFate, EditState, Prompt, ShellCommand, SubAgent,
    TakenPort, Target, Turn, TurnState, UndoneBy, UnreadWork, Warning, WarningSort, WhyUnread, Work,
};
pub use self::snapshot::{
    BrokenFile, Database, DatabaseFile, MadeTree, NamedSession, NamedSessions, Repo, RepoSort, SeenAgent,
    Snapshot, SourceHealth, SourceState, StrayTree, Topic, Users, Worktree,
};
pub use self::talk::{Peek, PeekQuestion, SessionPlace, Talk, Utterance, UtteranceKind};
pub use self::text::Untrusted;
pub use self::text::fixed::NamedTexts;
pub(crate) use self::text::fixed::Word;
pub(crate) use self::text::line::LineError;
pub use self::text::path::FilePath;
pub(crate) use self::text::secret::Secret;
pub use self::versions::{ListedVersion, Sureness};
