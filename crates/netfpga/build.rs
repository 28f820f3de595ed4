//! Makes the table of designs.

fn main() {
    trammel_plugins::generate();
}
