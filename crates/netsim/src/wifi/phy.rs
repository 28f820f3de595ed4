//! The OFDM physical layer of 802.11g: rates, times on the air and frame errors.
//!
//! A frame of L bytes takes 20 µs of preamble and SIGNAL field, ⌈(16 + 6 + 8 L) / N_DBPS⌉ symbols
//! of 4 µs, and 6 µs of signal extension.
//!
//! Frame errors follow from the signal-to-noise ratio in three steps: the bit error rate p of the
//! constellation in white noise with Gray mapping (nearest neighbours only); the probability Pᵤ
//! that a hard-decision Viterbi decoder leaves the right path at a given bit, bounded from above by
//! the union over the first ten distances of the code's spectrum, Σ a_d P_d(p); and independence
//! over the frame's bits, PER = 1 − (1 − Pᵤ)^bits. With noise at −95 dBm, 10 % of 1500-byte frames
//! are lost at about −92 dBm for 6 Mbit/s and −73 dBm for 54 Mbit/s, where the data sheets of good
//! receivers have it.
//!
//! Sources: IEEE 802.11-2016, §17 and §18; Proakis, "Digital Communications", 4th ed., §5.2 and
//! §8.2; spectra of the punctured codes: Haccoun and Bégin 1989.

use statrs::function::erf::erfc;
use trammel_core::time::Span;
use trammel_core::units::Rate;

/// Power of thermal noise in 20 MHz at 290 K, −101 dBm, and a noise figure of 6 dB.
pub const NOISE_DBM: f64 = -95.0;
/// Preamble and SIGNAL field.
const PREAMBLE: Span = Span::from_us(20);
const SYMBOL: Span = Span::from_us(4);
/// Silence in which receivers of 2.4 GHz finish decoding.
const SIGNAL_EXTENSION: Span = Span::from_us(6);
/// SERVICE field before and tail after the frame, bits.
const FIELD_BITS: u64 = 16 + 6;

/// How many bits a subcarrier carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Modulation {
    Bpsk,
    Qpsk,
    Qam16,
    Qam64,
}

/// A convolutional code of constraint length 7, by its spectrum.
#[derive(Debug, PartialEq)]
struct Code {
    free_distance: u32,
    /// Paths at the free distance and at the nine distances above it.
    paths: [f64; 10],
}

static HALF: Code = Code {
    free_distance: 10,
    paths: [11.0, 0.0, 38.0, 0.0, 193.0, 0.0, 1331.0, 0.0, 7275.0, 0.0],
};
static TWO_THIRDS: Code = Code {
    free_distance: 6,
    paths: [
        1.0, 16.0, 48.0, 158.0, 642.0, 2435.0, 9174.0, 34705.0, 131585.0, 499608.0,
    ],
};
static THREE_QUARTERS: Code = Code {
    free_distance: 5,
    paths: [
        8.0, 31.0, 160.0, 892.0, 4512.0, 23307.0, 121077.0, 625059.0, 3234886.0, 16753077.0,
    ],
};

/// One of the eight rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfdmRate {
    mbps: u32,
    bits_per_symbol: u64,
    modulation: Modulation,
    code: &'static Code,
}

/// The eight rates, slowest first.
pub static RATES: [OfdmRate; 8] = [
    OfdmRate {
        mbps: 6,
        bits_per_symbol: 24,
        modulation: Modulation::Bpsk,
        code: &HALF,
    },
    OfdmRate {
        mbps: 9,
        bits_per_symbol: 36,
        modulation: Modulation::Bpsk,
        code: &THREE_QUARTERS,
    },
    OfdmRate {
        mbps: 12,
        bits_per_symbol: 48,
        modulation: Modulation::Qpsk,
        code: &HALF,
    },
    OfdmRate {
        mbps: 18,
        bits_per_symbol: 72,
        modulation: Modulation::Qpsk,
        code: &THREE_QUARTERS,
    },
    OfdmRate {
        mbps: 24,
        bits_per_symbol: 96,
        modulation: Modulation::Qam16,
        code: &HALF,
    },
    OfdmRate {
        mbps: 36,
        bits_per_symbol: 144,
        modulation: Modulation::Qam16,
        code: &THREE_QUARTERS,
    },
    OfdmRate {
        mbps: 48,
        bits_per_symbol: 192,
        modulation: Modulation::Qam64,
        code: &TWO_THIRDS,
    },
    OfdmRate {
        mbps: 54,
        bits_per_symbol: 216,
        modulation: Modulation::Qam64,
        code: &THREE_QUARTERS,
    },
];

impl OfdmRate {
    /// The rate of `mbps` Mbit/s, if there is one.
    pub fn of_mbps(mbps: u32) -> Option<OfdmRate> {
        RATES.iter().find(|rate| rate.mbps == mbps).copied()
    }

    /// The fastest rate that loses at most `max_per` of frames of `bytes` bytes; else the slowest.
    pub fn best(snr_db: f64, bytes: u32, max_per: f64) -> OfdmRate {
        let good = RATES
            .iter()
            .rev()
            .find(|rate| rate.frame_error_rate(snr_db, bytes) <= max_per);
        *good.unwrap_or(&RATES[0])
    }

    /// Its bit rate.
    pub fn rate(&self) -> Rate {
        Rate::from_bps(u64::from(self.mbps) * 1_000_000)
    }

    /// The rate of control frames that answer this one: the fastest mandatory rate not above it.
    pub fn control(&self) -> OfdmRate {
        RATES[match self.mbps {
            24.. => 4,
            12.. => 2,
            _ => 0,
        }]
    }

