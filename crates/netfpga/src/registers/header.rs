//! The addresses of a design's registers for programs in C.

use crate::registers::map::Map;
use std::fmt::Write;

impl Map {
    /// A header that defines the address of each register as a macro of its name, and those of
    /// repeated blocks with the distance between them.
    pub fn c_header(&self) -> String {
        let mut text = String::from(
            "/* Registers of a design of Trammel's crate netfpga. Byte addresses. */\n\
             #ifndef TRAMMEL_NETFPGA_REGISTERS_H\n#define TRAMMEL_NETFPGA_REGISTERS_H\n",
        );
        for block in self.blocks() {
            writeln!(text, "\n/* {} */", block.help).expect("a string takes any text");
            if block.instances > 1 {
                let (name, base, stride) = (block.name, block.base, block.stride);
                text += &format!("#define {name}_GROUP_BASE_ADDR 0x{base:07x}\n");
                text += &format!("#define {name}_GROUP_INST_OFFSET 0x{stride:07x}\n");
            }
            let end = block.base + block.instances * block.stride.max(4 * block.words() as u32);
            for named in self.all() {
                if (block.base..end).contains(&named.address) {
                    text += &format!("#define {} 0x{:07x}\n", named.name, named.address);
                }
            }
        }
        text + "\n#endif\n"
    }
}
