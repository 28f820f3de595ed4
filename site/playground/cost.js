// What a run costs: before it, from how many packets there may be, and while it goes on, from how
// long it took so far.

// Packets that a page simulates in some seconds.
const MANY = 20e6;
// A run that takes less of the clock says nothing of what is left, ms.
const SOON = 1500;

const count = (packets) => (packets >= 1e9 ? `${Numbers.show(packets / 1e9, 2)} billion` : `${Numbers.show(packets / 1e6, 2)} million`);

// What a reader should know before a run that takes long, and what makes it shorter.
export const warning = ({ packets, runs }) => {
  if (!(packets > MANY)) return "";
  const most = runs > 1 ? `up to ${count(packets)} packets in ${runs} runs` : `up to ${count(packets)} packets`;
  const less = runs > 1 ? "Fewer points or repeats, a shorter duration or a lower rate" : "A shorter duration or a lower rate";
  return `This simulates ${most}, which takes a page a while. ${less} makes it faster; Stop leaves what there is.`;
};

const time = (seconds) => {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
};

// What is left when `share` of a work, from 0 to 1, took so many ms.
export const left = (ms, share) => (ms < SOON || !(share > 0) || share >= 1 ? "" : `, about ${time(ms / 1000 * (1 - share) / share)} left`);
