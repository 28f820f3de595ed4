//! Route tables: the longest prefix that matches an address.
