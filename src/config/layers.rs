//! Layers of settings: a later one overrides an earlier one, and each value remembers its layer.

use std::path::PathBuf;

use super::fleet::Publishing;
use super::guard::Guard;
use super::keep::Keep;
use super::notify::{AlertRank, QuietHours};
use super::{Access, ColorChoice, Config, Foresee, Glyphs, Notify, Retention, Switch, Theme};
use crate::core::fleet::order::Accepts;
use crate::core::fleet::transport::Machine;
use crate::core::judge::window::agent::Signature;
use crate::core::model::Secret;

/// Where a value came from; a later one covers an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// claimtop's own choice.
    #[default]
    Default,
    File,
    Environment,
    /// An option of the command line.
    Option,
}

impl Origin {
    /// Returns the word for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Option => "option",
        }
    }
}

/// What one origin sets; what is absent stays as it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    /// The colours of the screen.
    pub(crate) theme: Option<Theme>,
    /// The characters of the screen.
    pub(crate) glyphs: Option<Glyphs>,
    /// Whether colours are used.
    pub(crate) color: Option<ColorChoice>,
    /// Whether the mouse is captured.
    pub(crate) mouse: Option<Switch>,
    /// Whether every action is refused.
    pub(crate) access: Option<Access>,
    /// Folders to look in; those of all layers count.
    pub(crate) roots: Vec<PathBuf>,
    /// Databases of Obra to read; those of all layers count.
    pub(crate) obra_databases: Vec<PathBuf>,
    /// LEO's database.
    pub(crate) postgres: Option<Secret>,
    pub(crate) postgres_password_file: Option<PathBuf>,
    /// Own agent signatures; those of all layers count.
    pub(crate) agents: Vec<Signature>,
    /// For how long parked things are kept.
    pub(crate) retention: Option<Retention>,
    /// Whether the title shows the most severe problems.
    pub(crate) title: Option<Switch>,
    /// Whether the bell rings.
    pub(crate) bell: Option<Switch>,
    /// How the desktop is asked.
    pub(crate) notify: Option<Notify>,
    /// The command that calls a person.
    pub(crate) notify_command: Option<Vec<String>>,
    /// When it is not called.
    pub(crate) notify_quiet: Option<QuietHours>,
    /// The least that a person is called for.
    pub(crate) notify_from: Option<AlertRank>,
    /// Whether what is observed is kept.
    pub(crate) history: Option<Switch>,
    /// Whether an open screen compares working trees.
    pub(crate) foresee: Option<Foresee>,
    /// What a guard says.
    pub(crate) guard: Option<Guard>,
    /// What a guard keeps.
    pub(crate) keep: Option<Keep>,
    /// Other machines; those of all layers count.
    pub(crate) machines: Vec<Machine>,
    /// Which orders of other machines are taken.
    pub(crate) accepts: Option<Accepts>,
    /// The database in which machines meet.
    pub(crate) fleet: Option<Secret>,
    /// What this machine publishes there.
    pub(crate) publishing: Option<Publishing>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origins {
    pub(crate) theme: Origin,
    /// Of the characters.
    pub(crate) glyphs: Origin,
    /// Of the choice of colour.
    pub(crate) color: Origin,
    pub(crate) mouse: Origin,
    pub(crate) access: Origin,
    pub(crate) roots: Vec<Origin>,
    pub(crate) obra_databases: Vec<Origin>,
    /// Of LEO's database.
    pub(crate) postgres: Origin,
    pub(crate) postgres_password_file: Origin,
    pub(crate) agents: Vec<Origin>,
    pub(crate) retention: Origin,
    pub(crate) title: Origin,
    pub(crate) bell: Origin,
    pub(crate) notify: Origin,
    pub(crate) notify_command: Origin,
    pub(crate) notify_quiet: Origin,
    pub(crate) notify_from: Origin,
    pub(crate) history: Origin,
    pub(crate) foresee: Origin,
    pub(crate) guard: Origin,
    pub(crate) keep: Origin,
    pub(crate) machines: Vec<Origin>,
    pub(crate) accepts: Origin,
    pub(crate) fleet: Origin,
    pub(crate) publishing: Origin,
}

