//! Tables as Parquet files, beside their CSV files: what columnar readers open without a parser.
//!
//! Texts are UTF-8 strings with a dictionary, numbers `DOUBLE`, whole numbers `INT64` (unsigned
//! where one needs that), and every column may hold nulls. Pages are not compressed: dictionaries
//! and runs make most of what a codec would. The file's key-value metadata says where the numbers
//! come from. The same table gives the same bytes.
//!
//! Source: the Apache Parquet format. A build without the feature `parquet` says so.

use std::path::Path;
use trammel_stats::table::Table;

/// Names and values for a file's key-value metadata.
pub type Facts = Vec<(String, String)>;

/// What is missing in a build without Parquet.
pub(crate) const MISSING: &str = "this build has no Parquet: build it with `--features parquet`; \
                                  wheels of `pip install .` have it";

/// Whether this build writes Parquet.
pub(crate) const IS_BUILT: bool = cfg!(feature = "parquet");

/// Writes `table` into the file `path`; the error says why it is not possible.
#[cfg(not(feature = "parquet"))]
pub fn write(_table: &Table, _facts: &Facts, _path: &Path) -> Result<(), String> {
    Err(MISSING.to_owned())
}

#[cfg(feature = "parquet")]
pub use built::write;

#[cfg(feature = "parquet")]
mod built {
    use super::{Facts, Path, Table};
    use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
    use parquet::errors::ParquetError;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
    use parquet::schema::types::Type;
    use std::fs::File;
    use std::io::Write;
    use std::sync::Arc;
    use trammel_stats::table::{Cell, CellType};

    /// Rows of a group, which a reader takes as one.
    const GROUP_ROWS: usize = 1 << 20;

    /// Writes `table` into the file `path`; the error says why it is not possible.
    pub fn write(table: &Table, facts: &Facts, path: &Path) -> Result<(), String> {
        let written = File::create(path)
            .map_err(ParquetError::from)
            .and_then(|file| write_to(table, facts, file));
        written.map_err(|why| format!("`{}`: {why}", path.display()))
    }

    fn write_to(table: &Table, facts: &Facts, out: impl Write + Send) -> Result<(), ParquetError> {
        let columns: Vec<Column<'_>> = (0..table.columns().len())
            .map(|at| Column::of(table, at))
            .collect::<Result<_, _>>()?;
        let fields = columns.iter().map(Column::field);
        let schema = Type::group_type_builder("table")
            .with_fields(fields.collect::<Result<_, _>>()?)
            .build()?;
        let mut known = vec![KeyValue::new(
            "trammel.table".to_owned(),
            table.name().to_owned(),
        )];
        known.extend(
            facts
                .iter()
                .cloned()
                .map(|(name, value)| KeyValue::new(name, value)),
        );
        let properties = WriterProperties::builder()
            .set_created_by(format!("trammel version {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(known));
        let mut file =
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))?;
        for from in (0..table.len()).step_by(GROUP_ROWS) {
            let mut group = file.next_row_group()?;
            for column in &columns {
                column.write(from, &mut group)?;
            }
            group.close()?;
        }
        file.close().map(drop)
    }

