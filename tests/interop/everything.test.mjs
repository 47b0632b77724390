// The reference server with everything: what a client sees of it is the same directly and through the gateway.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startUsher } from '../support/usher.mjs';
import { EVERYTHING, WRITTEN, startEverything, useEverything } from './peers/everything.mjs';
import { TIMEOUT } from './setup.mjs';

/** How the server is reached, in a configuration and by a client. */
const WAYS = {
  HTTP: async (t) => {
    const { url, stop } = await startEverything();
    t.after(stop);
    return { url };
  },
  stdio: async () => ({ command: [...EVERYTHING, 'stdio'] }),
};

/** What differs between two runs: times, ids that are made at random, which log lines come of those that come by chance, progress. */
function settled({ logged, updated, progress, ...seen }) {
  const text = JSON.stringify(seen)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replace(/\d{1,2}:\d\d:\d\d( [AP]M)?/g, 'TIME')
    // Base64 of the text that holds a time.
    .replace(/"blob":"[^"]+"/g, '"blob":"…"');
  return { ...JSON.parse(text), updated: [...new Set(updated)] };
}

for (const [way, place] of Object.entries(WAYS)) {
  test(`R-GW-02 R-ACT-03: server-everything over ${way} is the same through the gateway`, { timeout: TIMEOUT }, async (t) => {
    const target = await place(t);
    const [[key, value]] = Object.entries(target);
    const servers = `[[upstream]]\nname = "everything"\n${key} = ${JSON.stringify(value)}\n`;
    const service = await startUsher({ servers });
    t.after(() => service.stop());

    const through = { url: service.endpoint('everything'), token: service.token };
    const [direct, found] = await Promise.all([useEverything(target), useEverything(through)]);

    const said = (name) => found[name].content.map(({ text }) => text).join('\n');
    const raw = (name) => JSON.parse(said(name).split('Raw result: ')[1]);
    assert.deepEqual(raw('form: accept'), { action: 'accept', content: WRITTEN });
    assert.deepEqual(raw('form: decline'), { action: 'decline' });
    assert.deepEqual(raw('form: cancel'), { action: 'cancel' });
    for (const action of ['accept', 'decline', 'cancel']) assert.deepEqual(raw(`link: ${action}`), { action });
    const links = found.asked.filter(({ mode }) => mode === 'url').map(({ elicitationId }) => elicitationId);
    assert.deepEqual(links, ['pay-accept', 'pay-decline', 'pay-cancel']);
    assert.deepEqual([found.required.code, found.required.data.elicitations.length], [-32042, 1]);
    // The client gives up a call's progress with its answer, and so loses the last of it at times, directly too.
    const steps = found.progress.map(({ progress, total }) => [progress, total]);
    assert.deepEqual(steps, [[1, 3], [2, 3], [3, 3]].slice(0, Math.max(2, steps.length)));
    assert.match(said('sampling'), /Four\./);
    assert.match(said('roots'), /file:\/\/\/srv\/data/);
    assert.deepEqual(found.department.completion.values, ['Sales', 'Support']);
    assert.ok(found.logged.length > 0);
    assert.deepEqual(settled(found), settled(direct));
  });
}
