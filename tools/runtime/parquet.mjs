// Parquet files of readers, row after row as JSON lines, for site/assets/files.js; tools/runtime/vendor.py makes
// site/vendor/parquet.js of it.
import { parquetMetadataAsync, parquetReadObjects } from "hyparquet";

const ROWS = 1000;  // read together
const plain = (_, value) => (typeof value === "bigint" ? Number(value) : value);

// Yields pieces of text, each with the share of the file's rows that were read before it.
export async function* lines(file) {
  const metadata = await parquetMetadataAsync(file);
  const rows = Number(metadata.num_rows);
  for (let rowStart = 0; rowStart < rows; rowStart += ROWS) {
    const read = await parquetReadObjects({ file, metadata, rowStart, rowEnd: Math.min(rowStart + ROWS, rows) });
    if (!read.length) throw new Error("it says that it has more rows than it has");
    yield [read.map((row) => `${JSON.stringify(row, plain)}\n`).join(""), rowStart / rows];
  }
}
