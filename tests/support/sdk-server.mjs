// An endpoint of both eras for servers written with the official SDK: sessions for the legacy one, a server a request for
// the modern one. The SDK comes by parameter, since each suite has packages of its own.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { within } from './deadline.mjs';

/**
 * Serves `factory({ era, changed })` at a free port of loopback. `sdk` holds the exports of the packages `server` and
 * `node`; `changed` has `tools()` and `prompts()`, which tell everybody who listens in the modern era that a list changed.
 */
export async function startSdkServer(sdk, factory) {
  const changed = { tools: () => modern.notify.toolsChanged(), prompts: () => modern.notify.promptsChanged() };
  const modern = sdk.createMcpHandler(() => factory({ era: 'modern', changed }), { legacy: 'reject' });
  const answerModern = sdk.toNodeHandler(modern);
  const sessions = new Map();

  const server = createServer(async (request, response) => {
    try {
      if (!sdk.localhostHostValidation()(request, response)) return;
      if (!sdk.localhostOriginValidation()(request, response)) return;
      const body = request.method === 'POST' ? await read(request) : undefined;
      if (await sdk.isLegacyRequest(await sdk.toWebRequest(request, body), body)) await legacy(request, response, body);
      else await answerModern(request, response, body);
    } catch (error) {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    }
  });

  async function legacy(request, response, body) {
    const id = request.headers['mcp-session-id'];
    if (id && !sessions.has(id)) return response.writeHead(404).end();
    const transport = sessions.get(id) ?? (await begin());
    return transport.handleRequest(request, response, body);
  }

  async function begin() {
    const transport = new sdk.NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new Events(),
      retryInterval: 100,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await factory({ era: 'legacy', changed }).connect(transport);
    return transport;
  }

  await within(5_000, 'the server listens', new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    async stop() {
      await modern.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The events of one session, so that a stream that broke can be resumed. */
class Events {
  #events = [];

  async storeEvent(stream, message) {
    return `${stream}_${this.#events.push({ stream, message })}`;
  }

  async getStreamIdForEventId(id) {
    return this.#events[place(id)]?.stream;
  }

  async replayEventsAfter(id, { send }) {
    const stream = await this.getStreamIdForEventId(id);
    for (const [index, event] of this.#events.entries()) {
      // An event without a message only opens a stream.
      const due = index > place(id) && event.stream === stream && 'jsonrpc' in event.message;
      if (due) await send(`${stream}_${index + 1}`, event.message);
    }
    return stream;
  }
}

const place = (id) => Number(id.slice(id.lastIndexOf('_') + 1)) - 1;

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
