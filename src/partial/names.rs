//! Names in a partial are numbers of its own list.

use crate::model::Symbol;

/// The name of a number, 0 for none; `None` where there is no such name.
pub(super) fn symbol(symbols: &[Symbol], number: u32) -> Option<Symbol> {
    match number.checked_sub(1) {
        None => Some(Symbol::NONE),
        Some(place) => symbols.get(place as usize).copied(),
    }
}
