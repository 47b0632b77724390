// The official Python SDK, installed by `cargo xtask test`.

import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../support/port.mjs';
import { startProgram } from '../../support/program.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The interpreter of the environment with `requirements.txt`. */
const PYTHON = process.env.USHER_PYTHON;
if (!PYTHON) throw new Error('USHER_PYTHON is not set: run these tests by `cargo xtask test`, or name a Python with its packages');

/** How the server of this folder is run over stdio. */
export const SERVER = [PYTHON, here('server.py')];

/** Starts the server of this folder over HTTP at a free port of loopback. */
export async function startPython() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  return { url, ...(await startProgram([...SERVER, port], { url })) };
}

/** What `converseWithAll` of `../peers/client.mjs` does, by the Python client. */
export async function converseWithAll(targets) {
  const options = { timeout: 60_000, killSignal: 'SIGKILL' };
  const given = targets.map((target) => JSON.stringify(target));
  const { stdout } = await promisify(execFile)(PYTHON, [here('client.py'), ...given], options);
  return JSON.parse(stdout);
}

/**
 * Two calls of `get_forecast` by the Python client. `visit` gets each question while the client answers it. Returns
 * `{ asked, results, notices }`.
 */
export async function forecast(target, visit) {
  const stdio = ['ignore', 'pipe', 'inherit'];
  const child = spawn(PYTHON, [here('forecast.py'), JSON.stringify(target)], { stdio });
  const timer = setTimeout(() => child.kill('SIGKILL'), 50_000);
  const asked = [];
  const visits = [];
  let end;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text);
    if (line.asked) {
      asked.push(line.asked);
      visits.push(visit(line.asked));
    } else {
      end = line;
    }
  }
  clearTimeout(timer);
  await Promise.all(visits);
  if (!end) throw new Error(`the client ended without a result: ${JSON.stringify(asked)}`);
  return { asked, ...end };
}
