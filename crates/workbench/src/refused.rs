//! An error of the input and output crate as the router's refusal of a device.

use trammel_io::error::Error;
use trammel_router::host::Refusal;

/// What one of the input and output crate's errors comes to.
pub fn refusal(error: &Error) -> Refusal {
    Refusal {
        text: error.to_string(),
        mend: error.mend(),
        is_lack: error.is_lack(),
    }
}
