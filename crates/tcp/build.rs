//! Makes the tables of congestion controls and of models.

fn main() {
    trammel_plugins::generate();
}
