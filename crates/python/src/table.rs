//! A table, for Python: its columns as lists, as CSV, and as a stream of Arrow's.

use crate::arrow::{Columns, stream};
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use trammel_report::parquet;
use trammel_stats::table::{self, Cell, CellType, Column};
use trammel_transport::embedded::Embedded;
use trammel_transport::trace_of::EntityTrace;

/// A table of a run.
#[pyclass(frozen, module = "trammel._trammel")]
pub(crate) struct Table {
    source: Source,
    /// Made once, when it is asked for; every stream is of the same memory.
    columns: OnceLock<Arc<Columns>>,
}

/// What a table is of.
enum Source {
    Table(table::Table),
    Trace(Trace),
}

/// A trace, which is a table of cells only where it must be: that needs five times the memory.
struct Trace {
    run: Arc<Embedded>,
    /// Its place among all of the run.
    at: usize,
    name: String,
    table: OnceLock<table::Table>,
}

impl Trace {
    fn samples(&self) -> &EntityTrace {
        &self.run.outcome.traces[self.at].trace
    }
}

impl Table {
    pub(crate) fn new(table: table::Table) -> Table {
        Table {
            source: Source::Table(table),
            columns: OnceLock::new(),
        }
    }

    /// The trace at this place among those of `run`, with its columns made.
    pub(crate) fn of_trace(run: &Arc<Embedded>, at: usize, name: String) -> Table {
        let trace = Trace {
            run: Arc::clone(run),
            at,
            name,
            table: OnceLock::new(),
        };
        let columns = OnceLock::new();
        // What has no columns tells why when it is asked for them.
        if let Ok(made) = Columns::of_trace(trace.samples()) {
            _ = columns.set(Arc::new(made));
        }
        Table {
            source: Source::Trace(trace),
            columns,
        }
    }

    /// As cells.
    fn cells(&self) -> &table::Table {
        match &self.source {
            Source::Table(table) => table,
            Source::Trace(trace) => trace.table.get_or_init(|| trace.samples().to_table()),
        }
    }

    fn columns(&self) -> Result<Arc<Columns>, String> {
        if let Some(columns) = self.columns.get() {
            return Ok(Arc::clone(columns));
        }
        let columns = match &self.source {
            Source::Table(table) => Columns::of(table),
            Source::Trace(trace) => Columns::of_trace(trace.samples()),
        };
        let columns = Arc::new(columns?);
        Ok(Arc::clone(self.columns.get_or_init(|| columns)))
    }
}

#[pymethods]
impl Table {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        match &self.source {
            Source::Table(table) => table.name(),
            Source::Trace(trace) => &trace.name,
        }
    }

    /// The names of its columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        match &self.source {
            Source::Table(table) => {
                let columns = table.columns().iter();
                columns.map(|column| column.name.clone()).collect()
            }
            Source::Trace(trace) => {
                let columns = trace.samples().columns().into_iter();
                columns.map(|(column, _)| column.name).collect()
            }
        }
    }

    fn __len__(&self) -> usize {
        match &self.source {
            Source::Table(table) => table.len(),
            Source::Trace(trace) => trace.samples().len(),
        }
    }

    /// The cells of a column, of the first `most` rows.
    #[pyo3(signature = (name, most = None))]
    fn column<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        most: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let table = py.detach(|| self.cells());
        let at = table
            .column(name)
            .map_err(|why| PyKeyError::new_err(why.to_string()))?;
        let rows = table.rows().take(most.unwrap_or(usize::MAX));
        let cells = rows.map(|row| object(py, &row.cells()[at]));
        PyList::new(py, cells.collect::<PyResult<Vec<_>>>()?)
    }

    /// The file that the command writes.
    fn to_csv(&self, py: Python<'_>) -> String {
        py.detach(|| self.cells().to_csv())
    }

    /// Writes the table as Parquet; `facts` go into its metadata.
    fn to_parquet(
        &self,
        py: Python<'_>,
        path: PathBuf,
        facts: Vec<(String, String)>,
    ) -> PyResult<()> {
        let written = py.detach(|| parquet::write(self.cells(), &facts, &path));
        written.map_err(PyRuntimeError::new_err)
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

/// The table `name` of the text of a CSV file; `columns` are names and types, as in `run.json`.
#[pyfunction]
pub(crate) fn read_table(
    py: Python<'_>,
    name: &str,
    columns: Vec<(String, String)>,
    text: &str,
) -> PyResult<Table> {
    let columns = columns.iter().map(|(name, of)| {
        let of = CellType::from_name(of)
            .ok_or_else(|| PyValueError::new_err(format!("`{of}` is no type of a column")))?;
        Ok(Column::new(name, of))
    });
    let header = table::Table::new(name, columns.collect::<PyResult<_>>()?);
    let read = py.detach(|| table::Table::read_csv(&header, text.as_bytes()));
    let read = read.map_err(|why| PyValueError::new_err(why.to_string()))?;
    Ok(Table::new(read))
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
