//! Makes the table of path presets.

fn main() {
    trammel_plugins::generate();
}
