//! The names that assertions know: fields of `tcp_info` and its constants.

use trammel_core::time::Time;
use trammel_tcp::cc::CaState;
use trammel_tcp::connection::{Connection, Info, State};
use trammel_tcp::segment::Ecn;

/// A field: its name after `tcpi_`, and its value.
type Field = (&'static str, fn(&Connection, &Info) -> u64);

/// The fields that have a meaning here. Times are in the units of `tcp_info`: those since something
/// happened in ms, all others in µs.
const FIELDS: &[Field] = &[
    ("advmss", |_, info| info.advmss.into()),
    ("backoff", |_, info| info.backoff.into()),
    ("bytes_received", |it, _| it.counters().bytes_delivered),
    ("ca_state", |it, _| ca_state(it.tp().ca_state)),
    ("delivered", |it, _| it.tp().delivered),
    ("delivered_ce", |it, _| it.tp().delivered_ce),
    ("delivered_ce_bytes", |it, _| bytes(it, Ecn::Ce)),
    ("delivered_e0_bytes", |it, _| bytes(it, Ecn::Ect0)),
    ("delivered_e1_bytes", |it, _| bytes(it, Ecn::Ect1)),
    ("delivery_rate", |it, _| it.delivery_rate()),
    ("last_data_recv", |_, info| info.last_data_recv.as_ms()),
    ("last_data_sent", |_, info| info.last_data_sent.as_ms()),
    ("lost", |it, _| it.tp().lost_out.into()),
    ("min_rtt", |it, _| it.tp().min_rtt_us.into()),
    ("notsent_bytes", |it, _| it.unsent()),
    ("options", options),
    ("pacing_rate", |it, _| it.pacing_rate()),
    ("probes", |_, info| info.probes.into()),
    ("rcv_mss", |_, info| info.rcv_mss.into()),
    ("rcv_wscale", |_, info| info.wscale.1.into()),
    ("reordering", |_, info| info.reordering.into()),
    ("retrans", |it, _| it.tp().retrans_out.into()),
    ("retransmits", |_, info| info.retransmits.into()),
    ("rto", |it, _| it.rto().as_us()),
    ("rtt", |it, _| (it.tp().srtt_us >> 3).into()),
    ("rttvar", |it, _| (it.tp().mdev_us >> 2).into()),
    ("sacked", |it, _| it.tp().sacked_out.into()),
    ("snd_cwnd", |it, _| it.tp().snd_cwnd.into()),
    ("snd_mss", |it, _| it.tp().mss.into()),
    ("snd_ssthresh", |it, _| it.tp().snd_ssthresh.into()),
    ("snd_wnd", |it, _| it.peer_window().into()),
    ("snd_wscale", |_, info| info.wscale.0.into()),
    ("state", |it, _| state(it.state())),
    ("total_retrans", |it, _| it.counters().retransmissions),
    ("unacked", |it, _| it.tp().packets_out.into()),
];

/// Constants by Linux's names and with its values.
const CONSTANTS: &[(&str, i64)] = &[
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
];

/// The value of `name` for a connection; nothing where it is not known or there is no connection
/// yet.
pub(super) fn value(name: &str, connection: Option<&Connection>, now: Time) -> Option<i64> {
    if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
        return Some(*value);
    }
    let field = name.strip_prefix("tcpi_")?;
    let (_, read) = FIELDS.iter().find(|(known, _)| *known == field)?;
    let connection = connection?;
    let value = read(connection, &connection.info(now));
    Some(i64::try_from(value).unwrap_or(i64::MAX))
}

/// Payload that the peer reported by its ECN field.
fn bytes(connection: &Connection, field: Ecn) -> u64 {
    connection.bytes_reported(field).into()
}

fn ca_state(state: CaState) -> u64 {
    match state {
        CaState::Open => 0,
        CaState::Disorder => 1,
        CaState::Cwr => 2,
        CaState::Recovery => 3,
        CaState::Loss => 4,
    }
}

fn state(state: State) -> u64 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}

fn options(connection: &Connection, info: &Info) -> u64 {
    let bits = [
        (info.timestamps, 1),
        (info.sack, 2),
        (info.wscale != (0, 0), 4),
        (connection.tp().ecn_ok, 8),
    ];
    bits.iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, bit)| bit)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_agree_with_the_fields_that_they_are_compared_with() {
        let constant = |name| value(name, None, Time::ZERO);
        for (name, is) in [
            ("TCP_CA_Disorder", ca_state(CaState::Disorder)),
            ("TCP_CA_CWR", ca_state(CaState::Cwr)),
            ("TCP_CA_Recovery", ca_state(CaState::Recovery)),
            ("TCP_CA_Loss", ca_state(CaState::Loss)),
            ("TCP_ESTABLISHED", state(State::Established)),
            ("TCP_CLOSE", state(State::Closed)),
            ("TCP_CLOSING", state(State::Closing)),
        ] {
            assert_eq!(constant(name), Some(is as i64), "{name}");
        }
        assert_eq!(value("tcpi_snd_cwnd", None, Time::ZERO), None);
    }
}
