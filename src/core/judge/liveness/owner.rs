//! Which processes could own a record.

use crate::core::judge::liveness::locks::runs_another;
use crate::core::judge::liveness::reach::may_have_written;
use crate::core::judge::liveness::turn::could_run;
use crate::core::judge::window::possible_agent::PossibleAgent;
use crate::core::judge::world::World;
use crate::core::model::Record;
use crate::core::model::text::is_uuid;

/// Returns whether an agent of this name may run a record's session: a system that several agents use can name its
/// agent.
fn may_be_run_by(record: &Record, name: &str, world: &World<'_>) -> bool {
    let stated = record.detail.entire().and_then(|entire| entire.agent.as_ref());
    let own = stated.and_then(|title| world.signatures.name_by_title(title.raw()));
    record.format.runs_on(name) && own.is_none_or(|own| own == name)
}

/// Returns whether a process could be the record's owner: an agent of that system (or possibly one, for all that was
/// read of it), old enough, not certain to run another session, and able to have written it.
pub(crate) fn could_own(record: &Record, agent: &PossibleAgent<'_>, world: &World<'_>) -> bool {
    let process = match agent {
        PossibleAgent::Hidden(_) => return true,
        PossibleAgent::Known(process, name) if may_be_run_by(record, name, world) => process,
        PossibleAgent::Known(..) => return false,
        PossibleAgent::Unproven(process) => process,
    };
    let could = match record.session_id.as_ref() {
        // A session can be resumed by a younger process; only another certain session excludes it.
        Some(session) => {
            let could_run = could_run(process, (record, session), world);
            !is_uuid(session.raw()) || could_run && !runs_another(record, session, process, world)
        }
        None => !world.is_younger(process, record),
    };
    could && may_have_written(record, process, world)
}
