//! What burn-ir and burn-backend say: the IR's enums and structs, the backend's methods.
//!
//! Read from their sources, so that a row can be held against what it names before a compiler
//! sees it.

mod sources;

pub(crate) use sources::folder;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::semver::Version;
use quote::ToTokens;

use crate::output::Output;
use crate::workspace::Workspace;

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
    pub(crate) is_boxed: bool,
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
    item: syn::ItemStruct,
}

impl Struct {
    /// The struct as it is written, with its documentation.
    pub(crate) fn text(&self) -> String {
        let mut item = self.item.clone();
        item.attrs.retain(is_doc);
        pretty(syn::Item::Struct(item))
    }
}

/// A method of one of the backend's traits.
pub(crate) struct Method {
    /// The parameters with their types.
    pub(crate) params: Vec<(String, String)>,
    /// What it returns; empty for nothing.
    pub(crate) output: String,
    /// The trait that has it.
    owner: String,
    pub(crate) place: Place,
    item: syn::TraitItemFn,
}

impl Method {
    /// The signature in one line.
    pub(crate) fn signature(&self, name: &str) -> String {
        let params = self.params.iter().map(|(name, ty)| format!("{name}: {ty}"));
        let params = params.collect::<Vec<_>>().join(", ");
        let arrow = if self.output.is_empty() { "" } else { " -> " };
        format!("fn {name}({params}){arrow}{}", self.output)
    }

    /// The trait that has it.
    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    /// Whether the trait has a body for it.
    pub(crate) fn is_provided(&self) -> bool {
        self.item.default.is_some()
    }

    /// The method as it is declared, with its documentation.
    pub(crate) fn text(&self) -> String {
        let mut item = self.item.clone();
        item.default = None;
        item.semi_token = Some(Default::default());
        item.attrs.retain(is_doc);
        let text = pretty(syn::parse_quote!(trait Shown { #item }));
        let lines: Vec<&str> = text.lines().collect();
        let inner = lines.get(1..lines.len() - 1).unwrap_or_default();
        let inner = inner
            .iter()
            .map(|line| line.strip_prefix("    ").unwrap_or(line));
        inner.collect::<Vec<_>>().join("\n")
    }
}

fn is_doc(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("doc")
}

fn pretty(item: syn::Item) -> String {
    let file = syn::File {
        shebang: None,
        attrs: Vec::new(),
        items: vec![item],
    };
    prettyplease::unparse(&file).trim_end().into()
}

/// The sources the table is held against.
#[derive(Default)]
pub(crate) struct Upstream {
    pub(crate) enums: BTreeMap<String, Enum>,
    pub(crate) structs: BTreeMap<String, Struct>,
    pub(crate) methods: BTreeMap<String, Method>,
    /// What `create` of a struct takes, where it is written out.
    pub(crate) creators: BTreeMap<String, Vec<(String, String)>>,
    /// The files of modules that are public, without their extension.
    public: BTreeSet<String>,
}

impl Upstream {
    /// The version that the workspace pins.
    pub(crate) fn locked(workspace: &Workspace, output: &mut Output) -> Result<Self, String> {
        Self::version(workspace, &workspace.burn_version()?, output)
    }

    /// Any version, which cargo fetches if need be.
    pub(crate) fn version(
        workspace: &Workspace,
        version: &Version,
        output: &mut Output,
    ) -> Result<Self, String> {
        let mut upstream = Self::default();
        for (name, folder) in sources::folders(workspace, version, output)? {
            upstream.read_folder(&folder, &format!("{name}-{version}/src"))?;
        }
        Ok(upstream)
    }

    /// The public modules around a place, as rustdoc calls its folders: `backend/ops`.
    pub(crate) fn modules(&self, place: &Place) -> String {
        let is_public = |path: &Path| self.public.contains(&*path.to_string_lossy());
        let file = Path::new(&place.file).with_extension("");
        let mut modules: Vec<_> = file
            .ancestors()
            .filter(|path| is_public(path))
            .filter_map(|path| path.file_name())
            .map(|name| name.to_string_lossy())
            .collect();
        modules.reverse();
        modules.join("/")
    }

    /// Whether a variant carries another enum: then its operations are the rows of a group.
    pub(crate) fn carries_enum(&self, variant: &Variant) -> bool {
        let payload = variant.payload.as_ref();
        payload.is_some_and(|payload| self.enums.contains_key(payload))
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
                    is_boxed: variant
                        .fields
                        .iter()
                        .next_back()
                        .is_some_and(|field| type_text(&field.ty).starts_with("Box<")),
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
                let ir_struct = Struct {
                    fields,
                    place: place(item.ident.span()),
                    item: item.clone(),
                };
                self.structs.insert(item.ident.to_string(), ir_struct);
            }
            syn::Item::Trait(item) => {
                let owner = item.ident.to_string();
                for item in &item.items {
                    if let syn::TraitItem::Fn(method) = item {
                        let name = method.sig.ident.to_string();
                        let place = place(method.sig.ident.span());
                        let method = read_method(method, owner.clone(), place);
                        self.methods.insert(name, method);
                    }
                }
            }
            syn::Item::Impl(item) if item.trait_.is_none() => {
                for member in &item.items {
                    if let syn::ImplItem::Fn(function) = member
                        && function.sig.ident == "create"
                    {
                        let params = params(&function.sig);
                        self.creators.insert(type_text(&item.self_ty), params);
                    }
                }
            }
            syn::Item::Mod(item) if matches!(item.vis, syn::Visibility::Public(_)) => {
                let folder = Path::new(file).parent().unwrap_or(Path::new(file));
                let path = folder.join(item.ident.to_string());
                self.public.insert(path.to_string_lossy().into_owned());
            }
            _ => {}
        }
    }
}

fn read_method(item: &syn::TraitItemFn, owner: String, place: Place) -> Method {
    Method {
        params: params(&item.sig),
        output: match &item.sig.output {
            syn::ReturnType::Default => String::new(),
            syn::ReturnType::Type(_, ty) => type_text(ty),
        },
        owner,
        place,
        item: item.clone(),
    }
}

/// The parameters of a function with their types.
fn params(signature: &syn::Signature) -> Vec<(String, String)> {
    let params = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(param) => {
            let name = param.pat.to_token_stream().to_string();
            let name = name.trim_start_matches("mut ").trim_start_matches('_');
            Some((name.into(), type_text(&param.ty)))
        }
        syn::FnArg::Receiver(_) => None,
    });
    params.collect()
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
