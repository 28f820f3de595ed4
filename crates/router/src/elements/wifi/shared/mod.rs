//! What elements of the group `wifi` share: frames, stations and WEP.

pub mod wep;
pub mod wifi;
pub mod wifi_stations;
