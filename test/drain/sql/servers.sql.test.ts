import mysql from "mysql2/promise";
import pg from "pg";
import { expect, test } from "vitest";
import { startMariadb } from "../../harness/servers/mariadb.ts";
import { startPostgres } from "../../harness/servers/postgres.ts";

test("a private PostgreSQL keeps its data through kill -9", async () => {
  const server = await startPostgres();
  const ask = async (text: string) => {
    const client = new pg.Client(server.url);
    await client.connect();
    const { rows } = await client.query(text);
    await client.end();
    return rows;
  };
  await ask("CREATE TABLE kept AS SELECT 5 AS n");
  await server.kill9();
  await expect(ask("SELECT 1")).rejects.toThrow();
  await server.restart();
  expect(await ask("SELECT n FROM kept")).toEqual([{ n: 5 }]);
  await server.stop();
});

test("a private MariaDB keeps its data through kill -9", async () => {
  const server = await startMariadb();
  const ask = async (text: string) => {
    const client = await mysql.createConnection({
      host: "127.0.0.1",
      port: server.port,
      user: "root",
      database: "oriel",
    });
    const [rows] = await client.query(text);
    await client.end();
    return rows;
  };
  await ask("CREATE TABLE kept AS SELECT 5 AS n");
  await server.kill9();
  await expect(ask("SELECT 1")).rejects.toThrow();
  await server.restart();
  expect(await ask("SELECT n FROM kept")).toEqual([{ n: 5 }]);
  await server.stop();
});
