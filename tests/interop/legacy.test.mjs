// The official client in the era of `initialize`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/client';
import { until } from '../support/deadline.mjs';
import { CALLS, TIMEOUT, TOOL, connect, failure, newKey, stage } from './setup.mjs';

const accept = { action: 'accept' };

test('R-GW-06: legacy: everything is listed before anything is connected, and nobody is asked', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const { client, asked } = await connect(t, service, { era: 'legacy' });
  assert.equal(client.getNegotiatedProtocolVersion(), '2025-11-25');
  assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['get_forecast', 'list_cities']);
  assert.equal((await client.listPrompts()).prompts[0].name, 'briefing');
  assert.equal((await client.listResources()).resources[0].uri, 'weather://stations');
  const free = await client.callTool({ name: 'list_cities' });
  assert.equal(free.content[0].text, 'Oslo, Xi’an');
  assert.deepEqual(asked, []);
});

for (const { kind, call, text, good } of CALLS) {
  test(`R-GW-03 R-URL-01 R-DONE-01 R-OAUTH-01: legacy ${kind}: one call asks, waits and brings the result`, { timeout: TIMEOUT }, async (t) => {
    const { service, upstream, person } = await stage(t);
    const key = newKey();
    upstream.keys.add(key);
    let page;
    const { client, asked, notices, heard } = await connect(t, service, {
      era: 'legacy',
      // Accept means consent to open: the visit goes on after it (R-URL-10).
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
    assert.ok(asked[0].elicitationId.length >= 22);
    assert.equal((await page).status, 200);
    await until(10_000, 'the completion notice', () => notices.length > 0);
    assert.deepEqual(notices, [asked[0].elicitationId]);
    assert.deepEqual(upstream.served(kind).map((served) => served.key), [key]);
    assert.ok(!heard().includes(key), 'the client has seen the key');
    assert.ok(!service.log().includes(key), 'the log has the key');

    // What is connected is not asked for again.
    assert.equal(text(await call(client)), good);
    assert.equal(asked.length, 1);
  });

  test(`R-ACT-03: legacy ${kind}: a decline in the client ends the call, and is not asked again by itself`, { timeout: TIMEOUT }, async (t) => {
    const { service, upstream } = await stage(t);
    const { client, asked } = await connect(t, service, { era: 'legacy', answer: () => ({ action: 'decline' }) });
    assert.match(await failure(kind, call(client)), /declined/i);
    assert.match(await failure(kind, call(client)), /declined/i);
    assert.equal(asked.length, 1);
    assert.deepEqual(upstream.served(kind), []);
  });

  test(`R-ERR-01 R-SEC-04: legacy ${kind}: a slow person ends in -32042 with the same question, and a later call works`, { timeout: TIMEOUT }, async (t) => {
    const { service, upstream, person } = await stage(t, { hold: '1s' });
    const key = newKey();
    upstream.keys.add(key);
    const { client, asked, notices } = await connect(t, service, { era: 'legacy', answer: () => accept });

    const error = await call(client).then(
      () => assert.fail('it got a result'),
      (error) => error,
    );

    assert.ok(error instanceof UrlElicitationRequiredError, String(error));
    assert.equal(error.code, -32042);
    assert.equal(error.elicitations.length, 1);
    const [{ mode, url, elicitationId }] = error.elicitations;
    assert.deepEqual({ mode, url, elicitationId }, { mode: 'url', url: asked[0].url, elicitationId: asked[0].elicitationId });
    assert.equal((await person.connect(url, key)).status, 200);
    await until(10_000, 'the completion notice', () => notices.length > 0);
    assert.deepEqual(notices, [elicitationId]);
    assert.equal(text(await call(client)), good);
    assert.equal(asked.length, 1);
  });

  test(`R-CAP-03 R-GW-05: legacy ${kind}: a client with forms only is led to the portal, and never asked by URL`, { timeout: TIMEOUT }, async (t) => {
    const { service } = await stage(t);
    const { client, asked, heard } = await connect(t, service, { era: 'legacy', elicitation: { form: {} } });
    const text = await failure(kind, call(client));
    assert.ok(text.includes(service.origin), text);
    assert.deepEqual(asked, []);
    assert.ok(!heard().includes('-32042'));
  });
}

test('R-ACT-03: legacy: a decline on the page ends the call that waits', { timeout: TIMEOUT }, async (t) => {
  const { service, person } = await stage(t);
  const { client } = await connect(t, service, {
    era: 'legacy',
    answer: ({ url }) => {
      person.decline(url);
      return accept;
    },
  });
  assert.match(await failure('tools/call', TOOL.call(client)), /declined/i);
});

test('R-ACT-03: legacy: a cancel ends the call without a decline', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream, person } = await stage(t);
  const key = newKey();
  upstream.keys.add(key);
  const { client, asked } = await connect(t, service, {
    era: 'legacy',
    answer: ({ url }, count) => {
      if (count === 1) return { action: 'cancel' };
      person.connect(url, key);
      return accept;
    },
  });
  const first = await TOOL.call(client).catch((error) => error);
  assert.ok(first.isError || first instanceof Error, JSON.stringify(first));
  assert.equal(TOOL.text(await TOOL.call(client)), TOOL.good);
  assert.equal(asked.length, 2);
});

test('R-GW-03: legacy: a key that the upstream refuses is asked for again', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream, person } = await stage(t);
  const [old, fresh] = [newKey(), newKey()];
  upstream.keys.add(old);
  const { client, asked } = await connect(t, service, {
    era: 'legacy',
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
  assert.notEqual(asked[0].elicitationId, asked[1].elicitationId);
  assert.equal(upstream.served('tools/call').at(-1).key, fresh);
});

test('R-CAP-07: a client of 2025-06-18 gets no URL, no mode and no -32042, but an error that leads to the portal', { timeout: TIMEOUT }, async (t) => {
  const { service } = await stage(t);
  const { client, asked, heard } = await connect(t, service, { era: 'legacy', elicitation: {}, versions: ['2025-06-18'] });
  assert.equal(client.getNegotiatedProtocolVersion(), '2025-06-18');
  const text = await failure('tools/call', TOOL.call(client));
  assert.ok(text.includes(service.origin), text);
  assert.deepEqual(asked, []);
  assert.ok(!heard().includes('-32042') && !heard().includes('elicitation/create'));
});

test('legacy: a session, and what was connected, outlive the process', { timeout: TIMEOUT }, async (t) => {
  const { service, upstream, person } = await stage(t);
  const key = newKey();
  upstream.keys.add(key);
  const { client, asked } = await connect(t, service, {
    era: 'legacy',
    answer: ({ url }) => {
      person.connect(url, key);
      return accept;
    },
  });
  await service.crash();
  assert.equal(TOOL.text(await TOOL.call(client)), TOOL.good);
  await service.crash();
  assert.equal(TOOL.text(await TOOL.call(client)), TOOL.good);
  assert.equal(asked.length, 1);
});
