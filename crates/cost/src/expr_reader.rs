//! Reading formulas, and the calls of operations that have formulas as arguments.

use crate::expr::Expr;

/// Formulas nest no deeper.
const DEPTH: u32 = 64;

/// Reads from the start of a text.
pub(crate) struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(rest: &'a str) -> Reader<'a> {
        Reader { rest, depth: 0 }
    }

    fn take(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start();
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn take_while(&mut self, is_wanted: impl Fn(char) -> bool) -> &'a str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !is_wanted(c));
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.take(wanted) {
            return Ok(());
        }
        Err(format!("`{wanted}` is missing before `{}`", self.rest))
    }

    /// Nothing may be left.
    pub(crate) fn end(&mut self) -> Result<(), String> {
        match self.rest.trim() {
            "" => Ok(()),
            rest => Err(format!("`{rest}` is left over")),
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        let text = self.take_while(|c| c.is_ascii_digit() || c == '.' || c == '_');
        let number = text.replace('_', "").parse();
        number.map_err(|_| format!("a number is missing before `{}`", self.rest))
    }

    /// `factor *` before the name of an operation, or nothing, which is once.
    pub(crate) fn times(&mut self) -> Result<Expr, String> {
        let before = self.rest;
        if self.take('(')
            || self
                .rest
                .trim_start()
                .starts_with(|c: char| c.is_ascii_digit())
        {
            self.rest = before;
            let times = self.unsigned()?;
            self.expect('*')?;
            return Ok(times);
        }
        let name = self.take_while(|c| c.is_alphanumeric() || c == '_');
        if !name.is_empty() && self.take('*') {
            return Ok(Expr::name(name));
        }
        self.rest = before;
        Ok(Expr::Number(1.0))
    }

    /// `by number`, or nothing, which is 1.
    pub(crate) fn by(&mut self) -> Result<f64, String> {
        match self.take_while(char::is_alphabetic) {
            "" => Ok(1.0),
            "by" => self.number(),
            other => Err(format!("`{other}` is left over")),
        }
    }

    /// `name(sum, sum, …)`.
    pub(crate) fn call(&mut self) -> Result<(&'a str, Vec<Expr>), String> {
        let name = self.take_while(|c| c.is_alphanumeric() || c == '_');
        if name.is_empty() {
            return Err(format!(
                "the name of an operation is missing before `{}`",
                self.rest
            ));
        }
        self.expect('(')?;
        let mut args = Vec::new();
        if self.take(')') {
            return Ok((name, args));
        }
        loop {
            args.push(self.sum()?);
            if self.take(')') {
                return Ok((name, args));
            }
            self.expect(',')?;
        }
    }

    pub(crate) fn sum(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("more than {DEPTH} nested brackets"));
        }
        let mut sum = self.product()?;
        loop {
            if self.take('+') {
                sum = sum + self.product()?;
            } else if self.take('-') {
                sum = sum + self.product()? * -1.0;
            } else {
                self.depth -= 1;
                return Ok(sum);
            }
        }
    }

    fn product(&mut self) -> Result<Expr, String> {
        let mut product = self.factor()?;
        loop {
            if self.take('*') {
                product = product * self.factor()?;
            } else if self.take('/') {
                match self.factor()?.number() {
                    Some(by) if by != 0.0 => product = product * (1.0 / by),
                    _ => {
                        return Err("it divides by a constant 0".to_owned());
                    }
                }
            } else {
                return Ok(product);
            }
        }
    }

    fn factor(&mut self) -> Result<Expr, String> {
        let mut sign = 1.0;
        while self.take('-') {
            sign = -sign;
        }
        Ok(self.unsigned()? * sign)
    }

    fn unsigned(&mut self) -> Result<Expr, String> {
        if self.take('(') {
            let sum = self.sum()?;
            self.expect(')')?;
            return Ok(sum);
        }
        let text = self.take_while(|c| c.is_ascii_digit() || c == '.' || c == '_');
        if !text.is_empty() {
            let number: f64 = text
                .replace('_', "")
                .parse()
                .map_err(|_| format!("`{text}` is no number"))?;
            let scales = [('K', 1024.0), ('M', 1048576.0), ('G', 1073741824.0)];
            let scale = scales.into_iter().find(|(letter, _)| self.take(*letter));
            return Ok(Expr::Number(number * scale.map_or(1.0, |(_, by)| by)));
        }
        match self.take_while(|c| c.is_alphanumeric() || c == '_') {
            "" => Err(format!(
                "a number or a name is missing before `{}`",
                self.rest
            )),
            "ceil" => {
                self.expect('(')?;
                let sum = self.sum()?;
                self.expect(')')?;
                Ok(sum.ceil())
            }
            name => Ok(Expr::name(name)),
        }
    }
}
