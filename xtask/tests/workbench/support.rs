//! Runs of the workbench, in the workspace or in a scratch copy.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a run wrote, and its exit code.
pub(crate) struct Run {
    command: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Run {
    /// Everything it wrote.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or("none".into(), |code| code.to_string());
        writeln!(f, "$ cargo xtask {}  # exit code {code}", self.command)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(f, "---- {name}\n{text}")?;
            }
        }
        Ok(())
    }
}

/// Compare with the snapshot of this name.
pub(crate) fn snapshot(name: &str, text: impl fmt::Display) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The workbench, with these arguments.
pub(crate) fn xtask(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(arguments.split_whitespace());
    command.env("COLUMNS", "100");
    command
}

/// Run the workbench on this workspace.
pub(crate) fn run(arguments: &str) -> Run {
    let output = xtask(arguments).output().expect("the workbench runs");
    finished(arguments, &output)
}

fn finished(arguments: &str, output: &Output) -> Run {
    Run {
        command: arguments.into(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: without_cargo(&String::from_utf8_lossy(&output.stderr)),
        code: output.status.code(),
    }
}

/// The text without cargo's notes on other cargos at work and on packages that it fetches: they
/// depend on what the machine has done before.
fn without_cargo(text: &str) -> String {
    const NOTES: [&str; 7] = [
        "Adding",
        "Blocking",
        "Downloaded",
        "Downloading",
        "Locking",
        "Updating",
        "fetching",
    ];
    let lines = text.split_inclusive('\n');
    lines
        .filter(|line| {
            let word = line.split_whitespace().next();
            word.is_none_or(|word| !NOTES.contains(&word))
        })
        .collect()
}

/// The folder of this workspace.
pub(crate) fn workspace() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("the workspace is above")
}

/// The folder of the fixtures.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// A workspace that a test may change.
pub(crate) struct Scratch {
    root: PathBuf,
    sources: PathBuf,
}

impl Scratch {
    /// The workspace in miniature, with its generated files.
    pub(crate) fn mini(name: &str) -> Self {
        let scratch = Self {
            root: empty(name),
            sources: fixtures().join("sources"),
        };
        copy(&fixtures().join("mini"), &scratch.root);
        fs::create_dir_all(scratch.root.join("interpreter-macros/spec")).expect("a folder");
        scratch.ship();
        assert_eq!(scratch.run("docs").code, Some(0));
        scratch
    }

    /// What the commands read of this workspace.
    pub(crate) fn real(name: &str) -> Self {
        let scratch = Self {
            root: empty(name),
            sources: sources(),
        };
        for file in ["Cargo.toml", "README.md", "OPS.md", "op-spec.toml"] {
            scratch.write(file, &read(&workspace().join(file)));
        }
        for folder in [
            "interpreter/src/check",
            "interpreter/src/custom",
            "tests/downstream/src",
            "tests/tests",
        ] {
            copy(&workspace().join(folder), &scratch.root.join(folder));
        }
        fs::create_dir_all(scratch.root.join("interpreter-macros/spec")).expect("a folder");
        scratch.ship();
        assert_eq!(scratch.run("docs").code, Some(0));
        scratch
    }

    /// All files of this workspace, to be built beside it.
    pub(crate) fn whole(name: &str) -> Self {
        let scratch = Self {
            root: empty(name),
            sources: sources(),
        };
        let listed = Command::new("git")
            .args(["ls-files", "-z"])
            .current_dir(workspace())
            .output()
            .expect("git lists the files");
        for file in String::from_utf8_lossy(&listed.stdout).split_terminator('\0') {
            let target = scratch.root.join(file);
            fs::create_dir_all(target.parent().expect("a folder")).expect("it can be made");
            fs::copy(workspace().join(file), &target).expect("the file can be copied");
        }
        // Of another version, or cargo takes what was built of one for the other.
        let version = "version = \"0.1.0\"\nedition";
        scratch.edit("Cargo.toml", version, "version = \"0.1.99\"\nedition");
        scratch
    }

    /// Run cargo, with the dependencies that this workspace has built.
    pub(crate) fn cargo(&self, arguments: &str) -> Run {
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
        let output = Command::new("cargo")
            .args(arguments.split_whitespace())
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", built.expect("the target folder"))
            .output()
            .expect("cargo runs");
        finished(arguments, &output)
    }

    pub(crate) fn run(&self, arguments: &str) -> Run {
        let output = xtask(arguments)
            .arg("--root")
            .arg(&self.root)
            .arg("--sources")
            .arg(&self.sources)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .output()
            .expect("the workbench runs");
        if arguments.starts_with("new-op") {
            self.ship();
        }
        finished(arguments, &output)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn read(&self, file: &str) -> String {
        read(&self.root.join(file))
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.root.join(file), text).expect("the scratch copy can be written");
    }

    /// Replace the one place of a file that says `from`; the table also as it is shipped.
    pub(crate) fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {file}");
        self.write(file, &text.replace(from, to));
        if file == "op-spec.toml" {
            self.ship();
        }
    }

    /// Copy the table to where the published crate has it: there is no link in a scratch copy.
    fn ship(&self) {
        self.write("interpreter/op-spec.toml", &self.read("op-spec.toml"));
    }
}

/// A folder of this name without anything in it.
fn empty(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if root.exists() {
        fs::remove_dir_all(&root).expect("the last run's files can be removed");
    }
    fs::create_dir_all(root.join("interpreter")).expect("a folder can be made");
    root
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => {
                fs::copy(&path, &target).expect("the file can be copied");
            }
        }
    }
}

/// Where cargo unpacked burn-ir and burn-backend.
fn sources() -> PathBuf {
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(workspace().join("Cargo.toml"))
        .exec()
        .expect("cargo knows the workspace");
    let mut packages = metadata.packages.iter();
    let package = packages.find(|package| package.name == "burn-ir");
    let manifest = &package.expect("the workspace uses burn-ir").manifest_path;
    let folder = manifest.parent().and_then(|folder| folder.parent());
    folder.expect("a package has a folder").into()
}
