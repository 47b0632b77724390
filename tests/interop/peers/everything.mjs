// `@modelcontextprotocol/server-everything`, which is written with an SDK of the legacy era, and a client that uses all of it.

import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { until } from '../../support/deadline.mjs';
import { freePort } from '../../support/port.mjs';
import { startProgram } from '../../support/program.mjs';

const PROGRAM = new URL('../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url);

/** How it is run; without an argument over stdio. */
export const EVERYTHING = [process.execPath, fileURLToPath(PROGRAM)];

/** Starts it over HTTP at a free port of loopback. */
export async function startEverything() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  return { url, ...(await startProgram([...EVERYTHING, 'streamableHttp'], { url, env: { PORT: `${port}` } })) };
}

const TIMEOUT = { timeout: 20_000 };
const SUBSCRIBED = 'demo://resource/dynamic/text/7';
const ROOTS = [{ uri: 'file:///srv/data', name: 'data' }];
const SAMPLE = { role: 'assistant', content: { type: 'text', text: 'Four.' }, model: 'test', stopReason: 'endTurn' };

/** What a person writes into its form. */
export const WRITTEN = {
  name: 'Zoë 北京',
  check: true,
  firstLine: 'Once.',
  email: 'zoe@example.com',
  homepage: 'https://example.com/zoe',
  birthdate: '1990-02-28',
  integer: 7,
  number: 2.5,
  untitledSingleSelectEnum: 'Ross',
  untitledMultipleSelectEnum: ['Piano', 'Drums'],
  titledSingleSelectEnum: 'hero-2',
  titledMultipleSelectEnum: ['fish-3'],
  legacyTitledEnum: 'pet-4',
};

/** Uses all of the server at `target`, `{ url, token }` or `{ command }`; returns all that the client saw, by name. */
export async function useEverything({ url, token, command }) {
  const seen = { asked: [], sampled: [], updated: [], logged: [] };
  let answer = {};
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };
  const client = new Client({ name: 'everything', version: '1.0.0' }, { capabilities });
  client.setRequestHandler('elicitation/create', ({ params }) => {
    seen.asked.push(params);
    return answer;
  });
  client.setRequestHandler('sampling/createMessage', ({ params }) => {
    seen.sampled.push(params);
    return SAMPLE;
  });
  client.setRequestHandler('roots/list', () => ({ roots: ROOTS }));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void seen.updated.push(params.uri));
  client.setNotificationHandler('notifications/message', ({ params }) => void seen.logged.push(params));
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const transport = command
    ? new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'ignore' })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport, TIMEOUT);
  const tool = (name, given = {}, options) => ended(client.callTool({ name, arguments: given }, { ...TIMEOUT, ...options }));
  try {
    seen.server = [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()];
    // It offers what the client can do once it has heard that the client is ready.
    await until(10_000, 'all tools', async () => {
      seen.tools = (await client.listTools()).tools;
      return seen.tools.some(({ name }) => name === 'trigger-url-elicitation');
    });
    await lists(client, seen);
    await contents(tool, seen);
    seen.progress = [];
    const onprogress = (progress) => void seen.progress.push(progress);
    seen.long = await tool('trigger-long-running-operation', { duration: 0.3, steps: 3 }, { onprogress });
    seen.sampling = await tool('trigger-sampling-request', { prompt: 'Two and two?', maxTokens: 5 });
    for (const action of ['accept', 'decline', 'cancel']) {
      answer = action === 'accept' ? { action, content: WRITTEN } : { action };
      seen[`form: ${action}`] = await tool('trigger-elicitation-request');
      answer = { action };
      const link = { url: `https://example.com/pay?step=${action}`, message: 'Please pay', elicitationId: `pay-${action}` };
      seen[`link: ${action}`] = await tool('trigger-url-elicitation', link);
    }
    seen.required = await tool('trigger-url-elicitation', { url: 'https://example.com/pay', errorPath: true });
    await subscription(client, tool, seen);
    await logging(client, tool, seen);
  } finally {
    await client.close();
  }
  return seen;
}

async function lists(client, seen) {
  seen.prompts = (await client.listPrompts()).prompts;
  seen.resources = (await client.listResources()).resources;
  seen.templates = (await client.listResourceTemplates()).resourceTemplates;
  seen.text = await client.readResource({ uri: 'demo://resource/dynamic/text/1' });
  seen.blob = await client.readResource({ uri: 'demo://resource/dynamic/blob/2' });
  seen.missing = await ended(client.readResource({ uri: 'demo://nowhere' }));
  seen.simple = await client.getPrompt({ name: 'simple-prompt' });
  seen.args = await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Oslo', state: 'Norway' } });
  const ref = { type: 'ref/prompt', name: 'completable-prompt' };
  const context = { arguments: { department: 'Sales' } };
  seen.department = await client.complete({ ref, argument: { name: 'department', value: 'S' } });
  seen.member = await client.complete({ ref, argument: { name: 'name', value: '' }, context });
}

async function contents(tool, seen) {
  seen.echo = await tool('echo', { message: 'Grüße, 世界 \u0001' });
  seen.sum = await tool('get-sum', { a: 2, b: 3.5 });
  seen.wrong = await tool('get-sum', { a: 'two' });
  seen.unknown = await tool('no-such-tool');
  seen.structured = await tool('get-structured-content', { location: 'Chicago' });
  seen.image = await tool('get-tiny-image');
  seen.annotated = await tool('get-annotated-message', { messageType: 'error', includeImage: true });
  seen.links = await tool('get-resource-links', { count: 2 });
  seen.reference = await tool('get-resource-reference', { resourceType: 'Text', resourceId: 3 });
  seen.roots = await tool('get-roots-list');
}

async function subscription(client, tool, seen) {
  await client.subscribeResource({ uri: SUBSCRIBED });
  seen.started = await tool('toggle-subscriber-updates');
  await until(15_000, 'an update of the resource', () => seen.updated.includes(SUBSCRIBED));
  seen.stopped = await tool('toggle-subscriber-updates');
  await client.unsubscribeResource({ uri: SUBSCRIBED });
}

async function logging(client, tool, seen) {
  await client.setLoggingLevel('debug');
  seen.logging = await tool('toggle-simulated-logging');
  await until(15_000, 'a log line', () => seen.logged.some(({ data }) => /level.message/.test(data)));
  seen.quiet = await tool('toggle-simulated-logging');
}

/** A result, or how the call failed. */
function ended(call) {
  return call.catch(({ code, message, data }) => ({ code, message, data }));
}
