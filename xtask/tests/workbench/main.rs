//! The workbench as its user sees it: what each command writes, and its exit code.

mod mini;
mod readme;
mod real;
mod schema;
mod support;
mod table;