    /// Time on the air of a frame of `bytes` bytes, MAC header and FCS included.
    pub(crate) fn airtime(&self, bytes: u32) -> Span {
        let symbols = (FIELD_BITS + 8 * u64::from(bytes)).div_ceil(self.bits_per_symbol);
        PREAMBLE + SYMBOL * symbols + SIGNAL_EXTENSION
    }

    /// Bit error rate before decoding, at a linear signal-to-noise ratio.
    fn raw_error_rate(&self, snr: f64) -> f64 {
        match self.modulation {
            Modulation::Bpsk => 0.5 * erfc(snr.sqrt()),
            Modulation::Qpsk => 0.5 * erfc((snr / 2.0).sqrt()),
            Modulation::Qam16 => 3.0 / 8.0 * erfc((snr / 10.0).sqrt()),
            Modulation::Qam64 => 7.0 / 24.0 * erfc((snr / 42.0).sqrt()),
        }
    }

    /// Probability that decoding goes wrong at a given bit.
    pub(crate) fn bit_failure_rate(&self, snr_db: f64) -> f64 {
        let p = self.raw_error_rate(10_f64.powf(snr_db / 10.0));
        let union: f64 = (self.code.free_distance..)
            .zip(self.code.paths)
            .map(|(distance, paths)| paths * wrong_path(distance, p))
            .sum();
        union.min(1.0)
    }

    /// Probability that a frame of `bytes` bytes is lost.
    pub fn frame_error_rate(&self, snr_db: f64, bytes: u32) -> f64 {
        let bits = FIELD_BITS + 8 * u64::from(bytes);
        1.0 - ((-self.bit_failure_rate(snr_db)).ln_1p() * bits as f64).exp()
    }
}

/// Probability that a path at Hamming distance `distance` is preferred where bits are wrong with
/// `p`.
fn wrong_path(distance: u32, p: f64) -> f64 {
    let mut choose = 1.0;
    let mut sum = 0.0;
    for wrong in 0..=distance {
        let weight = match (2 * wrong).cmp(&distance) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 1.0,
        };
        sum += weight * choose * p.powi(wrong as i32) * (1.0 - p).powi((distance - wrong) as i32);
        choose *= f64::from(distance - wrong) / f64::from(wrong + 1);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_on_the_air_are_those_of_the_standard() {
        let fast = OfdmRate::of_mbps(54).unwrap();
        // 1500 bytes, 8 of LLC and SNAP, 28 of MAC header and FCS: 57 symbols.
        assert_eq!(fast.airtime(1536), Span::from_us(20 + 57 * 4 + 6));
        assert_eq!(fast.control().airtime(14), Span::from_us(34));
        assert_eq!(
            OfdmRate::of_mbps(6).unwrap().airtime(14),
            Span::from_us(20 + 6 * 4 + 6)
        );
        assert_eq!(OfdmRate::of_mbps(18).unwrap().control().mbps, 12);
        assert_eq!(OfdmRate::of_mbps(11), None);
    }

    #[test]
    fn errors_fall_with_power_and_rise_with_rate_and_length() {
        for pair in RATES.windows(2) {
            for snr in 0..30 {
                let snr = f64::from(snr);
                let per = |rate: &OfdmRate, bytes| rate.frame_error_rate(snr, bytes);
                assert!(per(&pair[0], 1536) >= pair[0].frame_error_rate(snr + 1.0, 1536));
                assert!(per(&pair[0], 1536) >= per(&pair[0], 100));
                assert!((0.0..=1.0).contains(&per(&pair[0], 1536)));
            }
        }
        // 9 Mbit/s needs more power than 12 on white noise, which is known; all others are in
        // order.
        for (slow, fast) in [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)] {
            for snr in 2..26 {
                let per = |rate: usize| RATES[rate].frame_error_rate(f64::from(snr), 1536);
                assert!(per(slow) <= per(fast) + 1e-12, "{slow} {fast} at {snr} dB");
            }
        }
    }

    #[test]
    fn sensitivities_are_those_of_good_receivers() {
        // Power at which 10 % of the frames are lost, dBm.
        let sensitivity = |mbps| {
            let rate = OfdmRate::of_mbps(mbps).unwrap();
            let found = (-1000..-600)
                .map(|tenths| f64::from(tenths) / 10.0)
                .find(|dbm| rate.frame_error_rate(dbm - NOISE_DBM, 1536) < 0.1);
            found.unwrap()
        };
        for (mbps, low, high) in [(6, -94.0, -90.0), (24, -86.0, -81.0), (54, -76.0, -72.0)] {
            let dbm = sensitivity(mbps);
            assert!((low..=high).contains(&dbm), "{mbps} Mbit/s: {dbm} dBm");
        }
    }

    #[test]
    fn at_minus_76_dbm_36_mbps_is_clean_and_faster_rates_are_not_to_be_had() {
        let per = |mbps| {
            OfdmRate::of_mbps(mbps)
                .unwrap()
                .frame_error_rate(-76.0 - NOISE_DBM, 1536)
        };
        assert!(per(36) < 1e-3, "{}", per(36));
        assert!(per(48) > 0.8, "{}", per(48));
        assert!(per(54) > 0.8, "{}", per(54));
        assert_eq!(OfdmRate::best(-76.0 - NOISE_DBM, 1536, 0.1).mbps, 36);
        assert_eq!(OfdmRate::best(-60.0 - NOISE_DBM, 1536, 0.1).mbps, 54);
        assert_eq!(OfdmRate::best(-120.0 - NOISE_DBM, 1536, 0.1).mbps, 6);
    }
}
