//! Makes the table of distributions.

fn main() {
    trammel_plugins::generate();
}
