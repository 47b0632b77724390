// The official TypeScript client, going through `steps.json` with a server that asks.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { load } from './server.mjs';

const QUESTIONS = Object.entries(load('questions.json'));
const STEPS = load('steps.json');

/**
 * What a client was asked, what it got and which notices came, for each of the targets: `{ era, url, token }` or
 * `{ era, command }`.
 */
export const converseWithAll = (targets) => Promise.all(targets.map(converse));

async function converse({ era, url, token, command }) {
  const asked = [];
  const notices = [];
  let answers = {};
  const client = new Client(
    { name: 'peer', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      ...(era === 'modern' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params);
    return answers[QUESTIONS.find(([, { message }]) => message === params.message)[0]];
  });
  if (era === 'legacy') {
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
      notices.push(params.elicitationId);
    });
  }
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const transport = command
    ? new StdioClientTransport({ command: command[0], args: command.slice(1) })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport, { timeout: 20_000 });
  try {
    const tools = (await client.listTools()).tools.map(({ name }) => name).sort();
    const results = [];
    for (const [number, step] of STEPS.entries()) {
      answers = step.answers;
      const call = { name: step.tool, arguments: { id: `id-${number}` } };
      const { isError = false, content } = await client.callTool(call, { timeout: 20_000 });
      results.push({ isError, text: content[0].text });
    }
    const error = era === 'legacy' ? await refused(client) : null;
    return { tools, asked, notices, results, error };
  } finally {
    await client.close();
  }
}

/** How the call ends that wants a visit first. */
async function refused(client) {
  try {
    await client.callTool({ name: 'locked', arguments: { id: 'id-locked' } }, { timeout: 20_000 });
  } catch ({ code, data }) {
    return { code, data };
  }
  throw new Error('it got a result');
}
