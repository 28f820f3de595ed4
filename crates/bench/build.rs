//! Makes the table of procedures.

fn main() {
    trammel_plugins::generate();
}