    /// A column of a table.
    struct Column<'a> {
        table: &'a Table,
        at: usize,
        is_unsigned: bool,
    }

    impl Column<'_> {
        /// The column at `at`; a whole number that has no 64 bits is an error.
        fn of(table: &Table, at: usize) -> Result<Column<'_>, ParquetError> {
            let column = Column {
                table,
                at,
                is_unsigned: false,
            };
            let whole = column.cells(0).filter_map(|cell| match cell {
                Cell::Int(number) => Some(*number),
                _ => None,
            });
            let (least, most) = whole.fold((0, 0), |(least, most), number| {
                (number.min(least), number.max(most))
            });
            let is_unsigned = most > i128::from(i64::MAX);
            if least < i128::from(i64::MIN)
                || most > i128::from(u64::MAX)
                || (is_unsigned && least < 0)
            {
                let name = &table.columns()[at].name;
                return Err(ParquetError::General(format!(
                    "column `{name}` of table `{}` has numbers from {least} to {most}, and Parquet \
                     has whole numbers of 64 bits",
                    table.name()
                )));
            }
            Ok(Column {
                is_unsigned,
                ..column
            })
        }

        /// The cells of a group of rows, or of all that follow where it is the whole table.
        fn cells(&self, from: usize) -> impl Iterator<Item = &Cell> {
            let rows = self.table.rows().skip(from);
            rows.map(|row| &row.cells()[self.at])
        }

        fn field(&self) -> Result<Arc<Type>, ParquetError> {
            let column = &self.table.columns()[self.at];
            let (physical, logical) = match column.cell_type {
                CellType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                CellType::Float => (Physical::DOUBLE, None),
                CellType::Bool => (Physical::BOOLEAN, None),
                CellType::Int => (Physical::INT64, self.is_unsigned.then(unsigned)),
            };
            let field = Type::primitive_type_builder(&column.name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_converted_type(ConvertedType::NONE)
                .with_logical_type(logical);
            field.build().map(Arc::new)
        }

        fn write<W: Write + Send>(
            &self,
            from: usize,
            group: &mut SerializedRowGroupWriter<'_, W>,
        ) -> Result<(), ParquetError> {
            match self.table.columns()[self.at].cell_type {
                CellType::Text => self.put::<ByteArrayType, W>(from, group, |cell| match cell {
                    Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                    _ => None,
                }),
                CellType::Float => self.put::<DoubleType, W>(from, group, Cell::float),
                CellType::Bool => self.put::<BoolType, W>(from, group, |cell| match cell {
                    Cell::Bool(flag) => Some(*flag),
                    _ => None,
                }),
                // An unsigned number has the bits of a signed one.
                CellType::Int => self.put::<Int64Type, W>(from, group, |cell| match cell {
                    Cell::Int(number) => Some(*number as i64),
                    _ => None,
                }),
            }
        }

        fn put<T: DataType, W: Write + Send>(
            &self,
            from: usize,
            group: &mut SerializedRowGroupWriter<'_, W>,
            value: impl Fn(&Cell) -> Option<T::T>,
        ) -> Result<(), ParquetError> {
            let cells: Vec<_> = self.cells(from).take(GROUP_ROWS).map(value).collect();
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            let values: Vec<T::T> = cells.into_iter().flatten().collect();
            let mut column = group
                .next_column()?
                .expect("the schema has a field for every column");
            column
                .typed::<T>()
                .write_batch(&values, Some(&levels), None)?;
            column.close()
        }
    }

    fn unsigned() -> LogicalType {
        LogicalType::integer(64, false)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use parquet::file::reader::{FileReader, SerializedFileReader};
        use parquet::record::Field;

        #[test]
        fn what_is_read_back_is_what_was_written() {
            let columns = [
                ("variant", CellType::Text),
                ("seed", CellType::Int),
                ("lost", CellType::Int),
                ("rtt_s", CellType::Float),
                ("ecn", CellType::Bool),
            ];
            let mut table = Table::with("flows", &columns);
            let rows = [
                vec![
                    "cubic".into(),
                    u64::MAX.into(),
                    (-3i64).into(),
                    0.25.into(),
                    true.into(),
                ],
                vec![Cell::Empty; 5],
                vec![
                    "reno".into(),
                    1u64.into(),
                    7i64.into(),
                    (1.0 / 3.0).into(),
                    false.into(),
                ],
            ];
            for row in rows {
                table.push(row).unwrap();
            }
            let facts = vec![("trammel.seeds".to_owned(), "1 2".to_owned())];
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("flows.parquet");
            write(&table, &facts, &path).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            write(&table, &facts, &path).unwrap();
            assert_eq!(bytes, std::fs::read(&path).unwrap());

            let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
            let known = reader.metadata().file_metadata().key_value_metadata();
            let known: Vec<_> = known.unwrap().iter().map(|one| one.key.as_str()).collect();
            assert_eq!(known, ["trammel.table", "trammel.seeds"]);
            let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
            let rows: Vec<Vec<Field>> = rows
                .map(|row| {
                    row.get_column_iter()
                        .map(|(_, field)| field.clone())
                        .collect()
                })
                .collect();
            assert_eq!(
                rows[0],
                [
                    Field::Str("cubic".to_owned()),
                    Field::ULong(u64::MAX),
                    Field::Long(-3),
                    Field::Double(0.25),
                    Field::Bool(true),
                ]
            );
            assert!(rows[1].iter().all(|field| *field == Field::Null));
            assert_eq!(rows[2][3], Field::Double(0.333333333));
            let mut wide = Table::with("wide", &[("n", CellType::Int)]);
            wide.push(vec![Cell::Int(1 << 100)]).unwrap();
            assert!(write(&wide, &facts, &path).unwrap_err().contains("64 bits"));
        }

        #[test]
        fn a_table_of_many_groups_is_whole() {
            let mut table = Table::with("many", &[("n", CellType::Int)]);
            for at in 0..GROUP_ROWS + 3 {
                table.push(vec![at.into()]).unwrap();
            }
            let place = tempfile::NamedTempFile::new().unwrap();
            write(&table, &Vec::new(), place.path()).unwrap();
            let reader = SerializedFileReader::new(place.reopen().unwrap()).unwrap();
            assert_eq!(reader.num_row_groups(), 2);
            let last = reader.get_row_group(1).unwrap();
            assert_eq!(last.metadata().num_rows(), 3);
        }
    }
}
