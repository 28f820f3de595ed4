//! The protocol by which programs outside read and write handlers: Click's ControlSocket 1.3.

pub mod protocol;
