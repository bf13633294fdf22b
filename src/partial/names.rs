//! Names in a partial, which are numbers in its own list of names.

use crate::model::Symbol;

/// Returns the symbol for a number: `Symbol::NONE` for 0, `None` if the number is out of range.
pub(super) fn symbol(symbols: &[Symbol], number: u32) -> Option<Symbol> {
    match number.checked_sub(1) {
        None => Some(Symbol::NONE),
        Some(place) => symbols.get(place as usize).copied(),
    }
}
