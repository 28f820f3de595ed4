//! Makes the table of elements.

fn main() {
    trammel_plugins::generate();
}
