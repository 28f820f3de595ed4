//! TOML as dictionaries, by the reader of scenarios: Python has one of its own since 3.11 only.

use crate::faults::Refused;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use trammel_scenario::tree::{Node, Table, Value};

/// The keys and values of `text`.
#[pyfunction]
pub(crate) fn parse(py: Python<'_>, text: &str) -> PyResult<Py<PyDict>> {
    let none: Vec<(usize, usize, String, String, String)> = Vec::new();
    let root = Node::parse(text).map_err(|error| Refused::new_err((error.message, none)))?;
    let empty = Table::default();
    let table = root.as_table().unwrap_or(&empty);
    Ok(dictionary(py, table)?.unbind())
}

fn dictionary<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for entry in &table.0 {
        all.set_item(&entry.key, object(py, &entry.node)?)?;
    }
    Ok(all)
}

fn object<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyAny>> {
    Ok(match &node.value {
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::List(items) => {
            let items = items.iter().map(|item| object(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Table(table) => dictionary(py, table)?.into_any(),
        // No key of a scenario takes one, which `check` tells with its place.
        Value::Date => py.None().into_bound(py),
    })
}
