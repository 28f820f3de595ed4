//! Tables as Arrow's C stream interface: three structs of C, over columns that all streams share.
//!
//! Source: the Apache Arrow specification, "The Arrow C data interface", "The Arrow C stream
//! interface" and, for texts, "Variable-size binary view layout". A stream has one batch. An array
//! of a batch is a struct whose children are the columns; whoever imports it may keep a child and
//! release the rest, so each holds the columns itself. Nothing is copied after [`Columns::of`].

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use trammel_stats::table::{Cell, CellType, Table};
use trammel_transport::trace_of::EntityTrace;

/// `struct ArrowSchema`.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
pub(crate) struct Stream {
    get_schema: unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int,
    get_next: unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int,
    get_last_error: unsafe extern "C" fn(*mut Stream) -> *const c_char,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;

/// The values of a column.
enum Values {
    Int(Vec<i64>),
    /// Whole numbers beyond those of 63 bits, such as large seeds.
    Unsigned(Vec<u64>),
    Float(Vec<f64>),
    /// A bit each.
    Bool(Vec<u8>),
    Text(Texts),
}

/// Texts as views, which polars, DuckDB and pandas have themselves: no reader converts them.
///
/// A view is sixteen bytes: the length, then the text where it has at most twelve bytes; else its
/// first four, the number of the buffer that has it, and its place there.
#[derive(Default)]
struct Texts {
    views: Vec<[u8; 16]>,
    buffers: Vec<Vec<u8>>,
    /// How long the buffers are; set when all texts are there.
    lengths: Vec<i64>,
}

impl Texts {
    /// The longest text that stands in its view.
    const SHORT: usize = 12;
    /// The largest buffer: places in one have 31 bits.
    const MOST_BYTES: usize = 1 << 30;

    fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut view = [0; 16];
        view[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        if bytes.len() <= Texts::SHORT {
            view[4..4 + bytes.len()].copy_from_slice(bytes);
        } else if self.is_last(bytes) {
            // Rows of one point have its name one after the other.
            view = self.views.last().copied().unwrap_or(view);
        } else {
            let has_room = |last: &Vec<u8>| last.len() + bytes.len() <= Texts::MOST_BYTES;
            if !self.buffers.last().is_some_and(has_room) {
                self.buffers.push(Vec::new());
            }
            let at = self.buffers.len() - 1;
            view[4..8].copy_from_slice(&bytes[..4]);
            view[8..12].copy_from_slice(&(at as u32).to_le_bytes());
            view[12..].copy_from_slice(&(self.buffers[at].len() as u32).to_le_bytes());
            self.buffers[at].extend_from_slice(bytes);
        }
        self.views.push(view);
    }

    /// Whether the text of the last view is `bytes`, which are too many to stand in it.
    fn is_last(&self, bytes: &[u8]) -> bool {
        let (Some(view), Some(buffer)) = (self.views.last(), self.buffers.last()) else {
            return false;
        };
        let length = u32::from_le_bytes([view[0], view[1], view[2], view[3]]);
        length as usize == bytes.len() && buffer.ends_with(bytes)
    }
}

impl Values {
    /// The type in Arrow's words.
    fn format(&self) -> &'static CStr {
        match self {
            Values::Int(_) => c"l",
            Values::Unsigned(_) => c"L",
            Values::Float(_) => c"g",
            Values::Bool(_) => c"b",
            Values::Text(_) => c"vu",
        }
    }
}

struct Column {
    name: CString,
    /// A bit each, set where there is a value; nothing where all have one.
    validity: Option<Vec<u8>>,
    empty: i64,
    values: Values,
}

/// The columns of a table.
pub(crate) struct Columns {
    rows: usize,
    all: Vec<Column>,
}

/// Bits that are added one after the other, the first one the lowest of its byte.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.len % 8);
        }
        self.len += 1;
    }
}

/// A column to which cells are added.
struct Builder {
    name: String,
    valid: Bits,
    empty: i64,
    values: Building,
}

/// The values of a [`Builder`].
enum Building {
    Int(Vec<i64>),
    /// From the first whole number on that needs it.
    Unsigned(Vec<u64>),
    Float(Vec<f64>),
    Bool(Bits),
    Text(Texts),
}

