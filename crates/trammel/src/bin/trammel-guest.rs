//! The first process of the guests in which the Linux kernel's TCP is measured: see
//! `trammel_kernel::guest`.

fn main() -> std::process::ExitCode {
    trammel_kernel::guest::main()
}
