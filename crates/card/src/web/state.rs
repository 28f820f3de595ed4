//! What the card is and counts at an instant, as JSON. `docs/netfpga-web.md` has its fields.

use super::window::undisturbed;
use crate::tables::{Tables, Which};
use serde_json::{Map as Object, Value, json};
use trammel_core::Time;
use trammel_netfpga::device::Design;
use trammel_netfpga::registers::{Access, Map, Named, Registers};
use trammel_netfpga::stages::{PORTS, Queue};
use trammel_netfpga::tables::read_mac;

/// In `MDIO_PHY_STATUS`: the link is up (IEEE 802.3 §22.2.4.2).
const LINK_UP: u32 = 1 << 2;
/// `MDIO_PHY_0_STATUS_REG`, and the distance to the next port's.
const PHY_STATUS: (u32, u32) = (0x44_0004, 0x80);
/// The block of a design's own lookup.
const LOOKUP: std::ops::Range<u32> = 0x200_0000..0x200_0100;

/// A register with its key in an object.
#[derive(Debug)]
struct Field {
    key: String,
    address: u32,
}

/// A counter of the lookup.
#[derive(Debug)]
struct Counter {
    field: Field,
    register: String,
    help: &'static str,
}

/// The registers that are shown, by stage.
#[derive(Debug)]
pub(super) struct Stages {
    pub(super) map: Map,
    pub(super) has_tables: bool,
    lookup: Vec<Counter>,
    arbiter: Vec<Field>,
    macs: Vec<Vec<Field>>,
    cpus: Vec<Vec<Field>>,
    queues: Vec<Vec<Field>>,
}

impl Stages {
    /// Those of `design`.
    pub(super) fn new(design: &Design) -> Stages {
        let map = design.map();
        let all: Vec<Named> = map.all().collect();
        let block = |prefix: String| -> Vec<Field> {
            let fields = all.iter().filter_map(|named| {
                let rest = named.name.strip_prefix(&prefix)?;
                Some(field(rest, named.address))
            });
            fields.collect()
        };
        let counters = all.iter().filter(|named| {
            named.register.access == Access::Counter && LOOKUP.contains(&named.address)
        });
        let counter = |named: &Named| {
            let short = named.name.split_once("_LUT_").map_or("", |(_, rest)| rest);
            Counter {
                field: field(short, named.address),
                help: named.register.help,
                register: named.name.clone(),
            }
        };
        let each = |name: &str, count: usize| {
            let blocks = (0..count).map(|number| block(format!("{name}_{number}_")));
            blocks.collect::<Vec<_>>()
        };
        Stages {
            has_tables: map.find("ROUTER_OP_LUT_MAC_0_HI").is_ok(),
            lookup: counters.map(counter).collect(),
            arbiter: vec![field(
                "NUM_PKTS_SENT_REG",
                map.find("IN_ARB_NUM_PKTS_SENT")
                    .map_or(u32::MAX, |named| named.address),
            )],
            macs: each("MAC_GRP", PORTS),
            cpus: each("CPU_QUEUE", PORTS),
            queues: each("OQ_QUEUE", Queue::ALL.len()),
            map,
        }
    }

    /// The words in each output queue.
    pub(super) fn occupancy(&self, registers: &mut impl Registers) -> [u32; 8] {
        std::array::from_fn(|queue| {
            let mut fields = self.queues[queue].iter();
            let words = fields.find(|field| field.key == "num_words_in_q");
            words.map_or(0, |field| registers.read(field.address))
        })
    }

    /// The state of the stages. `ports` are the interfaces that are the ports.
    pub(super) fn read(
        &self,
        now: Time,
        design: &Design,
        ports: &[String],
        registers: &mut impl Registers,
    ) -> Object<String, Value> {
        let lookup = self.lookup.iter().map(|counter| {
            json!({
                "name": counter.field.key,
                "register": counter.register,
                "help": counter.help,
                "value": registers.read(counter.field.address),
            })
        });
        let lookup: Vec<Value> = lookup.collect();
        let has_macs = self.has_tables;
        let macs = self.macs.iter().enumerate().map(|(port, fields)| {
            let interface = ports.get(port);
            let status = registers.read(PHY_STATUS.0 + PHY_STATUS.1 * port as u32);
            json!({
                "port": port,
                "interface": interface,
                "link_up": interface.map(|_| status & LINK_UP != 0),
                "mac": has_macs.then(|| mac(read_mac(registers, port))),
                "registers": values(fields, registers),
            })
        });
        let macs: Vec<Value> = macs.collect();
        let cpus = self.cpus.iter().enumerate();
        let cpus: Vec<Value> = cpus
            .map(|(port, fields)| json!({ "port": port, "registers": values(fields, registers) }))
            .collect();
        let queues = self.queues.iter().zip(Queue::ALL);
        let queues: Vec<Value> = queues
            .map(|(fields, queue)| {
                json!({
                    "queue": queue.number(),
                    "to": if queue.is_cpu() { "host" } else { "port" },
                    "port": queue.port(),
                    "registers": values(fields, registers),
                })
            })
            .collect();
        let tables = self
            .has_tables
            .then(|| undisturbed(registers, |registers| tables(registers)));
        let whole = json!({
            "version": 1,
            "time_ms": now.as_ms(),
            "design": {
                "name": design.name, "title": design.title, "summary": design.summary,
            },
            "lookup": lookup,
            "arbiter": values(&self.arbiter, registers),
            "ports": macs,
            "hosts": cpus,
            "queues": queues,
            "tables": tables,
        });
        match whole {
            Value::Object(object) => object,
            _ => unreachable!("an object was written"),
        }
    }
}

/// The three tables: the rows in use.
fn tables(registers: &mut impl Registers) -> Value {
    let tables = Tables::read(registers);
    let all = [Which::Route, Which::Arp, Which::Filter];
    let named = all.map(|which| (which.name().to_owned(), tables.json(which)));
    Value::Object(named.into_iter().collect())
}

fn field(name: &str, address: u32) -> Field {
    let key = name.strip_suffix("_REG").unwrap_or(name);
    Field {
        key: key.to_ascii_lowercase(),
        address,
    }
}

fn values(fields: &[Field], registers: &mut impl Registers) -> Value {
    let read = fields.iter().map(|field| {
        let value = registers.read(field.address);
        (field.key.clone(), Value::from(value))
    });
    Value::Object(read.collect())
}

fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}
