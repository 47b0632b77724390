// What the official client never does, spoken by hand.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { within } from '../support/deadline.mjs';
import { ask } from '../support/call.mjs';
import { Person, forms } from '../support/person.mjs';
import { TIMEOUT, newKey, stage } from './setup.mjs';

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
};

/** POSTs a modern tools/call; `over` replaces headers, and a header set to undefined is left out. */
async function post(service, params, over = {}) {
  const headers = {
    authorization: `Bearer ${service.token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': 'get_forecast',
    ...over,
  };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_forecast', _meta: META, ...params } };
  const sent = await send(service.mcp, headers, JSON.stringify(body));
  const data = sent.text.split('\n').findLast((line) => line.startsWith('data:'))?.slice(5);
  return { ...sent, json: () => JSON.parse(data ?? sent.text) };
}

/** One request on node:http, which sends every header as it is told (`fetch` keeps Host and Origin to itself). */
function send(url, headers, body) {
  const answer = new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', headers: JSON.parse(JSON.stringify(headers)) });
    outgoing.on('error', reject);
    outgoing.on('response', async (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      try {
        for await (const chunk of incoming) text += chunk;
        resolve({ status: incoming.statusCode, headers: incoming.headers, text });
      } catch (error) {
        reject(error);
      }
    });
    outgoing.end(body);
  });
  return within(30_000, 'an answer', answer);
}

const oslo = { arguments: { city: 'Oslo' } };

test('R-ID-05: without a good token a call gets 401 with a challenge, and no link', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream } = await stage(t);
  for (const authorization of [undefined, 'Bearer wrong', `Basic ${service.token}`]) {
    const { status, headers, text } = await post(service, oslo, { authorization });
    assert.equal(status, 401, String(authorization));
    assert.match(headers['www-authenticate'], /^Bearer/);
    assert.ok(!text.includes('/connect/'));
  }
  assert.deepEqual(upstream.calls, []);
});

test('R-SEC-08: another Host or Origin is refused', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream } = await stage(t);
  for (const header of [{ host: 'rebound.example' }, { origin: 'https://evil.example' }, { origin: 'null' }]) {
    const { status } = await post(service, oslo, header);
    assert.ok(status >= 400 && status < 500, `${JSON.stringify(header)}: ${status}`);
  }
  assert.deepEqual(upstream.calls, []);
});

test('R-ID-04: the token of the client never goes upstream', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream } = await stage(t);
  const { status } = await post(service, { name: 'list_cities' }, { 'mcp-name': 'list_cities', cookie: 'a=b' });
  assert.equal(status, 200);
  const [{ headers }] = upstream.calls;
  assert.ok(!JSON.stringify(headers).includes(service.token));
  assert.equal(headers.cookie, undefined);
});

test('R-MRTR-02: changed state, other arguments and another tool all get -32602 with one text', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t, { hold: '1s' });
  const asked = (await post(service, oslo)).json().result;
  assert.equal(asked.resultType, 'input_required');
  const [key] = Object.keys(asked.inputRequests);
  const retry = { inputResponses: { [key]: { action: 'accept' } }, requestState: asked.requestState };
  const middle = Math.floor(asked.requestState.length / 2);
  const other = asked.requestState[middle] === 'A' ? 'B' : 'A';
  const changed = asked.requestState.slice(0, middle) + other + asked.requestState.slice(middle + 1);
  const wrong = [
    [{ ...oslo, ...retry, requestState: changed }],
    [{ ...oslo, ...retry, requestState: 'nonsense' }],
    [{ arguments: { city: 'Bergen' }, ...retry }],
    [{ ...oslo, ...retry, name: 'get_other' }, { 'mcp-name': 'get_other' }],
  ];
  const texts = new Set();
  for (const [params, headers] of wrong) {
    const { error } = (await post(service, params, headers)).json();
    assert.equal(error?.code, -32602, JSON.stringify(params));
    texts.add(error.message);
  }
  assert.equal(texts.size, 1, [...texts].join(' / '));
  // The untouched state still works: nobody has connected, so it asks again.
  assert.equal((await post(service, { ...oslo, ...retry })).json().result.resultType, 'input_required');
});

test('R-CAP-05: a request without its _meta is invalid, and an unknown version names the known ones', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const bare = await post(service, { ...oslo, _meta: {} });
  assert.equal(bare.status, 400);
  assert.equal(bare.json().error.code, -32602);
  const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' };
  const future = await post(service, { ...oslo, _meta: meta }, { 'mcp-protocol-version': '2031-01-01' });
  assert.equal(future.status, 400);
  assert.equal(future.json().error.code, -32022);
  assert.ok(future.json().error.data.supported.includes(VERSION));
});

test('R-URL-03: a link opens nothing for a browser that has not signed in', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const { inputRequests } = (await post(service, oslo)).json().result;
  const [{ params }] = Object.values(inputRequests);
  const page = await new Person(service).visit(params.url);
  assert.ok(!forms(page.body).some(({ fields }) => 'api_key' in fields), page.body);
  assert.match(page.body, /usher login/);
});

test('R-MRTR-06 R-GW-08: a retry is served by a process that did not ask', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream, person } = await stage(t);
  const key = newKey();
  upstream.keys.add(key);
  const { url, retry } = await ask(service);
  await service.crash();
  assert.equal((await person.connect(url, key)).status, 200);
  await service.crash();
  assert.equal((await retry()).result.content[0].text, 'sunny in Oslo');
});
