//! Small arithmetic over the metrics of a run: `variant.goodput_mbps + 2 * reno.goodput_mbps`.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = factor { ("*" | "/") factor }
//! factor  = number | "(" sum ")" | "-" factor | flow "." metric [ "[" from ".." to "]" ]
//! ```
//! `flow` is a flow's name or `all`; `metric` a column of `flows`, `predictions` or (for `all`)
//! `groups`; `[60..120]` takes the goodput between two instants in seconds, from the run's trace.

/// Who knows a metric: by flow, column and, for a part of the run, the seconds between which it is.
pub type Look<'a> = dyn Fn(&str, &str, Option<(f64, f64)>) -> Option<f64> + 'a;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Number(f64),
    /// A metric of a flow, of the whole run or of the seconds between two instants.
    Metric {
        /// The flow; `all` is the run's.
        flow: String,
        /// The column.
        metric: String,
        /// From when to when, in seconds.
        between: Option<(f64, f64)>,
    },
    /// Two parts and what is between them: one of `+-*/`.
    Pair(Box<Expression>, char, Box<Expression>),
}

impl Expression {
    /// Reads `text`; the error is a sentence.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let mut reader = Reader { rest: text };
        let sum = reader.sum()?;
        reader.skip();
        match reader.rest.chars().next() {
            None => Ok(sum),
            Some(_) => Err(format!("`{}` is left over", reader.rest)),
        }
    }

    /// The value, where `look` knows every metric and it is finite.
    pub fn value(&self, look: &Look<'_>) -> Option<f64> {
        let value = match self {
            Expression::Number(value) => *value,
            Expression::Metric {
                flow,
                metric,
                between,
            } => look(flow, metric, *between)?,
            Expression::Pair(left, sign, right) => {
                let (left, right) = (left.value(look)?, right.value(look)?);
                match sign {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                }
            }
        };
        value.is_finite().then_some(value)
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, wanted: &str) -> bool {
        self.skip();
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn need(&mut self, wanted: &str) -> Result<(), String> {
        if self.take(wanted) {
            return Ok(());
        }
        match self.rest.chars().next() {
            Some(c) => Err(format!("`{wanted}` is missing before `{c}`")),
            None => Err(format!("`{wanted}` is missing at the end")),
        }
    }

    /// What matches from here on.
    fn run(&mut self, matches: impl Fn(char) -> bool) -> &'a str {
        self.skip();
        let end = self.rest.find(|c| !matches(c)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }

    fn pairs(
        &mut self,
        signs: [char; 2],
        part: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = part(self)?;
        loop {
            self.skip();
            let Some(sign) = self.rest.chars().next().filter(|c| signs.contains(c)) else {
                return Ok(left);
            };
            self.rest = &self.rest[1..];
            left = Expression::Pair(Box::new(left), sign, Box::new(part(self)?));
        }
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.pairs(['+', '-'], Self::product)
    }

    fn product(&mut self) -> Result<Expression, String> {
        self.pairs(['*', '/'], Self::factor)
    }

    fn number(&mut self) -> Result<f64, String> {
        self.skip();
        // `60..120`: the first point of two ends the number.
        let plain = |text: &str| text.find("..").unwrap_or(text.len());
        let head = &self.rest[..plain(self.rest)];
        let end = head
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(head.len());
        let (number, rest) = self.rest.split_at(end);
        let value = number
            .parse()
            .map_err(|_| format!("a number is missing at `{}`", self.rest))?;
        self.rest = rest;
        Ok(value)
    }

    fn factor(&mut self) -> Result<Expression, String> {
        self.skip();
        if self.take("(") {
            let sum = self.sum()?;
            self.need(")")?;
            return Ok(sum);
        }
        if self.take("-") {
            let factor = self.factor()?;
            let zero = Box::new(Expression::Number(0.0));
            return Ok(Expression::Pair(zero, '-', Box::new(factor)));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number().map(Expression::Number);
        }
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let flow = self.run(word).to_owned();
        if flow.is_empty() {
            let at = self.rest.chars().next();
            return Err(at.map_or("a value is missing at the end".to_owned(), |c| {
                format!("a value is missing before `{c}`")
            }));
        }
        self.need(".")?;
        let metric = self.run(word).to_owned();
        if metric.is_empty() {
            return Err(format!("`{flow}.` needs a metric"));
        }
        let mut between = None;
        if self.take("[") {
            let from = self.number()?;
            self.need("..")?;
            let to = self.number()?;
            self.need("]")?;
            if from >= to {
                return Err(format!("`[{from}..{to}]` is empty"));
            }
            between = Some((from, to));
        }
        Ok(Expression::Metric {
            flow,
            metric,
            between,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(flow: &str, metric: &str, between: Option<(f64, f64)>) -> Option<f64> {
        match (flow, metric, between) {
            ("a", "rate", None) => Some(3.0),
            ("a", "rate", Some((from, to))) => Some(to - from),
            ("b", "rate", None) => Some(4.0),
            ("b", "none", None) => Some(0.0),
            _ => None,
        }
    }

    fn value(text: &str) -> Option<f64> {
        Expression::parse(text).unwrap().value(&look)
    }

    #[test]
    fn arithmetic_has_its_usual_order() {
        assert_eq!(value("a.rate + 2 * b.rate"), Some(11.0));
        assert_eq!(value("(a.rate + 2) * b.rate"), Some(20.0));
        assert_eq!(value("10 - a.rate - b.rate"), Some(3.0));
        assert_eq!(value("b.rate / (a.rate+b.rate)"), Some(4.0 / 7.0));
        assert_eq!(value("-a.rate + 0.5"), Some(-2.5));
        assert_eq!(value("a.rate[60..120.5]"), Some(60.5));
    }

    #[test]
    fn what_is_not_known_or_not_finite_is_nothing() {
        assert_eq!(value("a.rate + c.rate"), None);
        assert_eq!(value("a.rate / b.none"), None);
    }

    #[test]
    fn faults_say_where() {
        let fault = |text| Expression::parse(text).unwrap_err();
        assert_eq!(fault("a.rate +"), "a value is missing at the end");
        assert_eq!(fault("(a.rate"), "`)` is missing at the end");
        assert_eq!(fault("a"), "`.` is missing at the end");
        assert_eq!(fault("a.rate b"), "`b` is left over");
        assert_eq!(fault("a.rate[5..5]"), "`[5..5]` is empty");
        assert!(fault("a.rate[..5]").contains("a number is missing"));
    }
}
