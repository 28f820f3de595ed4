//! The kernel's settings that scripts change, and what each of them is in [`Stack`].
//!
//! A name that is not in the table skips the script: what it asks for would silently not be so.

use crate::setup::Settings;
use trammel_core::time::Span;
use trammel_tcp::stack::{EcnMode, EcnOption, LossDetection, Stack};

/// What a setting changes here.
enum Effect {
    /// Nothing that a script sees; the row says why.
    None,
    /// A field of the stack.
    Number(fn(&mut Stack, u64)),
    /// Something else; an error says which values are known.
    Text(fn(&mut Settings, &str) -> Result<(), String>),
}

/// Name after `net.ipv4.`, and effect.
const TABLE: &[(&str, Effect)] = &[
    ("tcp_congestion_control", Effect::Text(congestion_control)),
    (
        "tcp_dsack",
        Effect::Number(|stack, on| stack.dsack = on != 0),
    ),
    (
        "tcp_early_retrans",
        // 0 turns tail loss probes off; 3 and 4 have them (1 and 2 were about early retransmit).
        Effect::Number(|stack, value| stack.tail_loss_probe = value >= 3),
    ),
    ("tcp_ecn", Effect::Text(ecn)),
    (
        "tcp_ecn_fallback",
        Effect::Number(|stack, on| stack.ecn_fallback = on != 0),
    ),
    ("tcp_ecn_option", Effect::Text(ecn_option)),
    // Beacons are for mode 1, and of mode 1 so many a round trip as Linux has by itself.
    ("tcp_ecn_option_beacon", Effect::None),
    // Linux ignores it since 4.15.
    ("tcp_fack", Effect::None),
    // Scripts that use fast open are skipped.
    ("tcp_fastopen", Effect::None),
    // Scripts that use fast open are skipped.
    ("tcp_fastopen_key", Effect::None),
    ("tcp_frto", Effect::Number(|stack, on| stack.frto = on != 0)),
    // Segments are compared as the bytes that they carry.
    ("tcp_min_tso_segs", Effect::None),
    // Scripts that poll are skipped.
    ("tcp_notsent_lowat", Effect::None),
    // Answers to what cannot be true are not limited.
    ("tcp_invalid_ratelimit", Effect::None),
    // Without `fq` nothing is paced.
    ("tcp_pacing_ca_ratio", Effect::None),
    // Without `fq` nothing is paced.
    ("tcp_pacing_ss_ratio", Effect::None),
    ("tcp_recovery", Effect::Text(recovery)),
    (
        "tcp_reordering",
        Effect::Number(|stack, segments| stack.reordering = segments.clamp(1, 300) as u32),
    ),
    ("tcp_rmem", Effect::Text(receive_memory)),
    (
        "tcp_rto_max_ms",
        Effect::Number(|stack, ms| stack.max_rto = Span::from_ms(ms.clamp(1000, 120_000))),
    ),
    ("tcp_sack", Effect::Number(|stack, on| stack.sack = on != 0)),
    (
        "tcp_slow_start_after_idle",
        Effect::Number(|stack, on| stack.slow_start_after_idle = on != 0),
    ),
    // A SYN is given up after six repetitions, as it is anyway.
    ("tcp_synack_retries", Effect::None),
    // No queue of half-open connections overflows.
    ("tcp_syncookies", Effect::None),
    (
        "tcp_syn_linear_timeouts",
        Effect::Number(|stack, count| stack.syn_linear_timeouts = count.min(255) as u32),
    ),
    // A SYN is given up after six repetitions, as it is anyway.
    ("tcp_syn_retries", Effect::None),
    (
        "tcp_timestamps",
        Effect::Number(|stack, on| stack.timestamps = on != 0),
    ),
    // Segments are compared as the bytes that they carry.
    ("tcp_tso_win_divisor", Effect::None),
    (
        "tcp_window_scaling",
        Effect::Number(|stack, on| stack.window_scaling = on != 0),
    ),
    ("tcp_wmem", Effect::Text(send_memory)),
];

/// Sets `name` to `value`; an error says why that cannot be.
pub(crate) fn set(settings: &mut Settings, name: &str, value: &str) -> Result<(), String> {
    let name = name.replace('/', ".");
    let unknown = || format!("the sysctl `{name}`");
    let short = name.strip_prefix("net.ipv4.").ok_or_else(unknown)?;
    let (_, effect) = TABLE
        .iter()
        .find(|(known, _)| *known == short)
        .ok_or_else(unknown)?;
    let of_value = |what: String| format!("`{name}={value}`{what}");
    match effect {
        Effect::None => Ok(()),
        Effect::Number(set) => {
            let value = value
                .trim()
                .parse()
                .map_err(|_| of_value(", which is no number".into()))?;
            set(&mut settings.stack, value);
            Ok(())
        }
        Effect::Text(set) => set(settings, value.trim()).map_err(of_value),
    }
}

