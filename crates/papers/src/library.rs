//! Finds a paper by its key, or by the path of its folder, and reads it.

use super::spec::Spec;
use super::{Paper, expected};
use anyhow::{Context, anyhow};
use std::path::Path;
use trammel_core::units::nearest;
use trammel_library::folders;

/// The paper called `key`, which may also be the path of a paper's folder.
pub fn find(key: &str) -> anyhow::Result<Paper> {
    let folders = folders();
    if let Some(dir) = folders.get(key) {
        return read(key, dir);
    }
    let dir = Path::new(key);
    if dir.join("paper.toml").is_file() {
        let name = dir.file_name().unwrap_or(dir.as_os_str());
        return read(&name.to_string_lossy(), dir);
    }
    let names = folders.keys().map(String::as_str);
    Err(match nearest(key, names.clone()) {
        Some(name) => anyhow!("there is no paper `{key}`; did you mean `{name}`?"),
        None => anyhow!("there is no paper `{key}`; there are {}", listed(names)),
    })
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// Reads the paper in `dir`.
pub fn read(key: &str, dir: &Path) -> anyhow::Result<Paper> {
    let text = |name: &str| {
        let path = dir.join(name);
        let text = std::fs::read_to_string(&path);
        text.with_context(|| format!("`{}` cannot be read", path.display()))
            .map(|text| (path, text))
    };
    let (path, toml) = text("paper.toml")?;
    let spec = Spec::parse(&path.display().to_string(), &toml)
        .map_err(|problems| anyhow::Error::new(trammel_scenario::ReadError::Faults(problems)))?;
    let expected = if dir.join("expected.csv").is_file() {
        let (path, csv) = text("expected.csv")?;
        expected::parse(&path.display().to_string(), &csv).map_err(|faults| {
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            anyhow!(faults.join("\n"))
        })?
    } else {
        Vec::new()
    };
    Ok(Paper {
        key: key.to_owned(),
        dir: dir.to_owned(),
        spec,
        expected,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_paper_of_the_source_reads_clean() {
        let folders = folders();
        assert!(folders.contains_key("tekala-2007") && folders.contains_key("callegari-2012"));
        for (key, dir) in &folders {
            read(key, dir).unwrap_or_else(|error| panic!("{key}: {error:#}"));
        }
    }

    #[test]
    fn a_misspelt_key_has_a_suggestion() {
        let error = find("tekala-2008").unwrap_err().to_string();
        assert!(error.contains("did you mean `tekala-2007`?"), "{error}");
    }
}
