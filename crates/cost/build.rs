//! Makes the tables of elementary operations and of machines.

fn main() {
    trammel_plugins::generate();
}
