//! A time of day as people write it.

use trammel_packet::timestamp::Timestamp;

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
/// Days of 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// `Tue Jul 24 17:53:30 2001`, in UTC.
pub(crate) fn date(at: Timestamp) -> String {
    let (days, second) = (at.secs().div_euclid(86_400), at.secs().rem_euclid(86_400));
    let (mut year, mut day) = (
        1970 + days.div_euclid(ERA_DAYS) * 400,
        days.rem_euclid(ERA_DAYS),
    );
    while day >= 365 + i64::from(is_leap(year)) {
        day -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let mut month = 0;
    loop {
        let length = match month {
            1 => 28 + i64::from(is_leap(year)),
            3 | 5 | 8 | 10 => 30,
            _ => 31,
        };
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!(
        "{} {} {:2} {:02}:{:02}:{:02} {year}",
        DAYS[days.rem_euclid(7) as usize],
        MONTHS[month],
        day + 1,
        second / 3600,
        second / 60 % 60,
        second % 60
    )
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
