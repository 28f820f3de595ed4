//! Makes the tables of queue disciplines and of loss models.

fn main() {
    trammel_plugins::generate();
}
