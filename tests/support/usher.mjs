// Starting `usher serve` in a folder of its own, and asking it for a sign-in link.

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from './deadline.mjs';
import { freePort } from './port.mjs';

const BINARY = process.env.USHER_BIN;

/** The configuration of a gateway at `origin` before `servers`. */
function configuration({ origin, port, store, identity, servers }) {
  return `
public_url = "${origin}"
[listen]
address = "127.0.0.1:${port}"
[store]
url = "${store}"
[keys]
file = "usher.keys"
${identity}
${servers}`;
}

/** The upstream `weather` at `upstream`, and the provider of its key. */
function weather({ upstream, hold, check }) {
  return `
[[provider]]
name = "weather"
title = { en = "Weather", "zh-CN" = "天气" }
about = { en = "Forecasts of the weather service.", "zh-CN" = "天气服务的预报。" }
kind = "secret"
[[provider.field]]
name = "api_key"
label = { en = "API key", "zh-CN" = "API 密钥" }
description = { en = "It starts with key-.", "zh-CN" = "以 key- 开头。" }
${check ? `[provider.check]\nget = "${upstream}/me"\nheader = { Authorization = "Bearer {api_key}" }` : ''}

[[upstream]]
name = "weather"
title = { en = "Weather server", "zh-CN" = "天气服务器" }
url = "${upstream}/mcp"
hold = "${hold}"
[[upstream.needs]]
provider = "weather"
on = ["tools/get_*", "prompts/*", "resources/*"]
header = { X-Api-Key = "{api_key}" }
`;
}

/**
 * Starts the service. `upstream` is the origin of the server behind it, `hold` how long a call may wait, `check`
 * whether a key is checked when it is entered. `servers` is the configuration of other upstreams in place of that one.
 * `site` is where and for whom: `{ port, origin, fetch }` for a `public_url` that is not where it listens, with a `fetch` that
 * finds it; `identity`, the section of that name, without which it is one person on this machine; `store`, a URL.
 */
export async function startUsher({ upstream, hold = '20s', check = true, servers = weather({ upstream, hold, check }), site = {} }) {
  if (!BINARY) throw new Error('USHER_BIN is not set: run these tests by `cargo xtask test`, or name a built usher');
  const folder = await mkdtemp(join(tmpdir(), 'usher-test-'));
  const { port = await freePort(), identity = '', store = 'sqlite:usher.db' } = site;
  const { origin = `http://127.0.0.1:${port}`, fetch = globalThis.fetch } = site;
  const config = join(folder, 'usher.toml');
  await writeFile(config, configuration({ origin, port, store, identity, servers }));

  /** What the command `usher …` prints. */
  async function command(...args) {
    const options = { cwd: folder, timeout: 10_000 };
    const { stdout } = await promisify(execFile)(BINARY, [...args, '--config', config], options);
    return stdout;
  }
  // Several replicas would each make their own keys, so with PostgreSQL somebody makes them once.
  if (!store.startsWith('sqlite:')) await command('keys', 'init');

  let log = '';
  let current = launch();

  /** One run of the program; `ended` tells how it ended. */
  function launch() {
    const child = spawn(BINARY, ['serve', '--config', config], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const run = { child, ended: undefined };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += chunk));
    child.on('error', (error) => (run.ended = String(error)));
    child.on('exit', (code, signal) => (run.ended = `code ${code}, signal ${signal}`));
    return run;
  }

  function ready() {
    return until(15_000, 'usher is ready', async () => {
      if (current.ended) throw new Error(`usher ended: ${current.ended}`);
      return fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
        (response) => response.ok,
        () => false,
      );
    });
  }

  async function end(signal) {
    const { child } = current;
    child.kill(signal);
    try {
      await until(10_000, 'usher ends', () => current.ended);
    } finally {
      child.kill('SIGKILL');
    }
  }

  // Whatever ends this process must not leave the service behind.
  const kill = () => current.child.kill('SIGKILL');
  process.on('exit', kill);

  const service = {
    origin,
    fetch,
    mcp: `${origin}/mcp/weather`,
    /** The endpoint of the upstream with this name. */
    endpoint: (name) => `${origin}/mcp/${name}`,
    /** All that it printed so far. */
    log: () => log,
    /** A one-time sign-in link, as the command prints it. */
    async login() {
      const stdout = await command('login', '--no-browser');
      const link = stdout.match(/https?:\/\/\S+/)?.[0];
      if (!link) throw new Error(`usher login printed no link: ${stdout}`);
      return link;
    },
    /** Ends it without a warning, and starts it again on the same files. */
    async crash() {
      await end('SIGKILL');
      current = launch();
      await ready();
    },
    async stop() {
      try {
        await end('SIGTERM');
      } finally {
        process.off('exit', kill);
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
  try {
    await ready();
    if (!identity) {
      const tokens = await readFile(join(folder, 'usher.tokens'), 'utf8');
      service.token = tokens.match(/^default\s*=\s*"([^"]+)"/m)?.[1];
      if (!service.token) throw new Error('usher.tokens names no token "default"');
    }
  } catch (error) {
    error.message += `\n${log}`;
    await service.stop().catch(() => {});
    throw error;
  }
  return service;
}
