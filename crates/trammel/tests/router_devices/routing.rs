//! An IP router between two networks, with a table of its own and with the kernel's.

use crate::rig::{Net, Router, has, ping, said};
use std::io::{BufRead, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use trammel_io::netns::Namespace;

/// Bytes of a transfer: some thousands of full packets.
const TRANSFER: usize = 8 << 20;

/// An IP router with ARP between `in` (10.1.0.1) and `out` (10.2.0.1); `table` makes `rt`, whose
/// outputs are the two networks and this router itself.
fn router(net: &Net, method: &str, table: &str) -> String {
    let [mac0, mac1] = net.middle_macs();
    let mut config = format!("{table}\nipv4 :: Strip(14); ipv4 -> CheckIPHeader -> rt;\n");
    for (n, name, mac) in [(0, "in", mac0), (1, "out", mac1)] {
        let address = format!("10.{}.0.1", n + 1);
        config += &format!(
            "q{n} :: Queue(4000) -> ToDevice({name}, METHOD {method});
             arp{n} :: ARPQuerier({address}, {mac}) -> q{n};
             FromDevice({name}, true, METHOD {method}) -> HostEtherFilter({mac})
             -> c{n} :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
             c{n}[0] -> ARPResponder({address} {mac}) -> q{n}; c{n}[1] -> [1]arp{n};
             c{n}[2] -> Paint({paint}) -> ipv4; c{n}[3] -> Discard;
             rt[{n}] -> DropBroadcasts -> ttl{n} :: DecIPTTL -> fr{n} :: IPFragmenter(1500) -> \
[0]arp{n};
             ttl{n}[1] -> ICMPError({address}, timeexceeded) -> rt;
             fr{n}[1] -> ICMPError({address}, unreachable, needfrag) -> rt;\n",
            paint = n + 1,
        );
    }
    config += "rt[2] -> ICMPPingResponder -> rt;\n";
    config
}

const STATIC: &str =
    "rt :: RadixIPLookup(10.1.0.0/24 0, 10.2.0.0/24 1, 10.1.0.1/32 2, 10.2.0.1/32 2);";

/// Sends bytes by TCP from one end to the other and back; both check them.
fn transfer(from: &Namespace, to: &Namespace, address: &str) {
    let listener = to.run(|| TcpListener::bind((address, 0)).expect("loopback has a free port"));
    let place: SocketAddr = listener
        .local_addr()
        .expect("a bound socket has an address");
    let bytes: Vec<u8> = (0..TRANSFER)
        .map(|at| (at * 7 + (at >> 11)) as u8)
        .collect();
    let patience = std::time::Duration::from_secs(60);
    std::thread::scope(|scope| {
        let echo = scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("a client connects");
            stream
                .set_read_timeout(Some(patience))
                .expect("the time-out is above 0");
            let mut came = Vec::new();
            stream.read_to_end(&mut came).expect("all comes");
            assert!(came == bytes, "what came is not what was sent");
            stream
                .write_all(&came[..TRANSFER / 8])
                .expect("the other end reads");
        });
        let mut stream = from
            .run(|| TcpStream::connect_timeout(&place, patience).expect("the other end listens"));
        stream
            .set_read_timeout(Some(patience))
            .expect("the time-out is above 0");
        stream.write_all(&bytes).expect("the other end reads");
        stream
            .shutdown(std::net::Shutdown::Write)
            .expect("the connection is open");
        let mut back = Vec::new();
        stream.read_to_end(&mut back).expect("all comes back");
        assert!(
            back == bytes[..TRANSFER / 8],
            "what came back is not what was sent"
        );
        echo.join().expect("the thread does not panic");
    });
}

fn is_routed(net: &Net, method: &str) {
    if !has("ping") {
        return;
    }
    let Some(_router) = Router::run(&net.middle, &router(net, method, STATIC)) else {
        return;
    };
    let output = ping(&net.left, "10.1.0.1");
    assert!(output.status.success(), "the router: {}", said(&output));
    let output = ping(&net.left, "10.2.0.2");
    assert!(said(&output).contains("ttl=63"), "{}", said(&output));
    transfer(&net.left, &net.right, "10.2.0.2");
    transfer(&net.right, &net.left, "10.1.0.2");
}

#[test]
fn ping_and_transfers_pass_a_router_by_packet_sockets() {
    if let Some(net) = Net::new() {
        is_routed(&net.with_networks(), "afpacket");
    }
}

#[test]
fn ping_and_transfers_pass_a_router_by_af_xdp() {
    if let Some(net) = Net::new() {
        is_routed(&net.with_networks(), "afxdp");
    }
}

#[test]
fn super_packets_of_the_ends_are_cut_on_the_way() {
    if let Some(net) = Net::with_offloads() {
        is_routed(&net.with_networks(), "afpacket");
    }
}

#[test]
fn super_packets_are_carried_where_both_devices_do() {
    let Some(net) = Net::with_offloads().map(Net::with_networks) else {
        return;
    };
    // Nothing is longer than it may be: a super-packet is no packet to fragment.
    let config = router(&net, "afpacket, OFFLOAD carry", STATIC)
        .replace("IPFragmenter(1500)", "IPFragmenter(65535)");
    let Some(_router) = Router::run(&net.middle, &config) else {
        return;
    };
    let before = net.right.link("b").expect("it").counters.received;
    transfer(&net.left, &net.right, "10.2.0.2");
    let packets = net.right.link("b").expect("it").counters.received - before;
    // One by one there would be more than TRANSFER / 1448 of them.
    assert!(packets < TRANSFER as u64 / 1448 / 2, "{packets} packets");
}

