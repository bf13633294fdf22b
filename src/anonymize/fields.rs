//! How each field of a structure is anonymized.

use super::{Anonymizer, Kind};

/// Structures that can be anonymized in place.
pub(super) trait Anonymize {
    /// Replaces every name in it and removes all other text of the log.
    fn anonymize(&mut self, anonymizer: &Anonymizer);
}

impl<T: Anonymize> Anonymize for Vec<T> {
    fn anonymize(&mut self, anonymizer: &Anonymizer) {
        self.iter_mut().for_each(|item| item.anonymize(anonymizer));
    }
}

impl<T: Anonymize> Anonymize for Option<T> {
    fn anonymize(&mut self, anonymizer: &Anonymizer) {
        self.iter_mut().for_each(|item| item.anonymize(anonymizer));
    }
}

/// A string, a list of strings, or an optional string.
pub(super) trait Texts {
    /// Replaces each text by the result of `change`.
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
    /// Replaces each of `texts` by its pseudonym.
    pub(super) fn rename(&self, kind: Kind, texts: &mut impl Texts) {
        texts.change(&|text| self.name(kind, text));
    }
}

/// Implements [`Anonymize`]. Every field of a structure must be listed, so that a new field does not compile until its
/// treatment is decided (the compiler says that the pattern requires `..`: list the field instead): `names` are
/// replaced by pseudonyms of a [`Kind`], `texts` by the result of a method of [`Anonymizer`], `parts` are anonymized by
/// their own implementation, `kept` stay unchanged, and `with` are treated in `then`, which runs last and can use all
/// fields except those kept. `$anonymizer` is the name of the anonymizer in `then`.
macro_rules! fields {
    ($anonymizer:ident; $($type:ident {
        $(names: [$($name:ident $kind:ident),*])?
        $(texts: [$($text:ident $method:ident),*])?
        $(parts: [$($part:ident),*])?
        kept: [$($kept:ident),*]
        $(with: [$($with:ident),*] then: $then:block)?
    })*) => {
        $(impl $crate::anonymize::fields::Anonymize for $type {
            fn anonymize(&mut self, $anonymizer: &$crate::anonymize::Anonymizer) {
                let _ = $anonymizer;
                #[allow(unused_imports, reason = "not every structure has texts")]
                use $crate::anonymize::fields::Texts;
                let $type {
                    $($($name,)*)? $($($text,)*)? $($($part,)*)? $($($with,)*)? $($kept: _,)*
                } = self;
                $($($anonymizer.rename($crate::anonymize::Kind::$kind, $name);)*)?
                $($($text.change(&|text| $anonymizer.$method(text));)*)?
                $($($part.anonymize($anonymizer);)*)?
                $($then)?
            }
        })*
    };
}

pub(super) use fields;
