//! The reference page of a design's registers.

use crate::registers::map::Map;
use std::fmt::Write;

impl Map {
    /// A page in Markdown: a section for each block, a row for each register.
    pub fn markdown(&self) -> String {
        let mut page = String::new();
        for block in self.blocks() {
            let mut line = |text: std::fmt::Arguments| {
                writeln!(page, "{text}").expect("a string takes any text");
            };
            line(format_args!("## {}\n", block.name));
            line(format_args!("{}.", block.help));
            match block.instances {
                1 => line(format_args!("Address 0x{:07x}.\n", block.base)),
                several => line(format_args!(
                    "{several} of them, at 0x{:07x} + 0x{:x} × number.\n",
                    block.base, block.stride
                )),
            }
            line(format_args!(
                "| offset | register | bits | access | what it holds |"
            ));
            line(format_args!("| --- | --- | ---: | --- | --- |"));
            for register in block.registers {
                let words = match register.words {
                    1 => String::new(),
                    several => format!("_0 … _{}", several - 1),
                };
                line(format_args!(
                    "| 0x{:02x} | {}{words} | {} | {} | {} |",
                    register.offset,
                    register.name,
                    register.width,
                    register.access.name(),
                    register.help
                ));
            }
            line(format_args!(""));
        }
        page
    }
}
