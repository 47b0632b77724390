// A program that serves at a port of loopback, for as long as a test needs it.

import { spawn } from 'node:child_process';
import { until } from './deadline.mjs';

/** Starts `command`, and waits until something answers at `url`. `stop()` ends it. */
export async function startProgram([program, ...args], { url, env = {} }) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let log = '';
  let ended;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += chunk));
  child.on('error', (error) => (ended = String(error)));
  child.on('exit', (code, signal) => (ended = `code ${code}, signal ${signal}`));
  // Whatever ends this process must not leave the program behind.
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  const stop = async () => {
    child.kill();
    try {
      await until(5_000, `${program} ends`, () => ended);
    } finally {
      kill();
      process.off('exit', kill);
    }
  };
  const answers = () => fetch(url, { signal: AbortSignal.timeout(2_000) }).then(() => true, () => false);
  try {
    await until(20_000, `${program} answers`, () => {
      if (ended) throw new Error(`${program} ended: ${ended}`);
      return answers();
    });
  } catch (error) {
    error.message += `\n${log}`;
    await stop().catch(() => {});
    throw error;
  }
  return { stop };
}
