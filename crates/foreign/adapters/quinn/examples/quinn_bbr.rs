//! quinn-proto's BBR.

quinn_adapter::export!(
    c"quinn-bbr",
    c"BBR of quinn-proto 0.11",
    quinn_proto::congestion::BbrConfig
);
