//! The names of a configuration's elements, found without looking at all of them.

/// The names of all elements, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementNames {
    names: Vec<String>,
    /// The places of the names, in the order of the names.
    sorted: Vec<u32>,
}

impl ElementNames {
    /// These names.
    pub fn new(names: Vec<String>) -> ElementNames {
        let mut sorted: Vec<u32> = (0..names.len() as u32).collect();
        sorted.sort_by(|a, b| names[*a as usize].cmp(&names[*b as usize]));
        ElementNames { names, sorted }
    }

    /// The name of the element at `place`.
    pub fn get(&self, place: usize) -> &str {
        &self.names[place]
    }

    /// The place of the element called `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        let at = self.first_from(name);
        let place = *self.sorted.get(at)? as usize;
        (self.names[place] == name).then_some(place)
    }

    /// The places of the elements whose names begin with `prefix`, in their order.
    pub fn beginning_with(&self, prefix: &str) -> Vec<usize> {
        let from = self.sorted[self.first_from(prefix)..].iter();
        let places = from.map(|place| *place as usize);
        let mut found: Vec<usize> = places
            .take_while(|place| self.names[*place].starts_with(prefix))
            .collect();
        found.sort_unstable();
        found
    }

    /// Where names begin that are not before `name`.
    fn first_from(&self, name: &str) -> usize {
        self.sorted
            .partition_point(|place| self.names[*place as usize].as_str() < name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_prefixes_are_found() {
        let names = ["b", "a/x", "a", "a/b/y", "ab"].map(String::from);
        let names = ElementNames::new(names.to_vec());
        assert_eq!(names.find("a"), Some(2));
        assert_eq!(names.find("ab"), Some(4));
        assert_eq!(names.find("c"), None);
        assert_eq!(names.find(""), None);
        assert_eq!(names.beginning_with("a/"), [1, 3]);
        assert_eq!(names.get(3), "a/b/y");
        assert_eq!(ElementNames::default().find("a"), None);
    }
}
