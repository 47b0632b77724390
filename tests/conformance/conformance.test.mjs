// The official conformance suite against a server that passes it, directly and through the gateway: the same checks, with
// the same outcome. A scenario that does not apply is skipped without a word, so the checks are counted.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startUsher } from '../support/usher.mjs';
import { startConforming } from './server/index.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const SUITE = here('node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** What the pinned suite checks of a server of each revision. Read the notes of a newer suite before you change these. */
const COUNTS = {
  '2025-06-18': { scenarios: 27, passed: 56 },
  '2025-11-25': { scenarios: 33, passed: 84 },
  '2026-07-28': { scenarios: 40, passed: 152 },
};

for (const [version, counts] of Object.entries(COUNTS)) {
  test(`R-GW-02: the official suite sees the same server of ${version} through the gateway`, { timeout: 120_000 }, async (t) => {
    const direct = await stage(t);
    const behind = await stage(t);
    const service = await startUsher({ servers: `[[upstream]]\nname = "conforming"\nurl = "${behind.url}"\n` });
    t.after(() => service.stop());

    // One after the other: the suite gives some answers half a second.
    const expected = await run(t, version, direct.url);
    const found = await run(t, version, service.endpoint('conforming'), service.token);

    assert.deepEqual(expected.filter(failed), []);
    assert.deepEqual(count(expected), counts);
    assert.deepEqual(found, expected);
  });
}

async function stage(t) {
  const server = await startConforming();
  t.after(() => server.stop());
  return server;
}

/** Every check of a run, `scenario id STATUS`, sorted. With a token, all that the suite sends carries it. */
async function run(t, version, url, token) {
  const folder = await mkdtemp(join(tmpdir(), 'usher-conformance-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const withToken = token ? ['--import', here('bearer.mjs')] : [];
  const what = ['server', '--url', url, '--suite', 'all', '--spec-version', version, '--output-dir', folder];
  await finished([...withToken, SUITE, ...what], { ...process.env, USHER_TOKEN: token ?? '' });
  const checks = [];
  for (const name of await readdir(folder)) {
    // server-SCENARIO-TIME
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    for (const { id, status, errorMessage } of JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8'))) {
      const why = status === 'SUCCESS' || status === 'INFO' ? '' : `: ${errorMessage}`;
      checks.push(`${scenario} ${id} ${status}${why}`);
    }
  }
  return checks.sort();
}

const failed = (check) => !/ (SUCCESS|INFO)$/.test(check);

function count(checks) {
  const scenarios = new Set(checks.map((check) => check.split(' ')[0])).size;
  return { scenarios, passed: checks.filter((check) => check.endsWith(' SUCCESS')).length };
}

/** Runs Node to its end. The exit code says whether a check failed, which the checks say better. */
function finished(args, env) {
  return new Promise((resolve, reject) => {
    const options = { env, timeout: 90_000, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error?.killed || (error && error.code !== 1)) reject(new Error(`${error}\n${stdout}\n${stderr}`));
      else resolve();
    });
  });
}
