//! IP summary dumps: packets as lines of text.
