//! Identifiers of the parts of a network, and tables that they index.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// What names an element of a [`Table`].
pub(crate) trait Id: Copy {
    /// The identifier of element number `index`.
    fn new(index: usize) -> Self;
    /// Its number, from 0.
    fn index(self) -> usize;
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The one that was added as number `index`, from 0.
            #[inline]
            pub const fn new(index: usize) -> $name {
                debug_assert!(index <= u32::MAX as usize, "the number fits 32 bits");
                $name(index as u32)
            }

            /// Its number, from 0.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            #[inline]
            fn new(index: usize) -> $name {
                $name::new(index)
            }
            #[inline]
            fn index(self) -> usize {
                $name::index(self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A link of a network.
    LinkId
}
id! {
    /// A flow of a network.
    FlowId
}
id! {
    /// A stream of datagrams.
    StreamId
}
id! {
    /// A workload.
    WorkloadId
}
id! {
    /// An application.
    AppId
}
id! {
    /// A user of an application.
    UserId
}
id! {
    /// A device between links.
    MiddleboxId
}
id! {
    /// A medium that two links share.
    MediumId
}
id! {
    /// An application that reads in intervals.
    ReadingAppId
}
id! {
    /// A link that gathers what access links bring.
    GatherId
}

/// One of the two ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The end that connects, and sends the data of a flow.
    Client,
    /// The end that is connected to.
    Server,
}

impl End {
    /// The end at the other side.
    pub(crate) fn other(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }
}

/// The slot of a connection's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerSlot(usize);

impl TimerSlot {
    /// That of a flow without connections.
    pub(crate) const NONE: TimerSlot = TimerSlot(usize::MAX);

    /// Slot number `index` of the agenda.
    #[inline]
    pub(crate) fn new(index: usize) -> TimerSlot {
        TimerSlot(index)
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0
    }

    /// The slot of an end of the flow whose client has this one.
    #[inline]
    pub(crate) fn of_end(self, end: End) -> TimerSlot {
        TimerSlot(self.0 + end as usize)
    }
}

/// Elements in the order in which they were added, indexed by their identifiers.
#[derive(Clone, Debug)]
pub(crate) struct Table<I, T> {
    elements: Vec<T>,
    id: PhantomData<fn(I) -> I>,
}

impl<I: Id, T> Table<I, T> {
    pub(crate) const fn new() -> Table<I, T> {
        Table {
            elements: Vec::new(),
            id: PhantomData,
        }
    }

    /// A table of `elements`.
    pub(crate) fn of(elements: Vec<T>) -> Table<I, T> {
        Table {
            elements,
            id: PhantomData,
        }
    }

    /// Adds an element.
    pub(crate) fn push(&mut self, element: T) -> I {
        self.elements.push(element);
        I::new(self.elements.len() - 1)
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    /// The identifier that [`push`](Table::push) gives next.
    pub(crate) fn next_id(&self) -> I {
        I::new(self.elements.len())
    }

    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.elements.get(id.index())
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.elements.len()).map(I::new)
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.elements.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.elements.iter_mut()
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (I, &T)> {
        let elements = self.elements.iter().enumerate();
        elements.map(|(index, element)| (I::new(index), element))
    }

    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        let elements = self.elements.iter_mut().enumerate();
        elements.map(|(index, element)| (I::new(index), element))
    }

    /// Two elements at once, where they are two.
    #[inline]
    pub(crate) fn pair(&mut self, ids: [I; 2]) -> Option<[&mut T; 2]> {
        self.elements.get_disjoint_mut(ids.map(I::index)).ok()
    }
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Table<I, T> {
        Table {
            elements: Vec::new(),
            id: PhantomData,
        }
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.elements[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.elements[id.index()]
    }
}
