# One phase of a cell of `trammel fidelity` in ns-2:
#
#   ns path.tcl flows=reno,bic starts_s=0.1,0.7 rate_bps=10000000 rtt_s=0.04 queue=droptail \
#      limit=40 loss=0.001 warmup_s=10 duration_s=40 ack=delayed seed=1
#
# and with queue=red also weight=, min_threshold=, max_threshold=. Flows are TCP-Linux agents
# (ns-2.35: congestion controls of Linux 2.6.22) with timestamps and SACK. A link carries what
# Trammel's carries: 14 bytes with each IP packet. Prints `flow goodput_mbps=…` for each flow, in
# their order, from the warm-up to the end.

foreach word $argv {
    lassign [split $word =] key value
    set option($key) $value
}

set payload 1448
set data_bytes 1514
set ack_bytes 66
set window 10000000
set unlimited 100000000

remove-all-packet-headers
add-packet-header Flags IP TCP
Agent/TCP set useHeaders_ true
Agent/TCP set ts_option_size_ 12
Agent/TCP set tcpip_base_hdr_size_ [expr {$data_bytes - $payload - 12}]
set sim [new Simulator]
$defaultRNG seed $option(seed)
set left [$sim node]
set right [$sim node]

# A token bucket lets the first packets go at once, so `rtt` has no time on the wire; ns-2's wire
# takes its time, which is therefore taken from the delay. A full queue then makes both round trips
# as long.
set on_wire_s [expr {8.0 * ($data_bytes + $ack_bytes) / $option(rate_bps)}]
set delay_s [expr {max($option(rtt_s) - $on_wire_s, 0) / 2}]

if {$option(queue) eq "red"} {
    set discipline RED
    Queue/RED set bytes_ false
    Queue/RED set queue_in_bytes_ false
    Queue/RED set mean_pktsize_ $data_bytes
    Queue/RED set gentle_ false
    # The distance between two drops is uniform in 1 … 1/p, as in the kernel.
    Queue/RED set wait_ false
    Queue/RED set linterm_ 10
    Queue/RED set q_weight_ $option(weight)
    Queue/RED set thresh_ $option(min_threshold)
    Queue/RED set maxthresh_ $option(max_threshold)
} else {
    set discipline DropTail
    # ns-2's keeps one place free.
    incr option(limit)
}
$sim simplex-link $left $right $option(rate_bps) $delay_s $discipline
$sim queue-limit $left $right $option(limit)
$sim simplex-link $right $left $option(rate_bps) $delay_s DropTail
$sim queue-limit $right $left $unlimited
if {$option(loss) > 0} {
    set losses [new ErrorModel]
    $losses unit pkt
    $losses set rate_ $option(loss)
    $sim link-lossmodel $losses $left $right
}

set senders {}
foreach name [split $option(flows) ,] start [split $option(starts_s) ,] {
    set sender [new Agent/TCP/Linux]
    $sender set timestamps_ true
    $sender set packetSize_ $payload
    $sender set windowInit_ 10
    # Neither the peer's window nor the slow-start limit of RFC 3742 is to bind.
    $sender set window_ $window
    $sender set maxcwnd_ $window
    $sender set max_ssthresh_ 0
    $sender set overhead_ 0
    if {$option(ack) eq "every"} {
        set receiver [new Agent/TCPSink/Sack1]
    } else {
        set receiver [new Agent/TCPSink/Sack1/DelAck]
        $receiver set interval_ 40ms
    }
    $receiver set ts_echo_rfc1323_ true
    $receiver set packetSize_ $ack_bytes
    $sim attach-agent $left $sender
    $sim attach-agent $right $receiver
    $sim connect $sender $receiver
    $sim at 0 "$sender select_ca $name"
    set source [new Application/FTP]
    $source attach-agent $sender
    $sim at $start "$source start"
    lappend senders $sender
}
# Slow start counts both segments of a delayed ACK, as Linux does now; ns-2 ships 1.
[lindex $senders 0] set_ca_default_param linux sysctl_tcp_abc 2

proc acknowledged {} {
    global senders
    set all {}
    foreach sender $senders { lappend all [$sender set ack_] }
    return $all
}

proc finish {} {
    global option payload before
    foreach from $before to [acknowledged] {
        set seconds [expr {$option(duration_s) - $option(warmup_s)}]
        puts "flow goodput_mbps=[expr {($to - $from) * $payload * 8e-6 / $seconds}]"
    }
    exit 0
}

$sim at $option(warmup_s) {set before [acknowledged]}
$sim at $option(duration_s) finish
$sim run
