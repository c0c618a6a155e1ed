//! Enums whose variants have a name in the interface.

/// Defines an enum with each variant beside its name, which serde and `name` both use.
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $( $(#[$about:meta])* $variant:ident = $text:literal, )* }) => {
        $(#[$meta])*
        $vis enum $name {
            $( $(#[$about])* #[serde(rename = $text)] $variant, )*
        }

        impl $name {
            /// Returns the name that the interface fixes.
            $vis fn name(self) -> &'static str {
                match self { $( Self::$variant => $text, )* }
            }
        }
    };
}

pub(crate) use named;