#[test]
fn super_packets_are_cut_by_a_device_that_cannot_carry_them() {
    let Some(net) = Net::with_offloads().map(Net::with_networks) else {
        return;
    };
    let config = router(&net, "afpacket, OFFLOAD carry", STATIC)
        .replace("IPFragmenter(1500)", "IPFragmenter(65535)");
    // Into a wire in memory, which carries frames of a wire.
    let config = config.replace(
        "ToDevice(out, METHOD afpacket, OFFLOAD carry)",
        "ToDevice(w.0, METHOD ring); FromDevice(w.1, METHOD ring) -> long :: CheckLength(1514) -> \
         out_q :: Queue(4000) -> ToDevice(out, METHOD afpacket); long[1] -> Print(LONG) -> Discard",
    );
    let Some(_router) = Router::run(&net.middle, &config) else {
        return;
    };
    transfer(&net.left, &net.right, "10.2.0.2");
}

#[test]
fn a_packet_whose_hops_are_used_up_is_answered() {
    if !has("ping") {
        return;
    }
    let Some(net) = Net::new().map(Net::with_networks) else {
        return;
    };
    let Some(_router) = Router::run(&net.middle, &router(&net, "afpacket", STATIC)) else {
        return;
    };
    let output = net.left.run(|| {
        std::process::Command::new("ping")
            .args(["-n", "-c", "1", "-t", "1", "-W", "20", "10.2.0.2"])
            .output()
            .expect("the program can be started")
    });
    let said = said(&output);
    assert!(
        said.contains("From 10.2.0.1") && said.contains("Time to live exceeded"),
        "{said}"
    );
}

/// What a router that prints its tables again and again prints.
struct Tables(Router);

impl Tables {
    /// Waits until what is printed, a table, then `--`, then neighbours, then `==`, is as `wanted`
    /// says.
    fn until(&mut self, what: &str, wanted: impl Fn(&[String]) -> bool) {
        let mut lines: Vec<String> = Vec::new();
        loop {
            let mut line = String::new();
            let count = self
                .0
                .output
                .read_line(&mut line)
                .expect("the other end writes a line");
            assert!(count > 0, "{what}: it ended; at last {lines:?}");
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.join(" ").as_str() {
                "==" if wanted(&lines) => return,
                "==" => lines.clear(),
                "" => {}
                words => lines.push(words.to_owned()),
            }
        }
    }

    fn has(&mut self, line: &str) {
        self.until(line, |lines| {
            lines.iter().any(|other| other.starts_with(line))
        });
    }

    fn has_not(&mut self, line: &str) {
        self.until(line, |lines| {
            !lines.iter().any(|other| other.starts_with(line))
        });
    }
}

#[test]
fn a_router_follows_the_kernels_routes_addresses_and_neighbours() {
    if !has("ping") || !has("ip") {
        return;
    }
    let Some(net) = Net::new().map(Net::with_networks) else {
        return;
    };
    let table = "rt :: RadixIPLookup; \
         FollowKernelRoutes(in, out, TABLE rt, LOCAL 2, ARP arp0, ARP arp1); \
         Script(wait 100s, stop); \
         Script(label again, print rt.table, print arp0.table, print arp1.table, print \"==\", \
                wait 20ms, goto again);";
    let Some(router) = Router::run(&net.middle, &router(&net, "afpacket", table)) else {
        return;
    };
    let mut tables = Tables(router);
    let ip = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        net.middle.command("ip", &words).expect("ip does it");
    };
    // Addresses: the network and the address itself.
    ip("address add 10.1.0.1/24 dev in");
    ip("address add 10.2.0.1/24 dev out");
    tables.has("10.1.0.0/24 - 0");
    tables.has("10.2.0.0/24 - 1");
    tables.has("10.2.0.1/32 - 2");
    let output = ping(&net.left, "10.2.0.2");
    assert!(said(&output).contains("ttl=63"), "{}", said(&output));
    // A route to a network behind the right end comes, is used, moves, and goes.
    net.right
        .add_address("b", "10.77.0.1/32")
        .expect("the address is free");
    ip("route add 10.77.0.0/16 via 10.2.0.2");
    tables.has("10.77.0.0/16 10.2.0.2 1");
    let output = ping(&net.left, "10.77.0.1");
    assert!(said(&output).contains("ttl=63"), "{}", said(&output));
    ip("route replace 10.77.0.0/16 via 10.1.0.9");
    tables.has("10.77.0.0/16 10.1.0.9 0");
    ip("route del 10.77.0.0/16");
    tables.has_not("10.77.0.0/16");
    // A neighbour that only the kernel knows of.
    ip("neighbour add 10.2.0.66 lladdr 02:00:00:00:00:66 dev out");
    tables.until("the neighbour", |lines| {
        (lines.iter()).any(|line| {
            line.starts_with("10.2.0.66") && line.to_lowercase().contains("02-00-00-00-00-66")
        })
    });
    ip("neighbour del 10.2.0.66 dev out");
    // The element keeps the line, of a neighbour that is not known.
    tables.has_not("10.2.0.66 1");
    // An address that goes takes its network along.
    ip("address add 10.6.0.1/24 dev out");
    tables.has("10.6.0.0/24 - 1");
    ip("address del 10.6.0.1/24 dev out");
    tables.has_not("10.6.0.");
}
