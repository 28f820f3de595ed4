//! A table, for Python: its columns as lists, as CSV, and as a stream of Arrow's.

use crate::arrow::{Columns, stream};
use pyo3::exceptions::{PyKeyError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::sync::{Arc, OnceLock};
use trammel_stats::table::{self, Cell};

/// A table of a run.
#[pyclass(frozen, module = "trammel._trammel")]
pub(crate) struct Table {
    table: table::Table,
    /// Made once, when it is asked for; every stream is of the same memory.
    columns: OnceLock<Arc<Columns>>,
}

impl Table {
    pub(crate) fn new(table: table::Table) -> Table {
        Table {
            table,
            columns: OnceLock::new(),
        }
    }

    fn columns(&self) -> Result<Arc<Columns>, String> {
        if let Some(columns) = self.columns.get() {
            return Ok(Arc::clone(columns));
        }
        let columns = Arc::new(Columns::of(&self.table)?);
        Ok(Arc::clone(self.columns.get_or_init(|| columns)))
    }
}

#[pymethods]
impl Table {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.table.name()
    }

    /// The names of its columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        let columns = self.table.columns().iter();
        columns.map(|column| column.name.as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.table.len()
    }

    /// The cells of a column, of the first `most` rows.
    #[pyo3(signature = (name, most = None))]
    fn column<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        most: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let at = self
            .table
            .column(name)
            .map_err(|why| PyKeyError::new_err(why.to_string()))?;
        let rows = self.table.rows().take(most.unwrap_or(usize::MAX));
        let cells = rows.map(|row| object(py, &row.cells()[at]));
        PyList::new(py, cells.collect::<PyResult<Vec<_>>>()?)
    }

    /// The file that the command writes.
    fn to_csv(&self, py: Python<'_>) -> String {
        py.detach(|| self.table.to_csv())
    }

    /// A stream of one batch, in the capsule that Arrow's PyCapsule interface names. The columns'
    /// types are Trammel's own, whatever `requested_schema` says, as the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        _ = requested_schema;
        let columns = py.detach(|| self.columns());
        let columns = columns.map_err(PyOverflowError::new_err)?;
        PyCapsule::new_with_value(py, stream(columns), c"arrow_array_stream")
    }
}

fn object<'py>(py: Python<'py>, cell: &Cell) -> PyResult<Bound<'py, PyAny>> {
    Ok(match cell {
        Cell::Empty => py.None().into_bound(py),
        Cell::Text(text) => text.into_pyobject(py)?.into_any(),
        Cell::Int(number) => number.into_pyobject(py)?.into_any(),
        Cell::Float(number) => number.into_pyobject(py)?.into_any(),
        Cell::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
    })
}
