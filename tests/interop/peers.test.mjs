// Clients and servers of the official SDKs, TypeScript and Python, in both eras: what the server's people are asked, and what
// they answer, is the same directly and through the gateway.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startUsher } from '../support/usher.mjs';
import * as typescript from './peers/client.mjs';
import { SERVER, load, startAsking } from './peers/server.mjs';
import * as python from './python/index.mjs';
import { TIMEOUT } from './setup.mjs';

const QUESTIONS = load('questions.json');
const TOOLS = load('tools.json');
const STEPS = load('steps.json');

const CLIENTS = { TypeScript: typescript.converseWithAll, Python: python.converseWithAll };
/** The servers: how to start them, and where they are then (`{ url }` or `{ command }`). */
const SERVERS = {
  'typescript-http': { start: startAsking },
  'python-http': { start: python.startPython },
  'typescript-stdio': { command: SERVER },
  'python-stdio': { command: python.SERVER },
};

let service;
before(async () => {
  const entries = [];
  for (const [name, server] of Object.entries(SERVERS)) {
    server.target = await place(server);
    const [[key, value]] = Object.entries(server.target);
    entries.push(`[[upstream]]\nname = "${name}"\n${key} = ${JSON.stringify(value)}\n`);
  }
  service = await startUsher({ servers: entries.join('\n') });
});
after(async () => {
  await service?.stop();
  for (const { running } of Object.values(SERVERS)) await running?.stop();
});

async function place(server) {
  if (!server.start) return { command: server.command };
  server.running = await server.start();
  return { url: server.running.url };
}

/** What the people behind a server are asked in one step, in the order of the tool's rounds. */
function askedIn({ tool, answers }) {
  const asked = [];
  for (const round of TOOLS[tool]) {
    asked.push(...round);
    if (round.some((key) => answers[key].action !== 'accept')) break;
  }
  return asked;
}

/** A question as the client gets it. A legacy link has an id; a form may leave its mode out. */
function question(key, id, era) {
  const { url, ...form } = QUESTIONS[key];
  if (!url) return { mode: 'form', ...form };
  return { mode: 'url', ...form, url, ...(era === 'legacy' && { elicitationId: id }) };
}

const byMessage = (one, other) => one.message.localeCompare(other.message);

/** Questions of one round come, and are answered, in any order. */
function sorted({ asked, results, ...rest }) {
  return {
    ...rest,
    asked: asked.map(({ mode = 'form', ...more }) => ({ mode, ...more })).sort(byMessage),
    results: results.map(({ isError, text }) => ({ isError, told: JSON.parse(text) })),
  };
}

for (const name of Object.keys(SERVERS)) {
  for (const era of ['legacy', 'modern']) {
    for (const [client, converseWithAll] of Object.entries(CLIENTS)) {
      test(`R-GW-02 R-ACT-03: ${client} client, ${name} server, ${era}: every question and answer`, { timeout: TIMEOUT }, async () => {
        const through = { era, url: service.endpoint(name), token: service.token };
        const conversations = await converseWithAll([{ era, ...SERVERS[name].target }, through]);
        const [direct, found] = conversations.map(sorted);

        const expected = STEPS.flatMap((step, number) => askedIn(step).map((key) => question(key, `id-${number}`, era)));
        assert.deepEqual(found.asked, expected.sort(byMessage));
        for (const [number, step] of STEPS.entries()) {
          const told = Object.fromEntries(askedIn(step).map((key) => [key, step.answers[key]]));
          assert.deepEqual(found.results[number], { isError: false, told }, step.title);
        }
        const opened = (step) => step.answers.visit?.action === 'accept';
        const ids = STEPS.flatMap((step, number) => (opened(step) ? [`id-${number}`] : []));
        assert.deepEqual(found.notices, era === 'legacy' ? ids : []);
        if (era === 'legacy') {
          const { code, data } = found.error;
          assert.deepEqual([code, data.elicitations], [-32042, [question('visit', 'id-locked', era)]]);
        }
        assert.deepEqual(found, direct);
      });
    }
  }
}
