//! The bodies of `custom` rows, as the runtime offers them.

use std::collections::BTreeMap;
use std::fs;

use crate::workspace::Workspace;

/// Where they are.
pub(crate) const BODIES: &str = "interpreter/src/custom";

/// Every body by the name of its function, with the file and the line where it stands.
pub(crate) fn bodies(workspace: &Workspace) -> Result<BTreeMap<String, String>, String> {
    let mut bodies = BTreeMap::new();
    let folder = workspace.root().join(BODIES);
    let files = fs::read_dir(&folder)
        .map_err(|cause| format!("cannot read `{}`: {cause}", folder.display()))?;
    for file in files {
        let file = file.map_err(|cause| format!("`{BODIES}`: {cause}"))?;
        let path = format!("{BODIES}/{}", file.file_name().to_string_lossy());
        let source = workspace.read(&path)?;
        let parsed =
            syn::parse_file(&source).map_err(|cause| format!("{path} is not Rust: {cause}"))?;
        for item in parsed.items {
            if let syn::Item::Fn(function) = item
                && !matches!(function.vis, syn::Visibility::Inherited)
            {
                let name = &function.sig.ident;
                let line = name.span().start().line;
                bodies.insert(name.to_string(), format!("{path}:{line}"));
            }
        }
    }
    Ok(bodies)
}
