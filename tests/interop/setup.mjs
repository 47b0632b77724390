// A gateway with an upstream behind it, and the official client in front, for one test.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Person } from '../support/person.mjs';
import { startUpstream } from '../support/upstream.mjs';
import { startUsher } from '../support/usher.mjs';

/** How long a test may take in all, in milliseconds. */
export const TIMEOUT = 60_000;
/** How long one call may take, in milliseconds; longer than any `hold` here. */
export const CALL = { timeout: 40_000 };

let counter = 0;

/** A key that stands nowhere else. */
export function newKey() {
  counter += 1;
  return `key-${process.pid}-${counter}-${Math.random().toString(36).slice(2)}`;
}

/** Upstream, gateway and a person who has signed in. Everything ends with the test `t`. */
export async function stage(t, options = {}) {
  const upstream = await startUpstream();
  t.after(() => upstream.stop());
  const service = await startUsher({ upstream: upstream.origin, ...options });
  t.after(() => service.stop());
  const person = await new Person(service).signIn();
  return { upstream, service, person };
}

/**
 * A connected client. `era` is `legacy` or `modern`, `elicitation` what it declares, `answer` what it does with a
 * question. `asked` collects the questions, `notices` the ids of completion notices, `heard` all text that came
 * over HTTP, `sent` every message that went out. `wrap` makes another fetch of the one that writes this down.
 */
export async function connect(t, service, { era, elicitation = { url: {} }, answer, versions, wrap = (fetch) => fetch } = {}) {
  const asked = [];
  const notices = [];
  const heard = [];
  const sent = [];
  const client = new Client(
    { name: 'interop', version: '1.0.0' },
    {
      capabilities: elicitation ? { elicitation } : {},
      ...(versions && { supportedProtocolVersions: versions }),
      ...(era === 'modern' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
  if (elicitation) {
    client.setRequestHandler('elicitation/create', async (request) => {
      asked.push(request.params);
      return answer ? answer(request.params, asked.length) : { action: 'cancel' };
    });
  }
  if (era === 'legacy') {
    client.setNotificationHandler('notifications/elicitation/complete', (notice) => {
      notices.push(notice.params.elicitationId);
    });
  }
  const transport = new StreamableHTTPClientTransport(new URL(service.mcp), {
    fetch: wrap(recording(heard, sent)),
    requestInit: { headers: { authorization: `Bearer ${service.token}` } },
  });
  await client.connect(transport, { timeout: 10_000 });
  t.after(() => client.close());
  return {
    client,
    asked,
    notices,
    sent,
    heard: () => heard.join('\n'),
    /** The JSON-RPC messages among what was heard, from plain bodies and from event streams. */
    messages: () => heard.flatMap(messagesOf),
  };
}

/** A fetch that writes down headers and every byte of a body as they come. */
function recording(heard, sent) {
  return async (url, init) => {
    if (typeof init?.body === 'string') sent.push(JSON.parse(init.body));
    const response = await fetch(url, init);
    const index = heard.push([...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'), '') - 1;
    if (!response.body) return response;
    const decoder = new TextDecoder();
    const copy = new TransformStream({
      transform(chunk, controller) {
        heard[index] += decoder.decode(chunk, { stream: true });
        controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    const recorded = new Response(response.body.pipeThrough(copy), { status, statusText, headers });
    Object.defineProperty(recorded, 'url', { value: response.url });
    return recorded;
  };
}

function messagesOf(text) {
  const lines = text.startsWith('{') ? [text] : text.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  const found = [];
  for (const line of lines) {
    try {
      found.push(JSON.parse(line.replace(/^data:\s?/, '')));
    } catch {
      // Headers, or a line that is still on its way.
    }
  }
  return found;
}

/** The three kinds of calls that a missing key can stop: how to make one, and the text of its good result. */
export const CALLS = [
  {
    kind: 'tools/call',
    call: (client) => client.callTool({ name: 'get_forecast', arguments: { city: 'Oslo' } }, CALL),
    text: (result) => result.content[0].text,
    good: 'sunny in Oslo',
  },
  {
    kind: 'prompts/get',
    call: (client) => client.getPrompt({ name: 'briefing' }, CALL),
    text: (result) => result.messages[0].content.text,
    good: 'prompt briefing',
  },
  {
    kind: 'resources/read',
    call: (client) => client.readResource({ uri: 'weather://stations' }, CALL),
    text: (result) => result.contents[0].text,
    good: 'station 1',
  },
];
export const [TOOL, PROMPT, RESOURCE] = CALLS;

/** How a call failed, as one text: a tool's result with `isError`, or the error of the protocol. */
export async function failure(kind, call) {
  let result;
  try {
    result = await call;
  } catch (error) {
    if (kind === 'tools/call') throw error;
    return error.message;
  }
  if (kind !== 'tools/call' || !result.isError) throw new Error(`no error: ${JSON.stringify(result)}`);
  return result.content.map(({ text }) => text).join('\n');
}
