//! Numbers in memory that numpy sees as an array, so that a step copies nothing it need not.
//!
//! The memory is written with Python's lock held, and numpy reads it so. Without that lock, in a
//! free-threaded build, whoever reads while another thread steps may read old numbers among new.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Numbers of one kind.
#[derive(Debug)]
enum Numbers {
    Float32(Box<[AtomicU32]>),
    Float64(Box<[AtomicU64]>),
    Bool(Box<[AtomicU8]>),
}

/// An array, by numpy's `__array_interface__`.
#[pyclass(frozen, module = "trammel._trammel")]
#[derive(Debug)]
pub(crate) struct Memory {
    numbers: Numbers,
    shape: Vec<usize>,
}

fn zeros<T: Default>(shape: &[usize]) -> Box<[T]> {
    let count = shape.iter().product();
    std::iter::repeat_with(T::default).take(count).collect()
}

impl Memory {
    pub(crate) fn float32(shape: &[usize]) -> Memory {
        Memory {
            numbers: Numbers::Float32(zeros(shape)),
            shape: shape.to_vec(),
        }
    }

    pub(crate) fn float64(shape: &[usize]) -> Memory {
        Memory {
            numbers: Numbers::Float64(zeros(shape)),
            shape: shape.to_vec(),
        }
    }

    pub(crate) fn bool(shape: &[usize]) -> Memory {
        Memory {
            numbers: Numbers::Bool(zeros(shape)),
            shape: shape.to_vec(),
        }
    }

    /// Its numbers, of float32.
    pub(crate) fn read(&self) -> Vec<f32> {
        let Numbers::Float32(cells) = &self.numbers else {
            return Vec::new();
        };
        let read = |cell: &AtomicU32| f32::from_bits(cell.load(Ordering::Relaxed));
        cells.iter().map(read).collect()
    }

    /// Writes numbers of float32.
    pub(crate) fn write32(&self, numbers: impl Iterator<Item = f32>) {
        if let Numbers::Float32(cells) = &self.numbers {
            for (cell, number) in cells.iter().zip(numbers) {
                cell.store(number.to_bits(), Ordering::Relaxed);
            }
        }
    }

    /// Writes numbers of float64.
    pub(crate) fn write64(&self, numbers: impl Iterator<Item = f64>) {
        if let Numbers::Float64(cells) = &self.numbers {
            for (cell, number) in cells.iter().zip(numbers) {
                cell.store(number.to_bits(), Ordering::Relaxed);
            }
        }
    }

    /// Writes truths.
    pub(crate) fn write_bool(&self, truths: &[bool]) {
        if let Numbers::Bool(cells) = &self.numbers {
            for (cell, truth) in cells.iter().zip(truths) {
                cell.store(u8::from(*truth), Ordering::Relaxed);
            }
        }
    }
}

#[pymethods]
impl Memory {
    /// What numpy asks for; the array keeps this object, and so the memory.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (typestr, address) = match &self.numbers {
            Numbers::Float32(cells) => ("f4", cells.as_ptr().addr()),
            Numbers::Float64(cells) => ("f8", cells.as_ptr().addr()),
            Numbers::Bool(cells) => ("|b1", cells.as_ptr().addr()),
        };
        let order = if cfg!(target_endian = "little") {
            "<"
        } else {
            ">"
        };
        let typestr = match typestr {
            "|b1" => typestr.to_owned(),
            of => format!("{order}{of}"),
        };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("typestr", typestr)?;
        interface.set_item("data", (address, false))?;
        Ok(interface)
    }
}
