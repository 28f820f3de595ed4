// The questions that the playground begins with. `ask` stands before the run in a lecture, `tell`
// after it.

export const presets = [
  {
    name: "slow-start", title: "Slow start", plots: ["window", "queue", "sequence"],
    ask: "The window doubles each round trip. What ends that, and how many packets are lost when it does?",
    tell: "The window doubles until the queue overflows. The sender learns of it a round trip later, so about half of its window is lost or has to be sent again.",
    toml: `title    = "Slow start"
duration = "4 s"

[path]
rate  = "20 Mbit/s"
rtt   = "100 ms"
queue = { limit = "1 bdp" }

[[flow]]
variant = "reno"
start   = "0 s"
`,
  },
  {
    name: "sawtooth", title: "AIMD sawtooth", plots: ["window", "queue", "rtt"],
    ask: "One flow has the line for itself. What does its window look like over a minute?",
    tell: "It grows by one packet a round trip, and halves at a loss. With a queue of one bandwidth-delay product the line never runs empty.",
    toml: `title    = "The sawtooth of Reno"
duration = "60 s"

[path]
rate  = "10 Mbit/s"
rtt   = "60 ms"
queue = { limit = "1 bdp" }

[[flow]]
variant = "reno"
start   = "0 s"
`,
  },
  {
    name: "convergence", title: "Fairness convergence", plots: ["throughput", "window"],
    ask: "A second flow comes after ten seconds. Does it get its half, and how long does that take?",
    tell: "Within a second. The loss that ends the second flow's slow start makes room for it. From then on each loss halves both windows, and both grow alike: what difference there is shrinks.",
    toml: `title    = "Two flows find their halves"
duration = "60 s"
answer   = "convergence"

[path]
rate  = "20 Mbit/s"
rtt   = "40 ms"
queue = { limit = "1 bdp" }

[[flow]]
name    = "first"
variant = "reno"
start   = "0 s"

[[flow]]
name    = "second"
variant = "reno"
start   = "10 s"
`,
  },
  {
    name: "bufferbloat", title: "Bufferbloat and CoDel", plots: ["rtt", "queue", "throughput"],
    ask: "The buffer holds ten bandwidth-delay products. How long does a packet wait in it?",
    tell: "The flow fills whatever buffer it finds: packets wait for 0.3 s on average. Choose codel as the queue. It drops a packet once the delay has stood above 5 ms for 100 ms, and the average wait falls below 3 ms, for a twentieth of the goodput.",
    toml: `title    = "A buffer that is too large"
duration = "30 s"
answer   = "delay"

[path]
rate  = "10 Mbit/s"
rtt   = "40 ms"
queue = { discipline = "droptail", limit = "10 bdp" }

[[flow]]
variant = "cubic"
start   = "0 s"
`,
  },
  {
    name: "rtt-unfairness", title: "RTT unfairness", plots: ["throughput", "window"],
    ask: "Two equal flows share a line; one has four times the round trip. What share does it get?",
    tell: "Reno grows by one packet a round trip. With the queue, the far flow's round trip is 80 to 100 ms and its rival's 20 to 40: it grows about three times more slowly, and gets less than a tenth of the line.",
    toml: `title    = "Near and far"
duration = "60 s"

[path]
rate  = "20 Mbit/s"
rtt   = "20 ms"
queue = { limit = "1 bdp" }

[[flow]]
name    = "near"
variant = "reno"
start   = "0 s"

[[flow]]
name    = "far"
variant = "reno"
rtt     = "80 ms"
start   = "0.5 s"
`,
  },
  {
    name: "bbr-cubic", title: "BBR against CUBIC", plots: ["throughput", "rtt", "queue"],
    ask: "BBR meets CUBIC. Who wins with a queue of one bandwidth-delay product, and who with eight?",
    tell: "In a short queue BBR takes most: it does not slow down for the losses. In a long one CUBIC fills the buffer, and BBR's window is bound to twice its estimate of the path.",
    toml: `title    = "BBR against CUBIC"
duration = "60 s"

[path]
rate  = "20 Mbit/s"
rtt   = "40 ms"
queue = { limit = "1 bdp" }

[[flow]]
variant = "bbr"
start   = "0 s"

[[flow]]
variant = "cubic"
start   = "1 s"
`,
  },
  {
    name: "incast", title: "Incast", plots: ["queue", "window", "sequence"],
    ask: "Twenty servers answer at once through one port with a small buffer. When are all answers there?",
    tell: "The first windows together overflow the buffer. Who loses a whole first window hears nothing, and waits for a timeout of 200 ms, a thousand times the round trip. Who has lost only a part of it hears of that from the ACKs, and is done within some tens of milliseconds.",
    toml: `title    = "Twenty answers at once"
duration = "400 ms"
answer   = "completion"

[path]
rate  = "1 Gbit/s"
rtt   = "200 us"
queue = { limit = "100 pkts" }

[[flow]]
variant = "cubic"
count   = 20
bytes   = "256 kB"
start   = "0 s"
`,
  },
  {
    name: "satellite", title: "Satellite", plots: ["window", "throughput", "rtt"],
    ask: "The round trip is 600 ms, and one packet in ten thousand is lost. Which control uses the line?",
    tell: "A control that halves at each loss never fills the path. Choose bbr or hybla and look again.",
    toml: `title    = "A geostationary satellite"
duration = "60 s"

[path]
rate  = "20 Mbit/s"
rtt   = "600 ms"
queue = { limit = "1 bdp" }
loss  = { model = "bernoulli", probability = 0.0001 }

[[flow]]
variant = "reno"
start   = "0 s"
`,
  },
  {
    name: "lossy-wifi", title: "Lossy Wi-Fi", plots: ["throughput", "window", "rtt"],
    ask: "One packet in a hundred is lost on the air. How much of the line does Reno use?",
    tell: "A third. It takes each loss for congestion, and its rate follows the inverse square root of the probability: with a quarter of the losses it is about twice as high. Choose bbr, which does not halve its window for them, and the line is full.",
    toml: `title    = "Losses that are no congestion"
duration = "20 s"

[path]
rate  = "20 Mbit/s"
rtt   = "20 ms"
queue = { limit = "1 bdp" }
loss  = { model = "bernoulli", probability = 0.01 }

[[flow]]
variant = "reno"
start   = "0 s"
`,
  },
];

export const presetCalled = (name) => presets.find((preset) => preset.name === name);
