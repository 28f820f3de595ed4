//! The tokens of a Rust source: without comments, texts and whatever is compiled for tests only.

/// The tokens of `text`: names, `::`, and every other sign by itself.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut i) = (Vec::new(), 0);
    while i < chars.len() {
        match (at(i), at(i + 1)) {
            ('/', '/') => i = after_line(&chars, i),
            ('/', '*') => i = after_comment(&chars, i),
            ('"', _) => i = after_text(&chars, i),
            ('r', '"' | '#') if raw_hashes(&chars, i + 1).is_some() => i = after_raw(&chars, i + 1),
            ('b', '"') => i = after_text(&chars, i + 1),
            ('\'', '\\') => i += 3 + until(&chars, i + 3, '\''),
            ('\'', _) if at(i + 2) == '\'' => i += 3,
            (':', ':') => {
                found.push("::".to_owned());
                i += 2;
            }
            (c, _) if is_name(c) => {
                let length = chars[i..].iter().take_while(|c| is_name(**c)).count();
                found.push(chars[i..i + length].iter().collect());
                i += length;
            }
            (c, _) => {
                if !c.is_whitespace() {
                    found.push(c.to_string());
                }
                i += 1;
            }
        }
    }
    found
}

/// From `from`, how far it is to behind the next `end`.
fn until(chars: &[char], from: usize, end: char) -> usize {
    let rest = &chars[from.min(chars.len())..];
    rest.iter()
        .position(|c| *c == end)
        .map_or(rest.len(), |at| at + 1)
}

fn after_line(chars: &[char], from: usize) -> usize {
    from + until(chars, from, '\n')
}

fn after_comment(chars: &[char], from: usize) -> usize {
    let (mut depth, mut i) = (1, from + 2);
    while i < chars.len() && depth > 0 {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
    }
    i
}

/// Behind the text whose quote is at `from`.
fn after_text(chars: &[char], from: usize) -> usize {
    let mut i = from + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// The hashes of a raw text that begins at `from`, behind its `r`.
fn raw_hashes(chars: &[char], from: usize) -> Option<usize> {
    let hashes = chars[from..].iter().take_while(|c| **c == '#').count();
    (chars.get(from + hashes) == Some(&'"')).then_some(hashes)
}

fn after_raw(chars: &[char], from: usize) -> usize {
    let hashes = raw_hashes(chars, from).unwrap_or(0);
    let mut i = from + hashes + 1;
    let ends = |i: usize| {
        chars[i] == '"' && chars[i + 1..].iter().take_while(|c| **c == '#').count() >= hashes
    };
    while i < chars.len() && !ends(i) {
        i += 1;
    }
    i + 1 + hashes
}

/// `tokens` without the items under `#[cfg(test)]`, and the names of the modules among these.
pub(crate) fn without_tests(tokens: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut kept, mut modules, mut i) = (Vec::new(), Vec::new(), 0);
    while i < tokens.len() {
        if !is_cfg_test(&tokens[i..]) {
            kept.push(tokens[i].clone());
            i += 1;
            continue;
        }
        while is(tokens, i, "#") {
            i = after_brackets(tokens, i + 1);
        }
        let end = after_item(tokens, i);
        let item = &tokens[i..end];
        if let Some(at) = item.iter().position(|token| token == "mod") {
            modules.extend(item.get(at + 1).cloned());
        }
        i = end;
    }
    (kept, modules)
}

fn is(tokens: &[String], at: usize, token: &str) -> bool {
    tokens.get(at).is_some_and(|found| found == token)
}

fn is_cfg_test(tokens: &[String]) -> bool {
    let starts = |with: &[&str]| with.iter().enumerate().all(|(at, one)| is(tokens, at, one));
    starts(&["#", "[", "cfg", "(", "test", ")"])
        || starts(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// Behind the bracket that closes the one at `from`.
fn after_brackets(tokens: &[String], from: usize) -> usize {
    let (mut depth, mut i) = (0, from);
    while i < tokens.len() {
        match tokens[i].as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        i += 1;
        if depth == 0 {
            break;
        }
    }
    i
}

/// Behind the item that begins at `from`: a semicolon, or a body in braces.
fn after_item(tokens: &[String], from: usize) -> usize {
    let is_use = tokens[from..].iter().take(5).any(|token| token == "use");
    let mut i = from;
    while i < tokens.len() {
        match tokens[i].as_str() {
            ";" => return i + 1,
            "{" if !is_use => return after_brackets(tokens, i),
            "(" | "[" | "{" => i = after_brackets(tokens, i),
            _ => i += 1,
        }
    }
    i
}
