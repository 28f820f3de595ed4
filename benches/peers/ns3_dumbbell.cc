// The dumbbell of ../../crates/netsim/examples/dumbbell.rs for ns-3, packet for packet.
//
//   ns3_dumbbell --flows=reno,reno --rateMbps=1000 --rttMs=2 --durationS=3 --bufferPackets=166
//                --accessMbps=10000 --accessDelayMs=0.1 --ack=every
//
// Sockets with SACK, timestamps and PRR, IP packets of 1500 bytes; no traces, no checksums, no traffic
// control layer above the devices: the least that ns-3 can do for the scenario. Whether logging is
// compiled in is a matter of the build. Results are key=value lines as those of the other programs.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

namespace
{

// 1500 bytes less IP, TCP and timestamps.
constexpr uint32_t PAYLOAD = 1448;

const std::map<std::string, std::string> VARIANTS = {
    {"reno", "ns3::TcpLinuxReno"},
    {"cubic", "ns3::TcpCubic"},
    {"scalable", "ns3::TcpScalable"},
};

struct Ends
{
    std::string variant;
    ns3::Ptr<ns3::PointToPointNetDevice> uplink;
    ns3::Ptr<ns3::PacketSink> sink;
};

long
PeakRssKb()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word)
    {
        long kb = 0;
        if (word == "VmHWM:" && status >> kb)
        {
            return kb;
        }
    }
    return -1;
}

ns3::PointToPointHelper
Wire(double mbps, double delayMs, uint32_t packets)
{
    ns3::PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(uint64_t(mbps * 1e6))));
    wire.SetChannelAttribute("Delay", ns3::TimeValue(ns3::Seconds(delayMs / 1e3)));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", ns3::StringValue(std::to_string(packets) + "p"));
    return wire;
}

} // namespace

int
main(int argc, char** argv)
{
    using namespace ns3;
    std::string flows = "reno,reno";
    std::string ack = "every";
    double rateMbps = 1000;
    double rttMs = 2;
    double durationS = 3;
    double accessMbps = 10000;
    double accessDelayMs = 0.1;
    uint32_t bufferPackets = 166;
    CommandLine line;
    line.AddValue("flows", "variants, separated by commas", flows);
    line.AddValue("ack", "every or delayed", ack);
    line.AddValue("rateMbps", "rate of the bottleneck", rateMbps);
    line.AddValue("rttMs", "unloaded round trip", rttMs);
    line.AddValue("durationS", "virtual time", durationS);
    line.AddValue("accessMbps", "rate of the access links", accessMbps);
    line.AddValue("accessDelayMs", "delay of the access links", accessDelayMs);
    line.AddValue("bufferPackets", "queue of the bottleneck", bufferPackets);
    line.Parse(argc, argv);

    // Never binds, and is no larger than need be: a bulk source fills it at once.
    const auto window = uint32_t(8 * (rateMbps * rttMs * 1e3 / 8 + bufferPackets * 1500.0));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(ack == "every" ? 1 : 2));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    NodeContainer routers(2);
    InternetStackHelper stack;
    stack.Install(routers);
    TrafficControlHelper control;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto connect = [&](PointToPointHelper& wire, Ptr<Node> a, Ptr<Node> b) {
        NetDeviceContainer devices = wire.Install(a, b);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        control.Uninstall(devices);
        return std::make_pair(devices, interfaces);
    };

    PointToPointHelper core = Wire(rateMbps, (rttMs - 4 * accessDelayMs) / 2, bufferPackets);
    connect(core, routers.Get(0), routers.Get(1));
    PointToPointHelper access = Wire(accessMbps, accessDelayMs, 10'000'000);

    std::vector<Ends> ends;
    std::stringstream names(flows);
    for (std::string name; std::getline(names, name, ',');)
    {
        NodeContainer hosts(2);
        stack.Install(hosts);
        auto up = connect(access, hosts.Get(0), routers.Get(0));
        auto down = connect(access, routers.Get(1), hosts.Get(1));
        hosts.Get(0)->GetObject<TcpL4Protocol>()->SetAttribute(
            "SocketType",
            TypeIdValue(TypeId::LookupByName(VARIANTS.at(name))));
        const uint16_t port = 9;
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(down.second.GetAddress(1), port));
        source.SetAttribute("SendSize", UintegerValue(8 * PAYLOAD));
        source.Install(hosts.Get(0)).Start(Seconds(0));
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        ApplicationContainer sinks = sink.Install(hosts.Get(1));
        sinks.Start(Seconds(0));
        ends.push_back({name,
                        DynamicCast<PointToPointNetDevice>(up.first.Get(0)),
                        DynamicCast<PacketSink>(sinks.Get(0))});
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(durationS));
    Simulator::Run();

    uint64_t packets = 0;
    double totalMbps = 0;
    std::cout << std::fixed << std::setprecision(4);
    for (const Ends& end : ends)
    {
        // What the sender's device was given: data segments and, at the start, a SYN and an ACK.
        const uint64_t sent = end.uplink->GetQueue()->GetTotalReceivedPackets();
        const double mbps = end.sink->GetTotalRx() * 8e-6 / durationS;
        packets += sent;
        totalMbps += mbps;
        std::cout << "flow variant=" << end.variant << " goodput_mbps=" << mbps
                  << " data_packets=" << sent << "\n";
    }
    std::cout << "run data_packets=" << packets << " goodput_mbps=" << totalMbps
              << " peak_rss_kb=" << PeakRssKb() << "\n";
    return 0;
}