impl Builder {
    fn new(name: &str, of: CellType, rows: usize) -> Builder {
        Builder {
            name: name.to_owned(),
            valid: Bits::default(),
            empty: 0,
            values: match of {
                CellType::Int => Building::Int(Vec::with_capacity(rows)),
                CellType::Float => Building::Float(Vec::with_capacity(rows)),
                CellType::Bool => Building::Bool(Bits::default()),
                CellType::Text => Building::Text(Texts {
                    views: Vec::with_capacity(rows),
                    ..Texts::default()
                }),
            },
        }
    }

    /// Adds a cell; a whole number that fits no type of 64 bits with those before is an error.
    fn push(&mut self, cell: &Cell) -> Result<(), String> {
        let is_empty = *cell == Cell::Empty;
        self.valid.push(!is_empty);
        self.empty += i64::from(is_empty);
        match &mut self.values {
            Building::Float(all) => all.push(cell.float().unwrap_or(0.0)),
            Building::Bool(all) => all.push(*cell == Cell::Bool(true)),
            Building::Text(texts) => texts.push(match cell {
                Cell::Text(text) => text,
                _ => "",
            }),
            Building::Int(_) | Building::Unsigned(_) => {
                let number = match cell {
                    Cell::Int(number) => *number,
                    _ => 0,
                };
                return self.push_whole(number);
            }
        }
        Ok(())
    }

    fn push_whole(&mut self, number: i128) -> Result<(), String> {
        let too_large = || {
            format!(
                "column `{}`: numbers of more than 64 bits; `to_csv` has them",
                self.name
            )
        };
        match &mut self.values {
            Building::Int(all) => {
                if let Ok(number) = i64::try_from(number) {
                    all.push(number);
                    return Ok(());
                }
                let earlier: Result<Vec<u64>, _> = all.iter().map(|n| u64::try_from(*n)).collect();
                let (Ok(mut earlier), Ok(number)) = (earlier, u64::try_from(number)) else {
                    return Err(too_large());
                };
                earlier.push(number);
                self.values = Building::Unsigned(earlier);
            }
            Building::Unsigned(all) => match u64::try_from(number) {
                Ok(number) => all.push(number),
                Err(_) => return Err(too_large()),
            },
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Column {
        Column {
            name: CString::new(self.name.replace('\0', "")).unwrap_or_default(),
            validity: (self.empty > 0).then_some(self.valid.bytes),
            empty: self.empty,
            values: match self.values {
                Building::Int(all) => Values::Int(all),
                Building::Unsigned(all) => Values::Unsigned(all),
                Building::Float(all) => Values::Float(all),
                Building::Bool(bits) => Values::Bool(bits.bytes),
                Building::Text(mut texts) => {
                    texts.lengths = texts.buffers.iter().map(|one| one.len() as i64).collect();
                    Values::Text(texts)
                }
            },
        }
    }
}

impl Columns {
    /// The columns of `table`; a whole number that has no 64 bits is an error.
    pub(crate) fn of(table: &Table) -> Result<Columns, String> {
        let columns = table.columns().iter();
        let columns = columns.map(|one| Builder::new(&one.name, one.cell_type, table.len()));
        let mut all: Vec<Builder> = columns.collect();
        for row in table.rows() {
            for (column, cell) in all.iter_mut().zip(row.cells()) {
                column
                    .push(cell)
                    .map_err(|why| format!("table `{}`, {why}", table.name()))?;
            }
        }
        Ok(Columns {
            rows: table.len(),
            all: all.into_iter().map(Builder::finish).collect(),
        })
    }

    /// The columns of `trace`, with the numbers of its table.
    pub(crate) fn of_trace(trace: &EntityTrace) -> Result<Columns, String> {
        let columns = trace.columns().into_iter().map(|(column, cells)| {
            let mut built = Builder::new(&column.name, column.cell_type, trace.len());
            for cell in cells {
                built.push(&cell.kept())?;
            }
            Ok(built.finish())
        });
        Ok(Columns {
            rows: trace.len(),
            all: columns.collect::<Result<_, String>>()?,
        })
    }
}

/// A stream of one batch with `columns`.
pub(crate) fn stream(columns: Arc<Columns>) -> Stream {
    let state = Box::new(State {
        columns,
        is_given: false,
    });
    Stream {
        get_schema,
        get_next,
        get_last_error,
        release: Some(release_stream),
        private_data: Box::into_raw(state).cast(),
    }
}

/// What a stream holds.
struct State {
    columns: Arc<Columns>,
    is_given: bool,
}

// SAFETY: what it points to is a `State`, which may go to another thread.
unsafe impl Send for Stream {}

impl Drop for Stream {
    /// Whoever imports a stream takes it away and leaves none to release.
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is this stream's own, and was not called yet.
            unsafe { release(self) };
        }
    }
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: the interface has it called once, with the stream that `stream` made.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<State>()));
        (*stream).private_data = null_mut();
        (*stream).release = None;
    }
}