fn congestion_control(settings: &mut Settings, name: &str) -> Result<(), String> {
    settings.congestion_control = trammel_tcp::cc::find(name)
        .ok_or_else(|| ", which is no variant here".to_owned())?
        .about
        .name;
    Ok(())
}

/// 0: never; 1: asked for and granted; 2: granted; 3: accurate ECN is asked for and granted; 4:
/// granted, classic ECN asked for; 5: granted.
fn ecn(settings: &mut Settings, value: &str) -> Result<(), String> {
    (settings.asks_for_ecn, settings.grants_ecn) = match value {
        "0" => (EcnMode::Off, EcnMode::Off),
        "1" => (EcnMode::Classic, EcnMode::Classic),
        "2" => (EcnMode::Off, EcnMode::Classic),
        "3" => (EcnMode::Accurate, EcnMode::Accurate),
        "4" => (EcnMode::Classic, EcnMode::Accurate),
        "5" => (EcnMode::Off, EcnMode::Accurate),
        _ => return Err(", which is no mode of ECN".to_owned()),
    };
    Ok(())
}

/// 0: never; 1: where the field ACE does not suffice; 2: wherever there is room; 3: as 2, even
/// where it seems to be dropped.
fn ecn_option(settings: &mut Settings, value: &str) -> Result<(), String> {
    settings.stack.ecn_option = match value {
        "0" => EcnOption::Never,
        "1" => EcnOption::Minimum,
        "2" => EcnOption::Full,
        _ => return Err(": a mode of the AccECN option that is not modelled".to_owned()),
    };
    Ok(())
}

/// Bit 0 is RACK; the others vary its reordering window.
fn recovery(settings: &mut Settings, value: &str) -> Result<(), String> {
    settings.stack.detection = match value {
        "0" => LossDetection::DupThresh,
        "1" => LossDetection::Rack,
        _ => return Err(": a reordering window of RACK's that is not modelled".to_owned()),
    };
    Ok(())
}

/// The least, the first and the largest size of a buffer.
fn memory(value: &str) -> Result<[u64; 3], String> {
    let sizes = value.split_whitespace().map(str::parse::<u64>);
    let sizes = sizes.collect::<Result<Vec<_>, _>>().unwrap_or_default();
    sizes
        .try_into()
        .map_err(|_| ", which is not three numbers".to_owned())
}

fn receive_memory(settings: &mut Settings, value: &str) -> Result<(), String> {
    let [_, first, largest] = memory(value)?;
    if !(4096..=1 << 30).contains(&first) || !(first..=1 << 30).contains(&largest) {
        return Err(", which are no sizes between 4 KiB and 1 GiB that rise".to_owned());
    }
    settings.stack.receive_buffer = first;
    settings.stack.max_receive_buffer = largest;
    Ok(())
}

fn send_memory(settings: &mut Settings, value: &str) -> Result<(), String> {
    let [_, first, largest] = memory(value)?;
    settings.send_buffer = (first, largest);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_changes_the_stack() {
        let mut settings = Settings::default();
        let mut set = |name: &str, value: &str| set(&mut settings, name, value);
        set("net.ipv4.tcp_timestamps", "0").unwrap();
        set("net/ipv4/tcp_ecn", "2").unwrap();
        set("net.ipv4.tcp_rmem", "4096 540000 15728640").unwrap();
        for (name, value, why) in [
            ("net.ipv4.tcp_dance", "1", "the sysctl `net.ipv4.tcp_dance`"),
            ("net.core.somaxconn", "1", "the sysctl `net.core.somaxconn`"),
            (
                "net.ipv4.tcp_sack",
                "on",
                "`net.ipv4.tcp_sack=on`, which is no number",
            ),
            (
                "net.ipv4.tcp_ecn",
                "6",
                "`net.ipv4.tcp_ecn=6`, which is no mode of ECN",
            ),
        ] {
            assert_eq!(set(name, value), Err(why.to_owned()));
        }
        assert!(!settings.stack.timestamps);
        let ecn = |settings: &Settings| (settings.asks_for_ecn, settings.grants_ecn);
        assert_eq!(ecn(&settings), (EcnMode::Off, EcnMode::Classic));
        super::set(&mut settings, "net.ipv4.tcp_ecn", "4").unwrap();
        assert_eq!(ecn(&settings), (EcnMode::Classic, EcnMode::Accurate));
        assert_eq!(settings.stack.receive_buffer, 540_000);
    }
}
