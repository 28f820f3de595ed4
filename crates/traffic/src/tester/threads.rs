//! How the ports' threads run.

/// How the ports' threads run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// The priority (1 to 99) by which they run before all of usual priority, if they should.
    pub priority: Option<u8>,
    /// Whether a port that checks asks for frames again and again for 50 us after one came, before
    /// it sleeps: it is not woken for every batch, which costs the sender, and sees frames sooner.
    /// For ports with a processor of their own: a device that has to share it is slowed down.
    pub poll: bool,
}