unsafe extern "C" fn get_last_error(_stream: *mut Stream) -> *const c_char {
    // Nothing here fails.
    null()
}

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: the stream is not released, and `out` has room for a schema.
    unsafe {
        let state = &*(*stream).private_data.cast::<State>();
        let columns = &state.columns;
        let children = columns.all.iter();
        let children = children.map(|column| {
            let name = column.name.clone();
            Box::into_raw(Box::new(schema(
                column.values.format(),
                name,
                NULLABLE,
                Vec::new(),
            )))
        });
        out.write(schema(c"+s", CString::default(), 0, children.collect()));
    }
    0
}

/// What a schema holds.
struct SchemaParts {
    name: CString,
    children: Vec<*mut Schema>,
}

fn schema(format: &'static CStr, name: CString, flags: i64, children: Vec<*mut Schema>) -> Schema {
    let mut parts = Box::new(SchemaParts { name, children });
    Schema {
        format: format.as_ptr(),
        name: parts.name.as_ptr(),
        metadata: null(),
        flags,
        n_children: parts.children.len() as i64,
        children: parts.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: it is called once, with what `schema` made; children that were taken away have no
    // `release` any more.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        for child in parts.children {
            let mut child = Box::from_raw(child);
            if let Some(release) = child.release {
                release(&raw mut *child);
            }
        }
        (*schema).release = None;
    }
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: the stream is not released, and `out` has room for an array.
    unsafe {
        let state = &mut *(*stream).private_data.cast::<State>();
        if state.is_given {
            // An array without `release` is the end.
            out.write(Array {
                release: None,
                ..array(&state.columns, 0, Vec::new(), Vec::new())
            });
            return 0;
        }
        state.is_given = true;
        let columns = &state.columns;
        let children = columns.all.iter();
        let children = children.map(|column| {
            let validity = column
                .validity
                .as_ref()
                .map_or(null(), |bits| pointer(bits));
            let mut buffers = vec![validity];
            match &column.values {
                Values::Int(all) => buffers.push(pointer(all)),
                Values::Unsigned(all) => buffers.push(pointer(all)),
                Values::Float(all) => buffers.push(pointer(all)),
                Values::Bool(all) => buffers.push(pointer(all)),
                Values::Text(texts) => {
                    buffers.push(pointer(&texts.views));
                    buffers.extend(texts.buffers.iter().map(|one| pointer(one)));
                    buffers.push(pointer(&texts.lengths));
                }
            }
            Box::into_raw(Box::new(array(columns, column.empty, buffers, Vec::new())))
        });
        let children = children.collect();
        out.write(array(columns, 0, vec![null()], children));
    }
    0
}

fn pointer<T>(all: &[T]) -> *const c_void {
    all.as_ptr().cast()
}

/// What an array holds: the columns that its buffers are in, too.
struct ArrayParts {
    _columns: Arc<Columns>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
}

fn array(
    columns: &Arc<Columns>,
    empty: i64,
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
) -> Array {
    let mut parts = Box::new(ArrayParts {
        _columns: Arc::clone(columns),
        buffers,
        children,
    });
    Array {
        length: columns.rows as i64,
        null_count: empty,
        offset: 0,
        n_buffers: parts.buffers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: it is called once, with what `array` made; children that were taken away have no
    // `release` any more.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        for child in parts.children {
            let mut child = Box::from_raw(child);
            if let Some(release) = child.release {
                release(&raw mut *child);
            }
        }
        (*array).release = None;
    }
}
