# The dumbbell of ../../crates/netsim/examples/dumbbell.rs for ns-2, packet for packet:
#
#   ns ns2_dumbbell.tcl flows=scalable,reno rate_mbps=1000 rtt_ms=10 duration_s=100 \
#      buffer_packets=833 access_mbps=10000 access_delay_ms=1 ack=every
#
# Flows are TCP-Linux agents (ns-2.35: congestion controls of Linux 2.6) with timestamps and SACK sinks;
# packets of 1500 bytes on the wire. Only the headers in use are kept and nothing is traced, which is how
# ns-2 runs fastest. Results are key=value lines as those of the other programs.
#
# Optional: loss=<probability of each data packet behind the bottleneck>, seed=<of the losses>,
# starts_s=<one for each flow, with commas>, window=<packets>, initial_window=<packets>, abc=<the sysctl
# tcp_abc: 0 as Linux 2.6.22 has it, 1 as ns-2 ships it>, trace_s=<interval of lines `trace <s> <cwnd> …`>.

array set option {loss 0 seed 1 starts_s "" window 10000000 initial_window 10 abc 0 trace_s 0}
foreach word $argv {
    lassign [split $word =] key value
    set option($key) $value
}

remove-all-packet-headers
add-packet-header Flags IP TCP
Agent/TCP set useHeaders_ true

# 1500 bytes on the wire with 40 of IP and TCP and 12 of the timestamp option, which ns-2 counts as 10.
set payload 1448
Agent/TCP set ts_option_size_ 12
set sim [new Simulator]
set left [$sim node]
set right [$sim node]
set core_delay [expr {($option(rtt_ms) - 4 * $option(access_delay_ms)) / 2.0}]
set unlimited 100000000

proc link {from to mbps delay_ms packets} {
    global sim
    $sim simplex-link $from $to ${mbps}Mb ${delay_ms}ms DropTail
    $sim queue-limit $from $to $packets
}

link $left $right $option(rate_mbps) $core_delay $option(buffer_packets)
link $right $left $option(rate_mbps) $core_delay $unlimited
if {$option(loss) > 0} {
    set generator [new RNG]
    $generator seed $option(seed)
    set draw [new RandomVariable/Uniform]
    $draw use-rng $generator
    set losses [new ErrorModel]
    $losses unit pkt
    $losses set rate_ $option(loss)
    $losses ranvar $draw
    $losses drop-target [new Agent/Null]
    $sim link-lossmodel $losses $left $right
}

set names [split $option(flows) ,]
set starts [split $option(starts_s) ,]
set agents {}
foreach name $names {
    set start [lindex $starts [llength $agents]]
    if {$start eq ""} { set start 0 }
    set from [$sim node]
    set to [$sim node]
    foreach {a b} [list $from $left $left $from $right $to $to $right] {
        link $a $b $option(access_mbps) $option(access_delay_ms) $unlimited
    }
    set sender [new Agent/TCP/Linux]
    $sender set timestamps_ true
    $sender set packetSize_ $payload
    $sender set windowInit_ $option(initial_window)
    # Neither the peer's window nor the slow-start limit of RFC 3742 is to bind.
    $sender set window_ $option(window)
    $sender set maxcwnd_ $option(window)
    $sender set max_ssthresh_ 0
    $sender set overhead_ 0
    if {$option(ack) eq "every"} {
        set receiver [new Agent/TCPSink/Sack1]
    } else {
        set receiver [new Agent/TCPSink/Sack1/DelAck]
    }
    $receiver set ts_echo_rfc1323_ true
    $sim attach-agent $from $sender
    $sim attach-agent $to $receiver
    $sim connect $sender $receiver
    $sim at 0 "$sender select_ca $name"
    set source [new Application/FTP]
    $source attach-agent $sender
    $sim at $start "$source start"
    lappend agents $sender
}
# Each of these writes a whole int over a byte, and tcp_abc lies behind tcp_max_burst: it goes last.
[lindex $agents 0] set_ca_default_param linux tcp_max_burst 3
[lindex $agents 0] set_ca_default_param linux sysctl_tcp_abc $option(abc)

proc trace {} {
    global sim agents option
    set line "trace [$sim now]"
    foreach agent $agents { append line " [$agent set cwnd_] [$agent set ssthresh_] [$agent set ack_]" }
    puts $line
    $sim at [expr {[$sim now] + $option(trace_s)}] trace
}
if {$option(trace_s) > 0} { $sim at 0 trace }

proc peak_rss_kb {} {
    if {[catch {open /proc/self/status} file]} { return "" }
    set status [read $file]
    close $file
    if {[regexp {VmHWM:\s+(\d+)} $status -> kb]} { return " peak_rss_kb=$kb" }
    return ""
}

proc finish {} {
    global agents names option payload
    set packets 0
    set total_mbps 0
    foreach name $names agent $agents {
        set sent [$agent set ndatapack_]
        set mbps [expr {[$agent set ack_] * $payload * 8e-6 / $option(duration_s)}]
        set packets [expr {$packets + $sent}]
        set total_mbps [expr {$total_mbps + $mbps}]
        puts "flow variant=$name goodput_mbps=[format %.4f $mbps] data_packets=$sent"
    }
    puts "run data_packets=$packets goodput_mbps=[format %.4f $total_mbps][peak_rss_kb]"
    flush stdout
    exit 0
}
$sim at $option(duration_s) finish
$sim run
