//! What the user should be told of a line: where ours differs from the original.

use super::reader::Reader;
use crate::itg::command::{Law, Unit, Values};
use crate::itg::signalling::head_length;

impl Reader<'_> {
    pub(super) fn remark(&mut self, remark: impl Into<String>) {
        self.command.remarks.push(remark.into());
    }

    pub(super) fn remark_on_laws(&mut self) {
        if let Values::Drawn {
            law,
            numbers,
            unit: Unit::PerSecond,
        } = &self.command.gap
        {
            let remark = match (law, numbers.as_slice()) {
                (Law::Constant, [rate])
                    if (1e6 / rate).fract() != 0.0 && self.gap_flag.is_some() =>
                {
                    Some(format!(
                        "`-C {rate}`: ours keeps the gap of {:.3} µs; the original rounds it up to \
                         whole microseconds",
                        1e6 / rate
                    ))
                }
                (Law::Uniform, [low, high]) => Some(format!(
                    "`-U {low} {high}`: the gap, not the rate, is uniform, as documented; the mean \
                     rate is {:.3} packets/s",
                    2.0 * low * high / (low + high)
                )),
                _ => None,
            };
            self.command.remarks.extend(remark);
        }
        for values in [&self.command.gap, &self.command.size] {
            if let Values::Drawn {
                law: Law::Weibull,
                numbers,
                ..
            } = values
                && let [shape, scale] = numbers.as_slice()
            {
                self.command.remarks.push(format!(
                    "Weibull: {shape} is the shape and {scale} the scale, as documented; the \
                     original takes them the other way round"
                ));
            }
        }
        let head = head_length(self.command.metadata, self.command.protocol);
        if let Values::Drawn {
            law: Law::Constant,
            numbers,
            ..
        } = &self.command.size
            && let [bytes] = numbers.as_slice()
            && *bytes < head as f64
            && self.command.application.is_none()
        {
            self.command.remarks.push(format!(
                "`-c {bytes}`: packets are of {head} bytes, as long as what `-p` puts into them"
            ));
        }
    }
}
