//! What burn-ir and burn-backend say: the IR's enums and structs, the backend's methods.
//!
//! Read from their sources, so that a row can be held against what it names before a compiler
//! sees it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{MetadataCommand, Package};
use quote::ToTokens;

use crate::workspace::root;

/// A place in an upstream source: `burn-ir-0.22.1/src/operation.rs:146`.
pub(crate) struct Place {
    file: String,
    line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A variant of an IR enum.
pub(crate) struct Variant {
    pub(crate) name: String,
    /// The struct it carries, out of its box if it is boxed.
    pub(crate) payload: Option<String>,
    pub(crate) place: Place,
}

/// An enum of burn-ir.
pub(crate) struct Enum {
    pub(crate) variants: Vec<Variant>,
}

/// A struct of burn-ir: its fields with their types.
pub(crate) struct Struct {
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) place: Place,
}

/// A method of one of the backend's traits.
pub(crate) struct Method {
    /// The parameters with their types.
    pub(crate) params: Vec<(String, String)>,
    /// What it returns; empty for nothing.
    pub(crate) output: String,
    pub(crate) place: Place,
}

impl Method {
    /// The signature in one line.
    pub(crate) fn signature(&self, name: &str) -> String {
        let params = self.params.iter().map(|(name, ty)| format!("{name}: {ty}"));
        let params = params.collect::<Vec<_>>().join(", ");
        let arrow = if self.output.is_empty() { "" } else { " -> " };
        format!("fn {name}({params}){arrow}{}", self.output)
    }
}

/// The sources the table is held against.
#[derive(Default)]
pub(crate) struct Upstream {
    pub(crate) enums: BTreeMap<String, Enum>,
    pub(crate) structs: BTreeMap<String, Struct>,
    pub(crate) methods: BTreeMap<String, Method>,
}

impl Upstream {
    /// The versions that the workspace's lock file names.
    pub(crate) fn locked() -> Result<Self, String> {
        let manifest = root().join("Cargo.toml");
        let metadata = MetadataCommand::new()
            .manifest_path(&manifest)
            .exec()
            .map_err(|cause| format!("cargo cannot say where burn-ir is: {cause}"))?;
        let mut upstream = Self::default();
        for name in ["burn-ir", "burn-backend"] {
            let package = metadata
                .packages
                .iter()
                .find(|package| package.name == name);
            let package = package.ok_or_else(|| format!("the workspace does not use {name}"))?;
            upstream.read_package(package)?;
        }
        Ok(upstream)
    }

    fn read_package(&mut self, package: &Package) -> Result<(), String> {
        let folder = package
            .manifest_path
            .parent()
            .ok_or("a manifest has a folder")?;
        let name = format!("{}-{}", package.name, package.version);
        self.read_folder(folder.join("src").as_std_path(), &format!("{name}/src"))
    }

    /// Read all Rust files below `folder`, which is shown as `shown`.
    pub(crate) fn read_folder(&mut self, folder: &Path, shown: &str) -> Result<(), String> {
        let at = |cause: &dyn std::fmt::Display| format!("`{}`: {cause}", folder.display());
        let mut entries: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(folder).map_err(|cause| at(&cause))? {
            entries.push(entry.map_err(|cause| at(&cause))?.path());
        }
        entries.sort();
        for path in entries {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy())
                .unwrap_or_default();
            let shown = format!("{shown}/{name}");
            if path.is_dir() {
                self.read_folder(&path, &shown)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(&path).map_err(|cause| at(&cause))?;
                let file = syn::parse_file(&source)
                    .map_err(|cause| format!("{shown} is not Rust: {cause}"))?;
                file.items
                    .iter()
                    .for_each(|item| self.read_item(item, &shown));
            }
        }
        Ok(())
    }

    fn read_item(&mut self, item: &syn::Item, file: &str) {
        let place = |span: proc_macro2::Span| Place {
            file: file.into(),
            line: span.start().line,
        };
        match item {
            syn::Item::Enum(item) => {
                let variants = item.variants.iter().map(|variant| Variant {
                    name: variant.ident.to_string(),
                    payload: variant
                        .fields
                        .iter()
                        .next_back()
                        .map(|field| payload(&field.ty)),
                    place: place(variant.ident.span()),
                });
                let variants = variants.collect();
                self.enums.insert(item.ident.to_string(), Enum { variants });
            }
            syn::Item::Struct(item) => {
                let fields = item.fields.iter().filter_map(|field| {
                    Some((field.ident.as_ref()?.to_string(), type_text(&field.ty)))
                });
                let fields = fields.collect();
                let place = place(item.ident.span());
                self.structs
                    .insert(item.ident.to_string(), Struct { fields, place });
            }
            syn::Item::Trait(item) => {
                for item in &item.items {
                    if let syn::TraitItem::Fn(method) = item {
                        let name = method.sig.ident.to_string();
                        let place = place(method.sig.ident.span());
                        self.methods.insert(name, read_method(&method.sig, place));
                    }
                }
            }
            _ => {}
        }
    }
}

fn read_method(signature: &syn::Signature, place: Place) -> Method {
    let params = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(param) => {
            let name = param.pat.to_token_stream().to_string();
            Some((name.trim_start_matches('_').into(), type_text(&param.ty)))
        }
        syn::FnArg::Receiver(_) => None,
    });
    Method {
        params: params.collect(),
        output: match &signature.output {
            syn::ReturnType::Default => String::new(),
            syn::ReturnType::Type(_, ty) => type_text(ty),
        },
        place,
    }
}

/// The struct an IR variant carries, out of its box if it is boxed.
fn payload(ty: &syn::Type) -> String {
    let text = type_text(ty);
    let unboxed = text
        .strip_prefix("Box<")
        .and_then(|inner| inner.strip_suffix('>'));
    unboxed.unwrap_or(&text).to_string()
}

/// A type in one line, without the paths of its names.
fn type_text(ty: &syn::Type) -> String {
    let mut ty = ty.clone();
    syn::visit_mut::visit_type_mut(&mut LastSegments, &mut ty);
    let text = ty.to_token_stream().to_string();
    let mut compact = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let after_word = compact.ends_with(is_word);
        let after_comma = compact.ends_with([',', ';']);
        let before_word = chars.peek().copied().is_some_and(is_word);
        let before_open = chars.peek().is_some_and(|next| "([&".contains(*next));
        if c != ' ' || (after_word && before_word) || (after_comma && (before_word || before_open))
        {
            compact.push(c);
        }
    }
    compact
}

/// Reduces `crate::tensor::IndexingUpdateOp` to `IndexingUpdateOp`, and `Self` in front too.
struct LastSegments;

impl syn::visit_mut::VisitMut for LastSegments {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if let Some(last) = path.segments.pop() {
            path.segments = [last.into_value()].into_iter().collect();
            path.leading_colon = None;
        }
        syn::visit_mut::visit_path_mut(self, path);
    }
}
