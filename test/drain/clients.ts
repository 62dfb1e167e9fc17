// The databases' clients, which this folder's packages are; for benches too.
export { default as mysql } from "mysql2/promise";
export { default as pg } from "pg";
