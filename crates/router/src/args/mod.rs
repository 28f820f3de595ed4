//! Types of arguments in configurations: how each is read, and what is said where it cannot be.
