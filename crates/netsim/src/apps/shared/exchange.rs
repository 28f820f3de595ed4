//! Requests and responses on one connection, each answered in its turn.

use super::super::{Io, Party};
use std::collections::VecDeque;

/// A request that is not yet answered.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Bytes that the server has once it has this request.
    requested: u64,
    /// Bytes of the response.
    response: u64,
    /// Bytes that the user has once it has the response.
    answered: u64,
}

/// The requests of one connection. The user may ask again before it is answered.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    requested: u64,
    answered: u64,
    pending: VecDeque<Pending>,
    /// Of those, how many the server has begun to answer.
    served: usize,
}

impl Exchange {
    /// Asks for `response` bytes over connection `conn` with a request of `request` bytes.
    pub(crate) fn ask(&mut self, conn: u32, [request, response]: [u64; 2], io: &mut Io<'_>) {
        self.requested += request;
        self.answered += response;
        self.pending.push_back(Pending {
            requested: self.requested,
            response,
            answered: self.answered,
        });
        io.write(conn, Party::User, request);
    }

    /// The connection has delivered `bytes` to end `to` so far: the server answers what it has, and
    /// it is said how many more responses are complete.
    pub(crate) fn on(&mut self, conn: u32, to: Party, bytes: u64, io: &mut Io<'_>) -> usize {
        let mut complete = 0;
        match to {
            Party::Server => {
                while let Some(next) = self.pending.get(self.served)
                    && next.requested <= bytes
                {
                    io.write(conn, Party::Server, next.response);
                    self.served += 1;
                }
            }
            Party::User => {
                while self.served > 0
                    && let Some(first) = self.pending.front()
                    && first.answered <= bytes
                {
                    self.pending.pop_front();
                    self.served -= 1;
                    complete += 1;
                }
            }
        }
        complete
    }

    /// Requests that are not answered.
    pub(crate) fn open(&self) -> usize {
        self.pending.len()
    }
}
