//! A time of day as people write it.

use trammel_packet::timestamp::Timestamp;

/// `Tue Jul 24 17:53:30 2001`, in UTC.
pub(crate) fn date(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_nanosecond(at.0.into());
    let at = at.expect("64 bits of nanoseconds end in 2262");
    at.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let of = |s| date(Timestamp::from_secs(s));
        assert_eq!(of(0), "Thu Jan  1 00:00:00 1970");
        assert_eq!(of(951_782_400), "Tue Feb 29 00:00:00 2000");
        assert_eq!(of(996_022_410), "Wed Jul 25 00:53:30 2001");
        assert_eq!(of(-1), "Wed Dec 31 23:59:59 1969");
    }
}
