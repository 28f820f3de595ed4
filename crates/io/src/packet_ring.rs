//! The ring that a packet socket receives into (`TPACKET_V3`), mapped from the kernel.
//!
//! The kernel fills blocks of many frames and hands each over when it is full or a millisecond old;
//! so one look at a block's status costs a batch of frames, and a frame waits at most a
//! millisecond. We give a block back when its last frame is read. Source: Linux's
//! `packet_mmap.rst`.

use crate::offload::{HEADER_BYTES, Offload};
use crate::sys::{self, Mapping};
use std::io;
use std::mem::size_of;
use std::os::fd::OwnedFd;
use std::ptr::addr_of;
use std::sync::atomic::{AtomicU32, Ordering};

/// Room for a super-packet of 64 KiB and its headers.
const BLOCK_BYTES: usize = 128 << 10;
/// After how many milliseconds a block that is not full is handed over: the least there is.
const RETIRE_MS: u32 = 1;
/// The frame size the kernel asks for; blocks of version 3 are filled without it.
const NOMINAL_FRAME_BYTES: usize = 2048;

/// A frame in the ring.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    /// Its bytes; the tag that the kernel took out is in `tag`.
    pub(crate) bytes: &'a [u8],
    /// What is left to do.
    pub(crate) offload: Offload,
    /// An 802.1Q or 802.1ad tag to put back after the addresses.
    pub(crate) tag: Option<[u8; 4]>,
    /// When it came, in nanoseconds since 1970.
    pub(crate) time_ns: i64,
    /// To whom, `PACKET_HOST` and so on.
    pub(crate) kind: u8,
    /// Whether it did not fit and its end is lost.
    pub(crate) is_cut: bool,
}

/// The ring.
#[derive(Debug)]
pub(crate) struct Ring {
    memory: Mapping,
    blocks: usize,
    /// The block that is being read or waited for.
    block: usize,
    /// Its frames not yet read; 0 while the kernel has it.
    left: u32,
    /// Where in the mapping the next of them is.
    at: usize,
}

impl Ring {
    /// Gives `socket` a ring of about `bytes` and maps it.
    pub(crate) fn new(socket: &OwnedFd, bytes: usize) -> io::Result<Ring> {
        let blocks = (bytes / BLOCK_BYTES).max(2);
        let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
        sys::set_option(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        let request = libc::tpacket_req3 {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: NOMINAL_FRAME_BYTES as u32,
            tp_frame_nr: (blocks * BLOCK_BYTES / NOMINAL_FRAME_BYTES) as u32,
            tp_retire_blk_tov: RETIRE_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        sys::set_option(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        Ok(Ring {
            memory: Mapping::new(socket, blocks * BLOCK_BYTES, 0)?,
            blocks,
            block: 0,
            left: 0,
            at: 0,
        })
    }

    /// The status word of the present block, which the kernel writes too.
    fn status(&self) -> &AtomicU32 {
        let block = self.block * BLOCK_BYTES;
        let offset = block + std::mem::offset_of!(libc::tpacket_block_desc, hdr);
        let word = self.memory.of::<u32>(offset);
        // SAFETY: the word lies in the mapping, aligned, and is only ever reached as an atomic; it
        // is the first of `tpacket_hdr_v1`.
        unsafe { AtomicU32::from_ptr(word.as_ptr()) }
    }

    /// The next frame, if one has come. It is gone from the ring at the next call of
    /// [`Ring::advance`].
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<Frame<'_>> {
        while self.left == 0 {
            if self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                return None;
            }
            let start = self.block * BLOCK_BYTES;
            let block = self.memory.of::<libc::tpacket_block_desc>(start);
            // SAFETY: the kernel has handed the block over, by its status; its descriptor is at its
            // start, and blocks are aligned to pages.
            let (count, first) = unsafe {
                let header = &(*block.as_ptr()).hdr.bh1;
                (header.num_pkts, header.offset_to_first_pkt)
            };
            self.left = count;
            self.at = start + first as usize;
            if count == 0 {
                self.give_back();
            }
        }
        let header_at = self.memory.of::<libc::tpacket3_hdr>(self.at);
        // SAFETY: a frame's header in a block that is ours, aligned to 16 bytes by the kernel.
        let header = unsafe { &*header_at.as_ptr() };
        let (mac, len) = (header.tp_mac as usize, header.tp_snaplen as usize);
        let bytes = self.memory.at(self.at + mac, len);
        let before = self.memory.at(self.at + mac - HEADER_BYTES, HEADER_BYTES);
        // `struct sockaddr_ll` follows the header; `sll_pkttype` is its 11th byte.
        let kind_at = self.at + size_of::<libc::tpacket3_hdr>() + 10;
        let kind = self.memory.at(kind_at, 1);
        // SAFETY: within the mapping; the block is ours until it is given back, which needs
        // `&mut self` and so ends the borrow.
        let (bytes, before, kind) = unsafe {
            (
                std::slice::from_raw_parts(bytes.as_ptr(), len),
                &*before.as_ptr().cast::<[u8; HEADER_BYTES]>(),
                *addr_of!(*kind.as_ptr()),
            )
        };
        let tag = (header.tp_status & libc::TP_STATUS_VLAN_VALID != 0).then(|| {
            let protocol = if header.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0 {
                header.hv1.tp_vlan_tpid
            } else {
                0x8100
            };
            let ([a, b], [c, d]) = (
                protocol.to_be_bytes(),
                (header.hv1.tp_vlan_tci as u16).to_be_bytes(),
            );
            [a, b, c, d]
        });
        Some(Frame {
            bytes,
            offload: Offload::parse(before),
            tag,
            time_ns: i64::from(header.tp_sec) * 1_000_000_000 + i64::from(header.tp_nsec),
            kind,
            is_cut: header.tp_len > header.tp_snaplen,
        })
    }

    /// Goes on behind the frame that [`Ring::peek`] gave.
    #[inline]
    pub(crate) fn advance(&mut self) {
        debug_assert!(self.left > 0);
        self.left -= 1;
        if self.left == 0 {
            self.give_back();
            return;
        }
        let header = self.memory.of::<libc::tpacket3_hdr>(self.at);
        // SAFETY: as in `peek`.
        self.at += unsafe { (*header.as_ptr()).tp_next_offset } as usize;
    }

    fn give_back(&mut self) {
        self.status()
            .store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.block = (self.block + 1) % self.blocks;
    }
}
