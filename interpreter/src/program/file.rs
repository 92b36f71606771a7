//! Programs as bytes.
//!
//! ```text
//! magic                8 bytes, "BURNPROG"
//! format version       u32
//! burn-ir version      u32 length, then that many bytes
//! payload              u64 length, u32 CRC-32, then that many bytes of MessagePack
//! ```
//!
//! Numbers are little-endian. The version of burn-ir is part of the file because the IR's enums
//! and structs change between versions, and the payload would be read as something else.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::fs;
use std::path::Path;

use burn_backend::TensorData;
use burn_ir::{GraphIr, TensorId};

use super::{FileFault, Program, ProgramError, messagepack};

const MAGIC: &[u8; 8] = b"BURNPROG";
const FORMAT: u32 = 1;

/// The version of burn-ir whose operations are executed.
pub(crate) const BURN_IR: &str = "0.22.1";

impl Program {
    /// Write the program to a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ProgramError> {
        let path = path.as_ref();
        fs::write(path, self.to_bytes()?).map_err(|source| ProgramError::Io {
            path: path.into(),
            source,
        })
    }

    /// Read a program from a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is no program file, is of another version, is damaged, or
    /// what it holds is [no program](Self::new).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ProgramError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| ProgramError::Io {
            path: path.into(),
            source,
        })?;
        Self::from_bytes(&bytes).map_err(|error| match error {
            ProgramError::File { fault, .. } => ProgramError::File {
                path: Some(path.into()),
                fault,
            },
            error => error,
        })
    }

    /// The bytes of a program file.
    ///
    /// # Errors
    ///
    /// When a tensor cannot be encoded.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ProgramError> {
        let payload = rmp_serde::to_vec(&(&self.graph, &self.constants)).map_err(|cause| {
            ProgramError::Encode {
                reason: cause.to_string(),
            }
        })?;
        let mut bytes = Vec::with_capacity(payload.len() + 64);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&(BURN_IR.len() as u32).to_le_bytes());
        bytes.extend_from_slice(BURN_IR.as_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        bytes.extend_from_slice(&payload);
        Ok(bytes)
    }

    /// Read a program from the bytes of a program file.
    ///
    /// No byte is trusted: whatever they are, the result is a program or an error, and no more
    /// memory is taken than a small multiple of their number.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load), without those of the file system.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProgramError> {
        let payload = payload(bytes).map_err(file)?;
        if !messagepack::is_whole(payload) {
            let reason = "a list is longer than the file".to_string();
            return Err(file(FileFault::Payload { reason }));
        }
        let (graph, constants): (GraphIr, BTreeMap<TensorId, TensorData>) =
            rmp_serde::from_slice(payload).map_err(|cause| {
                file(FileFault::Payload {
                    reason: cause.to_string(),
                })
            })?;
        Self::new(graph, constants)
    }
}

fn file(fault: FileFault) -> ProgramError {
    ProgramError::File { path: None, fault }
}

/// The payload of a program file, whole and of this version.
fn payload(bytes: &[u8]) -> Result<&[u8], FileFault> {
    let mut rest = Rest {
        bytes,
        total: bytes.len() as u64,
    };
    if !bytes.starts_with(MAGIC) {
        return Err(FileFault::Magic);
    }
    rest.take(MAGIC.len() as u64)?;
    let found = rest.u32()?;
    if found != FORMAT {
        return Err(FileFault::Format {
            found,
            expected: FORMAT,
        });
    }
    let length = rest.u32()?;
    let found = rest.take(length.into())?;
    if found != BURN_IR.as_bytes() {
        return Err(FileFault::BurnIr {
            found: String::from_utf8_lossy(found).into_owned(),
            expected: BURN_IR,
        });
    }
    let length = rest.u64()?;
    let checksum = rest.u32()?;
    let payload = rest.take(length)?;
    if !rest.bytes.is_empty() {
        return Err(FileFault::Trailing {
            bytes: rest.bytes.len() as u64,
        });
    }
    if crc32fast::hash(payload) != checksum {
        return Err(FileFault::Checksum);
    }
    Ok(payload)
}

/// The bytes that are not read yet.
struct Rest<'b> {
    bytes: &'b [u8],
    /// How many there were.
    total: u64,
}

impl<'b> Rest<'b> {
    fn take(&mut self, length: u64) -> Result<&'b [u8], FileFault> {
        let split = usize::try_from(length)
            .ok()
            .and_then(|length| self.bytes.split_at_checked(length));
        let Some((taken, rest)) = split else {
            let read = self.total - self.bytes.len() as u64;
            return Err(FileFault::Truncated {
                expected: read.saturating_add(length),
                found: self.total,
            });
        };
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FileFault> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    fn u32(&mut self) -> Result<u32, FileFault> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, FileFault> {
        self.array().map(u64::from_le_bytes)
    }
}
