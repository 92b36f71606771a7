//! `cargo xtask stack`: the frames of the interpreter's functions in an unoptimised build.
//!
//! There every variable has a place of its own: a function with many arms has a large frame, however
//! little of it one arm needs. The benchmark program has both interpreters in it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::process::cargo;
use crate::workspace::Workspace;

pub(crate) const EXAMPLES: &str = "Example:
  cargo xtask stack";

/// The largest frame of a function of burn-interpreter, in bytes.
const BOUND: u64 = 8 << 10;

/// How many functions are shown.
const SHOWN: usize = 10;

pub(crate) fn run(workspace: &Workspace, output: &mut Output) -> Result<Outcome, Failure> {
    if !cfg!(target_arch = "x86_64") {
        return Err("the frames are read out of x86-64 code".to_owned().into());
    }
    let build = cargo()
        .args(["build", "--package", "interpreter-bench"])
        .current_dir(workspace.root())
        .status()
        .map_err(|cause| format!("cannot run cargo: {cause}"))?;
    if !build.success() {
        return Err("the benchmark program does not build".to_owned().into());
    }
    let mut disassembly = Command::new("objdump")
        .args(["--disassemble", "--demangle", "--no-show-raw-insn"])
        .arg(workspace.target_dir().join("debug/interpreter-bench"))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|cause| format!("cannot run objdump (Debian: binutils): {cause}"))?;
    let listing = disassembly
        .stdout
        .take()
        .ok_or_else(|| "objdump has no output".to_owned())?;
    let frames = frames(BufReader::new(listing))?;
    disassembly
        .wait()
        .map_err(|cause| format!("objdump did not end: {cause}"))?;
    let largest = |of: &str| {
        let mut frames: Vec<&Frame> = frames.iter().filter(|frame| frame.is_of(of)).collect();
        frames.sort_by_key(|frame| std::cmp::Reverse(frame.bytes));
        frames
    };
    let ours = largest("burn_interpreter");
    let Some(first) = ours.first() else {
        return Err(
            "there is no function of burn_interpreter in the benchmark program"
                .to_owned()
                .into(),
        );
    };
    for frame in ours.iter().take(SHOWN) {
        output.line(format_args!("{:>8} {}", frame.bytes, frame.function));
    }
    output.line(format_args!(
        "{:>8} functions of burn_interpreter, the bound is {BOUND} bytes\n",
        ours.len()
    ));
    if let Some(upstream) = largest("burn_router").first() {
        output.line(format_args!("{:>8} {}", upstream.bytes, upstream.function));
    }
    Ok(match first.bytes <= BOUND {
        true => Outcome::Fine,
        false => Outcome::Found,
    })
}

/// What a function takes of the stack, what it saves of registers not counted.
#[derive(Debug, PartialEq, Eq)]
struct Frame {
    function: String,
    bytes: u64,
    /// The next step that is read is one of a loop over pages, which are counted.
    is_in_loop: bool,
}

impl Frame {
    /// The function stands in the crate, be it a method of a type or of a trait.
    fn is_of(&self, krate: &str) -> bool {
        let path = self.function.trim_start_matches(['<', '&']);
        path.starts_with(krate) && path[krate.len()..].starts_with("::")
    }
}

/// The frames of a disassembly, one a function.
fn frames(lines: impl BufRead) -> Result<Vec<Frame>, String> {
    let mut frames: Vec<Frame> = Vec::new();
    for line in lines.split(b'\n') {
        let line = line.map_err(|cause| format!("cannot read what objdump prints: {cause}"))?;
        let line = String::from_utf8_lossy(&line);
        if let Some(function) = function(&line) {
            frames.push(Frame {
                function,
                bytes: 0,
                is_in_loop: false,
            });
        } else if let (Some(frame), Some(taken)) = (frames.last_mut(), taken(&line)) {
            match taken {
                Taken::Bytes(_) if frame.is_in_loop => frame.is_in_loop = false,
                Taken::Bytes(bytes) => frame.bytes += bytes,
                Taken::ByLoop(bytes) => {
                    frame.bytes += bytes;
                    frame.is_in_loop = true;
                }
            }
        }
    }
    Ok(frames)
}

/// `0000000000012340 <burn_interpreter::operations::execute>:`
fn function(line: &str) -> Option<String> {
    let (address, name) = line.split_once(" <")?;
    let is_address = !address.is_empty() && address.bytes().all(|b| b.is_ascii_hexdigit());
    let name = name.strip_suffix(">:")?;
    is_address.then(|| name.to_string())
}

/// A step in taking a frame.
enum Taken {
    Bytes(u64),
    /// All that a loop takes, page by page.
    ByLoop(u64),
}

/// `sub $0x1a8,%rsp`, or `sub $0x35000,%r11` before a loop up to that end.
fn taken(line: &str) -> Option<Taken> {
    let mut words = line.split_whitespace().skip(1);
    let ("sub", operands) = (words.next()?, words.next()?) else {
        return None;
    };
    let (bytes, register) = operands.strip_prefix("$0x")?.split_once(',')?;
    let bytes = u64::from_str_radix(bytes, 16).ok()?;
    match register {
        "%rsp" => Some(Taken::Bytes(bytes)),
        "%r11" => Some(Taken::ByLoop(bytes)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_what_the_stack_pointer_goes_down_by() {
        let text = "\n\
            0000000000001000 <burn_interpreter::context::small>:\n\
            \x20   1000:\tpush   %rbp\n\
            \x20   1001:\tsub    $0x1a8,%rsp\n\
            \x20   1008:\tsub    $0x8,%rax\n\
            0000000000002000 <<burn_interpreter::large as core::fmt::Debug>::fmt>:\n\
            \x20   2000:\tmov    %rsp,%r11\n\
            \x20   2003:\tsub    $0x35000,%r11\n\
            \x20   200a:\tsub    $0x1000,%rsp\n\
            \x20   2011:\tmovq   $0x0,(%rsp)\n\
            \x20   201e:\tsub    $0x28,%rsp\n\
            0000000000003000 <burn_interpreter::medium>:\n\
            \x20   3000:\tsub    $0x1000,%rsp\n\
            \x20   3007:\tmovq   $0x0,(%rsp)\n\
            \x20   300f:\tsub    $0xb48,%rsp\n";
        let frames = frames(text.as_bytes()).expect("a text can be read");
        let bytes: Vec<u64> = frames.iter().map(|frame| frame.bytes).collect();
        assert_eq!(bytes, [0x1a8, 0x35028, 0x1b48]);
        assert!(frames.iter().all(|frame| frame.is_of("burn_interpreter")));
        assert!(!frames[0].is_of("burn"));
    }
}
