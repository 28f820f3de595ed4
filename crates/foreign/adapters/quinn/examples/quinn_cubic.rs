//! quinn-proto's CUBIC.

quinn_adapter::export!(
    c"quinn-cubic",
    c"CUBIC of quinn-proto 0.11",
    quinn_proto::congestion::CubicConfig
);
