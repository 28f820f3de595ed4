//! quinn-proto's NewReno.

quinn_adapter::export!(
    c"quinn-new-reno",
    c"NewReno of quinn-proto 0.11",
    quinn_proto::congestion::NewRenoConfig
);
