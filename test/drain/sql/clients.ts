// The databases' clients, which this folder's packages are; for benches too.
import sqlite from "node-sqlite3-wasm";

export { default as mysql } from "mysql2/promise";
export { default as pg } from "pg";

export const Sqlite = sqlite.Database;
