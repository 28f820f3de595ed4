//! The first process of a guest, for this crate's own tests; users have it as `trammel-guest`.

fn main() -> std::process::ExitCode {
    trammel_kernel::guest::main()
}
