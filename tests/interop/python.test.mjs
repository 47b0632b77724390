// The gateway asks for a key, and the official Python client, in both eras, brings a person to the page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forecast } from './python/index.mjs';
import { TIMEOUT, TOOL, newKey, stage } from './setup.mjs';

for (const era of ['legacy', 'modern']) {
  test(`R-GW-03 R-URL-01: Python client, ${era}: one call asks, waits and brings the result`, { timeout: TIMEOUT }, async (t) => {
    const { service, upstream, person } = await stage(t);
    const key = newKey();
    upstream.keys.add(key);
    const target = { era, url: service.mcp, token: service.token, action: 'accept' };

    const { asked, results, notices } = await forecast(target, ({ url }) => person.connect(url, key));

    const good = { isError: false, text: TOOL.good };
    assert.deepEqual(results, [good, good]);
    assert.equal(asked.length, 1);
    assert.equal(asked[0].mode, 'url');
    assert.ok(asked[0].url.startsWith(`${service.origin}/connect/`), asked[0].url);
    assert.deepEqual(notices, era === 'legacy' ? [asked[0].elicitationId] : []);
    assert.deepEqual(upstream.served('tools/call').map((served) => served.key), [key, key]);
  });

  test(`R-ACT-03: Python client, ${era}: a decline ends the call, and is not asked again by itself`, { timeout: TIMEOUT }, async (t) => {
    const { service, upstream } = await stage(t);
    const target = { era, url: service.mcp, token: service.token, action: 'decline' };
    const { asked, results } = await forecast(target, () => {});
    assert.equal(asked.length, 1);
    for (const { isError, text } of results) {
      assert.ok(isError);
      assert.match(text, /declined/i);
    }
    assert.deepEqual(upstream.served('tools/call'), []);
  });
}
