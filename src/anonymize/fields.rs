//! What becomes of each field of a structure.

use super::{Anonymizer, Kind};

/// What can be made fit to be shown to others, in place.
pub(super) trait Anonymize {
    /// Replaces every name in it, and takes out every other text of the log.
    fn anonymize(&mut self, by: &Anonymizer);
}

impl<T: Anonymize> Anonymize for Vec<T> {
    fn anonymize(&mut self, by: &Anonymizer) {
        self.iter_mut().for_each(|one| one.anonymize(by));
    }
}

impl<T: Anonymize> Anonymize for Option<T> {
    fn anonymize(&mut self, by: &Anonymizer) {
        self.iter_mut().for_each(|one| one.anonymize(by));
    }
}

/// A text, several of them, or one that may be missing.
pub(super) trait Texts {
    /// Puts what `change` makes of each text in its place.
    fn change(&mut self, change: &dyn Fn(&str) -> String);
}

impl Texts for String {
    fn change(&mut self, change: &dyn Fn(&str) -> String) {
        *self = change(self);
    }
}

impl Texts for Vec<String> {
    fn change(&mut self, change: &dyn Fn(&str) -> String) {
        self.iter_mut().for_each(|text| text.change(change));
    }
}

impl Texts for Option<String> {
    fn change(&mut self, change: &dyn Fn(&str) -> String) {
        self.iter_mut().for_each(|text| text.change(change));
    }
}

impl Anonymizer {
    /// Gives each of `texts` the name of what it stands for.
    pub(super) fn rename(&self, kind: Kind, texts: &mut impl Texts) {
        texts.change(&|text| self.name(kind, text));
    }
}

/// Implements [`Anonymize`]. Every field of a structure is listed, so that a new one does not compile before somebody has
/// decided what becomes of it: `names` get the name of a [`Kind`], `texts` what a method of [`Anonymizer`] makes of them,
/// `parts` are structures with an implementation of their own, `kept` stay, and what becomes of those in `with` is said in
/// `then`, which comes last and sees all but those kept. `$by` is what `then` calls the anonymizer.
macro_rules! fields {
    ($by:ident; $($type:ident {
        $(names: [$($name:ident $kind:ident),*])?
        $(texts: [$($text:ident $method:ident),*])?
        $(parts: [$($part:ident),*])?
        kept: [$($kept:ident),*]
        $(with: [$($with:ident),*] then: $then:block)?
    })*) => {
        $(impl $crate::anonymize::fields::Anonymize for $type {
            fn anonymize(&mut self, $by: &$crate::anonymize::Anonymizer) {
                let _ = $by;
                #[allow(unused_imports, reason = "not every structure has texts")]
                use $crate::anonymize::fields::Texts;
                let $type {
                    $($($name,)*)? $($($text,)*)? $($($part,)*)? $($($with,)*)? $($kept: _,)*
                } = self;
                $($($by.rename($crate::anonymize::Kind::$kind, $name);)*)?
                $($($text.change(&|text| $by.$method(text));)*)?
                $($($part.anonymize($by);)*)?
                $($then)?
            }
        })*
    };
}

pub(super) use fields;
