//! What elements of the group `wifi` share: frames, stations and WEP.

pub(crate) mod wep;
pub(crate) mod wifi;
pub(crate) mod wifi_stations;
