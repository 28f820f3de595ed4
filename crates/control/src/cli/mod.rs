//! The command line: one table of commands with grammar, help and handler.
//!
//! A word may be shortened while it stays unique. `?` or `help` after any words lists what begins
//! with them.

mod change;
mod command;
mod grammar;
mod hardware;
mod ping;
mod pwospf;
mod reply;
mod show;

pub(crate) use ping::reply as ping_reply;
pub use reply::Reply;

use crate::dataplane::Dataplane;
use crate::machine::Machine;
use crate::routing::Routing;
use command::{Args, Command, Context};

/// Bytes of a line, at most.
const LONGEST_LINE: usize = 1024;

/// Makes rows of the table.
const fn row(
    grammar: &'static str,
    help: &'static str,
    run: fn(&mut Context, &Args) -> Result<Reply, String>,
) -> Command {
    Command { grammar, help, run }
}

/// All commands. Capitals are arguments; their names say what they are.
static COMMANDS: &[Command] = &[
    row(
        "help [WORDS...]",
        "list the commands that begin with these words",
        help,
    ),
    row("? [WORDS...]", "the same", help),
    row(
        "complete [WORDS...]",
        "what may follow these words, a word a line",
        complete,
    ),
    row("show ip", "routes, interfaces and ARP entries", show::ip),
    row(
        "show ip route",
        "static, connected and learned routes",
        show::route,
    ),
    row(
        "show ip interface",
        "addresses and state of the interfaces",
        show::interface,
    ),
    row("show ip arp", "ARP entries", show::arp),
    row(
        "show counters",
        "what became of the frames that the software received",
        show::counters,
    ),
    row("show pwospf", "all that PW-OSPF knows", pwospf::show),
    row(
        "show pwospf iface",
        "neighbours by interface",
        pwospf::iface,
    ),
    row(
        "show pwospf router",
        "the link-state database",
        pwospf::router,
    ),
    row(
        "show pwospf info",
        "settings and counters of PW-OSPF",
        pwospf::info,
    ),
    row(
        "show hw",
        "all tables of the data plane, as read back",
        hardware::show,
    ),
    row(
        "show hw rtable",
        "the data plane's routes",
        hardware::rtable,
    ),
    row("show hw arp", "the data plane's ARP entries", hardware::arp),
    row(
        "show hw iface",
        "the data plane's MAC and own addresses",
        hardware::iface,
    ),
    row(
        "hw info",
        "size of the tables and counters of the data plane",
        hardware::info,
    ),
    row(
        "hw arp miss",
        "packets whose next hop was in no ARP entry",
        hardware::arp_miss,
    ),
    row(
        "hw pckts fwd",
        "packets that the data plane forwarded",
        hardware::forwarded,
    ),
    row(
        "hw iface add ADDRESS",
        "give packets to another address to the software, as those to its own",
        change::own_add,
    ),
    row("hw iface del ADDRESS", "no longer do so", change::own_del),
    row(
        "show vns [WORDS...]",
        "whether the ports are those of a virtual network system",
        hardware::vns,
    ),
    row(
        "ip route add NETWORK GATEWAY MASK INTERFACE",
        "add a static route; gateway 0.0.0.0 is a connected network",
        change::route_add,
    ),
    row(
        "ip route del NETWORK MASK",
        "delete a static route",
        change::route_del,
    ),
    row(
        "ip interface INTERFACE up",
        "put an interface up",
        change::interface_up,
    ),
    row(
        "ip interface INTERFACE down",
        "put an interface down",
        change::interface_down,
    ),
    row(
        "ip interface INTERFACE ADDRESS MASK",
        "give it another address",
        change::readdress,
    ),
    row(
        "ip arp add ADDRESS MAC",
        "add a static ARP entry",
        change::arp_add,
    ),
    row("ip arp del ADDRESS", "delete an ARP entry", change::arp_del),
    row(
        "ip arp set ttl SECONDS",
        "how long an ARP entry lasts",
        change::arp_ttl,
    ),
    row("nuke arp", "delete all ARP entries", change::nuke_arp),
    row(
        "nuke hw arp",
        "empty the data plane's ARP table until its next change",
        change::nuke_hw,
    ),
    row(
        "nat [WORDS...]",
        "not there: says why, and what translates addresses",
        change::nat,
    ),
    row(
        "sping ADDRESS",
        "send an echo request and wait for the answer",
        ping::sping,
    ),
    row(
        "set aid AREA",
        "move PW-OSPF to another area",
        pwospf::set_area,
    ),
    row(
        "set hello interval SECONDS",
        "time between two HELLOs",
        pwospf::set_hello,
    ),
    row(
        "set lsu interval SECONDS",
        "time between two link-state updates",
        pwospf::set_lsu,
    ),
    row(
        "set lsu broadcast ON",
        "whether link-state updates are made: on or off",
        pwospf::set_broadcast,
    ),
    row(
        "send hello",
        "send a HELLO on each interface now",
        pwospf::send_hello,
    ),
    row("send lsu", "send a link-state update now", pwospf::send_lsu),
];

/// Runs a line.
pub(crate) fn run(
    line: &str,
    machine: &mut Machine,
    routing: &mut Routing,
    dataplane: &mut dyn Dataplane,
) -> Reply {
    if line.len() > LONGEST_LINE {
        let bytes = line.len();
        return Reply::refused(&format!(
            "the line has {bytes} bytes, and {LONGEST_LINE} are the most: shorten it"
        ));
    }
    let line = line.split_once('#').map_or(line, |(before, _)| before);
    let words: Vec<&str> = line.split_whitespace().collect();
    let outcome = match words.as_slice() {
        [] => return Reply::done(),
        [before @ .., "?"] => help_on(before),
        _ => grammar::find(COMMANDS, &words, machine).and_then(|(command, args)| {
            let mut context = Context {
                machine,
                routing,
                dataplane,
            };
            (command.run)(&mut context, &args)
        }),
    };
    outcome.unwrap_or_else(|what| Reply::refused(&what))
}

fn help(_: &mut Context, args: &Args) -> Result<Reply, String> {
    help_on(&args.words("WORDS"))
}

/// Lists what may follow `words`: words of the grammar, names of interfaces, and the names of other
/// arguments in capitals.
fn complete(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let words = grammar::following(COMMANDS, &args.words("WORDS"), context.machine)?;
    let reply = |reply: Reply, word: String| reply.line(&word);
    Ok(words.into_iter().fold(Reply::done(), reply))
}

/// Lists the commands that begin with `words`.
fn help_on(words: &[&str]) -> Result<Reply, String> {
    let found = grammar::beginning(COMMANDS, words)?;
    let rows = found.into_iter().map(|command| {
        let texts = [command.grammar, command.help];
        texts.map(serde_json::Value::from).to_vec()
    });
    Ok(Reply::done().table("commands", &["command", "help"], rows.collect()))
}

#[cfg(test)]
mod tests;
