// The official client in the era of `initialize`, whose connections break while a person is at the page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALLS, TIMEOUT, connect, newKey, stage } from './setup.mjs';

/** Cuts the first `count` streams of calls, each when it has brought the question or after its first piece. */
function cutting(count, cuts) {
  return (fetch) => async (url, init) => {
    const response = await fetch(url, init);
    const resumes = new Headers(init?.headers).has('last-event-id');
    const calls = /tools\/call|prompts\/get|resources\/read/.test(init?.body ?? '');
    const streams = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (!streams || !(calls || resumes) || cuts.length >= count) return response;
    cuts.push(resumes ? 'GET' : 'POST');
    const reader = response.body.getReader();
    let text = '';
    const body = new ReadableStream({
      async pull(controller) {
        const { value, done } = await reader.read();
        if (done) return controller.close();
        controller.enqueue(value);
        text += new TextDecoder().decode(value);
        if (!resumes && !text.includes('elicitation/create')) return;
        await reader.cancel();
        // What was passed on is read before the stream breaks.
        setTimeout(() => controller.error(new Error('cut by the test')), 20);
        await new Promise(() => {});
      },
    });
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

for (const { kind, call, text, good } of CALLS) {
  for (const count of [1, 2]) {
    test(`R-GW-03: legacy ${kind}: a call whose stream breaks off ${count} time(s) brings its result`, { timeout: TIMEOUT }, async (t) => {
      const { service, upstream, person } = await stage(t);
      const key = newKey();
      upstream.keys.add(key);
      const cuts = [];
      const { client, asked } = await connect(t, service, {
        era: 'legacy',
        wrap: cutting(count, cuts),
        answer: ({ url }) => {
          person.connect(url, key);
          return { action: 'accept' };
        },
      });
      assert.equal(text(await call(client)), good);
      assert.deepEqual(cuts, ['POST', 'GET'].slice(0, count));
      assert.equal(asked.length, 1, 'the question is asked once');
      assert.deepEqual(upstream.served(kind).map((served) => served.key), [key], 'the server is called once');
    });
  }
}
