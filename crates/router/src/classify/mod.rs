//! Rule sets compiled at load: which output does a packet leave by?
