//! Where to put functions: chains with demanded rates on a set of servers.
