//! A look at MessagePack before it is decoded.
//!
//! A list says how long it is before its items come, and a decoder may reserve memory for as many.
//! Each item takes at least one byte: a list that claims more items than there are bytes is no list.

use rmp::Marker;

/// Whether `bytes` are one value, whole, in which no list, map, text or blob claims more than there
/// are bytes left.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let mut items = 1;
    while items > 0 {
        let Some(item) = take_item(&mut rest) else {
            return false;
        };
        items = items - 1 + item;
        if items > rest.len() as u64 {
            return false;
        }
    }
    rest.is_empty()
}

/// Take one item off `rest`; how many items it says to follow. `None` if it is not whole.
fn take_item(rest: &mut &[u8]) -> Option<u64> {
    let marker = Marker::from_u8(take(rest, 1)?[0]);
    let mut items = 0;
    let blob = match marker {
        Marker::FixPos(_) | Marker::FixNeg(_) | Marker::Null | Marker::True | Marker::False => 0,
        Marker::U8 | Marker::I8 => 1,
        Marker::U16 | Marker::I16 => 2,
        Marker::U32 | Marker::I32 | Marker::F32 => 4,
        Marker::U64 | Marker::I64 | Marker::F64 => 8,
        Marker::FixStr(length) => length.into(),
        Marker::Str8 | Marker::Bin8 => take_length(rest, 1)?,
        Marker::Str16 | Marker::Bin16 => take_length(rest, 2)?,
        Marker::Str32 | Marker::Bin32 => take_length(rest, 4)?,
        Marker::FixArray(length) => {
            items = length.into();
            0
        }
        Marker::Array16 => {
            items = take_length(rest, 2)?;
            0
        }
        Marker::Array32 => {
            items = take_length(rest, 4)?;
            0
        }
        Marker::FixMap(length) => {
            items = 2 * u64::from(length);
            0
        }
        Marker::Map16 => {
            items = 2 * take_length(rest, 2)?;
            0
        }
        Marker::Map32 => {
            items = 2 * take_length(rest, 4)?;
            0
        }
        // Extensions and the reserved marker: a program has none.
        _ => return None,
    };
    take(rest, usize::try_from(blob).ok()?)?;
    Some(items)
}

fn take<'b>(rest: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

/// A big-endian number of `width` bytes.
fn take_length(rest: &mut &[u8], width: usize) -> Option<u64> {
    let bytes = take(rest, width)?.iter();
    Some(bytes.fold(0, |length, byte| length << 8 | u64::from(*byte)))
}
