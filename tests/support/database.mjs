// A PostgreSQL database for one test, at the server that `cargo xtask test` starts.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/** The server where databases may be created, if there is one. */
export const POSTGRES = process.env.USHER_TEST_POSTGRES;

/** Makes a database; its URL. It is dropped when the test `t` ends. */
export async function createDatabase(t) {
  const url = new URL(POSTGRES);
  const name = `usher_${randomBytes(8).toString('hex')}`;
  await ask(url, `CREATE DATABASE ${name}`);
  t.after(() => ask(url, `DROP DATABASE ${name} WITH (FORCE)`));
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

async function ask({ hostname, port, username, password, pathname }, statement) {
  const env = {
    ...process.env,
    PGHOST: hostname,
    PGPORT: port || '5432',
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
  };
  await promisify(execFile)('psql', ['--no-psqlrc', '--quiet', '--command', statement], { env, timeout: 20_000 });
}
