//! What the control software counts: the fate of each frame it received, and what it did besides.

/// Makes the enumeration and the table of names from one list.
macro_rules! counters {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal $kind:ident,)*) => {
        /// A counter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Counter {
            $($(#[doc = $doc])* $variant,)*
        }

        /// Names and kinds, in the order of the enumeration.
        const NAMES: &[(&str, Kind)] = &[$(($name, Kind::$kind),)*];
    };
}

/// What a counter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Received frames with this fate; each frame has one.
    Fate,
    /// Something that happened besides.
    Event,
}

counters! {
    /// A request of ARP for an address of the interface.
    ArpRequest "arp_requests" Fate,
    /// A reply of ARP to the interface.
    ArpReply "arp_replies" Fate,
    /// ARP for another station; it may refresh an entry.
    ArpOther "arp_for_others" Fate,
    /// ARP that is cut short or has a sender that is no station or no host.
    ArpBad "arp_malformed" Fate,
    /// ARP whose sender has an address of this router.
    ArpConflict "arp_conflicts" Fate,
    /// An echo request to this router.
    Echo "icmp_echo" Fate,
    /// An echo reply to this router.
    EchoReply "icmp_echo_replies" Fate,
    /// Other ICMP to this router.
    IcmpOther "icmp_other" Fate,
    /// PW-OSPF to this router.
    Pwospf "pwospf" Fate,
    /// TCP to this router, where nothing listens.
    Tcp "tcp_closed_port" Fate,
    /// UDP to this router, where nothing listens.
    Udp "udp_closed_port" Fate,
    /// A protocol that this router does not speak.
    Protocol "unknown_protocol" Fate,
    /// A packet to forward: it left, or waits for ARP.
    Forwarded "forwarded" Fate,
    /// No route has the destination.
    NoRoute "no_route" Fate,
    /// The route leads back to where the packet came from.
    SameInterface "same_interface" Fate,
    /// The time to live was used up.
    TtlExpired "ttl_expired" Fate,
    /// The port has no interface.
    NoInterface "dropped_no_interface" Fate,
    /// The interface is down.
    Down "dropped_interface_down" Fate,
    /// The frame is shorter than its header, or longer than 1514 bytes.
    FrameLength "dropped_frame_length" Fate,
    /// The frame is for another station.
    OtherStation "dropped_other_station" Fate,
    /// Neither IPv4 nor ARP.
    EtherType "dropped_ethertype" Fate,
    /// Not version 4.
    Version "dropped_ip_version" Fate,
    /// A header with options.
    Options "dropped_ip_options" Fate,
    /// A wrong header checksum.
    Checksum "dropped_ip_checksum" Fate,
    /// Lengths that contradict the frame's or one another.
    IpLength "dropped_ip_length" Fate,
    /// A fragment to this router.
    Fragment "dropped_ip_fragment" Fate,
    /// A source or destination that no packet on a wire may have.
    Martian "dropped_martian" Fate,
    /// A group or broadcast address that this router does not listen to, or does not forward.
    Group "dropped_group" Fate,
    /// An ICMP, TCP or UDP message with a wrong length or checksum.
    Transport "dropped_transport" Fate,
    /// Requests of ARP sent.
    ArpRequestsSent "arp_requests_sent" Event,
    /// Replies of ARP sent.
    ArpRepliesSent "arp_replies_sent" Event,
    /// Requests of ARP to stations whose entries are about to die.
    ArpPollsSent "arp_polls_sent" Event,
    /// Dynamic entries of ARP that made room for others.
    ArpEvicted "arp_evicted" Event,
    /// Packets whose next hop did not answer.
    ArpUnresolved "arp_unresolved" Event,
    /// Packets that made room for later ones to the same next hop.
    ArpQueueFull "arp_queue_full" Event,
    /// Packets refused because too many next hops are being resolved.
    ArpHopsFull "arp_next_hops_full" Event,
    /// Waiting packets that were dropped because their interface went down.
    ArpInterfaceDown "arp_interface_down" Event,
    /// ICMP error messages sent.
    IcmpErrorsSent "icmp_errors_sent" Event,
    /// ICMP error messages that no packet of that kind may cause.
    IcmpErrorsForbidden "icmp_errors_forbidden" Event,
    /// ICMP error messages and TCP resets beyond the rate.
    IcmpErrorsLimited "icmp_errors_limited" Event,
    /// TCP resets sent.
    ResetsSent "tcp_resets_sent" Event,
    /// The router's own packets to which no route led.
    OwnNoRoute "own_no_route" Event,
    /// Frames that found the queue to the ports full.
    OutputFull "output_full" Event,
    /// Learned routes beyond what the router keeps.
    RoutesFull "learned_routes_full" Event,
    /// Learned routes that no static route might be: by mask, network or gateway.
    RoutesRefused "learned_routes_refused" Event,
}

/// All counters.
#[derive(Debug, Clone)]
pub(crate) struct Counters {
    values: [u64; NAMES.len()],
    received: u64,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            values: [0; NAMES.len()],
            received: 0,
        }
    }
}

impl Counters {
    /// A frame had this fate.
    pub(crate) fn frame(&mut self, fate: Counter) {
        debug_assert_eq!(NAMES[fate as usize].1, Kind::Fate);
        self.received += 1;
        self.values[fate as usize] += 1;
    }

    /// Something happened `times` times.
    pub(crate) fn event(&mut self, event: Counter, times: u64) {
        debug_assert_eq!(NAMES[event as usize].1, Kind::Event);
        self.values[event as usize] += times;
    }

    /// Names and values; the first is the number of frames received, the sum of their fates.
    pub(crate) fn all(&self) -> Vec<(&'static str, u64)> {
        let named = NAMES.iter().map(|(name, _)| *name).zip(self.values);
        [("received", self.received)]
            .into_iter()
            .chain(named)
            .collect()
    }
}
