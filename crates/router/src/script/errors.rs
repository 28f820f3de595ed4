//! Where a script's errors go: printed as they come, or kept for whoever called its handler.

use crate::engine::Ctx;

/// Errors of one run.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    /// Printed before the first.
    heading: Option<String>,
    /// They are kept rather than printed.
    keeps: bool,
    /// Those that are kept.
    pub kept: Vec<String>,
    /// How many came.
    pub count: usize,
}

impl Errors {
    /// Prints at once, beneath `heading`.
    pub(crate) fn loud(heading: Option<String>) -> Errors {
        Errors {
            heading,
            ..Errors::default()
        }
    }

    /// Keeps what is said.
    pub(crate) fn quiet() -> Errors {
        Errors {
            keeps: true,
            ..Errors::default()
        }
    }

    /// Tells an error, line by line.
    pub(crate) fn error(&mut self, ctx: &mut Ctx, text: &str) {
        self.lines(ctx, text.lines());
    }

    /// Tells what went wrong in a call of `handler`.
    pub(crate) fn failed_call(&mut self, ctx: &mut Ctx, handler: &str, said: &[String]) {
        let heading = format!("While calling '{handler}':");
        let inner = said.iter().flat_map(|text| text.lines());
        let inner: Vec<String> = inner.map(|line| format!("  {line}")).collect();
        if inner.is_empty() {
            self.count += 1;
            return;
        }
        let all = std::iter::once(heading.as_str()).chain(inner.iter().map(String::as_str));
        self.lines(ctx, all);
    }

    fn lines<'a>(&mut self, ctx: &mut Ctx, lines: impl Iterator<Item = &'a str>) {
        self.count += 1;
        for line in lines {
            if self.keeps {
                self.kept.push(line.to_owned());
                continue;
            }
            let indent = if self.heading.is_some() { "  " } else { "" };
            // A heading that was printed is emptied and still indents.
            let heading = self.heading.as_mut().map(std::mem::take);
            if let Some(heading) = heading.filter(|text| !text.is_empty()) {
                ctx.host().say(&format!("{heading}\n"));
            }
            ctx.host().say(&format!("{indent}{line}\n"));
        }
    }
}
