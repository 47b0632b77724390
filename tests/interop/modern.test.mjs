// The official client in the era of 2026-07-28: no handshake, rounds instead of questions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/deadline.mjs';
import { CALLS, TIMEOUT, TOOL, connect, failure, newKey, stage } from './setup.mjs';

const accept = { action: 'accept' };

/** The results that ask for something, among `messages`. */
const rounds = (messages) => messages.filter(({ result }) => result?.resultType === 'input_required');

test('R-GW-06 R-MRTR-07: modern: everything is listed before anything is connected, and nobody is asked', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const { client, asked, messages } = await connect(t, service, { era: 'modern' });
  assert.equal(client.getProtocolEra(), 'modern');
  assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['get_forecast', 'list_cities']);
  assert.equal((await client.listPrompts()).prompts[0].name, 'briefing');
  assert.equal((await client.listResources()).resources[0].uri, 'weather://stations');
  assert.equal((await client.callTool({ name: 'list_cities' })).content[0].text, 'Oslo, Xi’an');
  assert.deepEqual(asked, []);
  assert.ok(messages().every(({ result }) => result.resultType === 'complete'));
});

for (const { kind, call, text, good } of CALLS) {
  test(`R-GW-03 R-URL-01 R-ERR-03 R-OAUTH-01: modern ${kind}: a round asks, the retry brings the result`, { timeout: TIMEOUT }, async (t) => {
    const { service, upstream, person } = await stage(t);
    const key = newKey();
    upstream.keys.add(key);
    let page;
    const { client, asked, heard, sent, messages } = await connect(t, service, {
      era: 'modern',
      answer: ({ url }) => {
        page = person.connect(url, key);
        return accept;
      },
    });

    assert.equal(text(await call(client)), good);

    assert.equal(asked.length, 1);
    assert.equal(asked[0].mode, 'url');
    assert.ok(asked[0].message.length > 10);
    assert.ok(asked[0].url.startsWith(`${service.origin}/connect/`), asked[0].url);
    assert.equal((await page).status, 200);
    assert.deepEqual(upstream.served(kind).map((served) => served.key), [key]);
    assert.ok(!heard().includes(key), 'the client has seen the key');
    assert.ok(!service.log().includes(key), 'the log has the key');

    const asking = rounds(messages());
    assert.equal(asking.length, 1);
    const [request] = Object.values(asking[0].result.inputRequests);
    assert.equal(request.method, 'elicitation/create');
    // Nothing of the other era: no id of an elicitation, no request, no notice, no -32042.
    assert.ok(!heard().includes('elicitationId'));
    assert.ok(!heard().includes('elicitation/complete'));
    assert.ok(!heard().includes('-32042'));
    assert.ok(messages().every(({ method, result }) => method === undefined && result.resultType));
    const [first, retry] = sent.filter(({ method }) => method === kind);
    assert.notEqual(first.id, retry.id);
    assert.equal(retry.params.requestState, asking[0].result.requestState);

    assert.equal(text(await call(client)), good);
    assert.equal(asked.length, 1);
  });

  test(`R-ACT-03: modern ${kind}: a decline in the client ends the call, and is not asked again by itself`, { timeout: TIMEOUT }, async (t) => {
    const { service, upstream } = await stage(t);
    const { client, asked } = await connect(t, service, { era: 'modern', answer: () => ({ action: 'decline' }) });
    assert.match(await failure(kind, call(client)), /declined/i);
    assert.match(await failure(kind, call(client)), /declined/i);
    assert.equal(asked.length, 1);
    assert.deepEqual(upstream.served(kind), []);
  });

  test(`R-SEC-04 R-MRTR-04: modern ${kind}: a slow person takes more rounds, and the call still brings its result`, { timeout: TIMEOUT }, async (t) => {
    const { service, upstream, person } = await stage(t, { hold: '1s' });
    const key = newKey();
    upstream.keys.add(key);
    const { client, asked, messages } = await connect(t, service, { era: 'modern', answer: () => accept });
    const result = call(client);
    await until(20_000, 'a second round', () => rounds(messages()).length >= 2);
    assert.equal((await person.connect(asked[0].url, key)).status, 200);
    assert.equal(text(await result), good);
    // The same visit, however often it was asked for.
    assert.equal(new Set(asked.map(({ url }) => url)).size, 1);
  });

  test(`R-CAP-03 R-CAP-05 R-GW-05: modern ${kind}: a client with forms only gets -32021 that names the portal, and is never asked by URL`, { timeout: TIMEOUT }, async (t) => {
    const { service } = await stage(t);
    const { client, asked, messages } = await connect(t, service, { era: 'modern', elicitation: { form: {} } });
    const error = await call(client).then(
      () => assert.fail('it got a result'),
      (error) => error,
    );
    assert.equal(error.code, -32021, String(error));
    assert.ok(error.data.requiredCapabilities.elicitation.url);
    assert.ok(error.message.includes(service.origin), error.message);
    assert.deepEqual(asked, []);
    assert.deepEqual(rounds(messages()), []);
  });
}

test('R-ACT-03: modern: a decline on the page ends the call that waits', { timeout: TIMEOUT }, async (t) => {
  const { service, person } = await stage(t);
  const { client } = await connect(t, service, {
    era: 'modern',
    answer: ({ url }) => {
      person.decline(url);
      return accept;
    },
  });
  assert.match(await failure('tools/call', TOOL.call(client)), /declined/i);
});

test('R-GW-03: modern: a key that the upstream refuses is asked for again', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream, person } = await stage(t);
  const [old, fresh] = [newKey(), newKey()];
  upstream.keys.add(old);
  const { client, asked } = await connect(t, service, {
    era: 'modern',
    answer: ({ url }, count) => {
      person.connect(url, count === 1 ? old : fresh);
      return accept;
    },
  });
  assert.equal(TOOL.text(await TOOL.call(client)), TOOL.good);
  upstream.keys.delete(old);
  upstream.keys.add(fresh);
  assert.equal(TOOL.text(await TOOL.call(client)), TOOL.good);
  assert.equal(asked.length, 2);
  assert.notEqual(asked[0].url, asked[1].url);
  assert.equal(upstream.served('tools/call').at(-1).key, fresh);
});
