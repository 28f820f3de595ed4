//! The `trammel` command.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    trammel::cli::main()
}
