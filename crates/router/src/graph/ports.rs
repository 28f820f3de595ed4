//! Port counts: `1/1`, `0/1`, `1/1-2`, `1/-`, `-/=`.

/// How many ports a side may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The fewest.
    pub min: usize,
    /// The most.
    pub max: usize,
}

impl Range {
    /// Whether `count` ports are right.
    pub fn contains(self, count: usize) -> bool {
        (self.min..=self.max).contains(&count)
    }
}

/// The port counts of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// Inputs.
    pub inputs: Range,
    /// Outputs.
    pub outputs: Range,
    /// `=` and `=+n`: as many outputs as inputs, and `n` more.
    pub equal: Option<usize>,
}

impl Ports {
    /// Reads a port count code.
    ///
    /// # Panics
    /// Where it is none: the codes are constants of the classes.
    pub fn parse(code: &str) -> Ports {
        let (inputs, outputs) = code.split_once('/').unwrap_or((code, code));
        let any = Range {
            min: 0,
            max: usize::MAX,
        };
        match outputs.strip_prefix('=') {
            Some(more) => Ports {
                inputs: range(inputs),
                outputs: any,
                equal: Some(more.trim_start_matches('+').parse().unwrap_or(more.len())),
            },
            None => Ports {
                inputs: range(inputs),
                outputs: range(outputs),
                equal: None,
            },
        }
    }

    /// How many inputs and outputs an element has whose highest used ports make these counts.
    pub fn resolve(&self, used_inputs: usize, used_outputs: usize) -> (usize, usize) {
        let mut inputs = used_inputs.clamp(self.inputs.min, self.inputs.max);
        let Some(more) = self.equal else {
            let outputs = used_outputs.clamp(self.outputs.min, self.outputs.max);
            return (inputs, outputs);
        };
        let wanted = used_outputs.saturating_sub(more).min(self.inputs.max);
        inputs = inputs.max(wanted);
        (inputs, inputs + more)
    }
}

fn range(text: &str) -> Range {
    let number = |text: &str| text.parse().expect("a port count is a number");
    match text.split_once('-') {
        None => Range {
            min: number(text),
            max: number(text),
        },
        Some((min, max)) => Range {
            min: if min.is_empty() { 0 } else { number(min) },
            max: if max.is_empty() {
                usize::MAX
            } else {
                number(max)
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_follow_the_code_and_the_use() {
        assert_eq!(Ports::parse("1/1").resolve(0, 0), (1, 1));
        assert_eq!(Ports::parse("1/1-2").resolve(1, 5), (1, 2));
        assert_eq!(Ports::parse("1/-").resolve(1, 5), (1, 5));
        assert_eq!(Ports::parse("-/-").resolve(0, 0), (0, 0));
        assert_eq!(Ports::parse("1-/=").resolve(3, 1), (3, 3));
        assert_eq!(Ports::parse("1-/=").resolve(1, 4), (4, 4));
        assert_eq!(Ports::parse("-/=+").resolve(2, 1), (2, 3));
        assert_eq!(Ports::parse("0").resolve(0, 0), (0, 0));
    }
}
