//! Makes the table of applications.

fn main() {
    trammel_plugins::generate();
}
