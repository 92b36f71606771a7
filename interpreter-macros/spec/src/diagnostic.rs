//! A mistake in the table: what is wrong, where it stands, what to do.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A mistake in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// The bytes of the table that are wrong.
    pub span: Range<usize>,
    /// Another place of the table that belongs to it, and what it is.
    pub related: Option<Box<Related>>,
    /// What it was compared with, such as a signature and where it stands.
    pub note: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

/// Another place of the table that belongs to a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The bytes of the table.
    pub span: Range<usize>,
    /// What they are.
    pub label: String,
}

impl Diagnostic {
    /// A mistake at `span`.
    pub fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            message: message.into(),
            span,
            related: None,
            note: None,
            help: None,
        }
    }

    /// With what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With what it was compared with.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// With another place of the table that belongs to it.
    pub fn related(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        let label = label.into();
        self.related = Some(Box::new(Related { span, label }));
        self
    }

    /// The message with `path:line:column`, the line of the table and a caret under the mistake.
    ///
    /// `source` is the text that was parsed, `path` the name to show for it.
    pub fn render(&self, path: &str, source: &str) -> String {
        self.render_with(&Renderer::plain(), path, source)
    }

    /// What [`render`](Self::render) gives, with the colours of a terminal.
    pub fn render_styled(&self, path: &str, source: &str) -> String {
        self.render_with(&Renderer::styled(), path, source)
    }

    fn render_with(&self, renderer: &Renderer, path: &str, source: &str) -> String {
        let mut snippet = Snippet::source(source)
            .path(path)
            .annotation(AnnotationKind::Primary.span(self.span.clone()));
        if let Some(Related { span, label }) = self.related.as_deref() {
            snippet = snippet.annotation(AnnotationKind::Context.span(span.clone()).label(label));
        }
        let mut group = Level::ERROR.primary_title(&self.message).element(snippet);
        if let Some(note) = &self.note {
            group = group.element(Level::NOTE.message(note));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        renderer.render(&[group])
    }
}

/// The candidate that `name` was probably meant to be, if one is near enough, whatever its case.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.is_empty() {
        return None;
    }
    let name = name.to_lowercase();
    let distance = |candidate: &str| {
        let bare = candidate.trim_end_matches("()").to_lowercase();
        let distance = strsim::damerau_levenshtein(&name, &bare);
        match name.starts_with(&bare) || bare.starts_with(&name) {
            true => (distance.min(1), distance),
            false => (distance, distance),
        }
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .filter(|((distance, _), candidate)| *distance <= candidate.len().max(3) / 3)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `known` as a sentence part: `expected a, b or c`, with a guess at what `name` was meant to be.
pub(crate) fn expected(name: &str, known: &[&str]) -> String {
    let list = match known {
        [] => return "nothing is expected here".into(),
        [one] => format!("expected `{one}`"),
        [rest @ .., last] => {
            let rest: Vec<_> = rest.iter().map(|item| format!("`{item}`")).collect();
            format!("expected {} or `{last}`", rest.join(", "))
        }
    };
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("{list}; did you mean `{near}`?"),
        None => list,
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_is_what_was_meant() {
        let known = ["Max", "MaxPool2d", "Scatter", "ScatterNd", "Powi"];
        for (name, meant) in [
            ("MaxPool2", Some("MaxPool2d")),
            ("ScatterND", Some("ScatterNd")),
            ("powii", Some("Powi")),
            ("POWI", Some("Powi")),
            ("Sactter", Some("Scatter")),
            ("Conv", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
    }
}
