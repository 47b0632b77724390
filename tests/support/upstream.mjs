// A small MCP server of both eras, by hand on Node's http, that wants a key; and the provider that checks keys.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { within } from './deadline.mjs';

const MODERN = '2026-07-28';
const INFO = { name: 'weather-upstream', version: '1.0.0' };
const CAPABILITIES = { tools: {}, prompts: {}, resources: {} };

const TOOLS = [
  {
    name: 'get_forecast',
    description: 'The weather of tomorrow.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  { name: 'list_cities', description: 'Cities, no key needed.', inputSchema: { type: 'object' } },
];
const PROMPTS = [{ name: 'briefing', description: 'A weather briefing.' }];
const RESOURCES = [{ uri: 'weather://stations', name: 'stations' }];

/** What each method answers once the key is good. */
const ANSWERS = {
  'tools/list': () => ({ tools: TOOLS }),
  'prompts/list': () => ({ prompts: PROMPTS }),
  'resources/list': () => ({ resources: RESOURCES }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'tools/call': ({ name, arguments: given }) => ({
    content: [{ type: 'text', text: name === 'list_cities' ? 'Oslo, Xi’an' : `sunny in ${given?.city}` }],
  }),
  'prompts/get': ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `prompt ${name}` } }] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: 'station 1' }] }),
  ping: () => ({}),
};
/** Results that clients may keep carry how long, in the modern era. */
const CACHEABLE = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'resources/read'];

/** Whether the request cannot be answered without a key. */
function needsKey(method, params) {
  if (method === 'tools/call') return params?.name !== 'list_cities';
  return method === 'prompts/get' || method === 'resources/read';
}

/** The key of a request that carries it in a header of its own. */
const apiKey = (headers) => headers['x-api-key'];

/**
 * Starts it. `keys` are the ones that it takes (a set that a test may change), `calls` what arrived:
 * `{ method, params, key, good, headers }`. `GET /me` is the provider's check of a key.
 *
 * `read` finds the key in the headers, `admits` says whether it is good in place of `keys`, `always` has each request need one, and `refusal`
 * are the headers of a 401. `routes` has the answers to GET at other paths.
 */
export async function startUpstream({ read = apiKey, admits, always = false, refusal = {}, routes = {} } = {}) {
  const keys = new Set();
  const isGood = admits ?? ((key) => keys.has(key));
  const calls = [];
  const sessions = new Set();

  const server = createServer(async (request, response) => {
    try {
      const path = new URL(request.url, 'http://upstream').pathname;
      if (path === '/me') return me(request, response);
      if (path in routes) return send(response, 200, routes[path]);
      if (path !== '/mcp') return send(response, 404);
      if (request.method === 'DELETE') {
        sessions.delete(request.headers['mcp-session-id']);
        return send(response, 200);
      }
      if (request.method !== 'POST') return send(response, 405);
      const message = JSON.parse(await body(request));
      return await mcp(message, request.headers, response);
    } catch (error) {
      return send(response, 500, { message: String(error) });
    }
  });

  function me(request, response) {
    const key = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    return keys.has(key) ? send(response, 200, { user: 'someone' }) : send(response, 401, { message: 'bad key' });
  }

  async function mcp(message, headers, response) {
    const { id, method, params } = message;
    const modern = headers['mcp-protocol-version'] === MODERN;
    const key = read(headers);
    const good = Boolean(key) && (await isGood(key));
    if (always && !good) return send(response, 401, { message: 'key needed' }, refusal);
    if (!modern && method === 'initialize') {
      const session = randomUUID();
      sessions.add(session);
      const result = { protocolVersion: params.protocolVersion, capabilities: CAPABILITIES, serverInfo: INFO };
      return send(response, 200, { jsonrpc: '2.0', id, result }, { 'mcp-session-id': session });
    }
    if (!modern && !sessions.has(headers['mcp-session-id'])) return send(response, 404);
    if (id === undefined) return send(response, 202);
    calls.push({ method, params, key, good, headers });
    if (modern && method === 'server/discover') {
      const result = {
        resultType: 'complete',
        supportedVersions: [MODERN],
        capabilities: CAPABILITIES,
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': INFO },
      };
      return send(response, 200, { jsonrpc: '2.0', id, result });
    }
    if (needsKey(method, params) && !good) return send(response, 401, { message: 'key needed' }, refusal);
    const answer = ANSWERS[method];
    if (!answer) {
      const error = { code: -32601, message: `no method ${method}` };
      return send(response, modern ? 404 : 200, { jsonrpc: '2.0', id, error });
    }
    const result = answer(params ?? {});
    if (modern) {
      result.resultType = 'complete';
      if (CACHEABLE.includes(method)) Object.assign(result, { ttlMs: 0, cacheScope: 'private' });
    }
    return send(response, 200, { jsonrpc: '2.0', id, result });
  }

  await within(5_000, 'the upstream listens', new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    keys,
    calls,
    /** The calls that got as far as the work itself. */
    served: (method) => calls.filter((call) => call.method === method && call.good),
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function body(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function send(response, status, json, headers = {}) {
  if (json === undefined) return response.writeHead(status, headers).end();
  return response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
}