/// The settings with the origin of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effective {
    pub(crate) config: Config,
    pub(crate) origins: Origins,
}

impl Effective {
    /// Lays one layer over these settings.
    pub(crate) fn covered_by(mut self, layer: Layer, origin: Origin) -> Self {
        cover(&mut self.config.theme, &mut self.origins.theme, layer.theme, origin);
        cover(&mut self.config.glyphs, &mut self.origins.glyphs, layer.glyphs, origin);
        cover(&mut self.config.color, &mut self.origins.color, layer.color, origin);
        cover(&mut self.config.mouse, &mut self.origins.mouse, layer.mouse, origin);
        cover(&mut self.config.access, &mut self.origins.access, layer.access, origin);
        cover(&mut self.config.retention, &mut self.origins.retention, layer.retention, origin);
        cover(&mut self.config.alerts.title, &mut self.origins.title, layer.title, origin);
        cover(&mut self.config.alerts.bell, &mut self.origins.bell, layer.bell, origin);
        cover(&mut self.config.alerts.notify, &mut self.origins.notify, layer.notify, origin);
        cover(&mut self.config.alerts.from, &mut self.origins.notify_from, layer.notify_from, origin);
        let (call, origins) = (&mut self.config.notify_command, &mut self.origins);
        cover(&mut call.command, &mut origins.notify_command, layer.notify_command, origin);
        cover(&mut call.quiet, &mut origins.notify_quiet, layer.notify_quiet.map(Some), origin);
        cover(&mut self.config.history, &mut self.origins.history, layer.history, origin);
        cover(&mut self.config.foresee, &mut self.origins.foresee, layer.foresee, origin);
        cover(&mut self.config.guard, &mut self.origins.guard, layer.guard, origin);
        cover(&mut self.config.keep, &mut self.origins.keep, layer.keep, origin);
        self.origins.roots.extend(layer.roots.iter().map(|_| origin));
        self.config.roots.extend(layer.roots);
        self.origins.obra_databases.extend(layer.obra_databases.iter().map(|_| origin));
        self.config.obra_databases.extend(layer.obra_databases);
        let (config, origins) = (&mut self.config, &mut self.origins);
        cover(&mut config.postgres, &mut origins.postgres, layer.postgres.map(Some), origin);
        cover(&mut config.fleet, &mut origins.fleet, layer.fleet.map(Some), origin);
        cover(&mut config.publishing, &mut origins.publishing, layer.publishing, origin);
        let file = layer.postgres_password_file.map(Some);
        cover(&mut config.postgres_password_file, &mut origins.postgres_password_file, file, origin);
        self.origins.agents.extend(layer.agents.iter().map(|_| origin));
        self.config.agents.extend(layer.agents);
        self.origins.machines.extend(layer.machines.iter().map(|_| origin));
        self.config.machines.extend(layer.machines);
        cover(&mut self.config.accepts, &mut self.origins.accepts, layer.accepts, origin);
        self
    }
}

fn cover<T>(value: &mut T, from: &mut Origin, given: Option<T>, origin: Origin) {
    if let Some(given) = given {
        *value = given;
        *from = origin;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_layer_that_says_something_wins() {
        let file = Layer { theme: Some(Theme::Light), mouse: Some(Switch::On), ..Layer::default() };
        let options = Layer { theme: Some(Theme::Ansi), ..Layer::default() };
        let effective =
            Effective::default().covered_by(file, Origin::File).covered_by(options, Origin::Option);
        assert_eq!((effective.config.theme, effective.origins.theme), (Theme::Ansi, Origin::Option));
        assert_eq!((effective.config.mouse, effective.origins.mouse), (Switch::On, Origin::File));
        assert_eq!((effective.config.color, effective.origins.color), (ColorChoice::Auto, Origin::Default));
    }

    #[test]
    fn the_roots_of_all_layers_count() {
        let layer = |root: &str| Layer { roots: vec![root.into()], ..Layer::default() };
        let effective = Effective::default()
            .covered_by(layer("/a"), Origin::File)
            .covered_by(layer("/b"), Origin::Option);
        assert_eq!(effective.config.roots, [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert_eq!(effective.origins.roots, [Origin::File, Origin::Option]);
    }
}
