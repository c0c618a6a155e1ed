//! What is known, as data only: nothing here judges.

pub(crate) mod action;
pub(crate) mod claim;
pub(crate) mod clock;
pub(crate) mod code;
pub(crate) mod context;
pub(crate) mod death;
pub mod descent;
pub(crate) mod diagnosis;
pub(crate) mod evidence;
pub(crate) mod file;
pub(crate) mod finding;
pub(crate) mod fixed;
pub(crate) mod folder;
pub mod folder_size;
pub(crate) mod home;
pub(crate) mod host;
pub(crate) mod json;
pub(crate) mod judged;
pub(crate) mod key;
pub(crate) mod ledger;
pub mod left_over;
pub mod left_tree;
pub(crate) mod line;
pub(crate) mod machine;
pub(crate) mod named;
pub(crate) mod need;
pub(crate) mod note;
pub(crate) mod order;
pub(crate) mod own;
pub(crate) mod path;
pub(crate) mod place;
pub(crate) mod process;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod row;
pub(crate) mod secret;
pub(crate) mod session;
pub(crate) mod shared;
pub(crate) mod snapshot;
pub(crate) mod stop;
pub(crate) mod story;
pub(crate) mod text;
pub(crate) mod tombstone;
pub mod tree_state;
pub(crate) mod unfinished;
pub(crate) mod verdict;
pub(crate) mod window;
pub(crate) mod work;
pub(crate) mod work_item;

pub(crate) use self::action::{
    Action, ActionResult, Confirmation, Ended, ErrorKind, Obstacle, Offer, Plan, Request, RestoreTo, Step,
};
pub use self::claim::{ClaimStatus, ClaimView, Releasable};
pub use self::clock::{ClockHistory, ClockReading};
pub use self::code::{Code, Severity};
pub use self::descent::Descent;
pub use self::diagnosis::{Bound, Cost, Measured, Watched};
pub use self::evidence::{Evidence, Fact};
pub use self::file::{Content, FileImage, FileMeta, Refusal};
pub use self::finding::{Finding, Remedy, Sentence};
pub use self::fixed::NamedTexts;
pub(crate) use self::fixed::Word;
pub use self::folder::FolderId;
pub use self::folder_size::{FolderSize, SortSize};
pub(crate) use self::home::NamedHome;
pub(crate) use self::home::{HomeFolder, HomePart};
pub(crate) use self::host::Numbering;
pub use self::host::{Host, Platform};
pub use self::judged::{FarSession, HolderView, Judged, RecordShape, RecordView, StaleView};
pub use self::key::{Key, KeyKind};
pub use self::left_over::{
    Certainty, Hindrance, InputEnd, Interaction, LeftOver, LeftSort, Load, Member, Multiplexer, Origin, Port,
    SeenBelow, Trace,
};
pub use self::left_tree::{LeftTree, TreeSort};
pub(crate) use self::line::LineError;
pub use self::machine::{MachineState, MachineView, NotAsked};
pub use self::need::{Left, Need, NeedKind, Waiting, Wants};
pub use self::note::{BoundSession, NotedWait, Notes};
pub use self::order::{OrderNote, OrderSide};
pub use self::own::{Definition, Described, Field, OwnPlace, Root, Syntax};
pub use self::path::FilePath;
pub use self::place::{Keeper, PlaceView};
pub use self::process::{
    Absence, Credentials, Details, InnerPids, Process, ProcessId, ProcessState, ProcessTable,
};
pub use self::record::Record;
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
pub use self::record::problem::Problem;
pub use self::report::{BrokenPath, EndedWindow, Report, ReportHost, SCHEMA};
pub use self::row::{Columns, RowChange, Value};
pub(crate) use self::secret::Secret;
pub use self::session::{Beginning, Others, SessionFile, SessionView, Strength, Tie};
pub use self::snapshot::{
    BrokenFile, Database, DatabaseFile, MadeTree, NamedSession, NamedSessions, Repo, RepoSort, SeenAgent,
    Snapshot, SourceHealth, SourceState, StrayTree, Topic, Users, Worktree,
};
pub use self::stop::{ProcessPrint, Signal};
pub use self::story::{Cause, Event, Known, Story};
pub use self::text::Untrusted;
pub use self::tombstone::Tombstone;
pub use self::tree_state::{Names, TreeState};
pub use self::unfinished::{Halfway, UnfinishedAction};
pub use self::verdict::{Reason, Verdict, VerdictState};
pub use self::window::{
    ContextId, ContextSource, Household, RepoView, WindowDoing, WindowFacts, WindowProcess, WindowState,
    WindowView,
};
pub use self::work::{
    Call, Committed, ContextFill, Doing, Edit, Prompt, SubAgent, TakenPort, Target, Turn, TurnState,
    UnreadWork, Warned, Warning, WhyUnread, Work,
};
pub use self::work_item::{Stage, WorkItem};
